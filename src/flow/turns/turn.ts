/**
 * The agent's turn as segments: take, build, call, judge, act, answer. The happy path reads from top to bottom in `converse`.
 *
 * TURNS-1: every path out of here is an Outcome with a visible state (I5).
 * TURNS-2: a message leaves the inbox in the transaction that records the model request containing it (I3).
 * TURNS-3: everything that decides what happens next comes from the journal or from the parked progress, so a replay takes the
 *     same way.
 */
import {
  CANCEL,
  type Ctx,
  type ModelReply,
  type Outcome,
  type SegmentInput,
  Stopped,
  type ToolResult,
  type Tx,
  type Wake,
} from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type Authority,
  addUsage,
  asId,
  type EndingTool,
  type Given,
  isEndingTool,
  type Json,
  type JsonObject,
  leastTrusted,
  messageIds,
  type ReplyRoute,
  type Terms,
  type ToolCallPart,
  type ToolResultPart,
  type TurnId,
  withoutCommandLane,
} from "../../core/domain/index.ts";
import { defined, findSubject, quotedBeginning, truthy } from "../../core/kit/index.ts";
import {
  type At,
  act,
  approvalHash,
  bindPlan,
  isFromOutside,
  listMarks,
  makePlace,
  pickWhole,
  runTool,
  stillAsShown,
} from "./act.ts";
import { type BoundParts, whatChanged } from "./bound.ts";
import { findFinish, findSilence, mustAnswer, notRun, nudges } from "./endings.ts";
import { carriesOutside, type Ending, finish, userMessage } from "./finish.ts";
import { reached } from "./limits.ts";
import { newWaiting, park } from "./park.ts";
import { endPauses } from "./pause.ts";
import type { IntakeMessage, SetAside, TurnParts } from "./ports.ts";
import { newProgress, type Progress, type Waiting } from "./progress.ts";
import { buildRequest } from "./request.ts";
import { keepTime, withoutModel } from "./scripted.ts";
import { recordRestart, recordUsage, recordWoken, sumUsage } from "./store.ts";

type Body =
  | {
      kind: "message";
      agent: string;
      person: string;
      route: ReplyRoute;
      model: string | null;
      given?: Given;
      tools?: string[];
      terms?: Terms;
      replaces?: TurnId;
    }
  | { kind: "command"; agent: string; route: ReplyRoute; reply: string; stop?: { turns: TurnId[]; why: string } };

interface Run extends At {
  p: Progress;
  model: string | null;
  given: Given | undefined;
  terms: Terms;
  own: IntakeMessage | undefined;
  began: number;
}

type Called =
  | {
      reply: ModelReply;
      took: string[];
      warnings?: string[];
      authority: Authority;
      tainted: boolean;
      said?: string;
      /** Tools offered in it that end a turn without a word. */
      ends?: EndingTool[];
    }
  | { refused: string }
  /** Not sent: it does not fit. `fresh`: what of it is new, in tokens. */
  | { full: { fresh: number } };

/** For what was streamed before a stop, which no provider counts for us. */
const LETTERS_PER_TOKEN = 4;
/** How often room is made for one request before the turn gives up, and in one turn. */
const MOST_OVERFLOWS = 3;
const MOST_ROOMS = 25;

