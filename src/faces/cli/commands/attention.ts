/** `lares attention`: what needs a person, over everything. */

import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural, shortId } from "../format.ts";
import { type Output, table } from "../output.ts";

type Item = Result<"attention.list">["items"][number];

/** Whose text is a sentence of ours. The others quote a tool's action, a schedule's name, a platform's error. */
const OURS: ReadonlySet<Item["kind"]> = new Set(["turn", "effect", "channel", "watch", "problem"]);

export const list: Action = async ({ rpc, out, clock, options }) => {
  const { items, total, next } = await rpc.call("attention.list", { limit: options.limit ?? 50 });
  out.document({ items, total, ...truthy({ next }) });
  if (!total) {
    out.say("Nothing needs you.");
    return EXIT.done;
  }
  const heads = table(
    items.map((one) => [
      out.paint(one.kind === "approval" ? "◐" : "✕", one.kind === "approval" ? "wait" : "fail"),
      one.kind,
      ago(one.at, clock.now()),
      one.id,
    ]),
    "  ",
  );
  out.say(
    `${plural(total, "thing")} ${total === 1 ? "needs" : "need"} you.`,
    ...items.flatMap((one, i) => [heads[i]!, ...below(one, out).map((line) => `     ${line}`)]),
  );
  if (next) out.note(out.hint`See more: lares attention --limit ${Math.min(total, 500)}`);
  out.note(out.hint`To dismiss something: lares attention dismiss ID, or --all.`);
  return EXIT.done;
};

/** Neither cut nor broken here: the terminal wraps it, so a command in it can be copied whole. */
function below(one: Item, out: Output): string[] {
  const text = oneLine(one.text);
  const first = OURS.has(one.kind) ? out.ours(text) : text;
  if (one.approval) return [first, out.hint`lares approvals get ${shortId(one.approval)}`];
  return one.turn ? [first, out.hint`lares turns get ${one.turn}`] : [first];
}

export const dismiss: Action = async ({ rpc, out, options }, ids) => {
  if (ids.length > 0 === (options.all === true)) {
    throw usage("Give an id, or --all.", "For example: lares attention dismiss turn:t_01");
  }
  const done = await rpc.call("attention.dismiss", options.all ? { all: true } : { ids: [...ids] });
  out.document(done);
  out.say(`${plural(done.dismissed, "thing")} dismissed; ${done.total ? `${done.total} left` : "nothing needs you"}.`);
  return EXIT.done;
};
