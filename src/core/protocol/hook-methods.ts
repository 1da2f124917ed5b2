/** Methods about hooks on events: programs of the owner's that hear what happens and may narrow it. */
import { z } from "zod";
import { HOOK_EVENT_NAMES } from "../domain/hook-events.ts";
import { method, nothing, withIdempotencyKey } from "./method.ts";

const event = z.enum(HOOK_EVENT_NAMES);

export const HOOK_METHODS = {
  "hooks.list": method({
    in: nothing,
    out: z.object({
      hooks: z.array(
        z.object({
          name: z.string(),
          shown: z.string().optional().describe("a command's text, or where a webhook goes to"),
          events: z.array(
            z.object({
              event,
              mode: z.enum(["observe", "answer"]).describe("observe: hears it afterwards; answer: is asked first"),
              onFail: z.enum(["deny", "pass"]).describe("what a failure counts as"),
            }),
          ),
          calls: z.number().describe("since the start, like the other figures"),
          denied: z.number(),
          timedOut: z.number().describe("failures because it took too long"),
          failures: z.number(),
          last: z
            .object({
              event,
              at: z.number(),
              ms: z.number(),
              result: z
                .enum(["passed", "answered", "denied", "asked", "timed-out", "failed"])
                .describe("passed: no objection; answered: it added or took away something"),
            })
            .optional()
            .describe("how its newest call ended"),
          waiting: z.number().describe("events it has yet to hear"),
          trouble: z.string().optional().describe("its newest failure, or what of its answer was ignored"),
        }),
      ),
      problems: z.array(z.string()).describe("what of the configuration is not used"),
    }),
    scope: "read",
    mutates: false,
    doc: "Hooks on events: commands, webhooks and plugins, and how they have been doing.",
  }),
  "hooks.test": method({
    in: z.strictObject({
      name: z.string().min(1).max(200).describe("the hook's name, as hooks.list gives it"),
      event: event.optional().describe("one of its events; the first unless given"),
      facts: z.record(z.string(), z.unknown()).optional().describe("what the event says in place of the example"),
    }),
    out: z.object({
      event,
      ms: z.number(),
      ran: z.boolean().describe("false: the event doesn't concern it"),
      ok: z.boolean().describe("it answered in time, in words that can be read"),
      said: z.string().describe("what its answer would do, in a sentence"),
      ignored: z.array(z.string()).describe("fields of its answer that a hook can't decide"),
    }),
    scope: "admin",
    mutates: false,
    doc: "Calls a hook with a made-up event. Its answer decides nothing, and no turn or figure changes.",
  }),
  "hooks.import": method({
    in: z.strictObject({
      from: z.string().min(1).max(4096).describe("a settings.json of Claude Code's, or a folder with .claude in it"),
      yes: z.array(z.string().max(64)).max(500).optional().describe("ids of what to add; without it, nothing is"),
      ...withIdempotencyKey,
    }),
    out: z.object({
      items: z.array(
        z.object({
          id: z.string().describe("of exactly this command in this file"),
          file: z.string(),
          event: z.string().describe("as Claude Code calls it"),
          hears: event.optional(),
          matcher: z.string(),
          command: z.string(),
          timeout: z.number().optional().describe("in seconds"),
          state: z.enum(["new", "there already", "left out"]),
          why: z.string().optional().describe("why it is left out"),
        }),
      ),
      added: z.number(),
      changed: z.number().describe("of those you named, how many are no longer what was shown; they aren't added"),
    }),
    scope: "admin",
    mutates: true,
    doc: "The command hooks of a settings file of Claude Code's; adds those you name. Starts nothing.",
  }),
} as const;
