import { z } from "zod";

const declared = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Name of the job; declared ones follow the file."),
    at: z.union([z.string(), z.number()]).optional().describe('Once: ISO, epoch, or words. Example: "tomorrow 9am"'),
    every: z.string().optional().describe('Again and again. Example: "2 hours"'),
    cron: z.string().optional().describe('Cron, five or six fields. Example: "0 7 * * 1-5"'),
    zone: z.string().optional().describe("Time zone. Example: Europe/Lisbon"),
    agent: z.string().optional().describe("Who does it."),
    prompt: z.string().min(1).describe("What is to be done."),
    session: z
      .enum(["isolated", "main"])
      .default("isolated")
      .describe("A session of its own per run, or the main one."),
    model: z.string().optional().describe("provider/model for its runs."),
    catchUp: z.enum(["once", "all", "skip"]).default("once").describe("What happens with runs that were missed."),
    deliver: z
      .strictObject({ channel: z.string(), account: z.string(), chat: z.string(), thread: z.string().optional() })
      .optional()
      .describe("Where the answer goes. Without it the answer is in the history only."),
    enabled: z.boolean().default(true).describe("false pauses it."),
  })
  .describe("One job.");

export const schedulesConfig = z.array(declared).default([]).describe("Jobs declared in the file.");
export const timeConfig = z
  .strictObject({
    zone: z.string().optional().describe("The person's time zone. Default: the machine's. Example: Europe/Lisbon"),
  })
  .describe("Time.");
export type DeclaredJob = z.output<typeof declared>;
