/** `lares attention`: what needs a person, over everything. */

import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, shortId } from "../format.ts";
import { type Output, table } from "../output.ts";
import { attentionWords as words } from "../words/look.ts";

type Item = Result<"attention.list">["items"][number];

/** Whose text is a sentence of ours. The others quote a tool's action, a schedule's name, a platform's error. */
const OURS: ReadonlySet<Item["kind"]> = new Set(["turn", "effect", "channel", "watch", "problem"]);

export const list: Action = async ({ rpc, out, clock, options }) => {
  const { items, total, next } = await rpc.call("attention.list", { limit: options.limit ?? 50 });
  out.document({ items, total, ...truthy({ next }) });
  if (!total) {
    out.say(words.none);
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
    words.some(total, items.length),
    ...items.flatMap((one, i) => [heads[i]!, ...below(one, out).map((line) => `     ${line}`)]),
  );
  if (next) out.note(words.more(out.hint, Math.min(total, 500)));
  out.note(words.toDismiss(out.hint));
  return EXIT.done;
};

/** Neither cut nor broken here: the terminal wraps it, so a command in it can be copied whole. */
function below(one: Item, out: Output): string[] {
  const text = oneLine(one.text);
  const first = OURS.has(one.kind) ? out.ours(text) : text;
  if (one.approval) return [first, words.seeApproval(out.hint, shortId(one.approval))];
  return one.turn ? [first, words.seeTurn(out.hint, one.turn)] : [first];
}

export const dismiss: Action = async ({ rpc, out, options }, ids) => {
  if (ids.length > 0 === (options.all === true)) {
    throw usage(words.giveId, words.giveIdHint);
  }
  const done = await rpc.call("attention.dismiss", options.all ? { all: true } : { ids: [...ids] });
  out.document(done);
  out.say(words.dismissed(done.dismissed, done.total));
  return EXIT.done;
};