export function makeTurns(parts: TurnParts) {
  return {
    async segment(ctx: Ctx, input: SegmentInput): Promise<Outcome> {
      const body = input.body as unknown as Body;
      const run: Run = {
        ctx,
        turn: input.turn,
        // A command runs in a lane of its own beside its session.
        session: withoutCommandLane(input.session),
        agent: asId<AgentId>(body.agent),
        route: body.route,
        model: body.kind === "message" ? body.model : null,
        given: body.kind === "message" ? body.given : undefined,
        tools: body.kind === "message" ? body.tools : undefined,
        terms: (body.kind === "message" && body.terms) || {},
        p: (input.state as unknown as Progress | undefined) ?? newProgress(parts.clock.now()),
        own: undefined,
        segment: input.segment,
        began: parts.clock.now(),
      };
      parts.bus.emit({ event: "turn.started", session: run.session, turn: run.turn, segment: input.segment });
      // Only for lookers-on; a lost write costs nothing, and a failed one stops the engine by itself.
      if (input.segment > 0) parts.records.write((tx) => recordWoken(tx, run.turn)).catch(() => {});
      if (input.recovered) {
        const again = { at: parts.builtAt, resumedAt: parts.clock.now() };
        parts.records.write((tx) => recordRestart(tx, run.turn, again)).catch(() => {});
      }
      if (body.kind === "command") {
        // Whoever admitted it died, perhaps before it stopped what it was to stop.
        if (input.recovered) for (const one of body.stop?.turns ?? []) await parts.stop(one, body.stop!.why);
        return end(run, { state: "answered", text: body.reply });
      }
      const mine = await parts.intake.own(input.turn);
      // Deleted where it was said before a model read it: nobody waits for an answer, and the model never sees it.
      if (mine?.withdrawn) return end(run, { state: "silent", text: "", reason: DELETED });
      run.own = mine?.message;
      if (input.wake.why === "broken") {
        // Its progress is gone with what broke; what it spent is on record.
        run.p.usage = await sumUsage(parts.records, run.turn);
        return end(run, broken(input.wake));
      }
      if (mine?.takenBy && mine.takenBy !== input.turn) {
        return end(run, { state: "joined", text: "", joined: mine.takenBy });
      }
      const time = keepTime(parts, run);
      try {
        if (body.replaces) await rewind(run, body.replaces);
        if (run.given?.results) await takeResults(run, run.given.results);
        const done = await withoutModel(parts, run, input.wake);
        if (done === "model") return (await wakeUp(run, input)) ?? (await converse(run));
        return "park" in done ? parkNow(run, done.park) : end(run, done.end);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        // Nobody is waited for any more: a later turn must not read that somebody is.
        for (const w of run.p.waiting)
          await outcome(run, w, { text: WITHDRAWN, isError: true, origin: "own" }, { how: "withdrawn" });
        if (time.isUp()) return end(run, { state: "failed", text: "", reason: time.sentence, failure: "timeout" });
        return end(run, { state: "stopped", text: "", reason: "Stopped." });
      } finally {
        time.stop();
      }
    },
  };

  function end(run: Run, ending: Ending): Outcome {
    return finish(parts, run, run.p, run.route, run.own, ending);
  }

  /** An edited message: what it replaces is stopped and leaves the conversation before the model is asked. */
  async function rewind({ ctx, session, turn, segment }: Run, target: TurnId): Promise<void> {
    if (segment > 0) return;
    await ctx.step(
      "rewind",
      async () => {
        await parts.stopReplaced(session, target, turn);
        return null;
      },
      (tx) => parts.history.rewind(tx, session, target, turn),
    );
    parts.bus.emit({ event: "session.changed", session, what: "updated" });
  }

  /** The outcomes of the caller's own tools enter the history where the calls wait for them. The same id: once. */
  async function takeResults(run: Run, content: ToolResultPart[]): Promise<void> {
    const { turn, session } = run;
    const capped = await shortened(run, content);
    return parts.records.write((tx) =>
      parts.history.append(tx, {
        session,
        turn,
        id: messageIds.given(turn),
        message: { role: "tool", content: capped },
        at: parts.clock.now(),
        // The caller ran the tool; what it printed is data like any other tool's output.
        outside: true,
      }),
    );
  }

  /** Deals with what woke a parked turn. Returns the next park when more answers are missing. */
  async function wakeUp(run: Run, input: SegmentInput): Promise<Outcome | undefined> {
    const { p } = run;
    if (input.wake.why === "start") return undefined;
    if (input.wake.why === "deadline") {
      const now = await run.ctx.step("now", async () => parts.clock.now());
      const late = p.waiting.filter((w) => w.deadline <= now);
      for (const w of late) {
        const text = "Nobody answered in time, so it was not run.";
        const also = (tx: Tx) => parts.questions.close(tx, w.approval, "expired");
        await outcome(run, w, { text, isError: true, origin: "own" }, { also, how: "not answered in time" });
      }
      p.waiting = p.waiting.filter((w) => !late.includes(w));
      await endPauses(parts, run, p, (pause) => pause.deadline <= now);
      return p.waiting.length || p.pauses?.length ? parkNow(run, []) : undefined;
    }
    if (input.wake.why !== "event") return undefined;
    if (input.wake.events.some((e) => e.name === CANCEL)) throw new Stopped();
    const fresh: (Waiting & { because: string; rule: string })[] = [];
    for (const event of input.wake.events) {
      const w = p.waiting.find((one) => parts.questions.event(one.approval) === event.name);
      if (!w) continue;
      p.waiting = p.waiting.filter((one) => one !== w);
      const again = await answered(run, w, event.value as { decision: string; by: string; reason: string | null });
      if (again) fresh.push(again);
    }
    p.waiting.push(...fresh.map(({ because: _b, rule: _r, ...w }) => w));
    const { events } = input.wake;
    await endPauses(parts, run, p, (pause) => events.some((event) => event.name === pause.on));
    return p.waiting.length || p.pauses?.length ? parkNow(run, fresh) : undefined;
  }

  /** Runs or refuses a call a person answered. Returns it as a new question when it is no longer what was shown. */
  async function answered(
    run: Run,
    w: Waiting,
    answer: { decision: string; by: string; reason: string | null },
  ): Promise<(Waiting & { because: string; rule: string }) | undefined> {
    const said = answer.reason ? ` They said: ${answer.reason}` : "";
    if (answer.decision === "deny") {
      const text = `Denied by ${answer.by}. It was not run.${said}`;
      await outcome(run, w, { text, isError: true, origin: "own" }, { how: "denied" });
      return undefined;
    }
    if (!(await stillAsShown(parts, run, w))) {
      const call: ToolCallPart = { type: "tool-call", id: w.callId, name: w.tool, input: w.input };
      const again = await run.ctx.step(`replan:${w.approval}`, async () => {
        const tool = parts.tools.get(w.tool);
        const place = makePlace(parts, run);
        const plan = await tool?.plan(w.input, place).catch((error: unknown) => {
          if (error instanceof AppError) return error.message;
          throw error;
        });
        if (plan === undefined || typeof plan === "string") return plan ?? null;
        const { rule } = await parts.judge.judge(run, plan, run.p);
        const more = { marks: listMarks(plan), ...pickWhole(plan) };
        const bound = bindPlan(parts, plan, place);
        const hash = approvalHash(parts, w.tool, plan, place);
        return { shown: plan.shown, rule, hash, bound, ...more } as unknown as Json;
      });
      if (!again || typeof again === "string") {
        const why = again ? `: ${again}` : ".";
        run.p.notices.push(`You approved a call to ${w.tool}, but it could no longer be run${why}`);
        // The reason may quote the call.
        const text = `It can no longer be run as it was approved${why}`;
        await outcome(run, w, { text, isError: true, origin: "outside" }, { how: "allowed, not run" });
        return undefined;
      }
      const { shown, rule, hash, bound, marks, whole } = again as unknown as {
        shown: string;
        rule: string;
        hash: string;
        bound?: BoundParts;
        marks?: string[];
        whole?: string;
      };
      const because = whatChanged(w.bound, bound);
      const judged = {
        shown,
        rule,
        hash,
        ...defined({ bound }),
        marks: marks ?? [],
        ...truthy({ whole }),
      };
      return {
        ...newWaiting(parts, run, call, { verdict: "ask", because, ...judged }, run.p.call),
        ...defined({ results: w.results }),
        because,
        rule,
      };
    }
    const done = await runTool(parts, run, { id: w.callId, name: w.tool, input: w.input }, run.p, {
      by: "person",
      hash: w.hash,
    });
    if (done.notice) run.p.notices.push(`You approved a call to ${w.tool}. ${done.notice}`);
    const [kept] = await shortened(run, [{ id: w.callId, text: done.text }]);
    // In its own place the result reads as if the call had simply taken long.
    const inPlace = said ? `[Allowed by ${answer.by}.${said}]\n${kept!.text}` : kept!.text;
    const text = `Allowed by ${answer.by}.${said}\n${kept!.text}`;
    await outcome(run, w, { ...done, text }, { inPlace, how: `allowed, ${howItWent(done)}` });
    return undefined;
  }

  /**
   * The outcome of a call that waited takes the interim result's place, or arrives as a later message when a model has read that.
   * `inPlace`: its text there. `how`: what became of it, in a word or two for the line before the message.
   */
  async function outcome(
    run: Run,
    w: Waiting,
    said: ToolResult,
    { also, inPlace = said.text, how }: { also?: (tx: Tx) => void; inPlace?: string; how: string },
  ): Promise<void> {
    const { turn, session } = run;
    const at = parts.clock.now();
    const settling =
      w.results === undefined
        ? undefined
        : await parts.interims.settling({ session, message: w.results, call: w.callId });
    parts.crash.at("outcome.before");
    const subject = findSubject(w.input);
    const what = subject === undefined ? `the ${w.tool} call` : `${w.tool} ${quotedBeginning(subject)}`;
    const text = `Outcome of ${what} that waited for approval: ${how}`;
    const line = await parts.ownLine({ session, at, label: { kind: "approval", text, of: w.tool } });
    await parts.records.write((tx) => {
      also?.(tx);
      const outside = isFromOutside(parts, w.tool, said);
      const result = { text: inPlace, ...truthy({ isError: said.isError }) };
      if (settling?.place(tx, result, outside)) return;
      parts.history.append(tx, {
        session,
        turn,
        id: messageIds.outcome(turn, run.segment, w.approval),
        message: {
          role: "user",
          content: [line, { type: "text", text: said.text }],
        },
        at,
        outside,
        meta: { kind: "outcome", approval: w.approval },
      });
    });
    parts.crash.at("outcome.recorded");
  }

  async function converse(run: Run): Promise<Outcome> {
    const { p } = run;
    for (;;) {
      const active = p.activeMs + (parts.clock.now() - run.began);
      const limits = parts.limits();
      const cap = reached(limits, p, active);
      // One call more than the cap, to say where things stand: else the work done would be lost to the person.
      if (cap && p.call === limits.modelCalls && p.closing === undefined) p.closing = cap;
      else if (cap) return end(run, { state: "failed", text: "", reason: cap, failure: "limit" });
      const called = await call(run);
      if ("refused" in called) {
        return end(run, { state: "declined", text: "", reason: called.refused, failure: "budget" });
      }
      if ("full" in called) {
        if (await makeRoom(run, { more: called.full.fresh > 0, fresh: called.full.fresh })) continue;
        return end(run, { state: "failed", text: "", reason: TOO_LONG, failure: "context-overflow" });
      }
      const { reply, took, warnings = [] } = called;
      p.authority = leastTrusted(p.authority, called.authority);
      p.tainted ||= called.tainted;
      if (called.said) p.said = `${p.said ?? ""} ${called.said}`.slice(-MOST_SAID);
      p.notices.push(...warnings);
      p.tookOwn ||= took.includes(run.turn);
      p.usage = addUsage(p.usage, reply.usage);
      if (!reply.ok) {
        const { failure, limit } = reply;
        if (failure !== "context-overflow") {
          return end(run, { state: "failed", text: "", reason: sentence(parts, reply), failure });
        }
        if (await makeRoom(run, { refused: limit ? { limit } : {}, more: false, fresh: 0 })) continue;
        return end(run, { state: "failed", text: "", reason: `${sentence(parts, reply)} ${TOO_LONG}`, failure });
      }
      p.overflows = 0;
      p.model = reply.model;
      p.practice = reply.practice;
      if (reply.notice && !p.notices.includes(reply.notice)) p.notices.push(reply.notice);
      const calls = reply.content.filter((part): part is ToolCallPart => part.type === "tool-call");
      if (p.closing !== undefined) return lastWord(run, p.closing, reply, calls);
      if (!calls.length) {
        const done = answer(run, reply);
        if (done) return done;
        continue;
      }
      const last = findFinish(calls, run.given?.finish ?? []);
      if (last.kind === "finished") return end(run, { ...last.ending, callerCalls: [plainCall(last.call)] });
      // The caller's own tools: it runs them, and its next message says what came of it.
      if (run.given?.tools)
        return end(run, { state: "answered", text: readText(reply), callerCalls: calls.map(plainCall) });
      if (p.forced) {
        const results = notRun(calls, "no more tools can be used in this turn.");
        return end(run, { state: "failed", text: "", reason: LOOPED, results });
      }
      const silence = findSilence(calls, called.ends ?? [], p);
      if (silence.kind === "silent") return end(run, { state: "silent", text: "", results: silence.results });
      const refused = last.kind === "refused" ? last.results : silence.kind === "refused" ? silence.results : undefined;
      const acted = await act(parts, run, refused ? calls.filter(({ id }) => !refused.has(id)) : calls, p);
      const { waiting, pauses, outside } = acted;
      const ran = await shortened(run, acted.results);
      const results = refused ? calls.map(({ id }) => refused.get(id) ?? ran.find((result) => result.id === id)!) : ran;
      const { turn, session } = run;
      const message = messageIds.results(turn, run.segment, p.call - 1);
      const waits = [...waiting, ...pauses].map((one) => one.callId);
      await parts.records.write((tx) => {
        parts.history.append(tx, {
          ...{
            session,
            turn,
            id: message,
            message: { role: "tool", content: results },
            at: parts.clock.now(),
            outside,
          },
          ...(waiting.length ? { meta: { approvals: asked(waiting) } } : {}),
        });
        if (waits.length) parts.interims.keep(tx, { session, message, turn, calls: waits });
      });
      if (waits.length) {
        for (const one of [...waiting, ...pauses]) one.results = message;
        p.waiting = waiting.map(({ because: _b, rule: _r, ...w }) => w);
        p.pauses = pauses;
        return parkNow(run, waiting);
      }
    }
  }

  /** One model call with everything that waits in the inbox for it. */
  async function call(run: Run): Promise<Called> {
    const { p, ctx, turn, session, agent } = run;
    const n = p.call++;
    const routeKey = JSON.stringify(run.route);
    let took: IntakeMessage[] = [];
    let aside: SetAside | undefined;
    let streamed = 0;
    const isSaid = (m: IntakeMessage) => !(run.given?.silent && m.turn === turn);
    const called = ctx.step(
      `model:${n}`,
      async () => {
        // A request that was not sent because it did not fit took nothing: the next one is still the first.
        const by = { turn, call: p.tookOwn ? n : 0, route: routeKey };
        const intake = await parts.intake.next(session, by, ctx.halt);
        if (intake.interrupted) throw new Stopped();
        took = intake.messages;
        const { request, tainted, full, fresh } = await buildRequest(parts, {
          ...{ session, agent, given: run.given, tools: run.tools, model: run.model, thinking: run.terms.thinking },
          said: took.filter(isSaid),
          more: nudges({ ...p, call: n }, parts.limits().modelCalls),
          ...(mustAnswer(p) ? { mustAnswer: true } : {}),
        });
        if (full) return { full: { fresh } };
        const signal = ctx.halt;
        const got = await parts.spending.reserve(
          { turn, call: n, session, agent, request, ...spentFor(run.terms) },
          signal,
        );
        if ("refused" in got) return got;
        aside = got;
        parts.bus.emit({ event: "turn.step", session, turn, step: `model:${n}` });
        await parts.interims.sent(session);
        parts.crash.at("model.before");
        const maxOutputTokens = leastOf(aside.maxOutputTokens, run.given?.settings?.maxOutputTokens);
        const reply = await parts.models.call(
          { ...request, ...truthy({ maxOutputTokens }) },
          (delta) => {
            if ("text" in delta) streamed += delta.text.length;
            if (delta.type === "text")
              parts.bus.emit({ event: "turn.delta", session, turn, call: n, text: delta.text });
            else if (delta.type === "thinking")
              parts.bus.emit({ event: "turn.thinking", session, turn, call: n, text: delta.text });
            else if (delta.type === "discard") parts.bus.emit({ event: "turn.discarded", session, turn, call: n });
            else if (delta.type === "answering") {
              const { model, practice } = delta;
              parts.bus.emit({ event: "turn.answering", session, turn, call: n, model, practice });
            } else {
              const { model, failure, attempt, inMs } = delta;
              parts.bus.emit({ event: "turn.retrying", session, turn, call: n, model, failure, attempt, inMs });
            }
          },
          signal,
        );
        parts.crash.at("model.after");
        const authority = leastTrusted("owner", ...took.map((m) => m.authority));
        const warnings = aside.settle(reply.usage);
        const touched = tainted || took.some(carriesOutside);
        const said = ownerWords(took);
        const ends = request.tools.map(({ name }) => name).filter(isEndingTool);
        const all = {
          ...{ reply, took: took.map((m) => m.turn), warnings, authority, tainted: touched },
          ...(ends.length ? { ends } : {}),
        };
        return (said ? { ...all, said } : all) as unknown as Json;
      },
      (tx, result) => {
        const done = result as unknown as Called;
        if ("refused" in done || "full" in done) return;
        const { reply } = done;
        aside?.record(tx);
        const at = parts.clock.now();
        for (const m of took) {
          parts.intake.take(tx, m.turn, turn, n);
          if (isSaid(m)) parts.history.append(tx, { session, turn, ...userMessage(m) });
        }
        recordUsage(tx, { turn, call: n, session, agent, reply, at });
        if (!reply.ok || !reply.content.length) return;
        parts.history.append(tx, {
          session,
          turn,
          id: messageIds.reply(turn, run.segment, n),
          message: { role: "assistant", content: reply.content },
          at,
          meta: { model: reply.model },
        });
        // What a caller brought along was counted too and is not in the next request.
        if (!run.given) parts.history.reported(session, reply.model, reply.ownUsage ?? reply.usage);
      },
    ) as unknown as Promise<Called>;
    return called.catch((error: unknown) => {
      aside?.drop(Math.ceil(streamed / LETTERS_PER_TOKEN));
      throw error;
    });
  }

  /** The end of a reply without tool calls. Nothing: the model said nothing and is asked once more. */
  function answer(run: Run, reply: Extract<ModelReply, { ok: true }>): Outcome | undefined {
    const { p } = run;
    const text = readText(reply);
    if (reply.finish === "refusal") {
      return end(run, { state: "declined", text, reason: "The model declined to answer." });
    }
    if (!text) {
      if (p.empty++ === 0) return undefined;
      const reason = `${reply.model} gave an empty answer twice. Send the message again, or choose another model with /model.`;
      return end(run, { state: "failed", text: "", reason });
    }
    if (reply.finish !== "length") return end(run, { state: "answered", text });
    const asked = run.given?.settings?.maxOutputTokens;
    p.notices.push(
      asked === undefined
        ? "The answer was cut at the model's output limit."
        : `The answer was cut at the ${asked} tokens you asked for.`,
    );
    return end(run, { state: "answered", text, cut: true });
  }

  /** The call after the cap: its words are the answer, and what it still wanted to call is not run. */
  function lastWord(
    run: Run,
    cap: string,
    reply: Extract<ModelReply, { ok: true }>,
    calls: readonly ToolCallPart[],
  ): Outcome {
    const text = readText(reply);
    const results = notRun(calls, cap);
    if (!text) return end(run, { state: "failed", text: "", reason: cap, failure: "limit", results });
    run.p.notices.push(cap);
    return end(run, { state: "answered", text, results });
  }

  /** The request does not fit: the older part is compacted, as steps so that a replay does not do it twice. */
  async function makeRoom(
    run: Run,
    why: { refused?: { limit?: number }; more: boolean; fresh: number },
  ): Promise<boolean> {
    const { p, turn, session, agent } = run;
    p.rooms ??= 0;
    if (p.overflows++ >= MOST_OVERFLOWS || p.rooms >= MOST_ROOMS) return false;
    parts.bus.emit({ event: "turn.step", session, turn, step: "compact" });
    const at = { turn, session, agent, ...spentFor(run.terms) };
    const done = await parts.room.makeRoom(run.ctx, at, ++p.rooms, { model: run.model, ...why });
    p.usage = addUsage(p.usage, done.usage);
    if (done.made && !p.notices.includes(COMPACTED)) p.notices.push(COMPACTED);
    return done.made;
  }

  function shortened<T extends { id: string; text: string }>(run: Run, results: readonly T[]): Promise<T[]> {
    const { turn, session, agent, model } = run;
    const { spillDir, workspace } = makePlace(parts, run);
    return parts.room.cap({ turn, session, agent, model, spillDir, workspace }, results);
  }

  async function parkNow(run: Run, fresh: (Waiting & { because: string; rule: string })[]): Promise<Outcome> {
    const { route, p, turn } = run;
    p.activeMs += parts.clock.now() - run.began;
    if (!fresh.length) return park(parts, run, p, route, fresh, route);
    const [askedAt, asker] = await Promise.all([
      parts.questions.where(turn, route, p.authority),
      parts.questions.asker(turn, p.authority),
    ]);
    const named = asker ? fresh.map((one) => ({ ...one, because: `${asker} ${one.because}` })) : fresh;
    return park(parts, run, p, route, named, askedAt);
  }
}

