/** Handlers of `goals.*`. */
import { defined } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import type { Goal } from "../../mind/goals/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

export function makeGoalMethods(parts: Asks<"goals"> & Pick<MethodParts, "config">): Methods<"goals"> {
  const goals = () => parts.instance().goals;
  return {
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
  };
}

/** The row is stored with SQL names and nulls; the wire has camel case and leaves out what is empty. */
function wireGoal(goal: Goal): Result<"goals.get"> {
  const { id, session, agent, outcome, proof, stop, state, why, turn, round, dollars, tokens } = goal;
  return {
    id,
    session,
    agent,
    outcome,
    state,
    round,
    dollars,
    tokens,
    ...defined({ proof: proof ?? undefined, stop: stop ?? undefined, why: why ?? undefined, turn: turn ?? undefined }),
    waiting: goal.waiting === 1,
    mostTurns: goal.most_turns,
    ...defined({ mostDollars: goal.most_dollars ?? undefined, mostTokens: goal.most_tokens ?? undefined }),
    madeBy: goal.made_by,
    madeAt: goal.made_at,
    updatedAt: goal.updated_at,
  };
}
