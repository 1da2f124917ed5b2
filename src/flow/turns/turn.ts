/**
 * The agent's turn as segments: take, build, call, judge, act, answer. The happy path reads from top to bottom in `converse`.
 *
 * TURNS-1: every path out of here is an Outcome with a visible state (I5).
 * TURNS-2: a message leaves the inbox in the transaction that records the model request containing it (I3).
 * TURNS-3: everything that decides what happens next comes from the journal or from the parked progress, so a replay takes the
 *     same way.
 */

import { type Ctx, type Outcome, type SegmentInput, Stopped, type Wake } from "../../core/contracts/index.ts";
import {
  type AgentId,
  asId,
  fromJson,
  hookKeys,
  isChildSession,
  messageIds,
  stepNames,
  type ToolResultPart,
  type TurnId,
  withoutCommandLane,
} from "../../core/domain/index.ts";
import { converse } from "./converse.ts";
import { type Ending, finish } from "./finish.ts";
import { outcome } from "./outcome.ts";
import type { TurnParts } from "./ports.ts";
import { newProgress, type Progress } from "./progress.ts";
import { type Body, parkNow, shortened, type TurnRun } from "./run.ts";
import { carry } from "./runs/carry.ts";
import { keepTime, withoutModel } from "./scripted.ts";
import { recordRestart, recordWoken, sumUsage } from "./store.ts";
import { wakeUp } from "./wake.ts";
import { DELETED, HOW, internalError, OTHER_VERSION, STOPPED, WITHDRAWN } from "./words.ts";

export function makeTurns(parts: TurnParts) {
  return {
    async segment(ctx: Ctx, input: SegmentInput): Promise<Outcome> {
      const body = fromJson<Body>(input.body);
      const run: TurnRun = {
        ctx,
        turn: input.turn,
        // A command runs in a separate lane beside its session.
        session: withoutCommandLane(input.session),
        agent: asId<AgentId>(body.agent),
        route: body.route,
        model: body.kind === "message" ? body.model : null,
        given: body.kind === "message" ? body.given : undefined,
        tools: body.kind === "message" ? body.tools : undefined,
        terms: (body.kind === "message" && body.terms) || {},
        p: input.state === undefined ? newProgress(parts.clock.now()) : fromJson<Progress>(input.state),
        own: undefined,
        segment: input.segment,
        began: parts.clock.now(),
        saying: undefined,
      };
      parts.bus.emit({ event: "turn.started", session: run.session, turn: run.turn, segment: input.segment });
      if (parts.hooks.observes("turn.started")) noteStart(parts, run);
      // Only for lookers-on; a lost write costs nothing, and a failed one stops the engine by itself.
      if (input.segment > 0) parts.records.write((tx) => recordWoken(tx, run.turn)).catch(() => {});
      if (input.recovered) {
        const again = { at: parts.builtAt, resumedAt: parts.clock.now() };
        parts.records.write((tx) => recordRestart(tx, run.turn, again)).catch(() => {});
      }
      if (body.kind === "command") {
        // The process that admitted it died, perhaps before stopping the turns it should have stopped.
        if (input.recovered) for (const one of body.stop?.turns ?? []) await parts.stop(one, body.stop!.why);
        return finish(parts, run, { state: "answered", text: body.reply });
      }
      const mine = await parts.intake.own(input.turn);
      // Deleted where it was said before a model read it: nobody waits for an answer, and the model never sees it.
      if (mine?.withdrawn) return finish(parts, run, { state: "silent", text: "", reason: DELETED });
      run.own = mine?.message;
      if (input.wake.why === "broken") {
        // Its progress is gone with what broke; what it spent is on record.
        run.p.usage = await sumUsage(parts.records, run.turn);
        return finish(parts, run, broken(input.wake));
      }
      // A running turn took the message while this one waited in its lane.
      if (mine?.takenBy && mine.takenBy !== input.turn) {
        return finish(parts, run, { state: "joined", text: "", joined: mine.takenBy });
      }
      const time = keepTime(parts, run);
      try {
        // Before the model is asked: it must not see what the edit replaced.
        if (body.replaces) await rewind(parts, run, body.replaces);
        if (run.given?.results) await takeResults(parts, run, run.given.results);
        const done = await withoutModel(parts, run, input.wake);
        const other = done === "model" ? await findBody(parts, run) : undefined;
        if (other || run.p.run) return await carry(parts, run, other, input);
        if (done === "model") return (await wakeUp(parts, run, input)) ?? (await converse(parts, run));
        return "park" in done ? parkNow(parts, run, done.park) : finish(parts, run, done.end);
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        // A call that was cut off is on record, and nowhere else.
        run.p.usage = await sumUsage(parts.records, run.turn);
        // No approval is open now, and a later turn must not read otherwise.
        for (const w of run.p.waiting)
          await outcome(
            parts,
            run,
            w,
            { text: WITHDRAWN, isError: true, origin: "own" },
            { how: HOW.withdrawn, notRun: "denied" },
          );
        return finish(parts, run, cutShort(run, time));
      } finally {
        time.stop();
      }
    },
  };
}

/** Both end by the same signal; only the timer knows that it was the time limit and not a person. What was said stays. */
function cutShort({ saying: cutOff }: TurnRun, time: ReturnType<typeof keepTime>): Ending {
  if (time.isUp()) return { state: "failed", text: "", reason: time.sentence, failure: "timeout", cutOff };
  return { state: "stopped", text: cutOff?.text.trim() ?? "", reason: STOPPED, cutOff };
}

/** A lost write costs nothing: the segment then runs again and writes it again. */
function noteStart({ records, hooks }: TurnParts, { agent, session, turn, segment }: TurnRun): void {
  const facts = () => ({ agent, session, turn, segment });
  records
    .write((tx) => hooks.record(tx, "turn.started", hookKeys.inTurn(turn, segment), facts), { lazy: true })
    .catch(() => {});
}

/** An edited message: what it replaces is stopped and leaves the conversation before the model is asked. */
async function rewind(parts: TurnParts, { ctx, session, turn, segment }: TurnRun, target: TurnId): Promise<void> {
  if (segment > 0) return;
  await ctx.step(
    stepNames.rewind,
    async () => {
      await parts.stopReplaced(session, target, turn);
      return null;
    },
    (tx) => {
      parts.history.rewind(tx, session, target, turn);
      parts.bodies.runs.forget(tx, session);
    },
  );
  parts.bus.emit({ event: "session.changed", session, what: "updated" });
}

/** What carries the turn out; nothing: our own loop. Only for a sub-agent can something else be chosen than its agent's. */
async function findBody({ bodies }: TurnParts, { agent, session }: TurnRun) {
  return bodies.find(agent, isChildSession(session) ? await bodies.chosen(session) : undefined);
}

/** The outcomes of the caller's own tools enter the history where the calls wait for them. The same id: once. */
async function takeResults(parts: TurnParts, run: TurnRun, content: ToolResultPart[]): Promise<void> {
  const { turn, session } = run;
  const capped = await shortened(parts, run, content);
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

function broken(wake: Extract<Wake, { why: "broken" }>): Ending {
  if (wake.code === "STOPPED_LARES") {
    return { state: "failed", text: "", reason: wake.message, failure: "stopped-lares" };
  }
  return wake.code === "JOURNAL_MISMATCH"
    ? { state: "attention", text: "", reason: OTHER_VERSION }
    : { state: "failed", text: "", reason: internalError(wake.message) };
}
