/**
 * Work for other agents (A2A). A task is a turn and a context is a session, read from the records each time: a peer that comes back
 * after a crash finds what it left.
 *
 * PEERS-1: the same message id of the same peer is the same task, for good (I2).
 * PEERS-2: a peer's words are text from outside (I12). It is a guest unless the owner lists its token, and never approves anything.
 * PEERS-3: tasks of others don't exist: not found and not yours are the same answer.
 *     A message for a task that runs is a task as well: both end with the answer that covers them.
 * PEERS-4: what a peer may send, how often, how much of it at a time and over how many agents is bounded.
 */
import type { PeerAsk, PeerCaller, PeerDoor, PeerTask, Reads, ShownAgent, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  acceptIds,
  asId,
  hasWords,
  type InboundMessage,
  type ReplyRoute,
  type SessionKey,
  sessionKeys,
  type TurnId,
  type TurnResult,
  type TurnState,
} from "../../core/domain/index.ts";
import { type Clock, pause, sha256, trimEndCharacters } from "../../core/kit/index.ts";
import type { A2aConfig } from "./config.ts";
import { Rate } from "./rate.ts";
import { recordHops } from "./store.ts";
import * as words from "./words.ts";

/** What of a turn its peer may know. */
export interface PeerTurn {
  id: TurnId;
  session: SessionKey;
  agent: string;
  state: TurnState;
  route: ReplyRoute;
  result: TurnResult | undefined;
  acceptedAt: number;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

export interface PeerTasksParts {
  db: () => Reads;
  clock: Clock;
  config: () => A2aConfig;
  /** Who answers when nobody is named. */
  defaultAgent: () => string;
  nameOf(agent: string): string;
  admit(
    message: InboundMessage,
    record?: (tx: Tx, turn: TurnId) => void,
  ): Promise<{ turn: TurnId; session: SessionKey; duplicate: boolean }>;
  turns: {
    read(turn: TurnId): Promise<PeerTurn | undefined>;
    until(turn: TurnId, how: "ended" | "settled", signal: AbortSignal): Promise<PeerTurn | undefined>;
  };
  findAcceptId(db: Reads, turn: TurnId): Promise<string | undefined>;
  list(
    db: Reads,
    prefix: string,
    q: { session?: string | undefined; before?: string | undefined; limit: number },
  ): Promise<(PeerTurn & { acceptId: string })[]>;
  countOpen(db: Reads, prefix: string): Promise<number>;
  isKnown(db: Reads, acceptId: string): Promise<boolean>;
  /** The turn that runs in a session now. */
  running(session: SessionKey): TurnId | undefined;
  stop(turn: TurnId): Promise<boolean>;
  /** Whether it waits for a person's decision. */
  isAsked(turn: TurnId): Promise<boolean>;
  /** What a guest reads at a turn's end. */
  tell(result: TurnResult): string;
}

const CHANNEL = "a2a";
/** Letters of one message. What is longer belongs into several. */
const MOST_LETTERS = 100_000;
/** Over which messages a joined one is followed to the turn that answers it. */
const MOST_JOINS = 50;
/** A turn that waits for its own work has no event that says for whom else it may come to wait. */
const LOOK_AGAIN_MS = 1000;
const OPEN: ReadonlySet<PeerTask["state"]> = new Set(["submitted", "working"]);

export class PeerTasks implements PeerDoor {
  private readonly parts: PeerTasksParts;
  private readonly rate = new Rate();

  constructor(parts: PeerTasksParts) {
    this.parts = parts;
  }

  isOpen(): boolean {
    return this.parts.config().enabled;
  }

  address(): string | undefined {
    const { url } = this.parts.config();
    return url && trimEndCharacters(url, "/");
  }

  shown(): { description: string; agents: ShownAgent[] } {
    const { agents, description } = this.parts.config();
    const ids = agents.length ? agents : [this.parts.defaultAgent()];
    return { description, agents: ids.map((id) => ({ id, name: this.parts.nameOf(id) })) };
  }

