/** The turn itself, with everything it asks for on its way; and the tools that act on Lares. */
import { homedir } from "node:os";
import { type AgentId, asId, waitNames } from "../../core/domain/index.ts";
import { makeRuntimeChoice, makeRuntimeFinder } from "../../edges/runtimes/index.ts";
import {
  createBoardTools,
  createBrowserTool,
  createMemoryTools,
  createMessageTool,
  createProcess,
  createRoomTools,
  createScheduleTools,
  createSessionTools,
  createWait,
  createWebTools,
  registerTools,
  visible,
  withListed,
} from "../../edges/tools/index.ts";
import { describeAsker, questionText, questionTextWithButtons, shortCode } from "../../flow/approvals/index.ts";
import { findStart } from "../../flow/editor/index.ts";
import { makeWaitPort } from "../../flow/events/index.ts";
import { type Judging, makeJudging, onlyLooks } from "../../flow/gate/index.ts";
import { makeTurnIntake, ownLine, stopReplaced } from "../../flow/inbox/index.ts";
import { makeMessagePort } from "../../flow/outbox/index.ts";
import { findMode } from "../../flow/sessions/index.ts";
import {
  FileChanges,
  findAskers,
  findQuestionPlace,
  hasOtherSpeakers,
  makeTurns,
  type TurnParts,
  withoutPaths,
} from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { makeBoardToolPort } from "../../mind/board/index.ts";
import { hasReadOutside, makeResultCap } from "../../mind/context/index.ts";
import { makeMemoryToolPort } from "../../mind/memory/index.ts";
import { makeScheduleToolPort } from "../../mind/schedule/index.ts";
import { makeSessionToolPort } from "../../mind/sub-agents/index.ts";
import { makeRoomToolPort } from "../../mind/teams/index.ts";
import type { Built, BuiltIntake } from "./intake.ts";
import type { Runtimes } from "./runtimes.ts";
import type { Wakers } from "./wakers.ts";

type All = Built & { intake: BuiltIntake; wakers: Wakers };

export interface Turns {
  turns: ReturnType<typeof makeTurns>;
  judging: Judging;
}

export async function buildTurns(built: All & { runtimes: Runtimes }): Promise<Turns> {
  const { parts, ground, workshop, delivery, mind } = built;
  const { config, models, clock, ids, crash, bus, log } = parts;
  const { records, engine, called, clean, agentModel, stopTurn, eventHooks: hooks } = ground;
  const { agents, roots, tools } = workshop;
  const judging = buildJudging(built);
  workshop.mcp.sampleBy({ judge: judging.judge, call: (...asked) => mind.paid.call(...asked), model: agentModel });
  const turns = makeTurns({
    called,
    records,
    models,
    clock,
    ids,
    crash,
    bus,
    agentModel,
    stop: stopTurn,
    scrub: clean,
    hooks,
    bodies: built.runtimes.bodies,
    log: log.child("turns"),
    builtAt: clock.now(),
    stopReplaced: (session, target, by) => stopReplaced({ messages: records, engine }, session, target, by),
    limits: makeReader(config, "limits"),
    history: mind.contexts,
    interims: mind.contexts.interims,
    room: {
      makeRoom: (ctx, at, number, why) => mind.compactions.makeRoom(ctx, at, number, why),
      cap: makeResultCap(mind.contexts, makeReader(config, "context", "toolShare")),
    },
    replies: delivery.outbox,
    sign: (session, text) => built.wakers.rooms.sign(session, text),
    intake: makeTurnIntake(records, workshop.attachments),
    judge: judging,
    changes: await FileChanges.open(records, ({ shell }) => shell !== undefined && onlyLooks(shell)),
    questions: buildQuestions(built),
    tools: {
      get: (name) => (tools.has(name) ? tools.get(name) : workshop.mcp.served.get(name)),
      onDemand: (name) => tools.onDemand(name),
      unknown: (name, allowed) => tools.unknown(name, allowed),
      place: (caller) => {
        const own = { ...agents.place(asId<AgentId>(caller.agent)), roots: roots.of(caller.agent) };
        return { ...own, ...findStart(caller.session, [own.workspace, ...own.roots]), userHome: homedir(), caller };
      },
    },
    paid: mind.paid,
    locks: mind.locks,
    checkpoints: mind.checkpoints,
    ownLine: (of) => ownLine({ messages: records, findZone: ground.findZone }, of),
    withoutPaths: (text) => withoutPaths(text, [parts.home, homedir()]),
  } satisfies TurnParts);
  return { turns, judging };
}

