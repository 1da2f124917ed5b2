/** Ending: one visible outcome, its record and its delivery in one transaction (I5, I6). */
import type { Outcome } from "../../core/contracts/index.ts";
import {
  answerIds,
  type EndState,
  hasWords,
  leastTrusted,
  type ModelMessage,
  messageIds,
  readTeamSession,
  type Terms,
  type ToolResultPart,
  type TurnFailure,
  type TurnId,
  type TurnResult,
  toJson,
} from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { IntakeMessage, TurnParts } from "./ports.ts";
import type { Saying, TurnRun } from "./run.ts";
import { recordEnd } from "./store.ts";
import { DECLINED_FOR_GUESTS, FAILED_FOR_GUESTS, STOPPED, seeTurn } from "./words.ts";

export interface Ending {
  state: EndState;
  text: string;
  reason?: string;
  failure?: TurnFailure;
  joined?: TurnId;
  cut?: true;
  callerCalls?: NonNullable<TurnResult["callerCalls"]>;
  /** The answer came from no model: it enters the history with the end. */
  said?: boolean;
  /** For calls that no longer run: each call in the history has a result. */
  results?: ToolResultPart[];
  /** What another runtime said and did: it enters the history with the end. */
  lines?: readonly ModelMessage[];
  /** What people had seen of an answer when it was stopped: it stays, marked. */
  cutOff?: Saying | undefined;
}

/** Whether the turn's cause delivers this ending itself. */
function isKept(keeps: Terms["keeps"], state: EndState): boolean {
  // What started this turn, such as a heartbeat, sends something itself or nothing at all.
  if (keeps === "all") return true;
  return keeps === "failures" && state !== "answered";
}

function saidMessage(turn: TurnId, text: string, at: number) {
  const message = { role: "assistant" as const, content: [{ type: "text" as const, text }] };
  return { id: messageIds.said(turn), message, at, outside: true };
}

/** Under the id it would have had whole, so that a page that saw it grow shows it once. */
function cutOffMessage({ turn, segment }: TurnRun, { call, text, model }: Saying, at: number) {
  const message = { role: "assistant" as const, content: [{ type: "text" as const, text: text.trim() }] };
  return { id: messageIds.reply(turn, segment, call), message, at, meta: { ...truthy({ model }), stopped: true } };
}

export function finish(parts: TurnParts, run: TurnRun, ending: Ending): Outcome {
  const { turn, session, p, route, own } = run;
  // A turn that ended before its first call, or whose progress is lost, knows its author only by the message.
  const isGuest = leastTrusted(p.authority, own?.authority ?? "owner") === "stranger";
  const { said: _said, results = [], lines = [], cutOff, ...shown } = ending;
  const result: TurnResult = {
    ...shown,
    notices: p.notices,
    usage: p.usage,
    calls: p.call,
    toolCalls: p.toolCalls,
    ...truthy({ model: p.model, practice: p.practice }),
  };
  return {
    end: toJson(result),
    record: (tx) => {
      const now = parts.clock.now();
      // Stopped or failed before a call could contain it: the message still enters the history, once.
      if (own && !p.tookOwn && ending.state !== "joined") {
        // Otherwise the next turn of this session would find it in the inbox and answer it.
        parts.intake.take(tx, turn, turn, p.call);
        parts.history.append(tx, { session, turn, ...userMessage(own) });
      }
      // A question whose turn is over must not be answerable: nothing would happen.
      for (const w of p.waiting) parts.questions.close(tx, w.approval, "withdrawn");
      // Only what was parked had any.
      if (run.segment > 0) parts.interims.forget(tx, turn);
      recordEnd(tx, turn, result, p.startedAt, now);
      parts.hooks.record(tx, "turn.ended", turn, () => {
        const { state, text: said, reason, toolCalls } = result;
        return { agent: run.agent, session, turn, state, text: said, toolCalls, ...truthy({ reason }) };
      });
      if (results.length) {
        const message = { role: "tool" as const, content: results };
        parts.history.append(tx, {
          session,
          turn,
          id: messageIds.results(turn, run.segment, p.call - 1),
          message,
          at: now,
        });
      }
      for (const [n, message] of lines.entries())
        parts.history.append(tx, {
          session,
          turn,
          id: messageIds.reply(turn, run.segment, n),
          message,
          at: now,
          outside: true,
        });
      if (cutOff?.text.trim()) parts.history.append(tx, { session, turn, ...cutOffMessage(run, cutOff, now) });
      if (ending.said) parts.history.append(tx, { session, turn, ...saidMessage(turn, ending.text, now) });
      const say = () => (isGuest ? parts.withoutPaths(spokenToGuest(result)) : spoken(result, turn));
      const text = isKept(run.terms.keeps, result.state) ? "" : say();
      const sent = text && readTeamSession(session) ? parts.sign(session, text) : text;
      if (sent) parts.replies.intend(tx, { answer: answerIds.answer(turn), turn, session, route, text: sent });
    },
  };
}

/** What a chat shows: the answer or the reason, then what the person should know beside it. */
function spoken(result: TurnResult, turn: TurnId): string {
  if (result.state === "joined" || result.state === "silent") return "";
  // Only for this failure: for the others the reason says enough.
  const look = result.failure === "stopped-lares" ? seeTurn(turn) : "";
  if (result.state === "stopped" && result.text) return `${result.text}\n\n(${STOPPED})`;
  const main = result.text || (result.reason ?? "") + look;
  return [main, ...result.notices.map((notice) => `(${notice})`)].filter(Boolean).join("\n\n");
}

/** Which model failed, what was spent and which command helps is the owner's to know: they read it on the page and in the log. */
export function spokenToGuest({ state, text }: Pick<TurnResult, "state" | "text">): string {
  if (state === "joined" || state === "silent") return "";
  if (text) return text;
  if (state === "stopped") return STOPPED;
  return state === "declined" ? DECLINED_FOR_GUESTS : FAILED_FOR_GUESTS;
}

export function userMessage(m: IntakeMessage) {
  const said = { type: "text" as const, text: m.text };
  const words = !hasWords(m.text) && m.attached.length ? [...m.attached] : [said, ...m.attached];
  const label = m.label ? { label: m.label } : {};
  // Lares' own line comes first and is marked as ours, so that nobody's text can imitate it.
  const own = { type: "text" as const, text: m.envelope ?? "", ours: true as const, ...label };
  const content = m.envelope || m.label ? [own, ...words] : words;
  return {
    id: messageIds.input(m.turn),
    message: { role: "user" as const, content },
    ...truthy({ person: m.person }),
    at: m.at,
    outside: carriesOutside(m),
  };
}

/** A file is somebody's text, no matter who sends it (I12). */
export function carriesOutside(m: IntakeMessage): boolean {
  const isForeign = m.authority === "outside" || m.authority === "stranger" || m.outside === 1;
  return isForeign || m.attached.some((part) => part.type === "image" || part.file !== undefined);
}
