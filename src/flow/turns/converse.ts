/** The agent's loop: call the model, act on what it wants, until there is an answer, a question or a limit. */

import type { ModelReply, Outcome } from "../../core/contracts/index.ts";
import {
  addUsage,
  type EndingTool,
  type Json,
  type JsonObject,
  leastTrusted,
  messageIds,
  type ToolCallPart,
} from "../../core/domain/index.ts";
import { fitTo } from "../../core/kit/index.ts";
import { act } from "./act.ts";
import { findFinish, findSilence, notRun } from "./endings.ts";
import { type Ending, finish } from "./finish.ts";
import { checkAnswer, narrowed } from "./hooked.ts";
import { reached } from "./limits.ts";
import { callModel, MOST_SAID, type Replied } from "./model-call.ts";
import type { TurnParts } from "./ports.ts";
import type { WaitingCall } from "./progress.ts";
import { parkNow, shortened, spentFor, type TurnRun } from "./run.ts";
import {
  COMPACTED,
  CUT_OFF,
  cutOffAt,
  emptyTwice,
  LOOPED,
  MODEL_DECLINED,
  NO_MORE_TOOLS,
  TOO_LONG,
  wrongFormat,
} from "./words.ts";

type GoodReply = Extract<ModelReply, { ok: true }>;

/** Each time makes the request much smaller. One that is still too long after these won't fit at all. */
const MOST_OVERFLOWS = 3;
/** For a whole turn: as many as its longest honest work needs, so that a model that fills its window forever is stopped. */
const MOST_ROOMS = 25;

export async function converse(parts: TurnParts, run: TurnRun): Promise<Outcome> {
  const { p } = run;
  for (;;) {
    const active = p.activeMs + (parts.clock.now() - run.began);
    const limits = parts.limits();
    // Checked before each call, so that a limit stops the next one and never cuts a running one.
    const cap = reached(limits, p, active);
    if (cap && !cap.lastWord)
      return finish(parts, run, { state: "failed", text: "", reason: cap.sentence, failure: "limit" });
    if (cap) p.closing = cap.sentence;
    const called = await callModel(parts, run);
    // A replay runs at a different time, so the recorded call decides.
    if ("reply" in called && called.closing !== undefined) p.closing = called.closing;
    else delete p.closing;
    if ("refused" in called) {
      return finish(parts, run, { state: "declined", text: "", reason: called.refused, failure: "budget" });
    }
    if ("declined" in called) return finish(parts, run, { state: "declined", text: "", reason: called.declined });
    if ("full" in called) {
      // What is new alone may be too much; then compacting the rest can't help.
      if (await makeRoom(parts, run, { more: called.full.fresh > 0, fresh: called.full.fresh })) continue;
      return finish(parts, run, { state: "failed", text: "", reason: TOO_LONG, failure: "context-overflow" });
    }
    const { reply } = called;
    takeIn(run, called);
    if (!reply.ok) {
      const { failure, limit } = reply;
      if (failure !== "context-overflow") {
        return finish(parts, run, { state: "failed", text: "", reason: sentence(parts, reply), failure });
      }
      if (await makeRoom(parts, run, { refused: limit ? { limit } : {}, more: false, fresh: 0 })) continue;
      return finish(parts, run, {
        state: "failed",
        text: "",
        reason: `${sentence(parts, reply)} ${TOO_LONG}`,
        failure,
      });
    }
    // The request was accepted, so a later overflow is a new problem with its own attempts.
    p.overflows = 0;
    p.model = reply.model;
    p.practice = reply.practice;
    if (reply.notice && !p.notices.includes(reply.notice)) p.notices.push(reply.notice);
    const calls = reply.content.filter((part): part is ToolCallPart => part.type === "tool-call");
    // It may still have called tools, although it was asked not to.
    if (p.closing !== undefined) return lastWord(parts, run, p.closing, called, reply, calls);
    if (!calls.length) {
      const answered = await answer(parts, run, called, reply);
      if (answered) return answered;
      continue;
    }
    const done = await useTools(parts, run, { reply, calls, ends: called.ends ?? [], heard: called.heard });
    if (done) return done;
  }
}

