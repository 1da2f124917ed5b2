/** `lares sessions`: look at conversations, clear their context, delete them. */
import { AppError, type TurnState } from "../../../core/domain/index.ts";
import { nearest, truthy } from "../../../core/kit/index.ts";
import type { HistoryMessage, SessionSummary } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, clockTime, oneLine, plural, STATES, when } from "../format.ts";
import { failureLine } from "../lines.ts";
import { type Paint, table } from "../output.ts";
import { cut } from "../width.ts";
import { commonWords } from "../words/common.ts";
import { sessionWords as words } from "../words/talk.ts";

export const list: Action = async ({ rpc, out, options, clock }) => {
  const { sessions, total = sessions.length } = await rpc.call(
    "sessions.list",
    truthy({ limit: options.limit, search: options.search, agent: options.agent }),
  );
  sessions.reverse();
  out.items(sessions);
  if (!sessions.length) {
    out.say(options.search ? words.noMatch(options.search) : words.none(out.hint));
    return EXIT.done;
  }
  out.say(
    words.some(total, sessions.length),
    ...table(
      sessions.map((s) => [
        markState(s, out.paint),
        s.session,
        plural(s.messages, "message"),
        ago(s.updatedAt, clock.now()),
        cut(oneLine(s.title), 48),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

/** Working, waiting for a person, or left with a failure; nothing for a conversation that is in order. */
function markState({ running, last }: SessionSummary, paint: Paint): string {
  if (running) return "●";
  if (!last || (last.state !== "parked" && !hasFailed(last))) return " ";
  const { glyph, tone } = STATES[last.state];
  return paint(glyph, tone);
}

/** Declined with a failure: Lares refused, for example because a budget is used up. */
function hasFailed({ state, failure }: { state: string; failure?: string | undefined }): boolean {
  return state === "failed" || state === "attention" || (state === "declined" && failure !== undefined);
}

export const get: Action = async (ctx, [session = ""]) => {
  const { rpc, out, clock, ports } = ctx;
  const s = await suggestNearSession(ctx, session, () => rpc.call("sessions.get", { session }));
  const { turns } = await rpc.call("turns.list", { session, limit: 50 });
  const failed = turns.filter(hasFailed);
  out.document({ ...s, failed });
  if (out.json) return EXIT.done;
  const { messages, more } = await rpc.call("chat.history", { session, limit: ctx.options.limit ?? 10 });
  const rows = [
    ["session", s.session],
    ["agent", s.agent],
    ...(s.person ? [["person", s.person]] : []),
    ["started", when(s.createdAt)],
    ["used", ago(s.updatedAt, clock.now())],
    ...(s.running ? [["running", s.running]] : []),
  ];
  const width = Math.max((ports.stdout.columns ?? 100) - 4, 40);
  out.say(
    words.one(oneLine(s.title), s.messages),
    ...table(rows, "  "),
    ...(messages.length || failed.length ? ["", ...(more ? [out.paint(words.earlier(out.hint), "dim")] : [])] : []),
    ...inOrder([
      ...messages.map((m) => ({
        at: Date.parse(m.timestamp),
        text: cut(`${whoSays(m, failed)} ${gist(m)}`, width - 8),
      })),
      // Not cut: it ends with what to do about it.
      ...failed
        .map((t) => ({
          at: t.endedAt ?? t.acceptedAt,
          text: `${STATES[t.state as TurnState].glyph} ${failureLine(t, out)}`,
        }))
        .filter(({ at }) => !more || at >= Date.parse(messages[0]?.timestamp ?? "")),
    ]),
  );
  return EXIT.done;
};

export const reset: Action = async (ctx, [session = ""]) => {
  ctx.out.document(await suggestNearSession(ctx, session, () => ctx.rpc.call("sessions.reset", { session })));
  ctx.out.say(words.cleared);
  return EXIT.done;
};

export const remove: Action = async (ctx, [session = ""]) => {
  const { rpc, out } = ctx;
  const s = await suggestNearSession(ctx, session, () => rpc.call("sessions.get", { session }));
  const question = words.deleteQuestion(s.session, s.messages);
  if (!(await confirmed(ctx, question))) return reportDeclined(ctx);
  const done = await rpc.call("sessions.delete", { session });
  out.document({ session, ...done });
  out.say(words.deleted(session, done.messages));
  return EXIT.done;
};

export const prune: Action = async (ctx) => {
  const { rpc, out, options } = ctx;
  const olderThanDays = options.olderThan ?? 0;
  const would = await rpc.call("sessions.prune", { olderThanDays, dryRun: true });
  if (options.dryRun || !would.sessions.length) {
    out.document({ ...would, deleted: false });
    const n = would.sessions.length;
    out.say(n ? words.wouldDelete(n) : words.nothingThatOld, ...indented(would.sessions));
    return EXIT.done;
  }
  out.note(...indented(would.sessions));
  if (!(await confirmed(ctx, words.deleteManyQuestion(would.sessions.length)))) {
    return reportDeclined(ctx);
  }
  const done = await rpc.call("sessions.prune", { olderThanDays });
  out.document(done);
  out.say(words.deletedMany(done.sessions.length));
  return EXIT.done;
};

/** A key that is nearly one gets the right one. */
export async function suggestNearSession<T>(ctx: Context, session: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError && error.code === "NOT_FOUND")) throw error;
    const { sessions } = await ctx.rpc.call("sessions.list", { limit: 500 });
    const near = nearest(
      session,
      sessions.map((s) => s.session),
    );
    throw new AppError("NOT_FOUND", {
      message: words.unknown(session),
      hint: near ? commonWords.didYouMean(near) : words.seeThem,
    });
  }
}

/** Somebody said no. */
export function reportDeclined(ctx: Context): number {
  ctx.out.note(commonWords.nothingChanged);
  return EXIT.declined;
}

function indented(keys: readonly string[]): string[] {
  return keys.map((key) => `  ${key}`);
}

function inOrder(lines: { at: number; text: string }[]): string[] {
  return lines.sort((a, b) => a.at - b.at).map(({ at, text }) => `  ${clockTime(at).slice(0, 5)} ${text}`);
}

/** ✓ only for the answer of a turn that went well: a message that calls tools is a step, however they end. */
function whoSays(m: HistoryMessage, failed: readonly { turn: string }[]): string {
  if (m.role === "user") return m.meta?.kind === undefined && !m.label ? "›" : "·";
  const isAnswer = m.role === "assistant" && !m.content.some((part) => part.type === "tool-call");
  return isAnswer && !failed.some(({ turn }) => turn === m.turn) ? "✓" : "·";
}

/** What Lares added itself is shown by its label alone. */
function ownText(label: { text: string } | undefined): string {
  return label ? `(${label.text})` : "";
}

function gist(m: HistoryMessage): string {
  const mark = m.forgotten ? words.forgottenMark : "";
  return oneLine(
    mark +
      m.content
        .map((part) => {
          if (part.type === "text") return part.ours ? ownText(part.label) : part.text;
          if (part.type === "tool-call") return `[${part.name} ${JSON.stringify(part.input)}]`;
          return part.type === "tool-result" ? `[${part.name}: ${part.text}]` : "";
        })
        .join(" "),
  );
}
