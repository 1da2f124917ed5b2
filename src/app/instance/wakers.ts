/** What wakes agents besides people: hooks, watchers, schedules with heartbeats, sub-agents and goals. */
import type { AgentId } from "../../core/domain/index.ts";
import { whyUnreachable } from "../../edges/channels/index.ts";
import { Hooks } from "../../edges/hooks/index.ts";
import { createFetcher, withListed } from "../../edges/tools/index.ts";
import { describeWatched, look, type Watched } from "../../edges/watch/index.ts";
import { countAskedSince, personBehind, shortCode } from "../../flow/approvals/index.ts";
import { childEvent, hookEvent, sourcesSince, spottedEvent } from "../../flow/events/index.ts";
import { authorityIn } from "../../flow/inbox/index.ts";
import { findAgent } from "../../flow/sessions/index.ts";
import { listTurns, recentChats } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { readTurnState } from "../../ground/engine/index.ts";
import type { Board, BoardWork } from "../../mind/board/index.ts";
import { hasReadOutside } from "../../mind/context/index.ts";
import type { Goals } from "../../mind/goals/index.ts";
import { describeRecent, Heartbeat } from "../../mind/heartbeat/index.ts";
import { recipientInWords } from "../../mind/prompt/index.ts";
import {
  comesAgain,
  countMinutes,
  type JobSurroundings,
  jobPorts,
  moment,
  Schedules,
  troublesSince,
  type WorkspaceFiles,
} from "../../mind/schedule/index.ts";
import { Children } from "../../mind/sub-agents/index.ts";
import { TeamRooms } from "../../mind/teams/index.ts";
import { Watchers } from "../../mind/watch/index.ts";
import { makeBoard } from "./board.ts";
import { makeGoals } from "./goals.ts";
import type { Built, BuiltIntake } from "./intake.ts";

export interface Wakers {
  hooks: Hooks;
  watchers: Watchers<Watched>;
  heartbeat: Heartbeat;
  schedules: Schedules;
  children: Children;
  goals: Goals;
  board: Board;
  rooms: TeamRooms;
  work: BoardWork;
}

export function buildWakers(built: Built & { intake: BuiltIntake }): Wakers {
  const { parts, ground, workshop, delivery, mind, intake, late } = built;
  const { config, models, clock, ids, crash, guard, log } = parts;
  const { records, engine, turnEnds, stopTurn, agentModel } = ground;
  const { events, inbox } = intake;
  const defaultAgent = makeReader(config, "routing", "defaultAgent");
  const hooks = new Hooks({
    clock,
    ids,
    crash,
    guard,
    defaultAgent,
    config: makeReader(config, "hooks"),
    tell: (rung) => events.tell(hookEvent(rung)),
  });
  const fetcher = createFetcher(withListed(makeReader(config, "web"), { clock }));
  const watchers = new Watchers<Watched>({
    records,
    clock,
    crash,
    guard,
    defaultAgent,
    describeWatched,
    log: log.child("watch"),
    config: makeReader(config, "watch"),
    look: (...asked) => look({ clock, fetch: fetcher.fetch, askPlugin: workshop.plugins.calls.ask }, ...asked),
    tell: (spotted, record) => events.tellAll(spotted.map(spottedEvent), record),
  });
  const { heartbeat, schedules } = buildSchedules(built);
  late.schedules.set(schedules);
  const children = late.children.set(
    new Children({
      records,
      clock,
      stop: stopTurn,
      turns: turnEnds,
      config: makeReader(config, "teams"),
      admit: (message, record) => inbox.admit(message, record),
      tell: (told, record) => events.tell(childEvent(told), record),
      hasReadOutside: (session) => hasReadOutside(records, session),
      authorityIn: (session) => authorityIn(records, session),
      personBehind: (turn) => personBehind(records, turn),
      timer: (id, slot) => engine.schedule(id, slot),
      open: async (session) => (await listTurns(records, { session, open: true, limit: 20 })).map(({ id }) => id),
      agentExists: (agent) => workshop.agents.exists(agent),
      findAgent: (session) => findAgent(records, session),
      standing: (turn) => readTurnState(records, turn),
    }),
  );
  const goals = late.goals.set(
    makeGoals({
      records,
      clock,
      ids,
      log,
      models,
      inbox,
      engine,
      turnEnds,
      children,
      agentModel,
      stop: stopTurn,
      agents: workshop.agents,
      processes: workshop.processes,
      outbox: delivery.outbox,
      paid: mind.paid,
      config: makeReader(config, "goals"),
    }),
  );
  const { board, work } = makeBoard(built);
  const rooms = late.rooms.set(buildRooms(built));
  return { hooks, watchers, heartbeat, schedules, children, goals, board, work, rooms };
}

