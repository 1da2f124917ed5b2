/**
 * The gate: every tool call is judged here, and nowhere else (I9). Pure; explains itself in one sentence.
 *
 * In this order: what strangers may never do, the hard floor, deny rules, what the turn's authority forbids (I12; taint.ts),
 * remembered approvals, allow rules, the mode. A later word never softens an earlier one.
 */
import type { ActionPlan, ShellPlan } from "../../core/contracts/index.ts";
import type { Authority } from "../../core/domain/index.ts";
import { isSecretFile, truthy } from "../../core/kit/index.ts";
import type { PolicyConfig } from "./config.ts";
import { type JudgedPart, judgeShell, type OutputRule, type ShellRules, settledForm } from "./exec.ts";
import { floor, unseenRemoval } from "./floor.ts";
import { hasWildcard } from "./glob.ts";
import { absolute } from "./paths.ts";
import { writtenFiles } from "./programs.ts";
import { movesBehind } from "./rearranges.ts";
import { coveringRule, deniedBy, type GatePlace, isLoaded, pathRule, rulesFor, touchingRule } from "./rules.ts";
import { onlyLooks } from "./standing.ts";
import { forStrangers, strangersMayNot } from "./strangers.ts";
import { taint } from "./taint.ts";
import {
  ASKED_FOR_GUESTS,
  allowedByMode,
  allowedByRules,
  alwaysAllowed,
  BY_RISK,
  deniedByRule,
  LOADED_FILE,
  NEEDS_NAMING_RULE,
  ONLY_ADDS,
  ONLY_READS,
  readsOutside,
  readsSecretOutside,
  STARTS_NOTHING,
  TOO_LONG_TO_REVIEW,
  wouldChange,
} from "./words.ts";

type Rules = Readonly<Record<string, readonly string[]>>;

export interface Policy {
  mode: "ask" | "record" | "ignore";
  allow: Rules;
  deny: Rules;
  /** Rules a person remembered with "allow always", exactly as they were shown. */
  remembered: ReadonlySet<string>;
  place: GatePlace;
  /** Whose message caused the turn, at the least trusted. */
  authority: Authority;
  /** Text from outside is in what the model read. */
  tainted?: boolean;
  /** All of it was fetched by the agent's own tools; nobody sent it in. */
  isFetched?: boolean;
  /** Whether undo brings back a file of this size that is overwritten. */
  restores?: (bytes: number) => boolean;
  /** People other than the owner have spoken in this conversation. */
  shared?: boolean;
  /** What the owner wrote in this turn: a host named there is no new destination. */
  said?: string;
}

export interface Verdict {
  verdict: "allow" | "ask" | "deny";
  /** One sentence. */
  because: string;
  /** What was judged, part by part. */
  parts: JudgedPart[];
  /** Allowed by a rule that a person had Lares remember. */
  remembered?: true;
  /** Rules allow the settled form of the command; nothing else may run. */
  settled?: true;
  /** It asks only because no rule covers it: one written by hand would let it run without asking. */
  lacksRule?: true;
}

/** More than this nobody reads before saying yes (AP-09). */
const MOST_SHOWN = 12_000;
const MOST_COMMANDS = 100;

/** The general policy with an agent's own on top: the agent's mode replaces the general one, its lists are added. */
export function joinPolicy(
  general: Readonly<{ mode: PolicyConfig["mode"]; allow: Rules; deny: Rules }>,
  agent: Readonly<{ mode?: PolicyConfig["mode"] | undefined; allow: Rules; deny: Rules }> | undefined,
  facts: { place: GatePlace; remembered: ReadonlySet<string>; authority?: Authority },
): Policy {
  return {
    mode: agent?.mode ?? general.mode,
    allow: joined(general.allow, agent?.allow),
    deny: joined(general.deny, agent?.deny),
    remembered: facts.remembered,
    place: facts.place,
    authority: facts.authority ?? "owner",
  };
}

