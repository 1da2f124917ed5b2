/**
 * Builds the rooms and hands them to each other. One `House` is one life of the engine on a home; when the disk was full a new
 * one is built in the same process, exactly as after a crash.
 */
import { join } from "node:path";
import { CANCEL, type Channel } from "../core/contracts/index.ts";
import { type AgentId, type AppError, asId, type SessionKey, type TurnId } from "../core/domain/index.ts";
import type { Bus, Clock, Crash, IdMaker, Log } from "../core/kit/index.ts";
import { type WebhookChannel, webhookChannels } from "../edges/channels/index.ts";
import type { createModels } from "../edges/models/index.ts";
import { createTools } from "../edges/tools/index.ts";
import { Approvals, approvalEvent, shortCode } from "../flow/approvals/index.ts";
import { makeCommands } from "../flow/commands/index.ts";
import { decide, ruleFor } from "../flow/gate/index.ts";
import { type Inbox, makeInbox } from "../flow/inbox/index.ts";
import { take, taken, takenBy, waitingIn } from "../flow/lanes/index.ts";
import { Outbox } from "../flow/outbox/index.ts";
import { Sessions } from "../flow/sessions/index.ts";
import { listTurns, makeTurns, recordWoken, type TurnParts, TurnWatch } from "../flow/turns/index.ts";
import { EmbeddedEngine } from "../ground/engine/index.ts";
import { openRecords, type SqliteRecords } from "../ground/records/index.ts";
import { AgentFolders, DEFAULT_AGENT } from "../mind/agents/index.ts";
import { Contexts, estimateTokens } from "../mind/context/index.ts";
import type { LaresConfig } from "./config.ts";

export interface HouseParts {
  home: string;
  version: string;
  config: LaresConfig;
  models: ReturnType<typeof createModels>;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  bus: Bus;
  log: Log;
  /** The records failed: this house is over. */
  onFatal: (error: AppError) => void;
}

export interface House {
  records: SqliteRecords;
  engine: EmbeddedEngine;
  inbox: Inbox;
  approvals: Approvals;
  sessions: Sessions;
  watch: TurnWatch;
  outbox: Outbox;
  agents: AgentFolders;
  webhooks: Map<string, WebhookChannel>;
  stop(drainMs: number): Promise<void>;
}

/** Callers fetch these answers themselves; nothing is pushed. */
const PULLED = new Set(["http", "ws"]);
/** How long closing a session waits for its turns to reach a safe point. */
const CLOSE_PATIENCE_MS = 15_000;

