/** Keys that name an agent which isn't there. */
import type { Advice, AdviceContext, AdviceTable } from "../../core/contracts/index.ts";
import { noAgent } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { DEFAULT_AGENT } from "./folder.ts";

export const agentAdvice: AdviceTable = {
  "routing.defaultAgent": judge,
  "routing.rules.*.agent": judge,
  "hooks.*.agent": judge,
  "watch.*.agent": judge,
  "memory.teams.*.*": judge,
  "channels.*.*.groups.*.agent": judge,
  "budgets.agents.*": (_budget, at, name) => judge(name, at),
  "agents.*": (_settings, at, name) => judgeNew(name, at),
};

/** Agents created while Lares runs have a folder and need no entry in the file. */
export function isAgent(name: string, { config, folders }: AdviceContext): boolean {
  return name === DEFAULT_AGENT || folders.includes(name) || Object.hasOwn(config.agents as object, name);
}

/** Settings of an agent that isn't there create it, which a slip of the pen shouldn't do without a word. */
function judgeNew(name: string, { folders }: AdviceContext): Advice | undefined {
  const known = [DEFAULT_AGENT, ...folders];
  if (known.includes(name)) return undefined;
  const near = nearest(name, known);
  const meant = near === undefined ? "" : ` If you meant ${near}: lares config unset agents.${name}`;
  return { message: `There is no agent "${name}" yet. Lares creates it with these settings.${meant}`, weight: "new" };
}

function judge(value: unknown, at: AdviceContext): Advice | undefined {
  const name = String(value);
  return isAgent(name, at) ? undefined : { message: `${noAgent(name)} Create it: lares agents create ${name}` };
}
