/** What a turn needs from other rooms. Small interfaces of its own; app/ passes the real things in. */
import type {
  ActionPlan,
  Models,
  Records,
  Tool,
  ToolCaller,
  ToolPlace,
  ToolSpec,
  Tx,
} from "../../core/contracts/index.ts";
import type {
  AgentId,
  ApprovalId,
  Given,
  JsonObject,
  ModelMessage,
  QueueMode,
  ReplyRoute,
  SessionKey,
  TurnId,
} from "../../core/domain/index.ts";
import type { Bus, Clock, Crash, IdMaker, Log } from "../../core/kit/index.ts";
import type { LimitsConfig } from "./config.ts";

export interface IntakeMessage {
  turn: TurnId;
  text: string;
  person: string | null;
  at: number;
}

/** What waits in the session's inbox. */
export interface Intake {
  /** Messages the next call of this turn contains, its own first. Reading takes nothing. */
  next(session: SessionKey, by: { turn: TurnId; call: number; route: string }): Promise<IntakeMessage[]>;
  /** The turn's own message, and the turn that took it if one did. */
  own(turn: TurnId): Promise<{ takenBy: TurnId | null; mode: QueueMode; message: IntakeMessage } | undefined>;
  /** The message leaves the inbox with this call. Repeating it changes nothing. */
  take(tx: Tx, message: TurnId, by: TurnId, call: number): void;
}

export interface History {
  build(
    session: SessionKey,
    agent: AgentId,
    given?: Given,
  ): Promise<{ system: string; tools: ToolSpec[]; messages: ModelMessage[]; model: string | null }>;
  /** The same id again changes nothing. */
  append(
    tx: Tx,
    m: {
      session: SessionKey;
      id: string;
      turn: TurnId;
      message: ModelMessage;
      person?: string;
      at: number;
      meta?: JsonObject;
    },
  ): void;
  /** Gives up half of the window. False when nothing is left to give. */
  shrink(session: SessionKey): Promise<boolean>;
}

export interface Judge {
  /** The gate's word on a planned action of this agent, with the rule "allow always" would keep. */
  judge(
    agent: AgentId,
    plan: ActionPlan,
  ): Promise<{ verdict: "allow" | "ask" | "deny"; because: string; rule: string }>;
}

export interface Questions {
  /** Written with the park: nobody can answer before the turn waits. */
  ask(
    tx: Tx,
    q: {
      id: ApprovalId;
      turn: TurnId;
      session: SessionKey;
      agent: string;
      tool: string;
      call: string;
      shown: string;
      because: string;
      action: JsonObject;
      hash: string;
      askedAt: number;
      deadline: number;
    },
  ): void;
  close(tx: Tx, id: ApprovalId, state: "expired" | "withdrawn"): void;
  /** The event that wakes the turn. */
  event(id: ApprovalId): string;
  /** The code a person types in a chat. */
  code(id: ApprovalId): string;
  /** How long a question waits. */
  patienceMs(): number;
}

export interface ReplySink {
  /** Idempotent per answer id: a second call with the same id changes nothing. */
  intend(tx: Tx, m: { answer: string; turn: TurnId; session: SessionKey; route: ReplyRoute; text: string }): void;
}

export interface Toolbox {
  get(name: string): Tool | undefined;
  names(): string[];
  place(caller: ToolCaller): ToolPlace;
}

export interface TurnParts {
  records: Records;
  models: Models;
  intake: Intake;
  history: History;
  judge: Judge;
  questions: Questions;
  replies: ReplySink;
  tools: Toolbox;
  /** The model this agent is configured with, if any. */
  agentModel: (agent: AgentId) => string | undefined;
  limits: () => LimitsConfig;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  bus: Bus;
  log: Log;
}