export async function openHouse(parts: HouseParts): Promise<House> {
  const { clock, ids, crash, bus, log, config } = parts;
  let engine: EmbeddedEngine | undefined;
  const records = await openRecords(join(parts.home, "lares.db"), (error) => {
    engine?.lose(error);
    parts.onFatal(error);
  });
  engine = new EmbeddedEngine({ records, clock, ids, crash, log: log.child("engine"), places: config.lanes });
  const running = engine;

  const agents = new AgentFolders(parts.home);
  for (const name of [DEFAULT_AGENT, ...Object.keys(config.agents)]) agents.ensure(asId<AgentId>(name));
  const tools = createTools();
  const contexts = new Contexts({
    records,
    clock,
    config: () => config.context,
    systemPrompt: (agent) => agents.systemPrompt(agent),
    tools: () => tools.specs(),
  });
  const watch = new TurnWatch(records);
  const approvals = new Approvals({
    records,
    clock,
    bus,
    resume: (turn, event, record) =>
      running.resume(turn, event, (tx) => {
        record(tx);
        recordWoken(tx, turn);
      }),
  });
  const webhooks = webhookChannels(config.channels.webhook as never, clock);
  const channel = (name: string, account: string): Channel | "pull" | undefined =>
    PULLED.has(name) ? "pull" : name === "webhook" ? webhooks.get(account) : undefined;
  const outbox = new Outbox({
    records,
    channel,
    config: () => config.outbox,
    clock,
    crash,
    bus,
    log: log.child("outbox"),
  });

  const turns = makeTurns({
    records,
    models: parts.models,
    clock,
    ids,
    crash,
    bus,
    log: log.child("turns"),
    limits: () => config.limits,
    history: contexts,
    replies: outbox,
    intake: {
      next: async (session, by) => taken(await waitingIn(records, session), by),
      own: async (turn) => {
        const row = await takenBy(records, turn);
        return row && { takenBy: row.taken_by, mode: row.mode, message: row };
      },
      take,
    },
    judge: {
      async judge(agent, plan) {
        const { mode } = config.agents[agent]?.policy ?? config.policy;
        const verdict = decide({ mode, remembered: await approvals.remembered(agent) }, plan);
        return { ...verdict, rule: ruleFor(plan) };
      },
    },
    questions: {
      ask: (tx, q) => approvals.ask(tx, q),
      close: (tx, id, state) => approvals.close(tx, id, state),
      event: approvalEvent,
      code: shortCode,
      patienceMs: () => config.approvals.expireAfterHours * 3_600_000,
    },
    tools: {
      get: (name) => (tools.has(name) ? tools.get(name) : undefined),
      names: () => tools.specs().map((spec) => spec.name),
      place: (agent) => agents.place(agent),
    },
    agentModel: (agent) => config.agents[agent]?.model,
  } satisfies TurnParts);

  const stopTurn = async (turn: TurnId, why: string) => {
    await running.resume(turn, { id: `stop:${turn}`, name: CANCEL, value: { why } });
  };
  const ended = async (turn: TurnId) => {
    await watch.until(turn, (row) => row.endedAt !== undefined, AbortSignal.timeout(CLOSE_PATIENCE_MS));
  };
  const sessions = new Sessions({
    records,
    clock,
    crash,
    bus,
    resume: (turn, event) => running.resume(turn, event),
    running: (session) => running.running(session),
    forget: (session) => contexts.drop(session),
    erase: (session) => running.erase(session),
    estimate: (entry) => estimateTokens(entry.content),
    ended,
  });
  const commands = makeCommands({
    current: async (session) =>
      running.running(session) ?? (await listTurns(records, { session, open: true, limit: 1 }))[0]?.id,
    stop: stopTurn,
    reset: (session) => sessions.reset(session),
    approvals: {
      find: (typed) => approvals.find(typed),
      resolve: (id, answer) => approvals.resolve(id, answer),
      waiting: (session) => approvals.list({ pendingOnly: true, session, limit: 5 }),
    },
    status: (session) => describe(session),
    mayApprove: (message) =>
      PULLED.has(message.route.channel) ||
      (webhooks.get(message.route.account)?.mayApprove(message.sender.id) ?? false),
  });
  const describe = async (session: SessionKey): Promise<string> => {
    const open = await listTurns(records, { session, open: true, limit: 10 });
    const waiting = await approvals.list({ pendingOnly: true, session, limit: 10 });
    const model = parts.models.primary();
    return [
      running.running(session) ? "Working on your message." : "Idle.",
      open.length > 1 ? `${open.length} messages are open.` : "",
      ...waiting.map((a) => `Waiting for you: ${a.tool} (${shortCode(a.id)}).`),
      `Model: ${model.id}${model.practice ? " (practice, not a language model)" : ""}.`,
    ]
      .filter(Boolean)
      .join("\n");
  };
  const inbox = makeInbox({
    config: () => config.routing as never,
    engine: running,
    commands,
    agents,
    clock,
    ids,
    bus,
  });

  await running.start({
    version: parts.version,
    segment: (ctx, input) => turns.segment(ctx, input),
    settled(turn, session, how) {
      watch.settled(turn);
      void outbox.wake(turn);
      void announce(turn, session, how);
    },
  });
  const announce = async (turn: TurnId, lane: SessionKey, how: "ended" | "parked") => {
    const session = asId<SessionKey>(lane.replace(/#command$/, ""));
    if (how === "parked") {
      const asked = await approvals.list({ pendingOnly: true, turn, limit: 50 });
      for (const a of asked) {
        bus.emit({ event: "approval.asked", session, turn, approval: a.id, shown: a.shown, because: a.because });
      }
      bus.emit({ event: "turn.parked", session, turn, approvals: asked.map((a) => a.id) });
      return;
    }
    const row = await watch.read(turn);
    if (!row?.result) return;
    const { state, text, reason, joined } = row.result;
    bus.emit({ event: "turn.ended", session, turn, state, text: text || reason || "", ...(joined ? { joined } : {}) });
  };
  await outbox.start();
  for (const one of webhooks.values()) await one.start((message) => inbox.admit(message));

  return {
    records,
    engine: running,
    inbox,
    approvals,
    sessions,
    watch,
    outbox,
    agents,
    webhooks,
    async stop(drainMs) {
      for (const one of webhooks.values()) await one.stop();
      await running.stop(drainMs);
      outbox.stop();
      records.close();
    },
  };
}