  async send(peer: PeerCaller, ask: PeerAsk): Promise<PeerTask> {
    const { parts } = this;
    const config = parts.config();
    checkText(ask.text);
    if (ask.hops > config.maxHops) throw refused("FORBIDDEN", words.tooFar(config.maxHops));
    if (!this.rate.take(peer.id, config.perMinute, parts.clock.now()))
      throw refused("TOO_MANY", words.tooOften(config.perMinute));
    const account = { channel: CHANNEL, account: peer.id };
    const isNew = !(await parts.isKnown(parts.db(), acceptIds.idempotent(account, ask.message)));
    // A repeated message only asks how it went, so it is let through whatever has become of its task.
    const of = isNew ? await this.continued(peer, ask) : undefined;
    if (isNew && (await parts.countOpen(parts.db(), acceptIds.allIdempotent(account))) >= config.openTasks)
      throw refused("TOO_MANY", words.tooManyOpen(config.openTasks));
    const { turn } = await parts.admit(this.message(peer, ask, of), (tx) => {
      const { session } = this.place(peer, ask, of);
      if (ask.hops > 0) recordHops(tx, session, ask.hops);
    });
    return this.get(peer, turn);
  }

  async get(peer: PeerCaller, task: string): Promise<PeerTask> {
    return this.toTask(await this.own(peer, task));
  }

  async settled(peer: PeerCaller, task: string, signal: AbortSignal): Promise<PeerTask> {
    const own = await this.own(peer, task);
    for (;;) {
      const row = await this.parts.turns.until(own.id, "settled", signal);
      if (!row) throw notFound(task);
      const now = await this.toTask(own, row);
      if (signal.aborted || !OPEN.has(now.state)) return now;
      // It waits for something else than a person, such as a sub-agent, and goes on by itself.
      await pause(this.parts.clock, LOOK_AGAIN_MS, signal);
    }
  }

  async list(
    peer: PeerCaller,
    { context, after, limit }: { context?: string; after?: string; limit: number },
  ): Promise<{ tasks: PeerTask[]; next?: string }> {
    const { db, list } = this.parts;
    const prefix = acceptIds.allIdempotent({ channel: CHANNEL, account: peer.id });
    const rows = (await list(db(), prefix, { before: after, limit: limit + 1 })).filter(
      ({ route }) => context === undefined || route.chat === context,
    );
    const tasks = await Promise.all(
      rows
        .slice(0, limit)
        .map(async (row) => ({ ...(await this.toTask(row)), message: row.acceptId.slice(prefix.length) })),
    );
    const last = tasks.at(-1);
    return { tasks, ...(rows.length > limit && last ? { next: last.id } : {}) };
  }

  async cancel(peer: PeerCaller, task: string, signal: AbortSignal): Promise<PeerTask | undefined> {
    const own = await this.own(peer, task);
    if (own.endedAt !== undefined || !(await this.parts.stop(own.id))) return undefined;
    return this.toTask(own, await this.parts.turns.until(own.id, "ended", signal));
  }

  /** The open task a message belongs to. Only what runs takes more words; what waits for the owner takes the owner's only. */
  private async continued(peer: PeerCaller, ask: PeerAsk): Promise<PeerTurn | undefined> {
    if (ask.task === undefined) return undefined;
    const row = await this.own(peer, ask.task);
    if (ask.context !== undefined && ask.context !== row.route.chat) throw refused("BAD_REQUEST", words.OTHER_CONTEXT);
    if (row.endedAt !== undefined) throw refused("CONFLICT", words.IS_OVER);
    if (row.state === "parked" && (await this.parts.isAsked(row.id))) throw refused("CONFLICT", words.CANNOT_APPROVE);
    return row;
  }

