import { z } from "zod";
import { HOOK_EVENT_NAMES } from "../../../core/contracts/index.ts";
import { type DeepReadonly, isLoopbackHost } from "../../../core/kit/index.ts";

const onFail = z
  .enum(["deny", "pass"])
  .optional()
  .describe("What a hook that fails, is too slow or isn't there counts as. Default: deny for gates, else pass.");

const command = z
  .object({
    type: z.string().default("command").describe('"command"; other types are not used.'),
    command: z.string().min(1).max(10_000).default("").describe("What the shell runs. It gets JSON on its input."),
    timeout: z.number().positive().max(60).optional().describe("Seconds. Default: 5."),
    onFail,
    network: z.boolean().default(false).describe("Whether the command may use the network."),
  })
  .describe("One command. Other fields of Claude Code's format are left out.");

export const matched = z
  .object({
    matcher: z
      .string()
      .max(1000)
      .regex(/^[\w\s|.*^$-]*$/, "made of names joined by |, with * or .* for any letters")
      .default("")
      .describe("Only for these tools, e.g. Bash or Edit|Write. Default: for all."),
    hooks: z.array(command).max(50).describe("What is run, side by side."),
  })
  .describe("Commands for some tools.");

const webhook = z
  .strictObject({
    url: z
      .string()
      .max(2000)
      .refine(isSafeUrl, "an https address, or http on this machine")
      .describe("Where events are sent to. Example: https://audit.example.com/lares"),
    secret: z
      .string()
      .min(16)
      .describe("Signs each delivery (Standard Webhooks). At least 16 characters; a reference to the vault is best."),
    events: z.array(z.enum(HOOK_EVENT_NAMES)).min(1).describe("Which events. Example: [turn.ended, approval.changed]"),
    timeout: z.number().positive().max(60).optional().describe("Seconds. Default: 5."),
    onFail,
  })
  .describe("One receiver. For events that can be answered, its JSON answer counts.");

export const eventHooksConfig = z
  .strictObject({
    commands: z
      .record(z.string().regex(/^[A-Za-z.]{1,40}$/, "an event's name"), z.array(matched).max(50))
      .default({})
      .describe(
        "Command hooks by event, in Claude Code's format: the value of `hooks` in .claude/settings.json can be pasted. Lares' own event names work, too.",
      ),
    webhooks: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "made of a-z, 0-9 and -"), webhook)
      .default({})
      .describe("Signed webhooks by name."),
  })
  .describe("Programs of yours that hear what happens, and may narrow what agents do. They can never allow anything.");

export type EventHooksConfig = DeepReadonly<z.output<typeof eventHooksConfig>>;
export type CommandHook = EventHooksConfig["commands"][string][number]["hooks"][number];
export type Webhook = EventHooksConfig["webhooks"][string];

/** What is sent is signed but not hidden: without https it stays on this machine. */
function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username } = new URL(text);
  if (username !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}
