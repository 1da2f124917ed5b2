/** `lares goals`: what agents work towards by themselves. */

import { assertNever } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, shortId, when } from "../format.ts";
import { type Paint, table } from "../output.ts";
import { pick } from "../pick.ts";
import { cut } from "../width.ts";
import { goalWords as words } from "../words/schedule.ts";
import { readTarget } from "./schedule.ts";
import { reportDeclined } from "./sessions.ts";

type Goal = Result<"goals.get">;

export const list: Action = async (ctx) => {
  const { out, clock } = ctx;
  const goals = (await all(ctx)).reverse();
  out.items(goals);
  const active = goals.filter((goal) => goal.state === "active").length;
  out.say(
    goals.length ? words.some(goals.length, active) : words.none(out.hint),
    ...table(
      goals.map((goal) => [
        mark(goal, out.paint),
        shortId(goal.id),
        cut(oneLine(goal.outcome), 60),
        words.turnOf(goal.round, goal.mostTurns),
        ago(goal.updatedAt, clock.now()),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const add: Action = async (ctx, [outcome = ""]) => {
  const { rpc, options: o } = ctx;
  const deliver = readTarget(o.deliver, o.thread);
  const goal = await rpc.call("goals.add", {
    outcome,
    ...truthy({
      proof: o.proof,
      stop: o.stop,
      session: o.session,
      agent: o.agent,
      turns: o.turns,
      dollars: o.dollars,
      tokens: o.tokens,
      deliver,
    }),
  });
  return tell(ctx, goal);
};

export const show: Action = async (ctx, [typed = ""]) => tell(ctx, await find(ctx, typed));

export const pause: Action = async (ctx, [typed = ""]) => {
  const { id } = await find(ctx, typed);
  return tell(ctx, await ctx.rpc.call("goals.pause", { id }));
};

export const resume: Action = async (ctx, [typed = ""]) => {
  const { id } = await find(ctx, typed);
  return tell(ctx, await ctx.rpc.call("goals.resume", { id }));
};

export const cancel: Action = async (ctx, [typed = ""]) => {
  const { id, outcome } = await find(ctx, typed);
  if (!(await confirmed(ctx, words.cancelQuestion(cut(oneLine(outcome), 60))))) return reportDeclined(ctx);
  return tell(ctx, await ctx.rpc.call("goals.cancel", { id }));
};

function tell({ out }: Context, goal: Goal): number {
  out.document(goal);
  const price = goal.mostDollars === undefined ? "" : ` of $${goal.mostDollars}`;
  out.say(
    `${mark(goal, out.paint)}: ${oneLine(goal.outcome)}`,
    ...(goal.why ? [`  ${oneLine(goal.why)}`] : []),
    ...table(
      [
        ["id", goal.id],
        ["session", goal.session],
        ...(goal.proof ? [["proof", oneLine(goal.proof)]] : []),
        ...(goal.stop ? [["stop", oneLine(goal.stop)]] : []),
        ["turns", words.turns(goal.round, goal.mostTurns)],
        ["used", words.used(goal.tokens, goal.dollars.toFixed(4), price)],
        ...(goal.turn ? [["turn", goal.turn]] : []),
        ["added", words.addedBy(when(goal.madeAt), oneLine(goal.madeBy))],
      ],
      "  ",
    ),
  );
  return EXIT.done;
}

async function all({ rpc }: Context): Promise<Goal[]> {
  return (await rpc.call("goals.list", {})).goals;
}

async function find(ctx: Context, typed: string): Promise<Goal> {
  const goals = (await all(ctx)).map((goal) => ({ ...goal, name: goal.id }));
  return pick(goals, typed, { noun: "goal", list: words.list });
}

function mark({ state, waiting }: Goal, paint: Paint): string {
  switch (state) {
    case "done":
      return paint("✓ done", "ok");
    case "blocked":
      return paint("✕ blocked", "fail");
    case "limit":
      return paint(words.atItsLimit, "wait");
    case "cancelled":
      return paint("– cancelled", "dim");
    case "paused":
      return paint("– paused", "dim");
    case "active":
      return waiting ? "○ waiting" : words.inProgress;
    default:
      return assertNever(state);
  }
}
