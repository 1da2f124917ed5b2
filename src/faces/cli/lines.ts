/** Lines that more than one command shows in the same words. */
import { howToType, type QuestionForm } from "../../core/domain/index.ts";
import type { Approval, TurnDetail } from "../../core/protocol/index.ts";
import { duration, money, oneLine, plural, STATES, shortId, visible } from "./format.ts";
import type { Hint, Output, Paint } from "./output.ts";
import { wrap } from "./width.ts";
import { commonWords as words } from "./words/common.ts";

/** `✓ answered · 4.2 s · 3 steps · $0.013`. */
export function endLine(t: TurnDetail, paint: Paint, now: number): string {
  const { glyph, word, tone } = STATES[t.state];
  // Judging and looking again are ours; a person counts calls of the model and of tools.
  const steps = t.steps.filter(({ does }) => does.kind === "model" || does.kind === "tool").length;
  const cost = t.usage && !t.practice && t.usage.cost !== 0 ? money(t.usage.cost) : "";
  const facts = [duration((t.endedAt ?? now) - t.acceptedAt), steps ? plural(steps, "step") : "", cost];
  return [paint(`${glyph} ${word}`, tone), ...facts.filter(Boolean)].join(" · ");
}

/** A reason that only repeats the state: "Stopped." */
export function saysNoMore(t: TurnDetail): boolean {
  return t.reason?.toLowerCase().replace(/\.$/, "") === STATES[t.state].word;
}

/** Why a turn failed, for a place that shows no more of it: with the way to its steps where the reason alone doesn't help. */
export function failureLine(
  t: { turn: string; reason?: string | undefined; failure?: string | undefined },
  out: Output,
): string {
  const reason = t.reason ? out.ours(oneLine(t.reason)) : words.turnFailed;
  if (t.reason && t.failure !== "stopped-lares") return reason;
  return words.whatItDid(out.hint, reason, t.turn);
}

/**
 * The question in plain words, then exactly what will run; nothing of it is cut. `columns`: of a terminal, which would break its
 * rows in the middle of words.
 */
export function askCard(a: Approval, paint: Paint, now: number, columns = Number.POSITIVE_INFINITY): string[] {
  const shown = visible(a.shown).split("\n");
  const [why = "", ...more] = wrap(oneLine(a.because), columns - 18);
  const unanswered = duration(a.deadline - now);
  return [
    ...questionLines(a, paint),
    // What goes on is marked: it must not look like a separate line.
    ...shown.flatMap((line) => wrap(line, columns - 7).map((row, i) => `    ${i ? paint("↳ ", "dim") : ""}${row}`)),
    `  ${paint("because", "dim")}        ${why}`,
    ...more.map((row) => `                 ${row}`),
    (a.form ? words.cancelled : words.denied)(paint(words.ifUnanswered, "dim"), unanswered),
  ];
}

/** Who wants what: an agent to act, or somebody else's program to know something. */
export function questionLines(a: Approval, paint: Paint): string[] {
  if (!a.form) return [words.question(answerMark(a, paint), a.agent, a.tool)];
  const asks = words.asksYou(answerMark(a, paint), a.form.from);
  return a.form.fields.length > 0 ? [asks, `  ${words.getsAnswer}`] : [asks];
}

/** Waiting, allowed, or not. */
export function answerMark({ state }: { state: string }, paint: Paint): string {
  if (state === "pending") return paint("◐", "wait");
  return state === "allowed" ? paint("✓", "ok") : paint("–", "dim");
}

export function howToAnswer(a: Approval, hint: Hint): string {
  return a.form?.fields.length
    ? words.howToFillIn(hint, shortId(a.id), howToType(a.form as QuestionForm))
    : words.howToAnswer(hint, shortId(a.id));
}
