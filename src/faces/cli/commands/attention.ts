/** `lares attention`: what needs a person, over everything. */
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural } from "../format.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";

export const list: Action = async ({ rpc, out, clock, options }) => {
  const { items, total, next } = await rpc.call("attention.list", { limit: options.limit ?? 50 });
  out.document({ items, total, ...(next ? { next } : {}) });
  if (!total) {
    out.say("Nothing needs you.");
    return EXIT.done;
  }
  out.say(
    `${plural(total, "thing")} ${total === 1 ? "needs" : "need"} you.`,
    ...table(
      items.map((one) => [
        out.paint(one.kind === "approval" ? "◐" : "✕", one.kind === "approval" ? "wait" : "fail"),
        one.kind,
        cut(oneLine(one.text), 100),
        ago(one.at, clock.now()),
        one.id,
      ]),
      "  ",
    ),
  );
  if (next) out.note(`There is more: lares attention --limit ${Math.min(total, 500)}`);
  out.note("Take something off the list: lares attention dismiss ID, or all of it with --all.");
  return EXIT.done;
};

export const dismiss: Action = async ({ rpc, out, options }, ids) => {
  if (ids.length > 0 === (options.all === true)) {
    throw usage("Say which, or --all.", "For example: lares attention dismiss turn:t_01");
  }
  const done = await rpc.call("attention.dismiss", options.all ? { all: true } : { ids: [...ids] });
  out.document(done);
  out.say(`${plural(done.dismissed, "thing")} dismissed; ${done.total ? `${done.total} left` : "nothing needs you"}.`);
  return EXIT.done;
};