/** The exit code where it was a command. */
function howItWent({ meta, isError }: ToolResult): string {
  const exit = meta?.exit;
  if (typeof exit === "number") return `exit ${exit}`;
  return isError ? "failed" : "done";
}

/** Which approval each call waits for, for people who look at the history. */
function asked(waiting: readonly Waiting[]): JsonObject {
  return Object.fromEntries(waiting.map((w) => [w.callId, w.approval]));
}

const DELETED = "The message was deleted before it was read.";

/** Enough for the hosts of any message a person writes. */
const MOST_SAID = 8000;

/** What the owner wrote, for the gate: whatever came along from outside is not the owner's word. */
function ownerWords(took: readonly IntakeMessage[]): string {
  const own = took.filter((m) => m.authority === "owner" && m.outside !== 1);
  return own
    .map((m) => m.text)
    .filter((text) => text.includes(".") || text.includes("localhost"))
    .join(" ")
    .slice(0, MOST_SAID);
}

const WITHDRAWN = "Withdrawn: the turn was stopped before anybody answered. It was not run.";
const COMPACTED = "The conversation was too long for the model; its older part was compacted.";
const TOO_LONG =
  "This is more than the model can read at once. Send it in parts or as a file, or choose a model with a larger window (/model).";
const LOOPED =
  "The agent repeated the same call with the same result and did not answer when told to, so it was stopped.";