export function decide(given: Policy, plan: ActionPlan): Verdict {
  const isStranger = given.authority === "stranger";
  const policy = isStranger ? forStrangers(given) : given;
  const closed = isStranger ? strangersMayNot(plan) : undefined;
  // Before anything is parsed: a guest learns nothing from how a command would be judged.
  if (closed) return { verdict: "deny", because: closed, parts: [] };
  const parts = plan.shell ? judgeShell(plan.shell, shellRules(policy), policy.place) : [];
  const deny = (because: string): Verdict => ({ verdict: "deny", because, parts });
  const floored = floor(plan, policy.place);
  if (floored) return deny(floored);
  const forbidden = denyRule(policy, plan);
  if (forbidden) return deny(deniedByRule(plan.tool, forbidden));
  // The tool itself found that a path leaves its folders; no rule can allow what the file tools won't open.
  if (plan.outside) return deny(plan.outside);

  // Before remembered approvals and rules: what the owner allowed was meant for the owner's own wishes.
  const tainted = taint(policy, plan, parts, ruleFor(plan));
  if (tainted)
    return {
      ...tainted,
      ...(isStranger && tainted.verdict === "ask" ? { because: `${tainted.because} ${ASKED_FOR_GUESTS}` } : {}),
      parts,
    };
  // Text from outside, and anybody but the owner, was asked about above.
  if (plan.adds && plan.risk === "state") return { verdict: "allow", because: ONLY_ADDS, parts };
  if (plan.risk === "read" && !plan.beyond) return { verdict: "allow", because: ONLY_READS, parts };

  // In the modes `record` and `ignore` the owner trusts the agent, but not text from outside, guests or others in the chat.
  const trusted =
    policy.mode !== "ask" && policy.authority !== "outside" && !isStranger && !isAskedByOthers(policy, plan);
  const refused = parts.find((part) => part.verdict === "deny");
  // A person couldn't judge it either, so asking would only teach people to say yes.
  if (refused && !trusted) return deny(refused.because);
  const rule = ruleFor(plan);
  // What can only be allowed once has a different content each time, so a remembered yes would be for something else.
  if (!plan.once && policy.remembered.has(rule)) {
    return { verdict: "allow", because: alwaysAllowed(rule), parts, remembered: true };
  }
  // Before the rules: each command may be covered, and the combination still be dangerous.
  const lasting = trusted ? undefined : movesBehind(plan);
  if (lasting) return { verdict: "ask", because: lasting, parts };
  const covered = plan.shell ? shellAllowed(parts) : fileOrHostAllowed(policy, plan);
  if (covered) return { verdict: "allow", because: covered, parts };
  const settled = plan.shell?.settled && !trusted ? judgeSettled(policy, plan) : undefined;
  if (settled?.verdict === "allow") return settled;
  // Even a trusted agent asks before it deletes something that can't be named in advance.
  const unseen = trusted && plan.shell ? unseenRemoval(plan.shell) : undefined;
  if (unseen) return { verdict: "ask", because: unseen, parts };
  if (trusted)
    return {
      verdict: "allow",
      because: allowedByMode(policy.mode, reason(plan, parts, policy.place)),
      parts,
    };
  if (plan.shell && (plan.shown.length > MOST_SHOWN || plan.shell.commands.length > MOST_COMMANDS)) {
    return deny(TOO_LONG_TO_REVIEW);
  }
  if (settled) return settled;
  // Naming a missing rule would be false: the rules were left out on purpose.
  if (isStranger) return { verdict: "ask", because: ASKED_FOR_GUESTS, parts };
  // The hint to write a rule is only given when a rule is all that is missing.
  const open = parts.filter((part) => part.verdict !== "allow");
  const lacksRule = open.length > 0 && open.every((part) => part.unruled);
  return { verdict: "ask", because: reason(plan, parts, policy.place), parts, ...truthy({ lacksRule }) };
}

/**
 * The command with its patterns expanded and its loop unrolled, when rules cover every part of that, or all but a file for its output.
 * Its text was judged before and nothing there forbids it; here the settled form is held against the same floor, deny rules and
 * taint.
 */
function judgeSettled(policy: Policy, plan: ActionPlan): Verdict | undefined {
  const shell = settledForm(plan.shell!);
  if (!shell) return undefined;
  const form: ActionPlan = { ...plan, shell };
  const parts = judgeShell(shell, shellRules(policy), policy.place, true);
  const open = parts.filter((part) => part.verdict !== "allow");
  if (open.length > 0 && open.every((part) => part.isOutput))
    return { verdict: "ask", because: open[0]!.because, parts };
  const because = shellAllowed(parts);
  if (because === undefined || shell.commands.length > MOST_COMMANDS) return undefined;
  if (floor(form, policy.place) || denyRule(policy, form) || taint(policy, form, parts, "")) return undefined;
  return { verdict: "allow", because, parts, settled: true };
}

/** The owner's turn, but others spoke before it: what they asked for may be what the model does now. */
function isAskedByOthers({ shared, authority }: Policy, { shell, risk }: ActionPlan): boolean {
  return shared === true && authority === "owner" && risk === "exec" && !(shell && onlyLooks(shell));
}

/** The hardest of several words on one action. */
export function strictest(words: readonly Verdict[]): Verdict {
  const rank = { deny: 0, ask: 1, allow: 2 };
  // The first of equals, so that the sentence stays the same when the order of the words does.
  const hardest = words.reduce((a, b) => (rank[b.verdict] < rank[a.verdict] ? b : a));
  // What one of them allows in its settled form only, runs in that form.
  return words.some((word) => word.settled) ? { ...hardest, settled: true } : hardest;
}

/** The exact rule "allow always" keeps: this tool on these targets. */
export function ruleFor(plan: ActionPlan): string {
  return `${plan.tool} ${plan.targets.map((t) => JSON.stringify(t)).join(" ")}`;
}

function shellRules(policy: Policy): ShellRules {
  const of = (tool: string) => rulesFor(policy.allow, tool);
  return { exec: of("exec"), read: of("read"), write: of("write"), keepOutput: outputRule(policy) };
}

