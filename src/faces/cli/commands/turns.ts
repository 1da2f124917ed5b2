/** `lares turns`: what an agent did, step by step. A sentence on top, then a row per step. */
import type { TurnState } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, STATES, visible, when } from "../format.ts";
import { endLine, saysNoMore } from "../lines.ts";
import { type Hint, table } from "../output.ts";
import { commonWords } from "../words/common.ts";
import { turnWords as words } from "../words/look.ts";
import { timeline } from "./timeline.ts";

export const list: Action = async ({ rpc, out, options, clock }) => {
  const { turns, total = turns.length } = await rpc.call(
    "turns.list",
    truthy({ session: options.session, open: options.open, limit: options.limit }),
  );
  turns.reverse();
  out.items(turns);
  out.say(
    turns.length ? words.some(total, turns.length) : noneLine(options, out.hint),
    ...table(
      turns.map((t) => {
        const { glyph, word, tone } = STATES[t.state as TurnState] ?? STATES.attention;
        return [out.paint(`${glyph} ${word}`, tone), t.turn, ago(t.acceptedAt, clock.now()), t.session];
      }),
      "  ",
    ),
  );
  return EXIT.done;
};

/** "None yet" would be wrong where only some were asked for. */
function noneLine({ session, open }: Context["options"], hint: Hint): string {
  if (open) return words.noneOpen;
  return session ? words.noneThere : words.none(hint);
}

export const get: Action = async (ctx, [turn = ""]) => {
  const { rpc, out, clock, ports } = ctx;
  const t = await rpc.call("turns.get", { turn });
  out.document(t);
  const rows = [
    ["turn", t.turn],
    ["session", t.session],
    ["agent", t.agent],
    ...(t.model ? [["model", t.practice ? commonWords.thePracticeModel : t.model]] : []),
    ["accepted", `${when(t.acceptedAt)} (${ago(t.acceptedAt, clock.now())})`],
    ...(t.joined ? [["joined", t.joined]] : []),
    ...t.deliveries.map((d) => ["delivery", `${d.channel}: ${d.state}${d.error ? ` (${oneLine(d.error)})` : ""}`]),
  ];
  out.say(
    endLine(t, out.paint, clock.now()),
    ...table(rows, "  "),
    ...timeline(t, { paint: out.paint, hint: out.hint, now: clock.now(), columns: ports.stdout.columns ?? 100 }),
    ...t.notices.map((notice) => `  ! ${oneLine(notice)}`),
    ...(t.reason && !saysNoMore(t) ? ["", out.ours(visible(t.reason))] : []),
    ...(t.response ? ["", visible(t.response)] : []),
  );
  return EXIT.done;
};