function readText(reply: Extract<ModelReply, { ok: true }>): string {
  return reply.content
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("")
    .trim();
}

function plainCall({ id, name, input }: ToolCallPart): { id: string; name: string; input: Json } {
  return { id, name, input };
}

function broken(wake: Extract<Wake, { why: "broken" }>): Ending {
  if (wake.code === "STOPPED_LARES") {
    return { state: "failed", text: "", reason: wake.message, failure: "stopped-lares" };
  }
  return wake.code === "JOURNAL_MISMATCH"
    ? {
        state: "attention",
        text: "",
        reason: "This turn was begun by a different version of Lares. Send the message again.",
      }
    : { state: "failed", text: "", reason: `Something in Lares broke: ${wake.message}` };
}

function leastOf(...limits: (number | undefined)[]): number | undefined {
  const set = limits.filter((limit) => limit !== undefined);
  return set.length ? Math.min(...set) : undefined;
}

/** Whose budget a call counts against, beside its agent's and session's. */
function spentFor({ job, budget }: Terms) {
  return job === undefined ? {} : { schedule: { id: job, ...defined({ caps: budget }) } };
}

function sentence({ called }: TurnParts, reply: Extract<ModelReply, { ok: false }>): string {
  return [reply.message, reply.hint && called(reply.hint)].filter(Boolean).join(" ");
}