/** What a call brought into the turn: who spoke, what they said, what it cost. */
function takeIn({ p, turn }: TurnRun, called: Replied): void {
  // A message that joins midway lowers what the whole turn may do, and nothing raises it again (I12).
  p.authority = leastTrusted(p.authority, called.authority);
  p.tainted ||= called.tainted;
  p.isFetched = p.isFetched === true && called.isFetched === true;
  if (called.said) p.said = `${p.said ?? ""} ${called.said}`.slice(-MOST_SAID);
  p.notices.push(...(called.warnings ?? []));
  p.tookOwn ||= called.took.includes(turn);
  p.usage = addUsage(p.usage, called.reply.usage);
  Object.assign(p, narrowed(p.narrowed, called.tools));
  // The request had them.
  delete p.notes;
}

/** A hook doesn't let the answer out. */
function heldBack(reason: string): Ending {
  return { state: "declined", text: "", reason };
}

/** The calls of a reply: run, refused, or waited for. Nothing: the model is asked again with their results. */
async function useTools(
  parts: TurnParts,
  run: TurnRun,
  {
    reply,
    calls,
    ends,
    heard,
  }: { reply: GoodReply; calls: ToolCallPart[]; ends: readonly EndingTool[]; heard: true | undefined },
): Promise<Outcome | undefined> {
  const { p } = run;
  const last = findFinish(calls, run.given?.finish ?? []);
  if (last.kind === "finished") {
    const { results } = last;
    const checked =
      heard && last.ending.text ? await checkAnswer(parts, run, { text: last.ending.text, isLast: true }) : "ok";
    if (typeof checked === "object") return finish(parts, run, { ...heldBack(checked.deny), results });
    return finish(parts, run, { ...last.ending, callerCalls: [plainCall(last.call)], results });
  }
  // The caller's own tools: it runs them, and its next message has the results.
  if (run.given?.tools)
    return finish(parts, run, { state: "answered", text: readText(reply), callerCalls: calls.map(plainCall) });
  if (p.forced) {
    const results = notRun(calls, NO_MORE_TOOLS);
    return finish(parts, run, { state: "failed", text: "", reason: LOOPED, results });
  }
  const silence = findSilence(calls, ends, p);
  if (silence.kind === "silent") return finish(parts, run, { state: "silent", text: "", results: silence.results });
  // A call that ends the turn together with others is refused, and the others run as usual.
  const refused = [last, silence].find((one) => one.kind === "refused")?.results;
  const acted = await act(parts, run, refused ? calls.filter(({ id }) => !refused.has(id)) : calls, p);
  const { waiting, pauses, outside } = acted;
  const ran = await shortened(parts, run, acted.results);
  const results = refused ? calls.map(({ id }) => refused.get(id) ?? ran.find((result) => result.id === id)!) : ran;
  const { turn, session } = run;
  const message = messageIds.results(turn, run.segment, p.call - 1);
  // Their results are interim: the real ones replace them later.
  const waits = [...waiting, ...pauses].map((one) => one.callId);
  await parts.records.write((tx) => {
    parts.history.append(tx, {
      session,
      turn,
      id: message,
      message: { role: "tool", content: results },
      at: parts.clock.now(),
      outside,
      ...(waiting.length ? { meta: { approvals: asked(waiting) } } : {}),
    });
    if (waits.length) parts.interims.keep(tx, { session, message, turn, calls: waits });
  });
  if (!waits.length) return undefined;
  // Remembered with the call, so that the outcome finds the row it replaces.
  for (const one of [...waiting, ...pauses]) one.results = message;
  p.waiting = waiting.map(({ because: _b, rule: _r, ...w }) => w);
  p.pauses = pauses;
  return parkNow(parts, run, waiting);
}

