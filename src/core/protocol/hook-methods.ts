/** Methods about hooks on events: programs of the owner's that hear what happens and may narrow it. */
import { z } from "zod";
import { HOOK_EVENT_NAMES } from "../domain/hook-events.ts";
import { method, nothing } from "./method.ts";

const event = z.enum(HOOK_EVENT_NAMES);

export const HOOK_METHODS = {
  "hooks.list": method({
    in: nothing,
    out: z.object({
      hooks: z.array(
        z.object({
          name: z.string(),
          events: z.array(
            z.object({
              event,
              mode: z.enum(["observe", "answer"]).describe("observe: hears it afterwards; answer: is asked first"),
              onFail: z.enum(["deny", "pass"]).describe("what a failure counts as"),
            }),
          ),
          calls: z.number().describe("since the start"),
          failures: z.number().describe("since the start"),
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
    }),
    out: z.object({
      event,
      ms: z.number(),
      ok: z.boolean().describe("it answered in time, in words that can be read"),
      said: z.string().describe("what its answer would do, in a sentence"),
      ignored: z.array(z.string()).describe("fields of its answer that a hook can't decide"),
    }),
    scope: "admin",
    mutates: false,
    doc: "Calls a hook with a made-up event. Nothing else happens.",
  }),
} as const;
