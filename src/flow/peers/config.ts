/** `a2a` in `lares.yaml`, as far as it is about agents that ask this Lares for something. */
import { z } from "zod";
import type { DeepReadonly } from "../../core/kit/index.ts";

export const a2aConfig = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      "`false`: no agent card, and no door for other agents. Without a token for it nobody gets in either way.",
    ),
  agents: z
    .array(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/))
    .max(50)
    .default([])
    .describe("The agents that others may talk to; the first is on the card. Default: the default agent only."),
  description: z
    .string()
    .min(1)
    .max(1000)
    .default("A personal agent. It works for the holders of a token.")
    .describe("What the card, which anyone can read, says about it."),
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "Where others reach this gateway, when that isn't the address they ask at. Example: https://home.example.com",
    ),
  known: z
    .array(z.string().min(1).max(100))
    .max(200)
    .default([])
    .describe("Tokens, by name, whose holders are treated as a person you know. All others are guests."),
  perMinute: z.number().int().min(1).max(6000).default(30).describe("How many messages one peer may send in a minute."),
  openTasks: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .default(20)
    .describe("How many tasks of one peer may be open at a time."),
  maxHops: z
    .number()
    .int()
    .min(0)
    .max(10)
    .default(2)
    .describe(
      "How many agents may stand between the one that asked first and yours. 0: only agents that weren't asked themselves.",
    ),
});

export type A2aConfig = DeepReadonly<z.output<typeof a2aConfig>>;
