/** Commands about hooks on events. */
import { HOOK_EVENT_NAMES } from "../../../../core/contracts/index.ts";
import type { CommandEntry } from "./entry.ts";

const hooks = () => import("../../commands/hooks.ts");

export const hookCommands: readonly CommandEntry[] = [
  {
    name: "hooks list",
    about: "list your hooks on events, what each hears, and how its calls ended",
    example: "lares hooks list",
    load: async () => (await hooks()).list,
  },
  {
    name: "hooks test",
    takes: "<name>",
    about: "call a hook with an example event; its answer decides nothing",
    flags: [
      { flag: "--event <e>", about: "one of its events (default: the first)", choices: HOOK_EVENT_NAMES },
      { flag: "--facts <json>", about: "what the event says in place of the example" },
    ],
    example: "lares hooks test command:PreToolUse:1",
    exits: "1 it failed",
    load: async () => (await hooks()).test,
  },
  {
    name: "hooks import",
    takes: "<path>",
    about: "take over Claude Code's hooks from a settings.json or a project; shows the commands first",
    flags: [{ flag: "--dry-run", about: "show what there is, and add nothing" }],
    example: "lares hooks import ~/src/shop/.claude/settings.json",
    exits: "7 you said no",
    load: async () => (await hooks()).importHooks,
  },
];
