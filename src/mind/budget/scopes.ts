/** Which budgets a call counts against. */
import { readRunSession } from "../../core/domain/index.ts";
import type { BudgetsConfig } from "./config.ts";
import type { Caps } from "./judge.ts";
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
function findSchedule(session: string): string | undefined {
  return readRunSession(session)?.job;
}

/** The date in this machine's time zone: people mean their own midnight. */
function localDay(now: number): string {
  const date = new Date(now);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
