/** What people read about budgets. */
import { assertNever } from "../../core/domain/index.ts";
import type { Amount, BudgetKind } from "./judge.ts";
import type { BudgetScope } from "./scopes.ts";
import type { ScopeKey } from "./store.ts";

/** `unknownPer`: the model's price isn't known, so it is counted at this many dollars per million tokens. */
export function refusal(
  scope: BudgetScope,
  kind: BudgetKind,
  spent: Amount,
  { estimate, unknownPer }: { estimate: Amount; unknownPer?: number },
): string {
  const left = `${shown(kind, spent[kind])} of ${shown(kind, scope.caps[kind]!)} used`;
  const more = kind === "calls" ? "" : `, and this call may need up to ${shown(kind, estimate[kind])}`;
  const wait = scope.kind === "session" ? "Start a new session" : "Wait until tomorrow";
  const counted = assumed(kind, spent, unknownPer);
  return `The ${nameScope(scope)} does not allow another model call: ${left}${more}.${counted} ${wait}, or raise ${nameSetting(scope)}.${kind}.`;
}

export function warning(scope: BudgetScope, kind: BudgetKind, spent: Amount, unknownPer?: number): string {
  const cap = scope.caps[kind]!;
  const percent = cap > 0 ? Math.floor((spent[kind] / cap) * 100) : 100;
  return `${percent} % of the ${nameScope(scope)} is used: ${shown(kind, spent[kind])} of ${shown(kind, cap)}.${assumed(kind, spent, unknownPer)}`;
}

/** Dollars that nobody billed like this. The sum may have some of an earlier model although this one's price is known. */
function assumed(kind: BudgetKind, spent: Amount, unknownPer: number | undefined): string {
  if (kind !== "dollars") return "";
  if (unknownPer === undefined)
    return spent.assumed > 0
      ? ` ${shown(kind, spent.assumed)} of that is assumed, because a model's price wasn't known when it was called (budgets.unknownPricePerMillion).`
      : "";
  return ` The model's price isn't known, so it is counted at $${unknownPer} per million tokens (budgets.unknownPricePerMillion).`;
}

function nameScope(scope: ScopeKey): string {
  switch (scope.kind) {
    case "all":
      return "budget for today";
    case "agent":
      return `budget for agent "${scope.name}" for today`;
    case "session":
      return "budget for this session";
    case "schedule":
      return `budget for schedule "${scope.name}" for today`;
    default:
      return assertNever(scope.kind);
  }
}

function nameSetting(scope: ScopeKey): string {
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

function shown(kind: BudgetKind, value: number): string {
  if (kind === "dollars") return `$${value > 0 && value < 0.1 ? value.toPrecision(2) : value.toFixed(2)}`;
  return `${value.toLocaleString("en")} ${kind}`;
}