/** The end of a reply without tool calls. Nothing: the model said nothing and is asked once more. */
async function answer(
  parts: TurnParts,
  run: TurnRun,
  { heard }: Replied,
  reply: GoodReply,
): Promise<Outcome | undefined> {
  const { p } = run;
  const text = readText(reply);
  if (reply.finish === "refusal") {
    return finish(parts, run, { state: "declined", text, reason: MODEL_DECLINED });
  }
  if (!text) {
    // Once is a hiccup that a second request nearly always repairs.
    if (p.empty++ === 0) return undefined;
    return finish(parts, run, { state: "failed", text: "", reason: emptyTwice(reply.model) });
  }
  const checked = heard ? await checkAnswer(parts, run, { text, isLast: false }) : "ok";
  if (checked === "again") return undefined;
  if (checked !== "ok") return finish(parts, run, heldBack(checked.deny));
  if (reply.finish !== "length") return finish(parts, run, asAsked(run, { state: "answered", text }));
  const asked = run.given?.settings?.maxOutputTokens;
  p.notices.push(asked === undefined ? CUT_OFF : cutOffAt(asked));
  return finish(parts, run, { state: "answered", text, cut: true });
}

/** The call after the cap: its words are the answer, and what it still wanted to call is not run. */
async function lastWord(
  parts: TurnParts,
  run: TurnRun,
  cap: string,
  { heard }: Replied,
  reply: GoodReply,
  calls: readonly ToolCallPart[],
): Promise<Outcome> {
  const text = readText(reply);
  const results = notRun(calls, cap);
  if (!text) return finish(parts, run, { state: "failed", text: "", reason: cap, failure: "limit", results });
  const checked = heard ? await checkAnswer(parts, run, { text, isLast: true }) : "ok";
  if (typeof checked === "object") return finish(parts, run, { ...heldBack(checked.deny), results });
  run.p.notices.push(cap);
  return finish(parts, run, asAsked(run, { state: "answered", text, results }));
}

/** An answer in another format than its caller asked for is none: what the caller gets is what the turn's end says. */
function asAsked({ given }: TurnRun, ending: Ending): Ending {
  const format = given?.settings?.format;
  const fits = format && fitTo(format.schema, ending.text);
  if (!fits || fits.ok) return ending;
  return { ...ending, state: "failed", text: "", reason: wrongFormat(fits.why), failure: "answer-format" };
}

/** The request does not fit: the older part is compacted, as steps so that a replay does not do it twice. */
async function makeRoom(
  parts: TurnParts,
  run: TurnRun,
  why: { refused?: { limit?: number }; more: boolean; fresh: number },
): Promise<boolean> {
  const { p, turn, session, agent } = run;
  p.rooms ??= 0;
  // Each round makes the window smaller. If that doesn't help, more rounds would only cost money.
  if (p.overflows++ >= MOST_OVERFLOWS || p.rooms >= MOST_ROOMS) return false;
  parts.bus.emit({ event: "turn.step", session, turn, step: "compact" });
  const at = { turn, session, agent, ...spentFor(run.terms) };
  const done = await parts.room.makeRoom(run.ctx, at, ++p.rooms, { model: run.model, ...why });
  p.usage = addUsage(p.usage, done.usage);
  if (done.made && !p.notices.includes(COMPACTED)) p.notices.push(COMPACTED);
  return done.made;
}

/** Which approval each call waits for, for people who look at the history. */
function asked(waiting: readonly WaitingCall[]): JsonObject {
  return Object.fromEntries(waiting.map((w) => [w.callId, w.approval]));
}

function readText(reply: Extract<ModelReply, { ok: true }>): string {
  return reply.content
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
    .trim();
}

/** The caller gets its calls without our own fields, which could change. */
function plainCall({ id, name, input }: ToolCallPart): { id: string; name: string; input: Json } {
  return { id, name, input };
}

function sentence({ called }: TurnParts, reply: Extract<ModelReply, { ok: false }>): string {
  return [reply.message, reply.hint && called(reply.hint)].filter(Boolean).join(" ");
}