/** What happens to output that goes to a data file without a rule for writing. */
function outputRule({ authority, tainted, isFetched, shared, restores }: Policy): OutputRule {
  if (authority !== "owner" || shared) return { says: "unruled" };
  if (!tainted) return { says: "kept" };
  return isFetched ? { says: "restorable", restores: restores ?? (() => false) } : { says: "sent-in" };
}

function denyRule(policy: Policy, plan: ActionPlan): string | undefined {
  const rules = rulesFor(policy.deny, plan.tool);
  if (plan.shell) {
    const redirected = deniedRedirect(policy, plan.shell);
    if (redirected) return redirected;
  }
  if (rules.length === 0) return undefined;
  if (!plan.shell) return touchingRule(rules, plan, policy.place);
  for (const command of plan.shell.commands) {
    const words = command.words.map((word) => word.literal ?? word.guess);
    for (let i = 0; i < words.length; i++) {
      // Any word may be the program a wrapper starts.
      const rule = deniedBy(rules, words.slice(i), i === 0 ? command.program?.real : undefined);
      if (rule && (i === 0 || command.within.length > 0 || plan.shell.reasons.length > 0)) return rule;
    }
  }
  return undefined;
}

/** A command that writes a file by `>`, or by itself as `tee` does, is a write to it; `<` is a read. */
function deniedRedirect({ deny, place }: Policy, { commands, cwd }: ShellPlan): string | undefined {
  const [reading, writing] = [rulesFor(deny, "read"), rulesFor(deny, "write")];
  if (reading.length + writing.length === 0) return undefined;
  for (const { words, redirects } of commands) {
    const written = writing.length === 0 ? [] : writtenFiles(words.map((word) => word.literal ?? word.guess));
    const denied = written
      .map((file) => pathRule(writing, absolute(file, cwd, place.userHome), place))
      .find((rule) => rule !== undefined);
    if (denied) return denied;
    for (const { operator, target, isDescriptor } of redirects) {
      if (isDescriptor || target.guess === "") continue;
      const path = absolute(target.guess, cwd, place.userHome);
      const rule = pathRule(operator === "<" ? reading : writing, path, place);
      if (rule) return rule;
    }
  }
  return undefined;
}

function shellAllowed(parts: readonly JudgedPart[]): string | undefined {
  if (parts.length === 0 || parts.some((part) => part.verdict !== "allow")) return undefined;
  const rules = [...new Set(parts.flatMap((part) => (part.rule === undefined ? [] : [part.rule])))];
  return rules.length === 0 ? STARTS_NOTHING : allowedByRules(rules);
}

function fileOrHostAllowed(policy: Policy, plan: ActionPlan): string | undefined {
  // Rules name programs, paths and hosts. What Lares stores has none of these.
  if (plan.risk === "state") return undefined;
  // A rule such as `/srv/**` was not written with the keys in mind that may be there, too.
  if (plan.beyond && plan.targets.some((target) => isSecretFile(target))) return undefined;
  const rule = coveringRule(
    plan.destroys || plan.apart ? namingRules(policy, plan) : rulesFor(policy.allow, plan.tool),
    plan,
    policy.place,
  );
  if (!rule) return undefined;
  if (plan.risk === "write" && plan.targets.some((target) => isLoaded(target, policy.place))) return undefined;
  return allowedByRules([rule]);
}

/** The rules without a wildcard: they were written with this tool in mind, whatever else its server offers. */
function namingRules(policy: Policy, plan: ActionPlan): readonly string[] {
  return rulesFor(policy.allow, plan.tool).filter((rule) => !hasWildcard(rule));
}

/** Heaviest first: what is not allowed, with the programs it is about. */
function reason(plan: ActionPlan, parts: readonly JudgedPart[], place: GatePlace): string {
  if (plan.risk === "write" && plan.targets.some((target) => isLoaded(target, place))) {
    return LOADED_FILE;
  }
  if (plan.beyond) {
    const secret = plan.targets.find((target) => isSecretFile(target));
    return secret === undefined ? readsOutside(plan.targets.join(", ")) : readsSecretOutside(secret);
  }
  const told = parts.filter((part) => part.verdict !== "allow" && !part.within);
  const general = told.find(
    (part) => !plan.shell?.commands.some((c) => c.words[0]!.guess !== "" && part.what.startsWith(c.words[0]!.guess)),
  );
  const because = (general ?? told[0])?.because;
  if (because !== undefined) return because;
  if (plan.destroys) return NEEDS_NAMING_RULE;
  return plan.risk === "state" ? wouldChange(plan) : BY_RISK[plan.risk];
}

function joined(a: Rules, b: Rules | undefined): Rules {
  if (!b) return a;
  const out: Record<string, readonly string[]> = { ...a };
  for (const [tool, rules] of Object.entries(b))
    out[tool] = [...(Object.hasOwn(out, tool) ? out[tool]! : []), ...rules];
  return out;
}
