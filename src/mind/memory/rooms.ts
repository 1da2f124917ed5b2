/** Memory as a whole: facts, message index, documents, the files people read, capture, the nightly pass. */
import type { Records } from "../../core/contracts/index.ts";
import { type AgentId, asId, isAgentSession, memoryPasses, type SessionKey } from "../../core/domain/index.ts";
import {
  type Bus,
  type Clock,
  type Crash,
  defined,
  type Guard,
  type IdMaker,
  type Log,
  truthy,
} from "../../core/kit/index.ts";
import { makeAnnouncer } from "./announce.ts";
import { MemoryBackends } from "./backends/backends.ts";
import type { AskBackend } from "./backends/pump.ts";
import { type Asking, Capture } from "./capture/capture.ts";
import { Condense } from "./condense/condense.ts";
import { type NightBody, type NightParts, Nights } from "./condense/nights.ts";
import type { MemoryConfig } from "./config.ts";
import { type DocumentParts, Documents } from "./documents/documents.ts";
import { EmbedderChoice, type EmbedderSource } from "./embedder-choice.ts";
import { type ForgottenBy, Memory } from "./memory.ts";
import { mentionsText } from "./sessions/mentions.ts";
import { SessionIndex } from "./sessions/sessions.ts";
import { type ForgottenTalk, hideMentions } from "./topics.ts";
import { MemoryView } from "./view/view.ts";
import { type SessionViewer, teamsWith, viewerFrom } from "./viewers.ts";

/** What of memory may stand in a prompt: the agent's files, as its folder has them. */
interface AgentFiles<Files> {
  names(): string[];
  exists(agent: AgentId): boolean;
  place(agent: AgentId): { agentDir: string };
  promptFiles(agent: AgentId, how: { forOwner: boolean }): Promise<Files>;
}

export interface MemoryRoomsParts<Files> extends Pick<NightParts, "nextDue" | "slotDue" | "timer"> {
  records: Records & { purge(): void };
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  guard: Guard;
  bus: Bus;
  log: Log;
  config: () => MemoryConfig;
  agents: AgentFiles<Files>;
  embedder: EmbedderSource;
  asking: Asking;
  /** Asks a plugin that the owner connected to memory. */
  askBackend: AskBackend;
  /** Through which doors people spoke in this session. */
  listDoors: (session: string) => Promise<Parameters<typeof viewerFrom>[0]>;
  /** The pages of a PDF that have text. Throws AppError when it cannot be read. */
  pdfPages: DocumentParts["pdf"];
  /** The owner's. */
  zone: () => string;
  /** A person's own zone, else the owner's. */
  findZone: (person?: string) => Promise<string>;
  /** The model's view of every session that quotes one of the texts is made again. */
  renew: (texts: readonly string[]) => Promise<void>;
  hide: (of: ForgottenTalk) => Promise<void>;
}

export class MemoryRooms<Files = unknown> {
  readonly memory: Memory;
  readonly messages: SessionIndex;
  readonly documents: Documents;
  readonly view: MemoryView;
  readonly capture: Capture;
  readonly condense: Condense;
  readonly backends: MemoryBackends;
  readonly crash: Crash;
  private readonly nights: Nights;
  private readonly embedder: EmbedderChoice;
  private readonly log: Log;
  private readonly parts: MemoryRoomsParts<Files>;

  constructor(parts: MemoryRoomsParts<Files>) {
    this.parts = parts;
    const { records, clock, ids, crash, guard, agents, asking, config } = parts;
    const log = parts.log.child("memory");
    this.log = log;
    this.crash = crash;
    this.embedder = new EmbedderChoice(parts.embedder);
    const announce = makeAnnouncer(parts);
    this.memory = new Memory({
      records,
      clock,
      ids,
      crash,
      log,
      config,
      earlier: parts.embedder.earlier,
      purge: () => records.purge(),
      changed: (what) => {
        announce(what);
        if (what === "facts") this.backends.wake();
        if (what === "facts" && this.keepsFiles()) this.view.changed();
      },
      forgotten: (texts, by) => this.forgetTexts(texts, by),
      ...defined({ embedder: this.embedder.first }),
    });
    const { memory } = this;
    this.backends = new MemoryBackends({ ...parts, log, memory, config: () => config().plugins });
    this.messages = new SessionIndex({ records, clock, crash, guard, log });
    this.documents = new Documents({ memory, records, clock, log, crash, guard, pdf: parts.pdfPages });
    this.capture = new Capture({
      memory,
      records,
      clock,
      crash,
      guard,
      log,
      asking,
      findZone: parts.findZone,
      config: () => config().capture,
      viewer: async (session) => (isAgentSession(session) ? this.viewer(session) : undefined),
    });
    this.view = new MemoryView({
      memory,
      records,
      clock,
      crash,
      log,
      zone: parts.zone,
      listTeams: (agent) => teamsWith(config(), agent),
      agents: () => agents.names(),
      findDir: (agent) => agents.place(asId<AgentId>(agent)).agentDir,
      sizes: () => config().files,
      order: (agent) => this.condense.order(agent),
    });
    this.condense = new Condense({
      memory,
      view: this.view,
      capture: this.capture,
      records,
      clock,
      crash,
      log,
      asking,
      config: () => config().condense,
    });
    this.nights = new Nights({
      clock,
      agents,
      nextDue: parts.nextDue,
      slotDue: parts.slotDue,
      timer: parts.timer,
      config: () => config().condense,
      work: async (agent, id) => {
        await memory.expire();
        await this.condense.run(agent, id);
      },
    });
  }

