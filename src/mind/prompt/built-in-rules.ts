/**
 * The built-in rules: what every model reads about how it is run. They belong to the code, not to the owner. Owners edit SOUL.md and
 * AGENTS.md; a better rule here reaches every agent with its next session, and nobody can delete one by accident.
 *
 * PROMPT-1: nothing here depends on the time, the model's name, the machine or the chat's ids, so its bytes are the same for all
 *           sessions of one situation and the providers' caches can share them.
 * PROMPT-2: no sentence names a tool that is not offered (`needs`).
 */
import { answering } from "./built-in-rules/answering.ts";
import { group } from "./built-in-rules/group.ts";
import { remembering } from "./built-in-rules/remembering.ts";
import { running } from "./built-in-rules/running.ts";
import { trust } from "./built-in-rules/trust.ts";
import { unattended } from "./built-in-rules/unattended.ts";
import { waiting } from "./built-in-rules/waiting.ts";
import { working } from "./built-in-rules/working.ts";
import type { Situation } from "./situation.ts";

/** Raised with every change of wording; sessions keep the version they began with. The golden files hold each situation's text. */
export const BUILT_IN_RULES_VERSION = 3;

const SECTIONS = [running, unattended, group, working, waiting, trust, remembering, answering] as const;

export function writeBuiltInRules(situation: Situation): string {
  return SECTIONS.map((part) => part(situation))
    .filter(Boolean)
    .join("\n\n");
}
