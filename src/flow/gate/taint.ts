/**
 * What a turn may not do on its own because of who or what caused it (I12). Pure; modes and allow rules do not reach here.
 *
 * | after text from outside                               | what happens                                             |
 * | ----------------------------------------------------- | -------------------------------------------------------- |
 * | memory, schedules, skills, another chat               | asks                                                     |
 * | `web_fetch`, `browser` to a host no rule names        | asks                                                     |
 * | a tool of an MCP server that no rule names            | asks                                                     |
 * | a command that reaches a host no rule names           | asks, although a rule such as `curl *` covers it         |
 * | a command that sends somewhere it computes            | asks                                                     |
 * | a file tool or a command that writes standing files   | asks                                                     |
 * | input to a running program                            | asks                                                     |
 * | code a person could not read                          | denied, in every mode                                    |
 *
 * What a script or a program does by itself cannot be seen from its command line; there the sandbox is the boundary.
 */
import type { ActionPlan, ShellPlan } from "../../core/contracts/index.ts";
import type { Policy } from "./decide.ts";
import { findDestinations, hostsIn } from "./destinations.ts";
import type { JudgedPart } from "./exec.ts";
import { coveringRule, hostMatches, isStandingFile, parseExecRule, rulesFor } from "./rules.ts";
import { standingFileIn } from "./standing.ts";
import { callTools, causedBy, instructBy, reachHost, stateWords, WOULD } from "./words.ts";

export interface TaintVerdict {
  verdict: "ask" | "deny";
  because: string;
}

export function taint(
  policy: Policy,
  plan: ActionPlan,
  parts: readonly JudgedPart[],
  rule: string,
): TaintVerdict | undefined {
  // Text from outside can't make a stranger more trusted, so a stranger stays one.
  const authority = policy.tainted && policy.authority !== "stranger" ? "outside" : policy.authority;
  if (authority === "owner") return undefined;
  const cause: Cause = authority === "outside" ? "outside" : "others";
  const ask = (what: string) => askAbout(cause, what);
  if (plan.changes || plan.risk === "state") return ask(stateWords(plan));
  // People the owner knows may use the network and tools. Only what is stored needs the owner.
  if (authority === "known") return undefined;
  if (plan.risk === "network" && !coveringRule(rulesFor(policy.allow, plan.tool), plan, policy.place)) {
    return ask(WOULD.reach);
  }
  if (plan.risk === "service" && !coveringRule(rulesFor(policy.allow, plan.tool), plan, policy.place)) {
    return ask(callTools(plan.targets));
  }
  if (plan.risk === "write" && plan.targets.some((target) => isStandingFile(target))) {
    return ask(WOULD.instruct);
  }
  const refused = parts.find((part) => part.verdict === "deny");
  if (refused) return { verdict: "deny", because: refused.because };
  // An exact saved approval: the person saw this destination and these files.
  if (plan.risk !== "exec" || policy.remembered.has(rule)) return undefined;
  if (!plan.shell) return ask(WOULD.feed);
  return command(policy, plan.shell, cause);
}

function command(policy: Policy, shell: ShellPlan, cause: Cause): TaintVerdict | undefined {
  const file = standingFileIn(shell, policy.place);
  if (file !== undefined) return askAbout(cause, instructBy(file));
  const { hosts, isHidden } = findDestinations(shell);
  // One unknown host is enough: data could be sent there.
  const fresh = hosts.find((host) => !isNamed(policy, host));
  if (fresh !== undefined) return askAbout(cause, reachHost(fresh));
  return isHidden ? askAbout(cause, WOULD.connect) : undefined;
}

/** The owner named this host: in the policy, or in the message that caused the turn. */
function isNamed(policy: Policy, host: string): boolean {
  if (isIn(policy.said ?? "", host)) return true;
  if (rulesFor(policy.allow, "web_fetch").some((rule) => hostMatches(rule, host))) return true;
  return rulesFor(policy.allow, "exec").some((rule) =>
    parseExecRule(rule)
      .words.slice(1)
      .some((word) => hostsIn(word).some((named) => hostMatches(named, host))),
  );
}

/** Whether a text names a host as a whole: `example.com`, not `notexample.com` or `example.com.evil.net`. */
function isIn(text: string, host: string): boolean {
  // A bare word such as `build` occurs in ordinary sentences and names nothing.
  if (!host.includes(".") && host !== "localhost") return false;
  const said = text.toLowerCase();
  for (let at = said.indexOf(host); at >= 0; at = said.indexOf(host, at + 1)) {
    const before = said[at - 1] ?? " ";
    const after = said.slice(at + host.length, at + host.length + 2);
    if (!/[a-z0-9.-]/.test(before) && !/^([a-z0-9-]|\.[a-z0-9])/.test(after)) return true;
  }
  return false;
}

type Cause = Parameters<typeof causedBy>[0];

function askAbout(cause: Cause, what: string): TaintVerdict {
  return { verdict: "ask", because: causedBy(cause, what) };
}
