/** Builds what has to do with memory: facts, message index, documents, the files people read, capture, the nightly pass. */

import type { Models } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  asId,
  isAgentSession,
  type Json,
  type ScheduleId,
  type SessionKey,
  sessionKeys,
  type TurnId,
  timerIds,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, type Crash, type Guard, type IdMaker, type Log, truthy } from "../../core/kit/index.ts";
import { createEmbedder, OFFLINE_ID, OfflineEmbedder } from "../../edges/embedder/index.ts";
import { listDoors } from "../../flow/turns/index.ts";
import { slotDue } from "../../ground/engine/index.ts";
import type { SqliteRecords } from "../../ground/records/index.ts";
import type { AgentFolders } from "../../mind/agents/index.ts";
import type { BudgetedModel } from "../../mind/budget/index.ts";
import {
  type Asking,
  Capture,
  Condense,
  Documents,
  type ForgottenBy,
  Memory,
  type MemoryConfig,
  MemoryView,
  SessionIndex as MessageIndex,
  type SessionViewer,
  viewerFrom,
} from "../../mind/memory/index.ts";
import type { PromptFiles } from "../../mind/prompt/index.ts";
import { nextDue } from "../../mind/schedule/index.ts";
import type { LaresConfig } from "../config.ts";

export interface MemoryRooms {
  memory: Memory;
  messages: MessageIndex;
  documents: Documents;
  view: MemoryView;
  capture: Capture;
  condense: Condense;
  /** After the engine runs. Nothing of it is waited for at the start. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A turn of this session ended. */
  ended(session: SessionKey): void;
  /** The agent's files for this session: what is the owner's own is left out of a stranger's. */
  promptFiles(agent: AgentId, session: SessionKey): Promise<PromptFiles>;
  /** Whose memory a session sees; undefined for sessions nobody has spoken in. */
  viewer(session: string): Promise<SessionViewer | undefined>;
  /** Whether the agent's files carry the owner's facts into the prompt. */
  keepsFiles(): boolean;
  /** The settings of memory changed: embedder, folders and the hour of the night follow. */
  changed(): Promise<void>;
  /** What people should know about the settings. */
  problems(): string[];
  /** The next night's slot, without this night's work. */
  planNight(body: NightBody): Promise<void>;
  /** A night's slot is due. */
  night(body: NightBody): Promise<void>;
  /** Prompts, snapshots and runs of the nightly pass that hold one of these are made again without it. */
  forgetTexts(texts: readonly string[]): Promise<void>;
}

/** What a night's turn is started with. */
export type NightBody = { kind: "condense"; agent: string; due: number };

export interface MemoryRoomParts {
  records: SqliteRecords;
  config: LaresConfig;
  models: Models;
  agents: AgentFolders;
  paid: BudgetedModel;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  bus: Bus;
  log: Log;
  /** The pages of a PDF that have text. Throws AppError when it cannot be read. */
  pdfPages: (bytes: Uint8Array) => Promise<readonly { page: number; text: string }[]>;
  /** The owner's. */
  zone: () => string;
  /** A person's own zone, else the owner's. */
  zoneOf: (person?: string) => Promise<string>;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  /** The model's view of every session that quotes one of the texts is made again. */
  renew: (texts: readonly string[]) => Promise<void>;
}

/** News of memory are told at most so often. */
const NEWS_MS = 250;