function buildRooms({ parts, ground, workshop, intake }: Built & { intake: BuiltIntake }): TeamRooms {
  const { config, clock, crash, bus } = parts;
  const { records, turnEnds, stopTurn } = ground;
  return new TeamRooms({
    records,
    clock,
    crash,
    bus,
    teams: workshop.teams,
    agentExists: (agent) => workshop.agents.exists(agent),
    nameOf: (agent) => config.agents[agent]?.name ?? agent,
    admit: (message, record) => intake.inbox.admit(message, record),
    result: async (turn) => (await turnEnds.read(turn))?.result,
    stop: stopTurn,
    authorityIn: (session) => authorityIn(records, session),
    hasReadOutside: (session) => hasReadOutside(records, session),
  });
}

function buildSchedules(built: Built & { intake: BuiltIntake }): { heartbeat: Heartbeat; schedules: Schedules } {
  const { parts, ground, delivery, intake } = built;
  const { clock, ids, crash, bus, log } = parts;
  const { records, engine, turnEnds, zone, eventHooks: hooks } = ground;
  const ports = jobPorts(surroundings(built));
  const heartbeat = buildHeartbeat(built, ports.files);
  const schedules = new Schedules({
    records,
    clock,
    ids,
    crash,
    bus,
    zone,
    log: log.child("schedule"),
    ...ports,
    beats: heartbeat,
    hooks,
    timer: (id, slot) => engine.schedule(id, slot),
    admit: (message) => intake.inbox.admit(message),
    turn: (turn) => turnEnds.read(turn),
    question: async (turn) => {
      const [open] = await delivery.approvals.list({ pendingOnly: true, turn, limit: 1 });
      return open && shortCode(open.id);
    },
    withdraw: async (...asked) => (await delivery.approvals.withdraw(...asked)).map(({ id }) => shortCode(id)),
    recipient: (agent, route) => recipientInWords(route, () => recentChats(records, agent)),
  });
  return { heartbeat, schedules };
}

function surroundings({ parts, ground, workshop, delivery, intake }: Built & { intake: BuiltIntake }): JobSurroundings {
  const { config, models } = parts;
  const { records, called, agentModel } = ground;
  return {
    called,
    models,
    agentModel,
    agents: workshop.agents,
    outbox: delivery.outbox,
    whyUnreachable: (route) => whyUnreachable(config.channels, route),
    deleteSession: (session) => intake.sessions.delete(session, { keepUsage: true }),
    isOpen: async (session) => (await listTurns(records, { session, open: true, limit: 1 })).length > 0,
  };
}

function buildHeartbeat({ parts, ground, workshop, delivery }: Built, { mark }: WorkspaceFiles): Heartbeat {
  const { records, zone } = ground;
  const { agents } = workshop;
  return new Heartbeat({
    records,
    clock: parts.clock,
    mark,
    config: (agent) => parts.config.agents[agent]?.heartbeat,
    checklist: async (agent: AgentId) =>
      agents.exists(agent) ? (await agents.readFile(agent, "HEARTBEAT.md")).text : "",
    listRecent: async (agent, since) =>
      describeRecent({
        events: await sourcesSince(records, agent, since),
        jobs: await troublesSince(records, agent, since),
        asked: await countAskedSince(records, agent, since),
      }),
    time: { zone, minutes: countMinutes, moment, again: comesAgain },
    send: (tx, word) => delivery.outbox.intend(tx, word),
  });
}