function buildJudging({ parts, ground, workshop, delivery, wakers, mind }: All): Judging {
  const { agents, roots, tools } = workshop;
  return makeJudging({
    home: parts.home,
    config: parts.config,
    doors: parts.doors,
    approvals: delivery.approvals,
    visible,
    places: (agent) => agents.place(agent),
    roots: (agent) => roots.of(agent),
    planCommand: (command, place) => tools.get("exec").plan({ command }, place),
    ancestors: (session) => wakers.children.ancestors(session),
    isShared: (session) => hasOtherSpeakers(ground.records, session),
    modeOf: (session) => findMode(ground.records, session),
    restores: (bytes) => mind.checkpoints.restores(bytes),
  });
}

function buildQuestions({ parts, ground, delivery }: All): TurnParts["questions"] {
  const { config } = parts;
  const { records } = ground;
  const { approvals } = delivery;
  return {
    ask: (tx, q) => approvals.ask(tx, q),
    text: questionText,
    textWithButtons: questionTextWithButtons,
    close: (tx, id, state) => approvals.close(tx, id, state),
    event: waitNames.approval,
    code: shortCode,
    where: (...asked) => findQuestionPlace(records, ...asked),
    asker: (turn, authority) => describeAsker(records, turn, authority),
    patienceMs: (agent) => (config.agents[agent]?.expireAfterHours ?? config.approvals.expireAfterHours) * 3_600_000,
  };
}

/** Tools that act on Lares itself. Returns what must be closed at the end. */
export function addTools({ parts, ground, workshop, delivery, mind, intake, wakers }: All): {
  closeAll(): Promise<void>;
} {
  const { config, clock } = parts;
  const { records, turnEnds } = ground;
  const { attachments, parsers, processes, skillPort, tools } = workshop;
  const { outbox } = delivery;
  const { children, schedules } = wakers;
  const findPerson = async (turn: string) => (await findAskers(records, [turn])).get(turn)?.person;
  const web = makeReader(config, "web");
  const browser = createBrowserTool(withListed(web, { clock }));
  registerTools(
    tools,
    [
      ...createScheduleTools(makeScheduleToolPort(schedules, findPerson)),
      ...createSessionTools(
        makeSessionToolPort(
          children,
          {
            list: (q) => intake.sessions.list(q),
            history: (q) => intake.sessions.history(q),
            outcome: async (turn) => (await turnEnds.read(turn))?.result?.state,
            hasReadOutside: (session) => hasReadOutside(records, session),
          },
          {
            visibility: makeReader(config, "teams", "visibility"),
            runtime: makeRuntimeChoice(config),
            hasOtherBody: (agent) => makeRuntimeFinder(config)(agent) !== undefined,
          },
        ),
      ),
      createWait(
        makeWaitPort({
          clock,
          events: intake.events,
          awaited: (session, ids) => children.awaited(session, ids),
          running: async (session) =>
            (await processes.list(session)).filter((one) => one.endedAt === null).map((one) => one.id),
        }),
      ),
      ...createMemoryTools(
        makeMemoryToolPort(mind.memory, {
          firstShown: (key, agent) => mind.contexts.firstShown(asId(key), asId(agent)),
          findZone: async (turn) => schedules.findZone(await findPerson(turn)),
          readEnd: (text, zone) => schedules.readEnd(text, zone),
        }),
      ),
      ...createRoomTools(makeRoomToolPort(wakers.rooms)),
      ...createBoardTools(makeBoardToolPort(wakers.board, wakers.work, (session) => hasReadOutside(records, session))),
      ...createWebTools(web, parsers.page, { clock }),
      createMessageTool(
        makeMessagePort({
          records,
          outbox,
          attachments,
          exists: ({ channel, account }) => intake.channels.accounts.get(channel, account) !== undefined,
          startedAt: async (turn) => (await turnEnds.read(turn))?.acceptedAt,
        }),
      ),
      createProcess(processes),
      browser.tool,
    ],
    { skills: skillPort, served: workshop.a2a.serve(workshop.mcp.served) },
  );
  return browser;
}
