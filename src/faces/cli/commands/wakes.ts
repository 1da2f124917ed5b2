/** `lares wake` rings for an agent; `lares wakes` shows what will. */

import { truthy } from "../../../core/kit/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, duration, oneLine } from "../format.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";
import { commonWords } from "../words/common.ts";
import { wakeWords as words } from "../words/schedule.ts";
import { readTarget } from "./schedule.ts";

export const wake: Action = async (ctx, [session = "", text = ""]) => {
  const { rpc, out, options } = ctx;
  const deliver = readTarget(options.deliver, options.thread);
  const done = await rpc.call("wakes.send", {
    session,
    text,
    ...truthy({ agent: options.agent, deliver, idempotencyKey: options.idempotencyKey }),
  });
  out.document(done);
  out.say(done.duplicate ? words.duplicate(done.session) : words.sent(done.session));
  return EXIT.done;
};

export const resume: Action = async ({ rpc, out }, [name = ""]) => {
  const done = await rpc.call("watch.resume", { name });
  out.document(done);
  out.say(words.watching(name));
  return EXIT.done;
};

export const list: Action = async ({ rpc, out, clock }) => {
  const { wakes } = await rpc.call("wakes.list", {});
  // The one that comes next stands next to the prompt.
  const nextLast = [...wakes].reverse();
  out.items(nextLast);
  const now = clock.now();
  const soon = wakes.find((one) => one.at !== undefined);
  const first = soon ? words.theNext(oneLine(soon.name), until(soon.at!, now)) : "";
  out.say(
    wakes.length ? words.some(wakes.length, first) : words.none(out.hint),
    ...table(
      nextLast.map((one) => [
        one.kind,
        cut(oneLine(one.name), 32),
        cut(oneLine(one.about), 60),
        showTime(one, now),
        one.problem ? out.paint(`✕ ${out.ours(oneLine(one.problem))}`, "wait") : "",
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

function showTime({ at, kind }: { at?: number | undefined; kind: string }, now: number): string {
  if (at !== undefined) return until(at, now);
  return kind === "watch" ? words.paused : words.anyTime;
}

function until(at: number, now: number): string {
  return at <= now ? ago(at, now) : commonWords.inTime(duration(at - now));
}
