/** `lares turns`: what an agent did, step by step. A sentence on top, then a row per step. */
import type { TurnState } from "../../../core/domain/index.ts";
import type { TurnDetail } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, duration, oneLine, plural, STATES, shortId, visible, when } from "../format.ts";
import { endLine } from "../lines.ts";
import { table } from "../output.ts";

export const list: Action = async ({ rpc, out, options, clock }) => {
  const { turns } = await rpc.call("turns.list", {
    ...(options.session ? { session: options.session } : {}),
    ...(options.open ? { open: true } : {}),
    ...(options.limit ? { limit: options.limit } : {}),
  });
  turns.reverse();
  out.items(turns);
  out.say(
    turns.length ? `${plural(turns.length, "turn")}, the newest last.` : "No turns. Begin one: lares chat",
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

export const get: Action = async (ctx, [turn = ""]) => {
  const { rpc, out, clock } = ctx;
  const t = await rpc.call("turns.get", { turn });
  out.document(t);
  const rows = [
    ["turn", t.turn],
    ["session", t.session],
    ["agent", t.agent],
    ...(t.model ? [["model", t.practice ? "the practice model" : t.model]] : []),
    ["accepted", `${when(t.acceptedAt)} (${ago(t.acceptedAt, clock.now())})`],
    ...(t.joined ? [["joined", t.joined]] : []),
    ...t.deliveries.map((d) => ["delivery", `${d.channel}: ${d.state}${d.error ? ` (${oneLine(d.error)})` : ""}`]),
  ];
  out.say(
    endLine(t, out.paint, clock.now()),
    ...table(rows, "  "),
    ...timeline(ctx, t),
    ...t.notices.map((notice) => `  ! ${oneLine(notice)}`),
    ...(t.reason ? ["", visible(t.reason)] : []),
    ...(t.response ? ["", visible(t.response)] : []),
  );
  return EXIT.done;
};

type Row = { at: number; cells: string[] };

function timeline(ctx: Context, t: TurnDetail): string[] {
  const { paint } = ctx.out;
  const now = ctx.clock.now();
  const begin = t.acceptedAt;
  const row = (at: number, glyph: string, name: string, ms: number | undefined, more = ""): Row => ({
    at,
    cells: [glyph, name, `+${duration(at - begin)}`, ms === undefined ? "" : duration(ms), more],
  });
  const rows: Row[] = [
    ...t.steps.map((s) => {
      const [glyph, more] = stepMark(s.state, t.endedAt !== undefined, paint);
      return row(s.at, glyph, stepName(s.name), s.endedAt === undefined ? undefined : s.endedAt - s.at, more);
    }),
    ...t.approvals.map((a) => {
      const waits = a.state === "pending";
      const more = waits ? `lares approve ${shortId(a.id)}` : `${a.state}${a.answeredBy ? ` by ${a.answeredBy}` : ""}`;
      const glyph = waits ? paint("◐", "wait") : a.state === "allowed" ? paint("✓", "ok") : paint("–", "dim");
      return row(a.askedAt, glyph, `asked: ${a.tool}`, (a.answeredAt ?? now) - a.askedAt, more);
    }),
  ];
  if (!rows.length) return [];
  rows.sort((a, b) => a.at - b.at);
  return [
    "",
    ...table(
      rows.map((r) => r.cells),
      "  ",
    ),
  ];
}

function stepMark(
  state: TurnDetail["steps"][number]["state"],
  ended: boolean,
  paint: Context["out"]["paint"],
): [string, string] {
  if (state === "done") return [paint("✓", "ok"), ""];
  if (state === "unknown" || ended) return [paint("?", "wait"), "outcome unknown"];
  return ["●", "running"];
}

/** `tool:exec:call_1` → `exec`; the raw names are in --json. */
function stepName(name: string): string {
  const [kind, rest] = name.split(":") as [string, string | undefined];
  if (kind === "model") return `model call ${Number(rest) + 1}`;
  if (kind === "tool") return rest ?? name;
  if (kind === "judge") return "judged";
  if (kind === "recheck") return "checked again";
  return kind === "shrink" ? "made room" : visible(name);
}
