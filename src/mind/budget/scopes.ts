/** Which budgets a call counts against, and how they are named to people. */
import { assertNever, readRunSession } from "../../core/domain/index.ts";
import type { BudgetsConfig } from "./config.ts";
import type { Amount, Caps } from "./judge.ts";
import type { ScopeKey } from "./store.ts";

export interface BudgetScope extends ScopeKey {
  caps: Caps;
}

export function listScopes(
  config: BudgetsConfig,
  call: { agent: string; session: string; schedule?: { id: string; caps?: Caps } },
  now: number,
): BudgetScope[] {
  const day = localDay(now);
  const own = config.agents[call.agent];
  const scopes: BudgetScope[] = [
    { kind: "all", name: "", day, caps: config.perDay },
    { kind: "agent", name: call.agent, day, caps: own?.perDay ?? {} },
    { kind: "session", name: call.session, day: "", caps: own?.perSession ?? config.perSession },
  ];
  const job = call.schedule?.id ?? findSchedule(call.session);
  if (job) scopes.push({ kind: "schedule", name: job, day, caps: call.schedule?.caps ?? config.perSchedule });
  return scopes;
}

/** Each run of a job has its own session. */
export function findSchedule(session: string): string | undefined {
  return readRunSession(session)?.job;
}

/** The date in this machine's time zone: people mean their own midnight. */
export function localDay(now: number): string {
  const date = new Date(now);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `unknownPer`: the model's price isn't known, so it is counted at this many dollars per million tokens. */
export function refusal(
  scope: BudgetScope,
  kind: keyof Amount,
  spent: Amount,
  { estimate, unknownPer }: { estimate: Amount; unknownPer?: number },
): string {
  const left = `${shown(kind, spent[kind])} of ${shown(kind, scope.caps[kind]!)} used`;
  const more = kind === "calls" ? "" : `, and this call may need up to ${shown(kind, estimate[kind])}`;
  const wait = scope.kind === "session" ? "Start a new session" : "Wait until tomorrow";
  const counted =
    kind === "dollars" && unknownPer !== undefined
      ? ` The model's price isn't known, so it is counted at $${unknownPer} per million tokens (budgets.unknownPricePerMillion).`
      : "";
  return `${title(scope)} does not allow another model call: ${left}${more}.${counted} ${wait}, or raise ${key(scope)}.${kind}.`;
}

export function warning(scope: BudgetScope, kind: keyof Amount, spent: Amount): string {
  const cap = scope.caps[kind]!;
  const percent = cap > 0 ? Math.floor((spent[kind] / cap) * 100) : 100;
  return `${percent} % of ${title(scope).replace("The", "the")} is used: ${shown(kind, spent[kind])} of ${shown(kind, cap)}.`;
}

function title(scope: ScopeKey): string {
  switch (scope.kind) {
    case "all":
      return "The budget for today";
    case "agent":
      return `The budget for agent "${scope.name}" for today`;
    case "session":
      return "The budget for this session";
    case "schedule":
      return `The budget for schedule "${scope.name}" for today`;
    default:
      return assertNever(scope.kind);
  }
}

function key(scope: ScopeKey): string {
  switch (scope.kind) {
    case "all":
      return "budgets.perDay";
    case "agent":
      return `budgets.agents.${scope.name}.perDay`;
    case "session":
      return "budgets.perSession";
    case "schedule":
      return "the job's budget or budgets.perSchedule";
    default:
      return assertNever(scope.kind);
  }
}

function shown(kind: keyof Amount, value: number): string {
  if (kind === "dollars") return `$${value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2)}`;
  return `${value.toLocaleString("en")} ${kind}`;
}