  /** After the engine runs. Nothing of it is waited for at the start. */
  async start(): Promise<void> {
    this.memory.start();
    await this.backends.start();
    this.messages.wake();
    if (this.keepsFiles()) await this.view.start();
    await this.capture.start();
    await this.nights.start();
    await this.documents.start(this.parts.config().documents);
  }

  async stop(): Promise<void> {
    this.documents.stop();
    await this.backends.stop();
    await this.view.stop();
    await this.capture.stop();
    await this.messages.stop();
    await this.memory.stop();
  }

  /** A turn of this session ended. */
  ended(session: SessionKey): void {
    this.messages.gather();
    // Nothing is learned from a job's run or a sub-agent, so nothing waits for them either.
    if (isAgentSession(session)) this.capture.ended(session);
  }

  /** Prompts, snapshots and runs of the nightly pass that hold one of these are made again without it. */
  async forgetTexts(texts: readonly string[], by: ForgottenBy = "request"): Promise<void> {
    await this.condense.forgotten(texts);
    if (this.keepsFiles()) {
      // The pass over the files that saw the deletion runs at this moment; the next one follows it.
      if (by === "file") this.view.changed();
      else await this.view.settle();
    }
    await this.parts.renew(texts);
    // Elsewhere, who asked decides in which conversations; the files are the owner's.
    if (by === "file") for (const text of texts) await hideMentions(this, mentionsText(text), {});
  }

  /** Models no longer read this in these conversations. */
  hide(of: ForgottenTalk): Promise<void> {
    return this.parts.hide(of);
  }

  /** Whose memory a session sees; undefined for sessions nobody has spoken in. */
  async viewer(session: string): Promise<SessionViewer | undefined> {
    const doors = await this.parts.listDoors(session);
    return viewerFrom(doors, session, (agent) => teamsWith(this.parts.config(), agent));
  }

  /** The agent's files for this session: what is the owner's own is left out of a stranger's. */
  async promptFiles(agent: AgentId, session: SessionKey): Promise<Files> {
    if (this.keepsFiles()) await this.view.fresh(agent);
    const who = await this.viewer(session);
    return this.parts.agents.promptFiles(agent, { forOwner: who === undefined || who.owner === true });
  }

  /** Whether the agent's files carry the owner's facts into the prompt. */
  keepsFiles(): boolean {
    return this.parts.config().files.keep;
  }

  async status() {
    const { live, pending, documents } = await this.memory.counts();
    return {
      facts: live,
      pending,
      documents,
      backends: await this.backends.status(),
      waitingMessages: await this.messages.waiting(),
      folders: await this.documents.folders(),
      ...truthy({ vectors: await this.memory.embeddingProgress() }),
    };
  }

  /** The nightly pass now, because somebody asked. `key`: the same again is the same run. */
  condenseNow(agent: string, key: string | undefined): ReturnType<Condense["run"]> {
    return this.condense.run(agent, memoryPasses.asked(agent, key ?? this.parts.clock.now()));
  }

  /** What people should know about the settings. */
  problems(): string[] {
    return [...this.embedder.problems, ...this.backends.problems()];
  }

  /** The settings of memory changed: embedder, folders and the hour of the night follow. */
  async changed(): Promise<void> {
    await this.embedder.renew((embedder) => this.memory.useEmbedder(embedder));
    await this.nights.planAll();
    await this.backends.changed();
    // Reading folders takes its time; nobody waits for it.
    this.documents.start(this.parts.config().documents).catch((error: unknown) => {
      this.log.warn("folders were not taken in", { reason: String(error) });
    });
  }

  /** The next night's slot, without this night's work. */
  planNight({ agent }: NightBody): Promise<void> {
    return this.nights.plan(agent);
  }

  /** A night's slot is due. */
  night(body: NightBody): Promise<void> {
    return this.nights.run(body);
  }
}
