/**
 * Builds the rooms and hands them to each other. One `House` is one life of the engine on a home; when the disk was full a new
 * one is built in the same process, exactly as after a crash.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { CANCEL } from "../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  asId,
  isChildSession,
  isOver,
  type Json,
  type SessionKey,
  type TurnId,
  withoutCommandLane,
} from "../core/domain/index.ts";
import type { Bus, Clock, Crash, Guard, IdMaker, Log } from "../core/kit/index.ts";
import { asCalled } from "../core/protocol/client.ts";
import { Hooks } from "../edges/hooks/index.ts";
import type { createModels } from "../edges/models/index.ts";
import { createParsers } from "../edges/parsers/index.ts";
import {
  CommandRuns,
  type Confinement,
  createBrowserTool,
  createConfinement,
  createFetcher,
  createMemoryTools,
  createMessageTool,
  createProcess,
  createScheduleTools,
  createSessionTools,
  createTools,
  createWait,
  createWebTools,
  ON_DEMAND_TOOLS,
  openRoots,
  Processes,
  readsOf,
  registerTools,
  type WebConfig,
  withListed,
} from "../edges/tools/index.ts";
import { describeWatched, look, type Watched } from "../edges/watch/index.ts";
import {
  Approvals,
  approvalEvent,
  askerOf,
  eraseApprovals,
  outcomeText,
  personBehind,
  questionText,
  questionTextWithButtons,
  Reminders,
  shortCode,
} from "../flow/approvals/index.ts";
import { Attachments, eraseAttachments } from "../flow/attachments/index.ts";
import type { Checkpoints } from "../flow/checkpoints/index.ts";
import { makeCommands } from "../flow/commands/index.ts";
import { SystemEvents, silenceEvents } from "../flow/events/index.ts";
import { type OwnDoors, onlyLooks } from "../flow/gate/index.ts";
import {
  authorityIn,
  eraseInbox,
  type Inbox,
  isInterrupted,
  makeInbox,
  openFrom,
  ownLine,
  place,
  stampFor,
  take,
  taken,
  takenBy,
  waitingIn,
  waitingUnder,
  withdraw,
} from "../flow/inbox/index.ts";
import { Locks } from "../flow/locks/index.ts";
import { eraseDeliveries, Live, Outbox } from "../flow/outbox/index.ts";
import { findAgent, Sessions, sessionViews, useSession } from "../flow/sessions/index.ts";
import {
  eraseTurns,
  FileChanges,
  findAskers,
  findLivePlace,
  hasOtherSpeakers,
  listTurns,
  makeTurns,
  placeOfQuestion,
  queueTurn,
  recordUsage,
  recordWoken,
  TurnEnds,
  type TurnParts,
  wasAdmitted,
} from "../flow/turns/index.ts";
import { EmbeddedEngine, readTurnState } from "../ground/engine/index.ts";
import { openRecords, type SqliteRecords } from "../ground/records/index.ts";
import { makeGrants, scrub, type Vault } from "../ground/vault/index.ts";
import { AgentFolders, DEFAULT_AGENT } from "../mind/agents/index.ts";
import { Budget, BudgetedModel, eraseSpent } from "../mind/budget/index.ts";
import {
  type CompactBody,
  Compactions,
  type ContextParts,
  Contexts,
  eraseHistory,
  estimateTokens,
  hasReadOutside,
  insertImported,
} from "../mind/context/index.ts";
import type { GoalBody, Goals, GoalsConfig } from "../mind/goals/index.ts";
import type { Heartbeat, HeartbeatConfig } from "../mind/heartbeat/index.ts";
import { makeReaders } from "../mind/memory/index.ts";
import { Schedules, type SlotBody } from "../mind/schedule/index.ts";
import type { Skills } from "../mind/skills/index.ts";
import { Children, type DeadlineBody } from "../mind/teams/index.ts";
import { Watchers } from "../mind/watch/index.ts";
import { onChannel, recipientInWords, showsInWords } from "./channel-words.ts";
import { type Channels, makeChannels, messageDesk, pieces } from "./channels.ts";
import { makeCheckpoints } from "./checkpoints.ts";
import { type LaresConfig, PULLED } from "./config.ts";
import { confineParser } from "./confine-parser.ts";
import { roomOf, snapshotOf } from "./context.ts";
import { childEvent, exitEvent, hookEvent, scheduleDesk, sessionDesk, spottedEvent, waitDesk } from "./desk.ts";
import { goalWords, makeGoals } from "./goals.ts";
import { declareBeats, makeHeartbeat } from "./heartbeats.ts";
import { jobPorts } from "./jobs.ts";
import { type Judging, makeJudging } from "./judging.ts";
import { memoryDesk, recall } from "./memory-handlers.ts";
import { type MemoryRooms, type NightBody, openMemoryRooms } from "./memory-rooms.ts";
import { announce, describeSession } from "./news.ts";
import { type NextRequest, nextRequest } from "./next-request.ts";
import { callerPrompt, makePrompts } from "./prompt.ts";
import { openSkills, skillDesk } from "./skills.ts";
import { commandWords, justAsked, withoutPaths } from "./words.ts";

export interface HouseParts {
  home: string;
  version: string;
  /** How people call this program. */
  program: string;
  config: LaresConfig;
  models: ReturnType<typeof createModels>;
  vault: Vault;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  /** Knows what stopped Lares before (I13). */
  guard: Guard;
  /** Told before and after a commit, which waits for the disk. */
  storing: (on: boolean) => void;
  bus: Bus;
  log: Log;
  /** The text without the secrets that are known by value. */
  redact: (text: string) => string;
  doors: OwnDoors;
  /** The records failed: this house is over. */
  onFatal: (error: AppError) => void;
}

