/** Handlers of the methods about what wakes an agent. */
import {
  type AgentId,
  AppError,
  asId,
  eventKeys,
  type SessionKey,
  sessionKeys,
  sourceKeys,
} from "../core/domain/index.ts";
import type { Result } from "../core/protocol/index.ts";
import { runningProcesses } from "../edges/tools/index.ts";
import type { Handlers } from "../faces/gateway/index.ts";
import { eventsWaiting } from "../flow/events/index.ts";
import type { Goal } from "../mind/goals/index.ts";
import { nextSlots } from "../mind/schedule/index.ts";
import { openChildren } from "../mind/teams/index.ts";
import { listWakes, type Waiting } from "../mind/wakes/index.ts";
import type { HandlerParts } from "./handlers.ts";
import type { House } from "./house.ts";

/** Everything that waits for something. */
function waitingIn({ records, watchers, goals, hooks }: House): Waiting {
  const db = records.committed;
  return {
    db,
    slots: (most) => nextSlots(db, most),
    hooks: () => hooks.list(),
    watches: () => watchers.list(),
    goals: (most) => goals.list(most),
    children: (most) => openChildren(db, most),
    processes: (most) => runningProcesses(db, most),
    events: (most) => eventsWaiting(db, most),
  };
}

type WakeHandlers = Pick<Handlers, `${"wakes" | "watch" | "goals"}.${string}` & keyof Handlers>;

export function makeWakeHandlers(parts: Pick<HandlerParts, "house" | "config" | "ids" | "clock">): WakeHandlers {
  const goals = () => parts.house().goals;
  return {
    "wakes.list": async () => ({ wakes: await listWakes(waitingIn(parts.house()), parts.clock.now()) }),
    async "watch.resume"({ name }) {
      if (!(await parts.house().watchers.resume(name))) {
        throw new AppError("NOT_FOUND", { message: `Nothing named "${name}" is watched.`, hint: "See: lares wakes" });
      }
      return { name };
    },
    "goals.list": async ({ limit }) => ({ goals: (await goals().list(limit ?? 100)).map(wireGoal) }),
    "goals.get": async ({ id }) => wireGoal(await goals().get(id)),
    async "goals.add"({ deliver, idempotencyKey: _key, ...given }, caller) {
      const agent = given.agent ?? parts.config.routing.defaultAgent;
      const route = deliver ? { route: deliver } : {};
      return wireGoal(await goals().add({ ...given, ...route, agent, madeBy: caller.principal.name }));
    },
    "goals.pause": async ({ id }, caller) => wireGoal(await goals().pause(id, caller.principal.name)),
    "goals.resume": async ({ id }) => wireGoal(await goals().resume(id)),
    "goals.cancel": async ({ id }, caller) => wireGoal(await goals().cancel(id, caller.principal.name)),
    async "wakes.send"({ session: typed, agent: named, text, deliver, idempotencyKey }, caller) {
      const house = parts.house();
      const agent = asId<AgentId>(named ?? parts.config.routing.defaultAgent);
      const session = typed === "main" ? sessionKeys.main(agent) : asId<SessionKey>(typed);
      const known = typed === "main" ? undefined : await house.sessions.get(session);
      const owner = asId<AgentId>(known?.agent ?? agent);
      if (!house.agents.exists(owner)) {
        throw new AppError("AGENT_UNKNOWN", {
          message: `There is no agent "${owner}".`,
          hint: "See: lares agents list",
        });
      }
      const key = eventKeys.wake(caller.principal.id, idempotencyKey ?? parts.ids.next("e"));
      const { name, scopes } = caller.principal;
      const { duplicate } = await house.events.tell({
        key,
        kind: "wake",
        source: sourceKeys.wake(caller.principal.id),
        session,
        agent: owner,
        route: deliver ?? { channel: "none", account: "wake", chat: session },
        label: `Woken by ${name}`,
        body: text,
        authority: scopes.has("admin") ? "owner" : "known",
      });
      return { session, event: key, duplicate };
    },
  };
}

function wireGoal(goal: Goal): Result<"goals.get"> {
  const { id, session, agent, outcome, proof, stop, state, why, turn, round, dollars, tokens } = goal;
  return {
    ...{ id, session, agent, outcome, state, round, dollars, tokens },
    ...(proof === null ? {} : { proof }),
    ...(stop === null ? {} : { stop }),
    ...(why === null ? {} : { why }),
    ...(turn === null ? {} : { turn }),
    waiting: goal.waiting === 1,
    mostTurns: goal.most_turns,
    ...(goal.most_dollars === null ? {} : { mostDollars: goal.most_dollars }),
    ...(goal.most_tokens === null ? {} : { mostTokens: goal.most_tokens }),
    madeBy: goal.made_by,
    madeAt: goal.made_at,
    updatedAt: goal.updated_at,
  };
}
