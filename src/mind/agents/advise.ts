/** Keys that name an agent which isn't there. */
import type { AdviceContext, AdviceTable, ConfigAdvice } from "../../core/contracts/index.ts";
import { noAgent } from "../../core/domain/index.ts";
import { DEFAULT_AGENT } from "./folder.ts";

export const agentAdvice: AdviceTable = {
  "routing.defaultAgent": judge,
  "routing.rules.*.agent": judge,
  "hooks.*.agent": judge,
  "watch.*.agent": judge,
};

/** Agents created while Lares runs have a folder and need no entry in the file. */
export function isAgent(name: string, { config, folders }: AdviceContext): boolean {
  return name === DEFAULT_AGENT || folders.includes(name) || Object.hasOwn(config.agents as object, name);
}

function judge(value: unknown, at: AdviceContext): Omit<ConfigAdvice, "path"> | undefined {
  const name = String(value);
  return isAgent(name, at) ? undefined : { message: `${noAgent(name)} Create it: lares agents create ${name}` };
}
