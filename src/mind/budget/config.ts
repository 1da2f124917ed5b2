import { z } from "zod";

const caps = (what: string) =>
  z
    .strictObject({
      dollars: z.number().nonnegative().optional().describe("US dollars. Example: 20"),
      tokens: z.number().int().nonnegative().optional().describe("Tokens, read and written. Example: 5000000"),
      calls: z.number().int().nonnegative().optional().describe("Model calls. Example: 2000"),
    })
    .describe(what);

export const budgetsConfig = z
  .strictObject({
    perDay: caps("What everything together may use from midnight to midnight.").default({ dollars: 20 }),
    perSession: caps("What one session may use over its whole life.").default({}),
    perSchedule: caps("What one scheduled job may use in a day.").default({}),
    agents: z
      .record(
        z.string(),
        z.strictObject({
          perDay: caps("What this agent may use in a day.").default({}),
          perSession: caps("What each of its sessions may use; goes before budgets.perSession.").optional(),
        }),
      )
      .default({})
      .describe("Budgets of single agents, by name."),
    unknownPricePerMillion: z
      .number()
      .nonnegative()
      .default(15)
      .describe("Dollars per million tokens counted where a model's price is not known: unknown is never free."),
    warnAt: z.number().min(0).max(1).default(0.8).describe("Share of a budget after which its use is mentioned, once."),
  })
  .prefault({})
  .describe("What may be spent. A call that could pass one of these is refused, and says so.");
export type BudgetsConfig = z.output<typeof budgetsConfig>;
