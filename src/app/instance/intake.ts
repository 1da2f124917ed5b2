/** The way in: sessions, slash commands, the inbox, events of the system, and the channels that bring messages. */

import { homedir } from "node:os";
import { CANCEL } from "../../core/contracts/index.ts";
import { resumeIds, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { eraseFarWork } from "../../edges/tools/index.ts";
import { eraseApprovals, shortCode } from "../../flow/approvals/index.ts";
import { eraseAttachments } from "../../flow/attachments/index.ts";
import { commandAnswers, describeSession, justAsked, makeCommands } from "../../flow/commands/index.ts";
import { EditorSessions } from "../../flow/editor/index.ts";
import { eraseHookEvents } from "../../flow/event-hooks/index.ts";
import { SystemEvents, silenceEvents } from "../../flow/events/index.ts";
import { eraseInbox, type Inbox, makeInbox, takenBy } from "../../flow/inbox/index.ts";
import { eraseDeliveries } from "../../flow/outbox/index.ts";
import { eraseHops, PeerTasks } from "../../flow/peers/index.ts";
import { eraseRuns, forgetTokens } from "../../flow/runs/index.ts";
import { hasSession, Sessions, sessionsSince, useSession } from "../../flow/sessions/index.ts";
import {
  eraseTurns,
  findAcceptId,
  listTurns,
  openAcceptedAs,
  queueTurn,
  recordWoken,
  spokenToGuest,
  sumSessionUsage,
  turnsAcceptedAs,
  wasAdmitted,
  withoutPaths,
} from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { eraseSpent } from "../../mind/budget/index.ts";
import { eraseHistory, estimateTokens, insertImported } from "../../mind/context/index.ts";
import { goalWords } from "../../mind/goals/index.ts";
import { recall } from "../../mind/memory/index.ts";
import { whereInWords } from "../../mind/prompt/index.ts";
import { scheduleWords, zoneWords } from "../../mind/schedule/index.ts";
import { type Channels, makeChannels } from "./channels.ts";
import type { BuiltDelivery } from "./delivery.ts";
import type { Ground } from "./ground.ts";
import type { Mind } from "./mind.ts";
import type { InstanceParts, LateParts } from "./parts.ts";
import type { Workshop } from "./workshop.ts";

export interface BuiltIntake {
  sessions: Sessions;
  editor: EditorSessions;
  inbox: Inbox;
  events: SystemEvents;
  channels: Channels;
  peers: PeerTasks;
}

/** What is built before, and what the channels need late. */
export interface Built {
  parts: InstanceParts;
  ground: Ground;
  workshop: Workshop;
  delivery: BuiltDelivery;
  mind: Mind;
  late: LateParts;
}

/** How long closing a session waits for its turns to reach a safe point. */
const CLOSE_PATIENCE_MS = 15_000;

export function buildIntake(built: Built): BuiltIntake {
  const { parts, ground, workshop, delivery, late } = built;
  const { records, engine, turnEnds, called } = ground;
  const { clock, ids, crash, guard, bus, log } = parts;
  const sessions = buildSessions(built);
  const inbox = late.inbox.set(buildInbox(built, sessions));
  const events = late.events.set(
    new SystemEvents({
      records,
      clock,
      crash,
      log: log.child("events"),
      admit: (message, record) => inbox.admit(message, record),
      isWaiting: async (turn) => {
        const row = await takenBy(records, turn);
        return row?.taken_by === null && !row.withdrawn;
      },
      resume: (turn, event) =>
        engine.resume(turn, { ...event, value: null }, (tx) => {
          recordWoken(tx, turn);
        }),
      hasEnded: async (turn) => (await turnEnds.read(turn))?.endedAt !== undefined,
    }),
  );
  const channels = late.channels.set(
    makeChannels({
      records,
      clock,
      ids,
      crash,
      guard,
      bus,
      log,
      home: parts.home,
      called,
      inbox,
      config: parts.config,
      outbox: delivery.outbox,
      approvals: delivery.approvals,
      attachments: workshop.attachments,
      askPlugin: workshop.plugins.calls.ask,
    }),
  );
  late.accounts.set(channels.accounts);
  return { sessions, editor: buildEditor(built, sessions), inbox, events, channels, peers: buildPeers(built, inbox) };
}

function buildPeers({ parts, ground, delivery }: Built, inbox: Inbox): PeerTasks {
  const { config, clock, home } = parts;
  const { records, engine, turnEnds } = ground;
  return new PeerTasks({
    clock,
    turns: turnEnds,
    findAcceptId,
    list: turnsAcceptedAs,
    countOpen: openAcceptedAs,
    isKnown: wasAdmitted,
    db: () => records.committed,
    config: makeReader(config, "a2a"),
    defaultAgent: makeReader(config, "routing", "defaultAgent"),
    nameOf: (agent) => config.agents[agent]?.name ?? agent,
    admit: (message, record) => inbox.admit(message, record),
    running: (session) => engine.running(session),
    stop: async (turn) => {
      const why = { why: "the agent that asked for it cancelled it" };
      return (await engine.resume(turn, { id: resumeIds.abort(turn), name: CANCEL, value: why })) === "taken";
    },
    isAsked: async (turn) => (await delivery.approvals.list({ pendingOnly: true, turn, limit: 1 })).length > 0,
    tell: (result) => withoutPaths(spokenToGuest(result), [home, homedir()]),
  });
}

function buildEditor({ parts, ground, workshop, mind }: Built, sessions: Sessions): EditorSessions {
  const { config, ids, models } = parts;
  const { agents, mcp } = workshop;
  const tuned = (session: SessionKey, agent: string, change: { model?: string | null }) =>
    mind.contexts.tune({ session, agent, person: "" }, change);
  return new EditorSessions({
    ids,
    sessions,
    agents,
    mcp,
    defaultAgent: () => config.routing.defaultAgent,
    roots: (agent) => workshop.roots.of(agent),
    mode: (agent) => config.agents[agent]?.policy?.mode ?? config.policy.mode,
    models: {
      names: () => models.list().map(({ id }) => id),
      async find(session, agent) {
        const { model } = await tuned(session, agent, {});
        return { model: model ?? ground.agentModel(agent) ?? models.primary().id, chosen: model !== null };
      },
      async choose(session, agent, model) {
        await tuned(session, agent, { model });
      },
    },
  });
}

function buildSessions({ parts, ground, workshop, mind }: Built): Sessions {
  const { clock, crash, bus } = parts;
  const { records, engine, turnEnds } = ground;
  return new Sessions({
    records,
    clock,
    crash,
    bus,
    hooks: ground.eventHooks,
    resume: (turn, event) => engine.resume(turn, event),
    running: (session) => engine.running(session),
    forget: (session) => {
      mind.contexts.drop(session);
      mind.budget.forget(session);
    },
    erase: async (session) => {
      await engine.erase(session);
      turnEnds.forget();
    },
    files: workshop.attachments,
    erasers: [
      ...[eraseHistory, eraseInbox, eraseAttachments, eraseApprovals],
      ...[eraseDeliveries, eraseTurns, silenceEvents, eraseSpent, eraseHops, eraseFarWork, eraseHookEvents, eraseRuns],
    ],
    resetters: [forgetTokens],
    addImported: (tx, line) => insertImported(tx, line, estimateTokens(line.content)),
    ended: async (turn) => {
      await turnEnds.until(turn, "ended", AbortSignal.timeout(CLOSE_PATIENCE_MS));
    },
  });
}

function buildInbox(built: Built, sessions: Sessions): Inbox {
  const { parts, ground, workshop, late } = built;
  const { records, engine, stopTurn } = ground;
  const { config, clock, ids, bus } = parts;
  const { attachments, agents } = workshop;
  return makeInbox({
    engine,
    clock,
    ids,
    bus,
    agents,
    attachments,
    messages: records,
    hooks: ground.eventHooks,
    config: makeReader(config, "routing"),
    commands: buildCommands(built, sessions),
    stop: async ({ turns, why }) => {
      for (const turn of turns) await stopTurn(turn, why);
    },
    isKnown: wasAdmitted,
    hasSession,
    sessionsSince,
    rooms: { useSession, queueTurn },
    findZone: ground.findZone,
    where: whereInWords,
    accounts: late.accounts.get,
    teamRooms: workshop.teams.chats,
  });
}

function buildCommands({ parts, ground, workshop, delivery, mind, late }: Built, sessions: Sessions) {
  const { records, engine, called, currentTurn } = ground;
  const { approvals, outbox } = delivery;
  const { models } = parts;
  const openTurns = (session: SessionKey, limit: number) => listTurns(records, { session, open: true, limit });
  const running = (session: SessionKey): TurnId | undefined => engine.running(session);
  return makeCommands({
    called,
    ...commandAnswers({
      called,
      models,
      compactions: mind.compactions,
      tune: (at, change) => mind.contexts.tune(at, change),
      session: (session) => sessions.get(session),
      usage: (session) => sumSessionUsage(records, session),
      agentNames: () => workshop.agents.names(),
      schedules: (call) => scheduleWords(late.schedules.get(), call, called),
      timezone: (person, args) => zoneWords(late.schedules.get(), person, args),
      memory: (session, query, message) => recall(mind.memory, session, query, message),
    }),
    current: currentTurn,
    helpers: async (session) => [
      ...(await late.children.get().working(session)),
      ...(await workshop.a2a.hires.askers(session)),
    ],
    reset: (session) => sessions.reset(session),
    reload: (session) => sessions.reload(session),
    approvals: {
      find: (typed) => approvals.find(typed),
      resolve: (id, answer) => approvals.resolve(id, answer),
      waiting: (session) => approvals.list({ pendingOnly: true, session, limit: 5 }),
      justAsked: (message) =>
        justAsked(
          {
            pendingIn: (route) => approvals.pendingIn(route),
            onlyAsked: (route, asked, when) => outbox.onlyAsked(route, asked, when),
          },
          message,
        ),
    },
    status: (session) =>
      describeSession(
        {
          models,
          running,
          openTurns: async (of) => (await openTurns(of, 10)).length,
          waiting: async (of) =>
            (await approvals.list({ pendingOnly: true, session: of, limit: 10 })).map(({ tool, id }) => ({
              tool,
              code: shortCode(id),
            })),
        },
        session,
      ),
    goal: (session, args, message) => goalWords(late.goals.get(), session, args, message),
    pair: (code, by, role) => late.channels.get().pairings.approve(code, by, role),
    prompts: {
      list: (agent) => workshop.mcp.servers.prompts(agent),
      get: (agent, asked) => workshop.mcp.servers.prompt(agent, asked),
    },
    mayApprove: (message) => message.mayApprove === true,
  });
}
