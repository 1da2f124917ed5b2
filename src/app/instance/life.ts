/** The engine's side: which handler runs a segment, who hears that a turn settled, the order of the start and of the stop. */
import type { Ctx, SegmentInput } from "../../core/contracts/index.ts";
import {
  AppError,
  fromJson,
  isOver,
  readTeamSession,
  type SessionKey,
  type TurnId,
  withoutCommandLane,
} from "../../core/domain/index.ts";
import { letOthersRun } from "../../core/kit/index.ts";
import { announce, whyNotAgain } from "../../flow/turns/index.ts";
import type { CompactBody } from "../../mind/context/index.ts";
import type { GoalBody } from "../../mind/goals/index.ts";
import { declareBeats } from "../../mind/heartbeat/index.ts";
import type { NightBody } from "../../mind/memory/index.ts";
import type { SlotBody } from "../../mind/schedule/index.ts";
import type { DeadlineBody } from "../../mind/sub-agents/index.ts";
import type { Built, BuiltIntake } from "./intake.ts";
import type { Runtimes } from "./runtimes.ts";
import type { Turns } from "./turns.ts";
import type { Wakers } from "./wakers.ts";

type All = Built & { intake: BuiltIntake; wakers: Wakers; runtimes: Runtimes } & Turns;

type Bodies = {
  message: { kind: "message"; person?: string };
  command: { kind: "command" };
  slot: SlotBody;
  compact: CompactBody;
  condense: NightBody;
  goal: GoalBody;
  "child-deadline": DeadlineBody;
};
type Kind = keyof Bodies;
type Segment = ReturnType<Turns["turns"]["segment"]>;

interface SegmentHandler<K extends Kind> {
  run(ctx: Ctx, body: Bodies[K], input: SegmentInput): Segment;
  /** It stopped Lares before and isn't tried again. Absent: the handler ends it visibly by itself. */
  giveUp?(ctx: Ctx, body: Bodies[K], why: string): Segment;
}

/** Each kind of segment and the room that runs it. */
function segmentHandlers({ mind, wakers, turns }: All): { [K in Kind]: SegmentHandler<K> } {
  const { contexts, compactions, memory } = mind;
  const { schedules, children, goals } = wakers;
  const over = () => ({ end: null });
  return {
    message: {
      async run(ctx, body, input) {
        contexts.spokenBy(ctx.session, body.person);
        await wakers.work.starts(input.turn, ctx.session);
        return turns.segment(ctx, input);
      },
    },
    command: { run: (ctx, _body, input) => turns.segment(ctx, input) },
    goal: { run: (ctx, body, input) => goals.judge(ctx, body, input.wake.why === "broken") },
    compact: { run: (ctx, body, input) => compactions.segment(ctx, body, input.wake.why === "broken") },
    slot: {
      run: (ctx, body) => schedules.fire(ctx, body),
      giveUp: (ctx, body, why) => schedules.giveUp(ctx, body, why),
    },
    condense: {
      run: (_ctx, body) => memory.night(body).then(over),
      giveUp: (_ctx, body) => memory.planNight(body).then(over),
    },
    "child-deadline": {
      run: (_ctx, body) => children.overdue(body).then(over),
      giveUp: async () => over(),
    },
  };
}

type Settled = (turn: TurnId, session: SessionKey) => unknown;

/** Who hears that a turn ended; they do not wait for each other. */
function endListeners(
  { ground, workshop, mind, intake, wakers, runtimes }: All,
  unsettled: (error: unknown) => void,
): Settled[] {
  const { aside, turnEnds } = ground;
  const isStopped = async (turn: TurnId) => (await turnEnds.read(turn))?.result?.state === "stopped";
  return [
    (turn) => wakers.schedules.ended(turn).catch(unsettled),
    (turn) => aside(wakers.children.ended(turn)),
    (turn) => aside(isStopped(turn).then((is) => (is ? workshop.far.drop(turn) : undefined))),
    (turn, session) => aside(intake.events.ended(turn, session)),
    (turn, session) => aside(wakers.goals.ended(turn, session)),
    (turn, session) => readTeamSession(session) && aside(wakers.rooms.ended(turn)),
    (turn, session) => aside(wakers.work.ended(turn, session)),
    (_turn, session) => aside(mind.compactions.consider(session)),
    (turn) => mind.locks.settled(turn),
    (turn) => aside(runtimes.runs.settled(turn)),
    (_turn, session) => mind.memory.ended(withoutCommandLane(session)),
  ];
}

export interface Life {
  /** These sections of lares.yaml changed. */
  changed(sections: readonly string[]): Promise<void>;
  /** What of it made no sense, in sentences. */
  problems(): string[];
  stop(drainMs: number): Promise<void>;
}