export function openMemoryRooms(parts: MemoryRoomParts): MemoryRooms {
  const { records, clock, ids, crash, guard, agents } = parts;
  const log = parts.log.child("memory");
  const config = () => parts.config.memory;
  const teamsOf = (agent: string) => teamsWith(config(), agent);
  const wanted = () => parts.config.memory.embedder;
  let used = JSON.stringify(wanted());
  let problem: string | undefined;
  const embedder = (() => {
    try {
      return createEmbedder(wanted(), clock);
    } catch (error) {
      // Words find most of it; a setting that is wrong must not keep everything else from starting.
      problem = sentenceOf(error);
      return undefined;
    }
  })();
  const news = newsOf(parts);
  const forgetTexts = async (texts: readonly string[], by: ForgottenBy = "request") => {
    await condense.forgotten(texts);
    if (config().files.keep) {
      // The pass over the files that saw the deletion runs at this moment; the next one follows it.
      if (by === "file") view.changed();
      else await view.settle();
    }
    await parts.renew(texts);
  };
  const memory = new Memory({
    ...{ records, clock, ids, crash, log },
    config,
    earlier: (id) => (id === OFFLINE_ID ? new OfflineEmbedder({ clock }) : undefined),
    purge: () => records.purge(),
    changed: (what) => {
      news(what);
      if (what === "facts" && config().files.keep) view.changed();
    },
    forgotten: forgetTexts,
    ...truthy({ embedder }),
  });
  const messages = new MessageIndex({ records, clock, crash, guard, log });
  const documents = new Documents({
    memory,
    records,
    clock,
    log,
    crash,
    guard,
    pdf: parts.pdfPages,
  });
  const viewer = async (session: string) => viewerFrom(await listDoors(records, session), session, teamsOf);
  const asking = askingFor(parts);
  const capture = new Capture({
    ...{ memory, records, clock, crash, guard, log, asking },
    config: () => config().capture,
    viewer: async (session) => (isAgentSession(session) ? viewer(session) : undefined),
    findZone: parts.zoneOf,
  });
  const view = new MemoryView({
    ...{ memory, records, clock, crash, log, listTeams: teamsOf },
    agents: () => agents.names(),
    findDir: (agent) => agents.place(asId<AgentId>(agent)).agentDir,
    sizes: () => config().files,
    zone: parts.zone,
    order: (agent) => condense.order(agent),
  });
  const condense = new Condense({
    ...{ memory, view, capture, records, clock, crash, log, asking },
    config: () => config().condense,
  });

  const plan = async (agent: string) => {
    const { use, hour } = config().condense;
    if (use === "off") return parts.timer(timerIds.night(agent), null);
    // Agents one after the other: they share the night's hour, not its first second.
    const minute = agents.names().indexOf(agent) % 60;
    const due = nextDue(
      { kind: "cron", cron: `${Math.max(0, minute)} ${hour} * * *`, zone: parts.zone() },
      clock.now(),
    );
    if (due === undefined) return;
    const body: NightBody = { kind: "condense", agent, due };
    await parts.timer(timerIds.night(agent), { due, session: sessionKeys.night(agent), body });
  };

  return {
    memory,
    messages,
    documents,
    view,
    capture,
    condense,
    viewer,
    forgetTexts,
    async start() {
      memory.start();
      messages.wake();
      if (config().files.keep) await view.start();
      await capture.start();
      // A slot that came while nobody ran is still there and fires; only a missing one is made.
      for (const agent of agents.names()) if (!(await slotDue(records, timerIds.night(agent)))) await plan(agent);
      await documents.start(config().documents);
    },
    async stop() {
      documents.stop();
      await view.stop();
      await capture.stop();
      await messages.stop();
      await memory.stop();
    },
    ended(session) {
      messages.wake();
      capture.ended(session);
    },
    async promptFiles(agent, session) {
      if (config().files.keep) await view.fresh(agent);
      const who = await viewer(session);
      return agents.promptFiles(agent, { forOwner: who === undefined || who.owner === true });
    },
    keepsFiles: () => config().files.keep,
    problems: () => (problem === undefined ? [] : [problem]),
    async changed() {
      if (JSON.stringify(wanted()) !== used) {
        used = JSON.stringify(wanted());
        try {
          await memory.useEmbedder(createEmbedder(wanted(), clock));
          problem = undefined;
        } catch (error) {
          problem = `${sentenceOf(error)} The embedder stays as it was.`;
        }
      }
      for (const agent of agents.names()) await plan(agent);
      // Reading folders takes its time; nobody waits for it.
      documents.start(config().documents).catch((error: unknown) => {
        log.warn("folders were not taken in", { reason: String(error) });
      });
    },
    planNight: ({ agent }) => plan(agent),
    async night({ agent, due }) {
      await plan(agent);
      if (!agents.exists(asId<AgentId>(agent))) return;
      await memory.expire();
      await condense.run(agent, `night:${agent}:${due}`);
    },
  };
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof AppError)) return String(error);
  return error.hint ? `${error.message} ${error.hint}` : error.message;
}

function teamsWith(config: MemoryConfig, agent: string): string[] {
  return Object.entries(config.teams).flatMap(([team, members]) => (members.includes(agent) ? [team] : []));
}

/** Model calls of memory: set aside before, settled and written down after, like a turn's. */
function askingFor(parts: MemoryRoomParts): Asking {
  const { models, paid, ids } = parts;
  return {
    model(agent, configured) {
      const id = configured ?? parts.config.agents[agent]?.model;
      const info = (id === undefined ? undefined : models.info(id)) ?? models.primary();
      return info.practice ? undefined : info.id;
    },
    ask({ purpose, session, agent, request, signal }) {
      const turn = asId<TurnId>(`${purpose}:${ids.next("x")}`);
      return paid.call({ turn, call: 0, session: asId<SessionKey>(session), agent, request }, signal);
    },
  };
}

function newsOf({ bus, clock }: Pick<MemoryRoomParts, "bus" | "clock">): (what: "facts" | "vectors") => void {
  const waiting = new Set<"facts" | "vectors">();
  return (what) => {
    if (waiting.has(what)) return;
    waiting.add(what);
    clock.after(NEWS_MS, () => {
      waiting.delete(what);
      bus.emit({ event: "memory.changed", what });
    });
  };
}
