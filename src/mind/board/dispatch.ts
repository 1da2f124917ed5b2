/**
 * Who takes which task: a pure decision over what is ready, who is free and how much may run at once. Its cost grows with the tasks that
 * are looked at, not with those on the board.
 *
 * DISPATCH-1: an urgent task goes before a less urgent one, an older before a newer one.
 * DISPATCH-2: a task goes only to a member that it is meant for.
 * DISPATCH-3: neither a member nor the whole gets more at once than its limit.
 */
import type { Assignee } from "../../core/domain/index.ts";

/** Somebody who takes tasks: an agent, with the roles and the team it has. */
export interface TaskMember {
  agent: string;
  roles: readonly string[];
  team?: string;
}

export interface ReadyTask {
  id: string;
  priority: number;
  number: number;
  assignee?: Assignee;
  team?: string;
}

export interface DispatchLimits {
  /** Tasks at work on the whole board. */
  atOnce: number;
  perMember: number;
  /** Takes tasks that are for nobody in particular and belong to no team. */
  anybody: string;
}

export type Assignment =
  | { task: string; agent: string }
  | { task: string; nobody: string }
  | { task: string; person: string };

/** `busy`: how many tasks each agent has now. */
export function assign(
  ready: readonly ReadyTask[],
  members: readonly TaskMember[],
  busy: ReadonlyMap<string, number>,
  limits: DispatchLimits,
): Assignment[] {
  const load = new Map(busy);
  let free = limits.atOnce - [...busy.values()].reduce((sum, n) => sum + n, 0);
  const found: Assignment[] = [];
  for (const task of ready.toSorted((a, b) => b.priority - a.priority || a.number - b.number)) {
    const { assignee } = task;
    if (assignee?.kind === "person") {
      found.push({ task: task.id, person: assignee.name });
      continue;
    }
    const fit = fitting(task, members, limits.anybody);
    if (fit.length === 0) found.push({ task: task.id, nobody: missing(task) });
    else if (free > 0) {
      const agent = leastBusy(fit, load, limits.perMember);
      if (agent === undefined) continue;
      load.set(agent, (load.get(agent) ?? 0) + 1);
      free--;
      found.push({ task: task.id, agent });
    }
  }
  return found;
}

function fitting(
  { assignee, team }: ReadyTask,
  members: readonly TaskMember[],
  anybody: string,
): readonly TaskMember[] {
  if (assignee?.kind === "agent") return members.filter(({ agent }) => agent === assignee.name);
  const inTeam = team === undefined ? members : members.filter((one) => one.team === team);
  if (assignee?.kind === "role") return inTeam.filter(({ roles }) => roles.includes(assignee.name));
  return team === undefined ? members.filter(({ agent }) => agent === anybody) : inTeam;
}

function leastBusy(fit: readonly TaskMember[], load: ReadonlyMap<string, number>, most: number): string | undefined {
  let best: { agent: string; n: number } | undefined;
  for (const { agent } of fit) {
    const n = load.get(agent) ?? 0;
    if (n < most && (best === undefined || n < best.n)) best = { agent, n };
  }
  return best?.agent;
}

function missing({ assignee, team }: ReadyTask): string {
  if (assignee?.kind === "role") return `Nobody${team ? ` in the team ${team}` : ""} has the role "${assignee.name}".`;
  if (assignee) return `There is no agent "${assignee.name}".`;
  return team ? `The team "${team}" has no members.` : "There is no agent to do it.";
}