export async function startLife(all: All, browser: { closeAll(): Promise<void> }): Promise<Life> {
  const { parts, ground, workshop, delivery, intake, wakers } = all;
  const { log, bus } = parts;
  const { engine, turnEnds, aside } = ground;
  const scheduleLog = log.child("schedule");
  // At a stop the records may be closed already; the next start settles what is left.
  const unsettled = (error: unknown) => scheduleLog.debug("a slot was not settled", { error: String(error) });
  const warn = (what: string) => (error: unknown) => {
    // A stop that comes first, e.g. because the port is taken, is no trouble of theirs.
    if (!isOver(error)) log.warn(what, { error: String(error) });
  };
  aside(workshop.attachments.sweep());
  const { capture } = all.mind.memory;
  const stopListening = [wakers.schedules.listen(unsettled), capture.listen(bus, aside), turnEnds.follow(bus)];
  // Not waited for: it takes only what is there now, and no open turn wants it.
  void workshop.runs.sweep(engine.openIntents()).catch(warn("old commands could not be cleared away"));
  await workshop.plugins.open();
  await workshop.mcp.servers.apply();
  workshop.hookSources.apply();
  workshop.plugins.calls.follow(ground.eventHooks);
  void workshop.mcp.sweep().catch(warn("MCP servers left from an earlier run couldn't be ended"));
  await all.runtimes.sweep();
  await workshop.teams.look();
  await startEngine(all, unsettled);
  ground.eventHooks.observers.start();
  await delivery.outbox.start();
  void all.mind.memory.start().catch(warn("memory did not start"));
  await delivery.reminders.start();
  await delivery.approvals.settle();
  await all.mind.checkpoints.start();
  let problems: string[] = [];
  const declare = async () => {
    problems = [
      ...(await wakers.schedules.declare(parts.config.schedules)),
      ...(await declareBeats(wakers.schedules, parts.config.agents)),
    ];
    for (const problem of problems) scheduleLog.warn(problem);
  };
  await declare();
  await wakers.schedules.settle();
  // Nobody waits for it, and a start is not slowed by it.
  void wakers.schedules.sweep().catch(warn("old runs could not be removed"));
  await wakers.children.settle();
  await workshop.processes.settle();
  await intake.events.settle();
  await workshop.far.settle();
  await wakers.goals.settle();
  await wakers.rooms.settle();
  await wakers.work.settle();
  await wakers.watchers.start();
  await intake.channels.apply();
  return {
    changed: (sections) => follow(all, sections, declare),
    problems: () => [...problems, ...listProblems(all)],
    async stop(drainMs) {
      for (const stop of stopListening) stop();
      delivery.live.stop();
      await intake.channels.accounts.stop();
      await browser.closeAll();
      workshop.processes.stop();
      delivery.reminders.stop();
      await wakers.watchers.stop();
      workshop.far.stop();
      intake.events.stop();
      wakers.children.stop();
      wakers.work.stop();
      await engine.stop(drainMs);
      await all.runtimes.close();
      await ground.eventHooks.observers.stop();
      await workshop.mcp.close();
      turnEnds.lose(new AppError("NOT_READY", { message: "Lares is stopping.", retry: "later" }));
      delivery.outbox.stop();
      await all.mind.memory.stop();
      ground.records.close();
    },
  };
}

function listProblems({ workshop, mind }: All): string[] {
  return [workshop.hookSources, workshop.teams, mind.memory].flatMap((room) => room.problems());
}

/** Which rooms follow a change of which sections; all others read their settings each time they need them. */
async function follow(
  { parts, workshop, mind, intake, wakers }: All,
  sections: readonly string[],
  declare: () => Promise<void>,
): Promise<void> {
  const followers: readonly [sections: readonly string[], renew: () => void | Promise<void>][] = [
    [["agents"], () => workshop.ensureAgents(parts.config.agents)],
    [["channels"], () => intake.channels.apply()],
    [["memory"], () => mind.memory.changed()],
    [["mcp", "plugins"], () => workshop.plugins.settingsChanged()],
    [["eventHooks"], () => workshop.hookSources.apply()],
    [["watch"], () => wakers.watchers.start()],
    [["schedules", "agents"], declare],
  ];
  for (const [of, renew] of followers) if (of.some((one) => sections.includes(one))) await renew();
}

async function startEngine(all: All, unsettled: (error: unknown) => void): Promise<void> {
  const { parts, ground, delivery } = all;
  const { log, bus, version } = parts;
  const { engine, turnEnds, aside } = ground;
  const handlers = segmentHandlers(all);
  const whenEnded = endListeners(all, unsettled);
  const tellListeners = (turn: TurnId, session: SessionKey) => {
    for (const tell of whenEnded) tell(turn, session);
  };
  const turnLog = log.child("turns");
  await engine.start({
    version,
    async segment(ctx, input) {
      const body = fromJson<Bodies[Kind]>(input.body);
      const handler = handlers[body.kind] as SegmentHandler<Kind>;
      const why = whyNotAgain(input.wake);
      if (why === undefined || !handler.giveUp) return handler.run(ctx, body, input);
      log.error(why, { kind: body.kind, turn: input.turn });
      return handler.giveUp(ctx, body, why);
    },
    settled(turn, session, how) {
      turnEnds.settled(turn);
      aside(delivery.outbox.wake(turn));
      // Once the answer is out: nobody waits for the others with it.
      if (how === "parked") aside(all.wakers.work.parked(turn, session));
      if (how === "ended") aside(letOthersRun().then(() => tellListeners(turn, session)));
      aside(announce({ bus, approvals: delivery.approvals, turnEnds, log: turnLog }, turn, session, how));
    },
  });
}
