import { z } from "zod";
import type { AdviceTable, ConfigAdvice } from "../../core/contracts/index.ts";
import { AppError, noAgent, nowhereToDeliver, type Unreachable } from "../../core/domain/index.ts";
import type { DeepReadonly } from "../../core/kit/index.ts";
import { isZone, NO_ZONE } from "../../core/kit/index.ts";
import { deliverTo, jobBudget, jobCondition } from "../../core/protocol/index.ts";
import { comesAgain, parseWhen } from "./when.ts";
import { inputNotDeclared, NAME_TAKEN, noSuchInput, PROMPT_OR_SCRIPT } from "./words.ts";

const zone = z.string().refine(isZone, NO_ZONE).optional();

const declared = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Name of the job; jobs declared here follow this file."),
    at: z.union([z.string(), z.number()]).optional().describe('Once: ISO, epoch, or words. Example: "tomorrow 9am"'),
    every: z.string().optional().describe('Again and again. Example: "2 hours"'),
    anchor: z
      .union([z.string(), z.number()])
      .optional()
      .describe('Where `every` counts from. Example: "2026-01-01 07:00"'),
    cron: z.string().optional().describe('Cron, five or six fields. Example: "0 7 * * 1-5"'),
    zone: zone.describe("Time zone. Example: Europe/Lisbon"),
    agent: z.string().optional().describe("The agent that runs it."),
    prompt: z.string().min(1).optional().describe("What to do."),
    script: z
      .string()
      .min(1)
      .max(16_000)
      .optional()
      .describe(
        "Instead of a prompt: a command that runs without a model. Its output is the answer; no output means no message.",
      ),
    condition: jobCondition.optional(),
    input: z.string().optional().describe("The job whose last output it gets as input."),
    session: z.enum(["isolated", "main"]).default("isolated").describe("A separate session per run, or the main one."),
    model: z.string().optional().describe("provider/model for its runs."),
    thinking: z.enum(["off", "low", "medium", "high"]).optional().describe("How much its runs think."),
    timeoutS: z.number().int().min(1).max(86_400).optional().describe("Longest run in seconds. Default: 600"),
    budget: jobBudget.optional(),
    catchUp: z.enum(["once", "all", "skip"]).default("once").describe("What to do about missed runs."),
    deliver: deliverTo.optional().describe("Where the answer goes. Without it, the answer is only in the history."),
    bestEffort: z.boolean().optional().describe("true: an answer that couldn't be delivered isn't a failure."),
    deleteAfterRun: z.boolean().optional().describe("true: the job is removed after its first successful run."),
    keepHours: z.number().min(0).max(87_600).optional().describe("How long a run's own session is kept. Default: 24"),
    alertAfter: z
      .number()
      .int()
      .min(1)
      .max(5)
      .optional()
      .describe("Failures in a row before an alert is sent. Default: 2"),
    mayPlan: z.boolean().optional().describe("true: its runs may create jobs."),
    quiet: z.boolean().optional().describe("true: a run that finds nothing worth a message sends none. Default: false"),
    enabled: z.boolean().default(true).describe("false pauses it."),
  })
  .describe("One job.");

export const schedulesConfig = z.array(declared).default([]).describe("Jobs declared in the file.");
export const timeConfig = z
  .strictObject({
    zone: zone.describe("The person's time zone. Default: the machine's. Example: Europe/Lisbon"),
  })
  .describe("Time.");
export type DeclaredJob = DeepReadonly<z.output<typeof declared>>;

/** Finds problems in declared jobs without creating them. One bad job stops neither the others nor Lares. */
export function adviseSchedules(
  jobs: readonly DeclaredJob[],
  at: {
    now: number;
    zone: string;
    whyUnreachable: (place: { channel: string; account: string }) => Unreachable | undefined;
    isAgent: (agent: string) => boolean;
    /** Names and ids of the jobs there are; undefined where nobody knows. */
    others?: readonly string[] | undefined;
  },
): Omit<ConfigAdvice, "path">[] {
  const names = new Set<string>();
  return jobs.flatMap((job) => {
    const never: string[] = [];
    const problems: string[] = [];
    if (names.has(job.name)) never.push(NAME_TAKEN);
    names.add(job.name);
    if (!job.prompt === !job.script) never.push(PROMPT_OR_SCRIPT);
    if (job.agent !== undefined && !at.isAgent(job.agent)) problems.push(noAgent(job.agent));
    const why = job.deliver && at.whyUnreachable(job.deliver);
    if (job.deliver && why) problems.push(inOneLine(nowhereToDeliver(job.deliver, why)));
    try {
      parseWhen(job as Parameters<typeof parseWhen>[0], at.now, job.zone ?? at.zone);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      never.push(inOneLine(error));
    }
    const input = adviseInput(job, { declared: jobs, others: at.others });
    const about = (problem: string) => `"${job.name}": ${problem}`;
    return [
      ...never.map((problem) => ({ message: about(problem), weight: "never" as const })),
      ...problems.map((problem) => ({ message: about(problem) })),
      ...(input ? [{ ...input, message: about(input.message) }] : []),
    ];
  });
}

function adviseInput(
  { name, input }: DeclaredJob,
  { declared, others }: { declared: readonly DeclaredJob[]; others?: readonly string[] | undefined },
): Omit<ConfigAdvice, "path"> | undefined {
  if (input === undefined || declared.some((one) => one.name === input)) return undefined;
  if (!others) return { message: inputNotDeclared(input), weight: "note" };
  const missing = missingInput({ name, input }, others.includes(input));
  return missing && { message: inOneLine(missing) };
}

/** What is wrong with the job whose output this one gets: one verdict, wherever it is asked for. */
export function missingInput(job: { name: string; input: string }, isThere: boolean): AppError | undefined {
  // Its own last output is an input too.
  if (isThere || job.input === job.name) return undefined;
  return new AppError("NOT_FOUND", { message: noSuchInput(job.input), hint: "See: lares schedule list" });
}

/** Each after the one whose output it gets, so that it is there by then. In a circle, as they are written. */
export function inputsFirst(jobs: readonly DeclaredJob[]): DeclaredJob[] {
  const placed = new Set<DeclaredJob>();
  const place = (job: DeclaredJob) => {
    for (const chain: DeclaredJob[] = [job]; chain.length; ) {
      const last = chain.at(-1)!;
      const input = jobs.find((one) => one.name === last.input);
      if (input && !placed.has(input) && !chain.includes(input)) chain.push(input);
      else placed.add(chain.pop()!);
    }
  };
  for (const job of jobs) place(job);
  return [...placed];
}

/** A heartbeat's rhythm is written like a job's. */
export const rhythmAdvice: AdviceTable = {
  "agents.*.heartbeat.every": (value, { now }) => {
    try {
      comesAgain(String(value), now, "UTC");
      return undefined;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { message: inOneLine(error), weight: "never" };
    }
  },
};

function inOneLine({ message, hint }: { message: string; hint?: string | undefined }): string {
  return [message, hint].filter(Boolean).join(" ");
}
