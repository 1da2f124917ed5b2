/**
 * Runs: turns that another runtime carries out. A run is opened as an effect of its turn, and everything it says is in the records before
 * anybody sees it, so a crash loses nothing but the process.
 *
 * RUNS-1: at most one attempt of a run is alive. Before a new one starts, everything that an earlier one left is ended.
 * RUNS-2: the attempt is raised with the intent; an event of an older attempt is not recorded.
 * RUNS-3: an event is recorded before it is shown.
 * RUNS-4: after a crash a run goes on in the runtime's own conversation where its token finds it, else in a new one that reads what was
 *     done. After too many attempts its outcome is unknown, and that is said.
 * RUNS-6: what a run left in its worktree is committed and the worktree removed when nothing of the run is left, or at the next start.
 * RUNS-5: a run in a daemon outlives us. It is taken up as it is, with what it asked meanwhile, before anything is said to it.
 */
import {
  nextPlace,
  type RunEvent,
  type RunEventBody,
  type RunPlace,
  type Tx,
  type WorktreeReport,
} from "../../core/contracts/index.ts";
import { AppError, asId, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { firstWords } from "./handover.ts";
import { OwnCalls } from "./own-calls.ts";
import type {
  BegunRun,
  DriveRequest,
  RunRepository,
  RunStop,
  RunsParts,
  RunTrouble,
  SaidMeanwhile,
  StartRun,
} from "./ports.ts";
import { type LedgerCall, toSteps } from "./steps.ts";
import {
  addEvent,
  addSaid,
  endRow,
  forgetTokens,
  keepPlan,
  keepToken,
  lastToken,
  listRuns,
  type RunRow,
  raiseAttempt,
  readEvents,
  readRecorded,
  readRun,
  readSaid,
} from "./store.ts";
import { CUT_OFF, ENDED_EARLY, TOO_MUCH, tooManyAttempts, worksInTree } from "./words.ts";

/** Longest silence of a runtime: a model may think for minutes, and a tool may build something. */
const QUIET_MS = 15 * 60_000;
/** More restarts than that in one turn, and something else is wrong. */
const MOST_ATTEMPTS = 8;
/** Of what one run says, in characters. */
const MOST_SAID = 64 * 1024 * 1024;
/** Open runs that a start looks for. */
const MOST_LEFT = 1000;

interface HeldRun {
  started: BegunRun;
  /** Of our own tools. */
  calls: OwnCalls;
  place: RunPlace;
  /** Characters so far. */
  said: number;
  /** What was answered before the run was read: asked again, it is no question. */
  answered: ReadonlySet<string>;
  /** What the proxy said about its last failed call: the runtime's own words about it come later and know less. */
  trouble: RunTrouble | null;
}

export class Runs {
  private readonly parts: RunsParts;
  private readonly live = new Map<TurnId, HeldRun>();
  /** Turns of this life that have a run. */
  private readonly begun = new Set<TurnId>();
  /** Numbers of attempts whose intent isn't written. */
  private readonly next = new Map<TurnId, number>();

  constructor(parts: RunsParts) {
    this.parts = parts;
  }

  /** Before a stretch: nothing of an earlier process is left, and the next attempt has its number. May be repeated. */
  async ready(turn: TurnId): Promise<void> {
    this.begun.add(turn);
    if (this.live.has(turn)) return;
    const row = await readRun(this.parts.records, turn);
    if (row && row.endedAt !== null) return;
    // RUNS-1
    if (row) await (await this.parts.host()).endLeft([turn]);
    this.next.set(turn, (row?.attempt ?? 0) + 1);
  }

  /** Written with the intent (RUNS-2). */
  intend(
    tx: Tx,
    { turn, session, agent, runtime }: Pick<DriveRequest, "turn" | "session" | "agent" | "runtime">,
  ): void {
    const attempt = this.next.get(turn);
    if (attempt !== undefined) raiseAttempt(tx, { turn, session, agent, runtime, attempt, at: this.parts.clock.now() });
  }

  /** Drives it until it asks something or is over. What the runtime does wrong is part of the answer, not thrown. */
  async drive(of: DriveRequest): Promise<RunStop> {
    const { turn } = of;
    const known = this.live.get(turn);
    this.next.delete(turn);
    if (known) {
      for (const given of of.answers) {
        if ("ask" in given) await known.started.session.answer(given.ask, given.answer);
        else known.calls.settle(given.call, given.result);
      }
      return this.follow(known, of);
    }
    const row = await readRun(this.parts.records, turn);
    if (!row || row.endedAt !== null) return this.readEnd(turn);
    if (row.attempt > MOST_ATTEMPTS) return this.giveUp(turn);
    const begun = await this.begin(of, row);
    return "why" in begun ? begun : this.follow(begun, of);
  }

  /** More words of a person, into the run that goes on. */
  async say(turn: TurnId, text: string): Promise<"mid-turn" | "next-turn" | "ended"> {
    const live = this.live.get(turn);
    const taken = (await live?.started.session.say(text, "steer")) ?? "ended";
    if (taken !== "ended") this.parts.crash.at("run.said", () => text);
    return taken;
  }

  /** Written when the run has them. */
  said(tx: Tx, turn: TurnId, one: SaidMeanwhile): void {
    addSaid(tx, turn, one);
  }

  /** The conversation went another way, so the runtime's own no longer fits. */
  forget(tx: Tx, session: SessionKey): void {
    forgetTokens(tx, session);
  }

  meanwhile(turn: TurnId): Promise<SaidMeanwhile[]> {
    return readSaid(this.parts.records, turn);
  }

  events(turn: TurnId): Promise<RunEventBody[]> {
    return readEvents(this.parts.records, turn);
  }

  /** Asks it to stop; its end follows. */
  async stop(turn: TurnId): Promise<void> {
    await this.live.get(turn)?.started.session.stop("soft");
  }

  /** A turn is over, however it ended. Every turn says so, and most have no run. */
  async settled(turn: TurnId): Promise<void> {
    if (this.begun.has(turn)) await this.ended(turn);
  }

  /** Nothing of the turn's run is left. Idempotent. */
  async ended(turn: TurnId): Promise<void> {
    this.begun.delete(turn);
    const live = this.live.get(turn);
    this.live.delete(turn);
    this.next.delete(turn);
    live?.calls.end();
    await live?.started.release();
    await this.leave(turn, CUT_OFF);
    const row = await readRun(this.parts.records, turn);
    if (row && row.endedAt === null) await this.parts.records.write((tx) => endRow(tx, turn, this.parts.clock.now()));
  }

  /** What the run left in its worktree, once nothing of the run is left (RUNS-6). Again is the same; nothing: it had none. */
  leave(turn: TurnId, message: string): Promise<WorktreeReport | undefined> {
    return this.parts.worktrees.close(turn, message);
  }

  /** At the start: ends what an earlier life left, also of runs that wait for a person. */
  async sweep(): Promise<void> {
    const open = await listRuns(this.parts.records, { open: true, limit: MOST_LEFT });
    const left = open.map(({ turn }) => turn).filter((turn) => !this.live.has(turn));
    if (left.length > 0) await (await this.parts.host()).endLeft(left);
    await this.parts.worktrees.sweep("run", async (turn) => {
      const row = await readRun(this.parts.records, asId<TurnId>(turn));
      return row !== undefined && row.endedAt === null;
    });
  }

  /** What the turn's run did, as steps after those of the journal. Most turns have none. */
  async steps(
    turn: TurnId,
    calls: () => Promise<LedgerCall[]>,
    after: { segment: number; index: number },
  ): Promise<ReturnType<typeof toSteps>> {
    const { committed } = this.parts.records;
    if (!(await readRun(committed, turn))) return [];
    return toSteps(await readRecorded(committed, turn), await calls(), after);
  }

  list(q: { open: boolean; limit: number }): Promise<RunRow[]> {
    return listRuns(this.parts.records.committed, q);
  }

  private async begin(of: DriveRequest, row: RunRow): Promise<HeldRun | RunStop> {
    const { turn, session, runtime, answers } = of;
    const token = row.token ?? (await lastToken(this.parts.records, { session, runtime }));
    const [events, said] = await Promise.all([this.events(turn), this.meanwhile(turn)]);
    const situation = { text: of.text, attempt: row.attempt, events, said, answers };
    this.parts.crash.at("run.opening", () => of.text);
    // RUNS-5
    const taken = row.token && row.attempt > 1 ? await this.takeUp(of, row, events) : null;
    if (taken) return taken;
    if (token) {
      const text = firstWords({ ...situation, isResumed: true, before: "" });
      const resumed = await this.open(of, row, { text, resume: token });
      // Its conversation is gone, or it couldn't be started at all: the second try says which.
      if (!("why" in resumed)) return resumed;
    }
    const text = firstWords({ ...situation, isResumed: false, before: await of.before() });
    return this.open(of, row, { text, resume: null });
  }

  private async open(
    of: DriveRequest,
    row: RunRow,
    { text, resume }: { text: string; resume: RunRow["token"] },
  ): Promise<HeldRun | RunStop> {
    const start = async (request: StartRun, signal: AbortSignal) =>
      (await this.parts.host()).open({ ...request, resume }, signal);
    const opened = await this.start(of, row, { text, start });
    return opened ?? { why: "failed", trouble: { failure: "unknown", text: ENDED_EARLY, hint: null } };
  }

  /** Null: there is nothing to take up. */
  private async takeUp(
    of: DriveRequest,
    row: RunRow,
    known: readonly RunEventBody[],
  ): Promise<HeldRun | RunStop | null> {
    const start = async (request: StartRun, signal: AbortSignal) =>
      (await this.parts.host()).takeUp({ ...request, known }, row.token!, signal);
    const taken = await this.start(of, row, { text: "", start });
    if (!taken || "why" in taken) return taken;
    const given = of.answers.flatMap((one) => ("ask" in one ? [one] : []));
    for (const { ask, answer } of given) await taken.started.session.answer(ask, answer);
    taken.answered = new Set(given.map(({ ask }) => ask));
    return taken;
  }

  private async start(
    of: DriveRequest,
    row: RunRow,
    { text, start }: { text: string; start(request: StartRun, signal: AbortSignal): Promise<BegunRun | null> },
  ): Promise<HeldRun | RunStop | null> {
    const { turn, session, agent, runtime, model, workspace, trust, instructions, repository } = of;
    const signal = AbortSignal.any([of.signal, of.stopping]);
    const place: RunPlace = { attempt: row.attempt, seq: row.seq, ended: false };
    const calls = new OwnCalls(this.parts.clock);
    const live: Omit<HeldRun, "started"> = { place, calls, said: 0, answered: new Set(), trouble: null };
    try {
      const started = await start(
        {
          run: turn,
          attempt: row.attempt,
          lastSeq: row.seq,
          agent,
          runtime,
          turn,
          session,
          model,
          workspace,
          trust,
          resume: null,
          prompt: { instructions, text },
          tools: { specs: of.tools, call: (name, input, waits) => calls.take(name, input, waits) },
          isServing: () => calls.isServing,
          ...(repository && { worktree: () => this.openTree(of, repository, signal) }),
          limits: { deadline: null, quietMs: QUIET_MS, toolCalls: null },
          listener: {
            onFailure: (failure) => {
              live.trouble = { failure: failure.failure, text: failure.message, hint: failure.hint };
            },
          },
        },
        signal,
      );
      if (!started) return null;
      this.parts.crash.at("run.opened", () => text);
      await this.parts.records.write((tx) => keepPlan(tx, turn, started.plan));
      const opened = Object.assign(live, { started });
      this.live.set(turn, opened);
      return opened;
    } catch (error) {
      of.signal.throwIfAborted();
      if (of.stopping.aborted) return { why: "ended", outcome: "stopped", text: "", error: null };
      if (!(error instanceof AppError)) throw error;
      return { why: "failed", trouble: { failure: "unknown", text: error.message, hint: error.hint ?? null } };
    }
  }

  /** Its conversation goes on in the same folder, where the runtime looks for it. */
  private async openTree(
    { turn, session, agent }: DriveRequest,
    { path, within }: RunRepository,
    signal: AbortSignal,
  ): Promise<{ path: string; gitDir: string; instructions: string }> {
    const request = { owner: "run" as const, key: turn, line: session, agent, repository: path, within };
    const tree = await this.parts.worktrees.open(request, signal);
    return { path: tree.path, gitDir: tree.gitDir, instructions: worksInTree(tree) };
  }

  private async follow(live: HeldRun, of: DriveRequest): Promise<RunStop> {
    const { turn } = of;
    const { session } = live.started;
    const onStop = () => void session.stop("soft");
    const onLost = () => void live.started.release();
    of.stopping.addEventListener("abort", onStop, { once: true });
    of.signal.addEventListener("abort", onLost, { once: true });
    if (of.stopping.aborted) onStop();
    const events = session.events(live.place.seq)[Symbol.asyncIterator]();
    try {
      for (let coming = events.next(); ; ) {
        const call = live.calls.next();
        if (call) return { why: "calls", attempt: live.place.attempt, ...call };
        const next = await eventOrCall(coming, live.calls);
        if (next === "call") continue;
        of.signal.throwIfAborted();
        if (next.done) break;
        const stop = await this.take(live, of, next.value);
        if (stop) return stop;
        if (live.place.ended) return await this.close(turn, live);
        coming = events.next();
      }
      of.signal.throwIfAborted();
      return { why: "failed", trouble: { failure: "unknown", text: ENDED_EARLY, hint: null } };
    } finally {
      of.stopping.removeEventListener("abort", onStop);
      of.signal.removeEventListener("abort", onLost);
    }
  }

  /** One event: recorded, then shown. What ends the stretch, if it does. */
  private async take(live: HeldRun, of: DriveRequest, event: RunEvent): Promise<RunStop | undefined> {
    const place = nextPlace(live.place, event);
    if (typeof place === "string") return undefined;
    await this.record(live, of, event);
    live.place = place;
    this.parts.crash.at("run.recorded", () => JSON.stringify(event.body));
    live.calls.heard(event.body);
    of.show(event.body);
    const stop = toStop(event);
    return stop?.why === "asks" && live.answered.has(stop.ask) ? undefined : stop;
  }

  /** RUNS-3 */
  private async record(live: HeldRun, of: DriveRequest, event: RunEvent): Promise<void> {
    const { turn, session, agent, runtime } = of;
    const { body } = event;
    const { records, recordUsage, clock } = this.parts;
    live.said += JSON.stringify(body).length;
    if (live.said > MOST_SAID && live.trouble?.text !== TOO_MUCH) {
      live.trouble = { failure: "too-large", text: TOO_MUCH, hint: null };
      void live.started.session.stop("hard");
    }
    const isOwnCount = body.type === "usage" && !live.started.isMetered;
    const call = isOwnCount ? (await this.parts.lastCall(turn)) + 1 : 0;
    await records.write((tx) => {
      addEvent(tx, turn, event);
      if (body.type === "checkpoint") keepToken(tx, turn, event.attempt, body.token);
      if (body.type === "done") endRow(tx, turn, clock.now());
      if (body.type === "usage" && isOwnCount) {
        const { usage, basis, model } = body;
        recordUsage(tx, { turn, call, session, agent, runtime, usage, basis, model, ms: 0, at: clock.now() });
      }
    });
  }

  private async close(turn: TurnId, live: HeldRun): Promise<RunStop> {
    this.live.delete(turn);
    live.calls.end();
    await live.started.release();
    const end = await this.readEnd(turn);
    // Where the proxy knows better, e.g. that a key is wrong.
    return end.why === "ended" && live.trouble && end.outcome !== "finished" ? { ...end, error: live.trouble } : end;
  }

  private async readEnd(turn: TurnId): Promise<RunStop> {
    const events = await this.events(turn);
    const done = events.findLast((one) => one.type === "done");
    const error = events.findLast((one) => one.type === "error");
    const trouble = error ? { failure: error.failure, text: error.text, hint: error.hint } : null;
    if (!done) return { why: "failed", trouble: trouble ?? { failure: "unknown", text: ENDED_EARLY, hint: null } };
    return { why: "ended", outcome: done.outcome, text: done.text, error: trouble };
  }

  /** RUNS-4 */
  private async giveUp(turn: TurnId): Promise<RunStop> {
    await this.ended(turn);
    const error = { failure: "unknown" as const, text: tooManyAttempts(MOST_ATTEMPTS), hint: null };
    return { why: "ended", outcome: "unknown", text: "", error };
  }
}

/** Whichever comes first. An event that nobody took is read again by the next reader (RUNTIME-4). */
function eventOrCall(
  coming: Promise<IteratorResult<RunEvent>>,
  calls: OwnCalls,
): Promise<IteratorResult<RunEvent> | "call"> {
  return new Promise((resolve, reject) => {
    calls.wake = () => resolve("call");
    coming.then(resolve, reject);
  });
}

function toStop({ attempt, body }: RunEvent): RunStop | undefined {
  if (body.type !== "ask") return undefined;
  const { ask, about, expires } = body;
  return { why: "asks", ask, attempt, about, expires };
}