  private message(peer: PeerCaller, ask: PeerAsk, of: PeerTurn | undefined): InboundMessage {
    const { agent, context, session } = this.place(peer, ask, of);
    const isListed = this.parts.config().known.includes(peer.name);
    return {
      route: { channel: CHANNEL, account: peer.id, chat: context },
      sender: { id: peer.id, name: peer.name },
      text: ask.text,
      agent,
      session,
      mode: of ? "steer" : "followup",
      authority: isListed ? "known" : "stranger",
      mayApprove: false,
      outside: true,
      idempotencyKey: ask.message,
      // Without what was left to us: a peer that repeats a message doesn't know which context it was given.
      fingerprint: sha256(JSON.stringify([ask.text, ask.context ?? null, ask.task ?? null, ask.agent ?? null])),
    };
  }

  private place(peer: PeerCaller, ask: PeerAsk, of: PeerTurn | undefined) {
    const { agents } = this.shown();
    const agent = of?.agent ?? ask.agent ?? agents[0]!.id;
    if (!agents.some(({ id }) => id === agent)) throw refused("BAD_REQUEST", `There is no agent "${agent}" here.`);
    // Derived from the message, so that the same message finds the same conversation.
    const context = of?.route.chat ?? ask.context ?? sha256(JSON.stringify([peer.id, ask.message])).slice(0, 32);
    const session = sessionKeys.at(agent, CHANNEL, peer.id, context);
    return { agent: asId<AgentId>(agent), context, session };
  }

  private async own(peer: PeerCaller, task: string): Promise<PeerTurn> {
    const row = await this.parts.turns.read(asId<TurnId>(task));
    if (row?.route.channel !== CHANNEL || row.route.account !== peer.id) throw notFound(task);
    return row;
  }

  private async toTask(asked: PeerTurn, known?: PeerTurn): Promise<PeerTask> {
    const { parts } = this;
    const carrier = known ?? (await this.carrier(asked));
    const { id, route } = asked;
    const prefix = acceptIds.allIdempotent({ channel: CHANNEL, account: route.account });
    const message = (await parts.findAcceptId(parts.db(), id))?.slice(prefix.length) ?? "";
    const { result, endedAt, acceptedAt } = carrier;
    const own = { id, context: route.chat, message, at: endedAt ?? acceptedAt };
    if (result && endedAt !== undefined) return { ...own, state: ENDS[result.state], text: parts.tell(result) };
    const isAsked = carrier.state === "parked" && (await parts.isAsked(carrier.id));
    if (isAsked) return { ...own, state: "input-required", text: words.WAITS_FOR_OWNER };
    const hasBegun = carrier.startedAt !== undefined || parts.running(carrier.session) === carrier.id;
    return { ...own, state: hasBegun ? "working" : "submitted", text: "" };
  }

  /** The turn that answers: another one, when its message was taken into that. */
  private async carrier(row: PeerTurn): Promise<PeerTurn> {
    let at = row;
    for (let n = 0; at.result?.joined && n < MOST_JOINS; n++)
      at = (await this.parts.turns.read(at.result.joined)) ?? at;
    return at;
  }
}

const ENDS: Readonly<Record<TurnResult["state"], PeerTask["state"]>> = {
  answered: "completed",
  silent: "completed",
  joined: "completed",
  declined: "failed",
  failed: "failed",
  attention: "failed",
  stopped: "canceled",
};

function checkText(text: string): void {
  if (!hasWords(text)) throw refused("BAD_REQUEST", words.NO_WORDS);
  if (text.length > MOST_LETTERS) throw refused("BODY_TOO_LARGE", words.tooLong(MOST_LETTERS));
}

function refused(
  code: "BAD_REQUEST" | "BODY_TOO_LARGE" | "CONFLICT" | "FORBIDDEN" | "TOO_MANY",
  message: string,
): AppError {
  return new AppError(code, { message, retry: code === "TOO_MANY" ? "later" : "after-change" });
}

function notFound(task: string): AppError {
  return new AppError("NOT_FOUND", { message: `There is no task "${task.slice(0, 100)}".` });
}