export interface House {
  records: SqliteRecords;
  engine: EmbeddedEngine;
  inbox: Inbox;
  approvals: Approvals;
  sessions: Sessions;
  attachments: Attachments;
  watch: TurnEnds;
  outbox: Outbox;
  agents: AgentFolders;
  skills: Skills;
  events: SystemEvents;
  hooks: Hooks;
  watchers: Watchers<Watched>;
  goals: Goals;
  processes: Processes;
  children: Children;
  channels: Channels;
  schedules: Schedules;
  heartbeat: Heartbeat;
  /** Takes in what lares.yaml declares. */
  declare: () => Promise<void>;
  /** What of it made no sense, in sentences. */
  problems: () => string[];
  memory: MemoryRooms;
  contexts: Contexts;
  compactions: Compactions;
  budget: Budget;
  locks: Locks;
  checkpoints: Checkpoints;
  /** Which secrets an agent's commands get. */
  grants: ReturnType<typeof makeGrants>;
  /** Where commands run; says why when nothing shuts them in. */
  sandbox: Confinement;
  explainCommand: Judging["explainCommand"];
  /** What the model would read now. Sends nothing. */
  nextRequest(of: { session: SessionKey; agent: AgentId; text?: string | undefined }): Promise<NextRequest>;
  stop(drainMs: number): Promise<void>;
}

/** A model request waits for it, and only the beginning is shown. */
const ATTACHED_PDF_MS = 10_000;
/** How long closing a session waits for its turns to reach a safe point. */
const CLOSE_PATIENCE_MS = 15_000;

/** Turns of people, goals and compactions end visibly by themselves when they broke. */
function isOfTurns(kind: string): boolean {
  return kind === "message" || kind === "command" || kind === "goal" || kind === "compact";
}

