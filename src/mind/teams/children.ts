/**
 * Sub-agents. A child is an ordinary turn in a session of its own, in the background lane; its end is an ordinary message to
 * the parent's session. Nothing waits in memory for it.
 *
 * C1: spawning under the same key is the same child.
 * C2: a child's result reaches the parent's inbox once, over any crash of either: told at its end, or at the next start.
 * C3: depth and fan-out are capped; a child that outlives its deadline is stopped, and that is its result.
 * C4: stopping a turn stops the children it asked for.
 */
import type { Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  asId,
  type InboundMessage,
  type Json,
  type ReplyRoute,
  type ScheduleId,
  type SessionKey,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { TeamsConfig } from "./config.ts";
import {
  type ChildRow,
  childIn,
  childOf,
  childrenOf,
  insertChild,
  markTold,
  openOf,
  openOfTurn,
  untold,
} from "./store.ts";

export interface ChildrenParts {
  records: Records;
  clock: Clock;
  config: () => TeamsConfig;
  admit: (message: InboundMessage) => Promise<{ turn: TurnId }>;
  /** Tells the parent's session. Durable when it resolves; the same key again changes nothing. `record` is written with it. */
  tell: (told: Told, record: (tx: Tx) => void) => Promise<unknown>;
  /** Whether text from outside was read in this session. */
  hasReadOutside: (session: SessionKey) => Promise<boolean>;
  stop: (turn: TurnId, why: string) => Promise<void>;
  timer: (id: ScheduleId, slot: { due: number; session: SessionKey; body: Json } | null) => Promise<void>;
  agentExists: (agent: AgentId) => boolean;
  result: (turn: TurnId) => Promise<TurnResult | undefined>;
}

export interface Spawn {
  key: string;
  task: string;
  agent?: string;
  minutes?: number;
  caller: { agent: string; session: string; turn: string; route: ReplyRoute };
}

/** What a parent's session is told of a child. */
export interface Told {
  key: string;
  child: SessionKey;
  session: SessionKey;
  agent: AgentId;
  route: ReplyRoute;
  label: string;
  body: string;
  outside: boolean;
}

/** What a deadline's turn is started with. */
export type DeadlineBody = { kind: "child-deadline"; turn: string };

export class Children {
  private readonly parts: ChildrenParts;

  constructor(parts: ChildrenParts) {
    this.parts = parts;
  }

  async spawn(given: Spawn): Promise<{ session: SessionKey; turn: TurnId }> {
    const { records, clock } = this.parts;
    const { caller } = given;
    const config = this.parts.config();
    const agent = asId<AgentId>(given.agent ?? caller.agent);
    if (!this.parts.agentExists(agent)) throw input(`There is no agent "${agent}".`);
    const session = asId<SessionKey>(`sub:${caller.session}:${given.key.replace(/[^a-z0-9.]/gi, "").slice(-16)}`);
    const depth = ((await childIn(records, caller.session))?.depth ?? 0) + 1;
    const known = await childIn(records, session);
    if (!known) {
      if (depth > config.depth) throw input(`Sub-agents may nest ${config.depth} deep and no deeper.`);
      const open = await openOf(records, caller.session);
      if (open.length >= config.atOnce) throw input(`${open.length} sub-agents already run; wait for one to end.`);
    }
    const { turn } = await this.parts.admit({
      route: { channel: "none", account: "child", chat: session },
      sender: { id: `session:${caller.session}` },
      idempotencyKey: `spawn:${given.key}`,
      text: `[Task from the session that asked for you]\n${given.task}`,
      agent,
      session,
      lane: "background",
      mode: "followup",
      origin: "event",
      authority: "known",
    });
    const minutes = Math.min(given.minutes ?? config.minutes, config.minutes);
    const deadline = known?.deadline ?? clock.now() + minutes * 60_000;
    await records.write((tx) =>
      insertChild(tx, {
        turn,
        session,
        parent_turn: asId<TurnId>(caller.turn),
        parent_session: asId<SessionKey>(caller.session),
        parent_route: JSON.stringify(caller.route),
        parent_agent: caller.agent,
        agent,
        task: given.task,
        depth,
        deadline,
        told: 0,
        made_at: clock.now(),
      }),
    );
    const body: DeadlineBody = { kind: "child-deadline", turn };
    await this.parts.timer(timerOf(turn), { due: deadline, session: asId<SessionKey>(`child:${turn}`), body });
    // It may have ended before its row was there.
    await this.ended(turn);
    return { session, turn };
  }

  /** A turn ended: if it was a child's, the parent is told; if it was stopped, its own children stop. */
  async ended(turn: TurnId): Promise<void> {
    const { records } = this.parts;
    const result = await this.parts.result(turn);
    if (!result) return;
    if (result.state === "stopped") {
      for (const child of await openOfTurn(records, turn)) await this.parts.stop(child.turn, "its parent was stopped");
    }
    const child = await childOf(records, turn);
    if (!child || child.told) return;
    await this.parts.tell(
      {
        // The same child is told once, whoever notices its end (C2).
        key: childKey(turn),
        child: child.session,
        session: child.parent_session,
        agent: asId<AgentId>(child.parent_agent),
        route: JSON.parse(child.parent_route) as ReplyRoute,
        label: `Result of the sub-agent you asked for: ${result.state}`,
        body: tell(child, result),
        outside: await this.parts.hasReadOutside(child.session),
      },
      (tx) => markTold(tx, turn),
    );
    await this.parts.timer(timerOf(turn), null);
  }

  /** After a start: ends that nobody was there to tell. */
  async settle(): Promise<void> {
    for (const child of await untold(this.parts.records)) await this.ended(child.turn);
  }

  /** The deadline came: the child is stopped at its next safe point, and that is its result. */
  async overdue(body: DeadlineBody): Promise<void> {
    const child = await childOf(this.parts.records, asId<TurnId>(body.turn));
    if (child && !child.told) await this.parts.stop(child.turn, "its time was up");
  }

  list(session: string): Promise<ChildRow[]> {
    return childrenOf(this.parts.records, session, 50);
  }

  /** A session sees itself and what it asked for, all the way down; nothing else (SB-03). */
  async mayRead(viewer: string, target: string): Promise<boolean> {
    for (let at: string | undefined = target; at !== undefined; ) {
      if (at === viewer) return true;
      at = (await childIn(this.parts.records, at))?.parent_session;
    }
    return false;
  }
}

function tell(child: ChildRow, result: TurnResult): string {
  const said = result.text || result.reason || "(nothing)";
  const notices = result.notices.map((notice) => `\n(${notice})`).join("");
  return `Task: ${child.task}\n\n${said}${notices}`;
}

/** What a turn waits for a child's end by. */
export function childKey(turn: TurnId): string {
  return `child:${turn}`;
}

function timerOf(turn: TurnId): ScheduleId {
  return asId<ScheduleId>(`child:${turn}`);
}

function input(message: string): AppError {
  return new AppError("TOOL_INPUT", { message });
}
