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
    perDay: caps(
      "Limit for everything together, from midnight to midnight. Without this section: 20 dollars; with it, only what it says.",
    ).default({ dollars: 20 }),
    perSession: caps("Limit for one session over its lifetime.").default({}),
    perSchedule: caps("Daily limit for one scheduled job.").default({}),
    agents: z
      .record(
        z.string(),
        z.strictObject({
          perDay: caps("Daily limit for this agent.").default({}),
          perSession: caps("Limit for each of its sessions; overrides budgets.perSession.").optional(),
        }),
      )
      .default({})
      .describe("Budgets for individual agents, by name."),
    unknownPricePerMillion: z
      .number()
      .nonnegative()
      .default(15)
      .describe(
        "Dollars per million tokens assumed when a model's price isn't known, so that unknown never counts as free.",
      ),
    warnAt: z.number().min(0).max(1).default(0.8).describe("Share of a budget at which you get a warning, once."),
  })
  .prefault({})
  .describe("Spending limits. A call that could exceed one of them is refused with an explanation.");
export type BudgetsConfig = z.output<typeof budgetsConfig>;