export async function openHouse(parts: HouseParts): Promise<House> {
  const { clock, ids, crash, guard, bus, log, config } = parts;
  const called = (text: string) => asCalled(text, parts.program);
  let engine: EmbeddedEngine | undefined;
  let watch: TurnEnds | undefined;
  const records = await openRecords(
    join(parts.home, "lares.db"),
    (error) => {
      engine?.lose(error);
      watch?.lose(error);
      parts.onFatal(error);
    },
    parts.storing,
  );
  engine = new EmbeddedEngine({ records, clock, ids, crash, guard, log: log.child("engine"), places: config.lanes });
  const running = engine;

  const agents = new AgentFolders(parts.home);
  for (const name of [DEFAULT_AGENT, ...Object.keys(config.agents)]) agents.ensure(asId<AgentId>(name));
  const processes = new Processes({
    records,
    clock,
    ids,
    log: log.child("process"),
    dir: join(parts.home, "processes"),
    tell: async (exit) => {
      const authority = await authorityIn(records, asId<SessionKey>(exit.session));
      await events.tell(exitEvent({ ...exit, body: parts.redact(exit.body) }, authority));
    },
  });
  const roots = openRoots(config, { home: parts.home, userHome: homedir() });
  roots.check();
  const runs = new CommandRuns(join(parts.home, "runs"), crash);
  const sandbox = createConfinement({
    config: (agent) => {
      const isCut = agent !== undefined && config.agents[agent]?.sandbox?.network === false;
      return isCut ? { ...config.sandbox, network: false } : config.sandbox;
    },
    above: async (session) => (isChildSession(session) ? children.ancestors(session) : []),
    home: parts.home,
    userHome: homedir(),
    listRoots: (agent) => roots.of(agent),
    listReads: (agent) => readsOf(config, agent, homedir()),
  });
  const skills = openSkills({
    ...{ home: parts.home, config },
    agentDir: (agent) => agents.place(asId<AgentId>(agent)).agentDir,
  });
  const parsers = createParsers(confineParser);
  const tools = createTools({
    read: {
      pdf: (bytes, signal) => parsers.pdf(bytes, {}, signal),
      skills: skillDesk(skills),
      keepPicture: ({ name, bytes, caller }) => attachments.keepPicture(caller.session as SessionKey, { name, bytes }),
    },
    exec: { sandbox, processes, runs, secrets: (agent) => grants.environmentFor(agent).env },
  });
  const contexts = new Contexts({
    records,
    sessions: sessionViews,
    clock,
    config: () => config.context,
    prompt: (of) => prompts(of),
    callerPrompt: async (agent) => callerPrompt(await agents.promptFiles(agent, { forOwner: false })),
    model: (id) => (id === undefined ? undefined : parts.models.info(id)) ?? parts.models.primary(),
    agentModel: (agent) => config.agents[agent]?.model,
    snapshot: (of) => snapshot(of),
  });
  const prompts = makePrompts({
    roots: (agent) => roots.of(agent),
    records,
    files: (agent, session) => memoryRooms.promptFiles(agent, session),
    skills: (agent) => skills.section(agent),
    tools: () => ({ specs: tools.specs(), found: ON_DEMAND_TOOLS }),
    window: (model) => (parts.models.info(model) ?? parts.models.primary()).contextWindow,
    zone: (person) => schedules.findZone(person),
    agent: (agent) => ({
      name: config.agents[agent]?.name,
      family: config.agents[agent]?.family,
      mode: config.agents[agent]?.policy?.mode ?? config.policy.mode,
    }),
    account: (channel, of) => {
      const can = channels.accounts.get(channel, of)?.can;
      return can && { can, policy: channels.accounts.policy({ channel, account: of }) };
    },
    hasAccounts: () => channels.accounts.size > 0,
    sandbox: async (agent) => {
      try {
        const room = await sandbox.room(agents.place(agent).workspace, { agent, session: "" });
        return { name: room.name, network: room.rules.network };
      } catch {
        // Talking needs no sandbox. Each command still says itself why it does not run.
        return { name: config.sandbox.backend, isDown: true };
      }
    },
  });
  const snapshot: ContextParts["snapshot"] = (of) => snapshotOf({ rooms: memoryRooms, records }, of);
  const waiters = new TurnEnds(records);
  watch = waiters;
  const reminders = new Reminders({
    records,
    clock,
    bus,
    log: log.child("approvals"),
    afterHours: () => config.approvals.remindAfterHours,
    send: (tx, message) => outbox.intend(tx, message),
    wake: (turn) => void outbox.wake(turn),
  });
  const approvals = new Approvals({
    records,
    clock,
    bus,
    reminders,
    isPulled: (route) => PULLED.has(route.channel),
    answered: (asked, answer) => channels.answered(asked, answer),
    resume: (turn, event, record) =>
      running.resume(turn, event, (tx) => {
        record(tx);
        recordWoken(tx, turn);
      }),
  });
  const channels = makeChannels({
    ...{ records, clock, ids, crash, guard, bus, log, home: parts.home, called },
    config: () => config as never,
    inbox: () => inbox,
    outbox: () => outbox,
    attachments: () => attachments,
    answer: (id, answer) => approvals.resolve(id, answer),
    outcome: outcomeText,
    isOpen: (code) => approvals.isOpen(code),
    withdraw: async (id, record) => {
      if (!(await waitingUnder(records, id))) return false;
      await records.write((tx) => {
        withdraw(tx, id);
        record(tx);
      });
      return true;
    },
    agentOf: (message) => place(config.routing as never, message).agent,
  });
  const account = (name: string, of: string) => (PULLED.has(name) ? "pull" : channels.accounts.get(name, of));
  const outbox = new Outbox({
    records,
    channel: account,
    pieces: (text, can) => {
      crash.at("outbox.rendering", () => text);
      return pieces(text, can);
    },
    guard,
    buttons: (tx, question) => channels.buttons(tx, question),
    file: (id) => attachments.outgoing(id),
    draft: (turn, route) => live.yield(turn, route),
    fared: (route, ok, detail) => channels.accounts.sent(route, ok, detail),
    config: () => config.outbox,
    clock,
    crash,
    bus,
    log: log.child("outbox"),
  });

  const live = new Live({
    ...{ records, clock, bus, crash, pieces, pace: outbox.pace },
    log: log.child("outbox"),
    channel: (route) => {
      const found = channels.accounts.get(route.channel, route.account);
      return found && { ...found, live: channels.accounts.policy(route)?.live ?? false };
    },
    any: () => channels.accounts.size > 0,
    findPlace: (turn) => findLivePlace(records, turn),
    clean: (text) => String(clean(text)),
    progressAfterMs: () => config.outbox.progressAfterSeconds * 1000,
  });
  const budget = await Budget.open({
    records,
    clock,
    config: () => config.budgets,
    model: (id) => {
      const info = (id === undefined ? undefined : parts.models.info(id)) ?? parts.models.primary();
      return { price: info.price, maxOutput: Math.min(info.maxOutput, config.models.maxOutputTokens) };
    },
  });
  const paid = new BudgetedModel({ budget, models: parts.models, clock, recordUsage });
  const compactions = new Compactions({
    ...{
      contexts,
      records,
      sessions: sessionViews,
      models: parts.models,
      paid,
      snapshot,
      clock,
      crash,
      bus,
    },
    accept: (m) => running.accept(m),
    beforeCompaction: ({ session }) => memoryRooms.capture.flush(session),
    stamp: (session, at) =>
      stampFor({ messages: records, findZone: (person) => schedules.findZone(person) }, { session, at }),
    config: () => config.context,
    log: log.child("context"),
  });
  const locks = await Locks.open({ records, clock, config: () => config.locks, log: log.child("locks") });
  const checkpoints = makeCheckpoints({
    roots,
    ...{ records, clock, ids, crash, home: parts.home, agents, locks, watch: waiters },
    config: () => config.checkpoints,
    log: log.child("checkpoints"),
  });
  const grants = makeGrants(parts.vault, (agent) => config.agents[agent]?.secrets ?? []);
  const clean = (value: Json): Json => scrub(value, parts.redact);

  const judging = makeJudging({
    roots,
    ...{ home: parts.home, config, agents, approvals, tools, doors: parts.doors },
    ancestors: (session) => children.ancestors(session),
    isShared: (session) => hasOtherSpeakers(records, session),
  });

  const stopTurn = async (turn: TurnId, why: string) => {
    await running.resume(turn, { id: `stop:${turn}`, name: CANCEL, value: { why } });
  };
  const turnLog = log.child("turns");
  const turns = makeTurns({
    called,
    builtAt: clock.now(),
    stopReplaced: async (session, target, by) => {
      for (const turn of await openFrom(records, session, target)) {
        if (turn === by) continue;
        await running.resume(turn, { id: `replaced:${by}`, name: CANCEL, value: { why: "its message was replaced" } });
      }
    },
    records,
    models: parts.models,
    clock,
    ids,
    crash,
    bus,
    log: turnLog,
    limits: () => config.limits,
    history: contexts,
    interims: contexts.interims,
    room: roomOf({ contexts, compactions, toolShare: () => config.context.toolShare }),
    replies: outbox,
    intake: {
      next: async (session, by, signal) => {
        const waiting = await waitingIn(records, session);
        const interrupted = isInterrupted(waiting, by.turn);
        const messages = interrupted ? [] : await attachments.withTexts(taken(waiting, by), signal);
        return { messages, interrupted };
      },
      own: async (turn) => {
        const row = await takenBy(records, turn);
        return row && { takenBy: row.taken_by, withdrawn: row.withdrawn, mode: row.mode, message: row };
      },
      take,
    },
    judge: judging,
    changes: await FileChanges.open(records, ({ shell }) => shell !== undefined && onlyLooks(shell)),
    questions: {
      ask: (tx, q) => approvals.ask(tx, q),
      text: questionText,
      textWithButtons: questionTextWithButtons,
      close: (tx, id, state) => approvals.close(tx, id, state),
      event: approvalEvent,
      code: shortCode,
      where: (turn, route, authority) =>
        PULLED.has(route.channel) ? Promise.resolve(route) : placeOfQuestion(records, turn, route, authority),
      asker: (turn, authority) => askerOf(records, turn, authority),
      patienceMs: (agent) => (config.agents[agent]?.expireAfterHours ?? config.approvals.expireAfterHours) * 3_600_000,
    },
    tools: {
      get: (name) => (tools.has(name) ? tools.get(name) : undefined),
      unknown: (name, allowed) => tools.unknown(name, allowed),
      place: (caller) => ({
        ...agents.place(asId<AgentId>(caller.agent)),
        ...{ roots: roots.of(caller.agent), userHome: homedir(), caller },
      }),
    },
    paid,
    locks,
    checkpoints,
    ownLine: (of) => ownLine({ messages: records, findZone: (person) => schedules.findZone(person) }, of),
    scrub: clean,
    withoutPaths: (text) => withoutPaths(text, [parts.home, homedir()]),
    stop: stopTurn,
    agentModel: (agent) => config.agents[agent]?.model,
  } satisfies TurnParts);

  const ended = async (turn: TurnId) => {
    await waiters.until(turn, (row) => row.endedAt !== undefined, AbortSignal.timeout(CLOSE_PATIENCE_MS));
  };
  const attachments = new Attachments({
    ...{ home: parts.home, records, clock, ids },
    log: log.child("attachments"),
    findWorkspace: (agent) => agents.place(agent).workspace,
    readPdf: (bytes, mostChars, signal) => parsers.pdf(bytes, { mostChars, mostMs: ATTACHED_PDF_MS }, signal),
  });
  /** What nobody waits for. It fails when the disk is full or the house closes; the next start finds what is left to do. */
  const aside = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.debug("left for the next start", { error: String(error) }));
  };
  aside(attachments.sweep());
  const sessions = new Sessions({
    records,
    clock,
    crash,
    bus,
    resume: (turn, event) => running.resume(turn, event),
    running: (session) => running.running(session),
    forget: (session) => {
      contexts.drop(session);
      budget.forget(session);
    },
    erase: async (session) => {
      await running.erase(session);
      waiters.forget();
    },
    files: attachments,
    erasers: [
      eraseHistory,
      eraseInbox,
      eraseAttachments,
      eraseApprovals,
      eraseDeliveries,
      eraseTurns,
      silenceEvents,
      eraseSpent,
    ],
    addImported: (tx, line) => insertImported(tx, line, estimateTokens(line.content)),
    ended,
  });
  let machineZone: string | undefined;
  // Asked for every message, and a formatter takes a tenth of a millisecond to make.
  const zone = () => {
    machineZone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
    return config.time.zone ?? machineZone;
  };
  const memoryRooms = openMemoryRooms({
    pdfPages: parsers.pdfPages,
    ...{ records, config, models: parts.models, agents, paid, clock, ids, crash, guard, bus, log, zone },
    zoneOf: (person) => schedules.findZone(person),
    timer: (id, slot) => running.schedule(id, slot),
    renew: (texts) => contexts.forgetTexts(texts),
  });
  const commands = makeCommands({
    called,
    ...commandWords({
      called,
      records,
      models: parts.models,
      contexts,
      compactions,
      sessions,
      agents,
      schedules: () => schedules,
      recall: (session, query, message) => recall(memoryRooms, session, query, message),
    }),
    current: async (session) =>
      running.running(session) ?? (await listTurns(records, { session, open: true, limit: 1 }))[0]?.id,
    helpers: (session) => children.working(session),
    reset: (session) => sessions.reset(session),
    reload: (session) => sessions.reload(session),
    approvals: {
      find: (typed) => approvals.find(typed),
      resolve: (id, answer) => approvals.resolve(id, answer),
      waiting: (session) => approvals.list({ pendingOnly: true, session, limit: 5 }),
      justAsked: (message) => justAsked({ approvals, outbox }, message),
    },
    status: (session) =>
      describeSession({ records, approvals, running: running.running.bind(running), models: parts.models }, session),
    goal: (session, args, message) => goalWords(goals, session, args, message),
    pair: async (code, by, role) => {
      const { sender, channel, account: to } = await channels.pairings.approve(code, by, role);
      return `${sender} may now write to ${channel}/${to}.`;
    },
    mayApprove: (message) => message.mayApprove === true,
  });
  const inbox = makeInbox({
    config: () => config.routing as never,
    engine: running,
    commands,
    stop: async ({ turns: named, why }) => {
      for (const turn of named) await stopTurn(turn, why);
    },
    isKnown: (id) => wasAdmitted(records, id),
    rooms: { useSession, queueTurn },
    messages: records,
    attachments,
    findZone: (person) => schedules.findZone(person),
    where: ({ route, face }) => {
      const way = { channel: route.channel, ...(face ? { face } : {}) };
      const shown = showsInWords(way, channels.accounts.get(route.channel, route.account)?.can);
      return `${onChannel(way)}${shown ? ` (${shown})` : ""}`;
    },
    agents,
    clock,
    ids,
    bus,
  });

  const events = new SystemEvents({
    ...{ records, clock, crash },
    log: log.child("events"),
    admit: (message, record) => inbox.admit(message, record),
    isWaiting: async (turn) => {
      const row = await takenBy(records, turn);
      return row?.taken_by === null && !row.withdrawn;
    },
    resume: (turn, event) =>
      running.resume(turn, { ...event, value: null }, (tx) => {
        recordWoken(tx, turn);
      }),
    hasEnded: async (turn) => (await waiters.read(turn))?.endedAt !== undefined,
  });

  const hooks = new Hooks({
    ...{ clock, ids, crash, guard },
    config: () => config.hooks as never,
    defaultAgent: () => config.routing.defaultAgent,
    tell: (rung) => events.tell(hookEvent(rung)),
  });

  const web = () => config.web as WebConfig;
  const fetcher = createFetcher(withListed(web, { clock }));
  const watchers = new Watchers<Watched>({
    ...{ records, clock, crash, guard },
    log: log.child("watch"),
    config: () => config.watch as never,
    defaultAgent: () => config.routing.defaultAgent,
    describeWatched,
    look: (watched, cursor, signal) =>
      look({ clock, fetch: (request, abort) => fetcher.fetch(request, abort) }, watched, cursor, signal),
    tell: (spotted, record) => events.tellAll(spotted.map(spottedEvent), record),
  });

  const ports = jobPorts({
    called,
    agents,
    models: parts.models,
    agentModel: (agent) => config.agents[agent]?.model,
    // The file says it, not who is connected: at a start, and while a platform is away, a route is still a route.
    canReach: ({ channel, account: of }) => {
      const accounts = config.channels as Readonly<Record<string, Record<string, { enabled?: boolean }> | undefined>>;
      return PULLED.has(channel) || (accounts[channel]?.[of] ?? { enabled: false }).enabled !== false;
    },
    outbox,
    sessions,
    isOpen: async (session) => (await listTurns(records, { session, open: true, limit: 1 })).length > 0,
  });
  const heartbeat = makeHeartbeat({
    ...{ records, clock, agents, zone, outbox },
    config: (agent) => config.agents[agent]?.heartbeat as HeartbeatConfig | undefined,
    mark: ports.files.mark,
  });
  const schedules = new Schedules({
    records,
    clock,
    ids,
    bus,
    log: log.child("schedule"),
    zone,
    timer: (id, slot) => running.schedule(id, slot),
    crash,
    admit: (message) => inbox.admit(message),
    turn: (turn) => waiters.read(turn),
    question: async (turn) => {
      const [open] = await approvals.list({ pendingOnly: true, turn, limit: 1 });
      return open && shortCode(open.id);
    },
    ...ports,
    recipient: (agent, route) => recipientInWords(records, agent, route),
    beats: heartbeat,
  });
  const children = new Children({
    records,
    clock,
    config: () => config.teams,
    admit: (message, record) => inbox.admit(message, record),
    tell: (told, record) => events.tell(childEvent(told), record),
    hasReadOutside: (session) => hasReadOutside(records, session),
    authorityIn: (session) => authorityIn(records, session),
    personBehind: (turn) => personBehind(records, turn),
    stop: stopTurn,
    timer: (id, slot) => running.schedule(id, slot),
    open: async (session) => (await listTurns(records, { session, open: true, limit: 20 })).map(({ id }) => id),
    agentExists: (agent) => agents.exists(agent),
    findAgent: (session) => findAgent(records, session),
    result: async (turn) => (await waiters.read(turn))?.result,
    standing: (turn) => readTurnState(records, turn),
  });
  const goals = makeGoals({
    ...{
      records,
      clock,
      ids,
      log,
      agents,
      inbox,
      outbox,
      engine: running,
      paid,
      watch: waiters,
      children,
      processes,
    },
    config: () => config.goals as GoalsConfig,
    agentModel: (agent) => config.agents[agent]?.model,
    models: parts.models,
    stop: stopTurn,
  });
  const personOf = async (turn: string) => (await findAskers(records, [turn])).get(turn)?.person;
  const browser = createBrowserTool(withListed(web, { clock }));
  registerTools(
    tools,
    [
      ...createScheduleTools(scheduleDesk(schedules, personOf)),
      ...createSessionTools(
        sessionDesk(
          children,
          sessions,
          waiters,
          () => config.teams.visibility,
          (session) => hasReadOutside(records, session),
        ),
      ),
      createWait(waitDesk({ clock, events, children, processes })),
      ...createMemoryTools(
        memoryDesk(memoryRooms, {
          firstShown: (key, agent) => contexts.firstShown(asId(key), asId(agent)),
          zoneOf: async (turn) => schedules.findZone(await personOf(turn)),
        }),
      ),
      ...createWebTools(web, parsers.page, { clock }),
      createMessageTool(
        messageDesk({
          ...{ records, outbox, attachments },
          exists: ({ channel, account: of }) => {
            const found = account(channel, of);
            return found === "pull" ? "pulled" : found && "pushed";
          },
          startedAt: async (turn) => (await waiters.read(turn))?.acceptedAt,
        }),
      ),
      createProcess(processes),
      browser.tool,
    ],
    skillDesk(skills),
  );

  const readers = makeReaders();
  let scheduleProblems: string[] = [];
  // At a stop the records may be closed already; the next start settles what is left.
  const unsettled = (error: unknown) => log.child("schedule").debug("a slot was not settled", { error: String(error) });
  const forgetDeliveries = bus.on((event) => {
    if (event.event === "session.changed" && event.what === "imported") aside(memoryRooms.capture.skip(event.session));
    if (event.event !== "delivery" || (event.state !== "failed" && event.state !== "expired")) return;
    schedules.undelivered(event.turn, event.error ?? event.state).catch(unsettled);
  });
  // Not waited for: it takes only what is there now, and no open turn wants it.
  void runs
    .sweep(running.openIntents())
    .catch((error: unknown) => log.warn("old commands could not be cleared away", { error: String(error) }));
  await running.start({
    version: parts.version,
    async segment(ctx, input) {
      const body = input.body as
        | SlotBody
        | DeadlineBody
        | CompactBody
        | NightBody
        | GoalBody
        | { kind: "message" | "command" };
      if (input.wake.why === "broken" && input.wake.code === "STOPPED_LARES" && !isOfTurns(body.kind)) {
        log.error(input.wake.message, { kind: body.kind, turn: input.turn });
        if (body.kind === "condense") await memoryRooms.planNight(body);
        return body.kind === "slot" ? schedules.giveUp(ctx, body, input.wake.message) : { end: null };
      }
      if (body.kind === "slot") return schedules.fire(ctx, body);
      if (body.kind === "compact") return compactions.segment(ctx, body, input.wake.why === "broken");
      if (body.kind === "condense") {
        await memoryRooms.night(body);
        return { end: null };
      }
      if (body.kind === "goal") return goals.judge(ctx, body, input.wake.why === "broken");
      if (body.kind !== "child-deadline") {
        if (body.kind === "message" && readers.isNew(ctx.session, (body as { person?: string }).person))
          contexts.drop(ctx.session);
        return turns.segment(ctx, input);
      }
      await children.overdue(body);
      return { end: null };
    },
    settled(turn, session, how) {
      waiters.settled(turn);
      aside(outbox.wake(turn));
      if (how === "ended") {
        schedules.ended(turn).catch(unsettled);
        aside(children.ended(turn));
        aside(events.ended(turn, session));
        aside(goals.ended(turn, session));
        aside(compactions.consider(session));
        locks.settled(turn);
        memoryRooms.ended(withoutCommandLane(session));
      }
      aside(announce({ bus, approvals, watch: waiters, log: turnLog }, turn, session, how));
    },
  });
  await outbox.start();
  void memoryRooms.start().catch((error: unknown) => {
    // A stop that comes first, e.g. because the port is taken, is no trouble of the memory's.
    if (!isOver(error)) log.warn("memory did not start", { reason: String(error) });
  });
  await reminders.start();
  await approvals.settle();
  await checkpoints.start();
  const declare = async () => {
    scheduleProblems = [
      ...(await schedules.declare(config.schedules as never)),
      ...(await declareBeats(schedules, config.agents as never)),
    ];
    for (const problem of scheduleProblems) log.child("schedule").warn(problem);
  };
  await declare();
  await schedules.settle();
  // Nobody waits for it, and a start is not slowed by it.
  void schedules.sweep().catch((error: unknown) => {
    if (!isOver(error)) log.warn("old runs could not be removed", { error: String(error) });
  });
  await children.settle();
  await processes.settle();
  await events.settle();
  await goals.settle();
  await watchers.start();
  await channels.apply();

  return {
    records,
    engine: running,
    inbox,
    approvals,
    sessions,
    attachments,
    watch: waiters,
    outbox,
    agents,
    skills,
    events,
    hooks,
    watchers,
    goals,
    processes,
    children,
    channels,
    schedules,
    heartbeat,
    declare,
    problems: () => [...scheduleProblems, ...memoryRooms.problems()],
    memory: memoryRooms,
    contexts,
    compactions,
    budget,
    locks,
    checkpoints,
    grants,
    explainCommand: judging.explainCommand,
    sandbox,
    nextRequest: (of) =>
      nextRequest(
        {
          ...{ records, contexts, models: parts.models, inbox, clock, attachments },
          agentModel: (agent) => config.agents[agent]?.model,
        },
        of,
      ),
    async stop(drainMs) {
      forgetDeliveries();
      live.stop();
      await channels.accounts.stop();
      await browser.closeAll();
      processes.stop();
      reminders.stop();
      await watchers.stop();
      events.stop();
      children.stop();
      await running.stop(drainMs);
      waiters.lose(new AppError("NOT_READY", { message: "Lares is stopping.", retry: "later" }));
      outbox.stop();
      await memoryRooms.stop();
      records.close();
    },
  };
}
