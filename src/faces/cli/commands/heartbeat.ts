/** `lares heartbeat`: what agents look after by themselves, and what that costs. */
import type { Result } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, duration, oneLine, plural, spent } from "../format.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";
import { heartbeatWords as words } from "../words/schedule.ts";

type Beat = Result<"heartbeat.list">["beats"][number];

export const list: Action = async ({ rpc, out, clock }) => {
  const { beats } = await rpc.call("heartbeat.list", {});
  out.items(beats);
  const on = beats.filter((one) => one.state !== "off");
  if (!on.length) {
    out.say(words.none(out.hint));
    return EXIT.done;
  }
  out.say(
    `${plural(on.length, "heartbeat")}.`,
    ...table(
      on.map((one) => [
        one.state === "watching" ? "●" : "–",
        one.agent,
        beatLine(one),
        one.next === undefined ? "" : words.nextIn(duration(Math.max(one.next - clock.now(), 0))),
        one.lastSaid ? `${one.lastAt ? `${ago(one.lastAt, clock.now())}: ` : ""}${cut(oneLine(one.lastSaid), 60)}` : "",
      ]),
      "  ",
    ),
    ...on.flatMap((one) => one.problems.map((problem) => out.paint(`  ${oneLine(problem)}`, "wait"))),
  );
  return EXIT.done;
};

export const run: Action = async (ctx, [agent = "main"]) => {
  const done = await ctx.rpc.call("heartbeat.run", { agent });
  ctx.out.document(done);
  ctx.out.say(words.checking(ctx.out.hint, done.turn));
  return EXIT.done;
};

export const pause: Action = async (ctx, [agent = "main"]) =>
  told(ctx, await ctx.rpc.call("heartbeat.pause", { agent }));
export const resume: Action = async (ctx, [agent = "main"]) =>
  told(ctx, await ctx.rpc.call("heartbeat.resume", { agent }));

function told({ out }: Context, beat: Beat): number {
  out.document(beat);
  out.say(`${beat.agent}: ${beatLine(beat)}.`);
  return EXIT.done;
}

/** One line for a status. */
export function beatLine(beat: Beat): string {
  const { looks, calls, cost, unknownPrice } = beat.today;
  const money = calls && (cost !== 0 || unknownPrice) ? `, ${spent(beat.today)}` : "";
  const state = beat.state === "watching" ? plural(beat.items, "thing") : `${beat.state} (${oneLine(beat.because)})`;
  return words.line(state, looks, calls, money);
}
