/** What a turn needs from other rooms. Small interfaces of its own; app/ passes the real things in. */
import type {
  ActionPlan,
  Ctx,
  FailureClass,
  HookEventName,
  HookFacts,
  HookLog,
  HookOutcome,
  ModelDelta,
  ModelReply,
  ModelRequest,
  Models,
  Records,
  RunAnswer,
  RunAsk,
  RunEventBody,
  RunOutcome,
  RunToolResult,
  ThinkingLevel,
  Tool,
  ToolCaller,
  ToolPlace,
  ToolSpec,
  Tx,
  WorktreeReport,
} from "../../core/contracts/index.ts";
import type {
  AgentId,
  ApprovalId,
  ApprovalRequest,
  Authority,
  Danger,
  EventLabel,
  Given,
  ImagePart,
  Json,
  JsonObject,
  ModelMessage,
  QueueMode,
  ReplyRoute,
  SessionKey,
  Terms,
  TextPart,
  ToolResultPart,
  TurnId,
  Usage,
} from "../../core/domain/index.ts";
import type { Bus, Clock, Crash, IdMaker, Log } from "../../core/kit/index.ts";
import type { FileChanges } from "./changes.ts";
import type { LimitsConfig } from "./config.ts";

export interface IntakeMessage {
  turn: TurnId;
  text: string;
  person: string | null;
  authority: Authority;
  /** 1: it carries text from outside although its sender is known. */
  outside: number;
  at: number;
  /** Lares' own line before it; null for callers that bring their own conversation. */
  envelope: string | null;
  /** What happened, when nobody wrote it. */
  label: EventLabel | null;
  /** What came with it, as parts of the message. */
  attached: readonly (TextPart | ImagePart)[];
}

/** What waits in the session's inbox. */
export interface TurnIntake {
  /**
   * Messages the next call of this turn contains, its own first, with the text of their files. Reading takes nothing. `interrupted`:
   * a message waits that wants this turn stopped.
   */
  next(
    session: SessionKey,
    by: { turn: TurnId; call: number; route: string },
    signal: AbortSignal,
  ): Promise<{ messages: IntakeMessage[]; interrupted: boolean }>;
  /** The turn's own message, and the turn that took it if one did. */
  own(
    turn: TurnId,
  ): Promise<{ takenBy: TurnId | null; withdrawn: boolean; mode: QueueMode; message: IntakeMessage } | undefined>;
  /** The message leaves the inbox with this call. Idempotent. */
  take(tx: Tx, message: TurnId, by: TurnId, call: number): void;
}

export interface History {
  /** Everything the next request of this session is made of. */
  build(
    session: SessionKey,
    agent: AgentId,
    of?: { given?: Given | undefined; turn?: TurnId | undefined },
  ): Promise<{
    system: string;
    /** How many of its characters are the same in all of the agent's chats. */
    shared?: number;
    tools: ToolSpec[];
    notes: string;
    messages: ModelMessage[];
    model: string | null;
    thinking: ThinkingLevel | null;
    tainted: boolean;
    /** No text from outside in it, or only what the agent's own tools fetched. */
    isFetched: boolean;
  }>;
  /** Idempotent per id. */
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
      /** Text from outside: tool output, pages, strangers. */
      outside?: boolean;
    },
  ): void;
  /** Takes the message of `target` and what followed it out of the window. Idempotent. */
  rewind(tx: Tx, session: SessionKey, target: TurnId, by: TurnId): void;
  /** Whether the request fits with what is new in it, and what is left for the answer. */
  fit(
    session: SessionKey,
    of: { agent: AgentId; model: string | undefined; fresh: readonly ModelMessage[]; given?: Given },
  ): Promise<{ full: boolean; room: number /** Tokens of what is new. */; fresh: number }>;
  /** The provider counted this request and its answer, which is the newest message. */
  reported(session: SessionKey, model: string, usage: Usage): void;
}

/** Results that stand in for a call's own while it waits. */
export interface Interims {
  /** These calls of a message wait. Idempotent. */
  keep(tx: Tx, of: { session: SessionKey; message: string; turn: TurnId; calls: readonly string[] }): void;
  /** A model is about to be sent this session's window: from now on nothing in it changes. Durable when it resolves. */
  sent(session: SessionKey): Promise<void>;
  /** The call has its outcome. `place`: whether it stands in the interim result's place; if not, a later message says it. */
  settling(of: { session: SessionKey; message: string; call: string }): Promise<{
    place(tx: Tx, result: Pick<ToolResultPart, "text" | "isError" | "notRun" | "exit">, outside: boolean): boolean;
  }>;
  /** The turn has ended. */
  forget(tx: Tx, turn: TurnId): void;
}

/** What is done when a request does not fit. */
export interface ContextRoom {
  /**
   * Compacts the older part as recorded steps of this turn; `number` counts them. `more`: what is new is not in the history yet.
   * Not made: nothing is left that could go.
   */
  makeRoom(
    ctx: Ctx,
    at: { turn: TurnId; session: SessionKey; agent: AgentId; schedule?: SpentFor },
    number: number,
    why: { model: string | null; refused?: { limit?: number }; more: boolean; fresh: number },
  ): Promise<{ made: boolean; usage: Usage }>;
  /** The same results, short enough for the window; the whole of long ones is in files. Idempotent. */
  cap<T extends { id: string; text: string }>(
    at: {
      turn: TurnId;
      session: SessionKey;
      agent: AgentId;
      model: string | null;
      spillDir: string;
      workspace: string;
    },
    results: readonly T[],
  ): Promise<T[]>;
}

/** Whose rights a turn has, and whether text from outside is in what the model read (I12). */
export interface TurnStanding {
  authority: Authority;
  tainted: boolean;
  /** The agent's own tools fetched all of it; nobody sent it in. Absent: not known. */
  isFetched?: boolean;
  /** What the owner wrote in this turn. */
  said?: string;
}

export interface Judge {
  /** The gate's word on a planned action of this agent, with the rule "allow always" would keep. */
  judge(who: { agent: AgentId; session: SessionKey }, plan: ActionPlan, standing: TurnStanding): Promise<GateVerdict>;
  /** The same once more, right before it runs. It doesn't count as another use of a remembered rule. */
  again(who: { agent: AgentId; session: SessionKey }, plan: ActionPlan, standing: TurnStanding): Promise<GateVerdict>;
}

export interface GateVerdict {
  verdict: "allow" | "ask" | "deny";
  because: string;
  rule: string;
  settled?: true;
  /** A rule written by hand is all that is missing. */
  lacksRule?: true;
  /** A command that may change where names of files lead. */
  moves?: boolean;
  /** Of a question: what is risky about it, the worst first. */
  dangers?: Danger[];
}

export interface ApprovalQuestions {
  /** Written with the park: nobody can answer before the turn waits. */
  ask(tx: Tx, q: ApprovalRequest & { route: ReplyRoute }): void;
  /** What the chat shows; long text is shortened, with the parts named in `action.marks` visible. */
  text(q: { id: ApprovalId; shown: string; because: string; action: JsonObject }): string;
  /** The same for a chat with buttons: without the code to type. */
  textWithButtons(q: { id: ApprovalId; shown: string; because: string; action: JsonObject }): string;
  /** Closes an approval nobody answered. Idempotent. */
  close(tx: Tx, id: ApprovalId, state: "expired" | "withdrawn"): void;
  /** The event that wakes the turn. */
  event(id: ApprovalId): string;
  /** Where it is asked: on this route, or elsewhere when nobody there may answer. */
  where(turn: TurnId, route: ReplyRoute, authority: Authority): Promise<ReplyRoute>;
  /** Who asked for it, in one sentence for the owner; nothing when that was the owner. */
  asker(turn: TurnId, authority: Authority): Promise<string | undefined>;
  /** The code a person types in a chat. */
  code(id: ApprovalId): string;
  /** How long a question waits. */
  patienceMs(agent: AgentId): number;
}

export interface ReplySink {
  /** Idempotent per answer id: a second call with the same id changes nothing. */
  intend(
    tx: Tx,
    m: {
      answer: string;
      turn: TurnId;
      session: SessionKey;
      route: ReplyRoute;
      text: string;
      question?: { approval: string; textWithButtons: string; once?: true };
    },
  ): void;
}

export interface Toolbox {
  /** The tool of this name, offered or not. */
  get(name: string): Tool | undefined;
  /** One that our own loop finds by a search only; another runtime is lent it under its name. */
  onDemand(name: string): Tool | undefined;
  /** What the model reads when it calls a tool that is not there. Names only what may be used here. */
  unknown(name: string, allowed?: readonly string[]): string;
  /** Where a call of this agent works. */
  place(caller: ToolCaller): ToolPlace;
}

/** The job whose budget pays. */
export interface SpentFor {
  id: string;
  caps?: NonNullable<Terms["budget"]>;
}

/** Model calls within the budgets (I10). */
export interface PaidModel {
  /** Sets aside the most this call can cost, calls, and settles. `refused` says why not. Waits while only calls under way are in the way. */
  call(
    planned: {
      turn: TurnId;
      call: number;
      session: SessionKey;
      agent: AgentId;
      request: ModelRequest;
      /** The job that caused it, and what that may use in a day. */
      schedule?: SpentFor;
      /** Aborts when a person stops it: then the call is not made again. */
      stopping?: AbortSignal;
      /** Another limit on the answer, beside what the budget allows. */
      maxOutputTokens?: number | undefined;
      /** Awaited between setting aside and calling. */
      beforeCall: () => Promise<void>;
      onDelta: (delta: ModelDelta) => void;
    },
    signal: AbortSignal,
  ): Promise<PaidReply | { refused: string }>;
}

export interface PaidReply {
  reply: ModelReply;
  /** Sentences for the person. */
  warnings: string[];
  /** Written with the answer: what it used, and that it is paid. Idempotent. */
  record(tx: Tx): void;
}

/** Work on the same files is done one call at a time. */
export interface ResourceLocks {
  /** Holds what this plan changes; undefined when it changes no files; `busy` when it was not free in time. */
  take(
    request: {
      holder: { turn: TurnId; call: string; agent: AgentId; tool: string };
      plan: ActionPlan;
      workspace: string;
      onWait: (sentence: string) => void;
    },
    signal: AbortSignal,
  ): Promise<HeldLock | { busy: string } | undefined>;
  /** The call has its outcome: what an earlier process held for it is free. */
  settled(turn: TurnId, call: string, how: "known" | "unknown"): void;
}

export interface HeldLock {
  /** Earlier work here was cut off; a sentence for the model. */
  readonly leftover: string | undefined;
  /** False when it was taken away meanwhile. */
  isHeld(): boolean;
  /** Written before anything is touched. */
  intend(tx: Tx): void;
  /** Refuses the transaction when the lock was lost (I11). */
  commit(tx: Tx): void;
  /** Lets the next call continue. Idempotent. */
  release(): void;
}

/** What files were before a call changed them. */
export interface Checkpointing {
  /** Does the work of a call with everything kept that it may change. Returns and throws what the work does. */
  around<T>(
    call: {
      turn: TurnId;
      call: string;
      session: SessionKey;
      agent: AgentId;
      tool: string;
      plan: ActionPlan;
      workspace: string;
    },
    work: () => Promise<T>,
  ): Promise<T>;
  /** The call has its outcome, perhaps from an earlier process. Idempotent. */
  settle(turn: TurnId, call: string): Promise<void>;
}

/** The owner's hooks on what a turn does. Nothing they say can allow anything. */
export interface TurnHooks extends HookLog {
  /** Whether anybody answers this event: if not, nobody is asked and nothing waits. */
  answers(event: HookEventName): boolean;
  /** What they say together. A hook that fails has answered as configured; throws only the reason of `signal`. */
  ask<E extends HookEventName>(event: E, key: string, facts: HookFacts<E>, signal: AbortSignal): Promise<HookOutcome>;
  /** The text with less in it. Never longer. */
  shorten(text: string, how: NonNullable<HookOutcome["shorten"]>): string;
}

/** Agents whose turns another runtime carries out. */
export interface TurnBodies {
  /** The runtime of this agent, or the one that was chosen instead; nothing: our own loop. */
  find(agent: AgentId, chosen?: string): { runtime: string; title: string } | undefined;
  /** The one that was chosen for this sub-agent; nothing: its agent's. */
  chosen(session: SessionKey): Promise<string | undefined>;
  /** The git repository that this work is about, where one was named: it happens in a worktree. */
  repository(agent: AgentId, session: SessionKey): Promise<string | undefined>;
  /** The folder of that worktree. */
  worktree(session: SessionKey, repository: string): string;
  /** Who the agent is, for a runtime that has its own instructions. */
  instructions(agent: AgentId): Promise<string>;
  runs: TurnRuns;
}

/** Runs of other runtimes, by the turn they carry out. */
export interface TurnRuns {
  /** Before a stretch: nothing of an earlier process is left. May be repeated. */
  ready(turn: TurnId): Promise<void>;
  /** Written with the intent of a stretch. Idempotent. */
  intend(tx: Tx, of: { turn: TurnId; session: SessionKey; agent: AgentId; runtime: string }): void;
  /** Drives it until it asks something or is over. What the runtime does wrong is part of the answer. */
  drive(of: RunStretch): Promise<RunStop>;
  /** More words of a person. `ended`: nobody reads them there. */
  say(turn: TurnId, text: string): Promise<"mid-turn" | "next-turn" | "ended">;
  /** Written when the run has them. Idempotent. */
  said(tx: Tx, turn: TurnId, one: { message: TurnId; text: string; authority: Authority }): void;
  /** The conversation went another way: the next run begins a new one. */
  forget(tx: Tx, session: SessionKey): void;
  /** What people said while it ran. */
  meanwhile(turn: TurnId): Promise<{ authority: Authority }[]>;
  /** Everything that was recorded of it, in order. */
  events(turn: TurnId): Promise<RunEventBody[]>;
  /** Asks it to stop; its end follows. Again is harmless. */
  stop(turn: TurnId): Promise<void>;
  /** Ends it at once. Idempotent. */
  ended(turn: TurnId): Promise<void>;
  /** Commits what it left in its worktree, and removes that. Again is the same; nothing: it had none. */
  leave(turn: TurnId, message: string): Promise<WorktreeReport | undefined>;
}

export interface RunStretch {
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  runtime: string;
  text: string;
  instructions: string;
  model: string | null;
  workspace: string;
  repository: { path: string; within: readonly string[] } | null;
  trust: "own" | "outside";
  answers: readonly RunReply[];
  /** Our own tools that it may call. */
  tools: readonly ToolSpec[];
  /** The conversation so far as text, for a runtime that doesn't know it. */
  before(): Promise<string>;
  /** Called when the event is recorded. */
  show(event: RunEventBody): void;
  signal: AbortSignal;
  stopping: AbortSignal;
}

/** To what the stretch before ended with: an answer, or what a tool of ours returned. */
export type RunReply = { about: string } & (
  | { ask: string; answer: RunAnswer }
  | { call: string; result: RunToolResult }
);

/** Why a stretch ended. */
export type RunStop =
  | { why: "asks"; ask: string; attempt: number; about: RunAsk; expires: number | null }
  /** It calls a tool of ours. `isAnnounced`: all that it read before is known. */
  | { why: "calls"; attempt: number; call: string; name: string; input: Json; isAnnounced: boolean }
  | { why: "ended"; outcome: RunOutcome; text: string; error: RunTrouble | null }
  | { why: "failed"; trouble: RunTrouble };

export type RunTrouble = { failure: FailureClass | "budget"; text: string; hint: string | null };

export interface TurnParts {
  hooks: TurnHooks;
  bodies: TurnBodies;
  /** A hint with the commands as they work here. */
  called: (hint: string) => string;
  /** Asks the open turns to stop whose messages come at or after that of `target`, except `by`. Again is harmless. */
  stopReplaced: (session: SessionKey, target: TurnId, by: TurnId) => Promise<void>;
  /** When this engine was built: turns it found open were begun by one before it. */
  builtAt: number;
  records: Records;
  models: Models;
  intake: TurnIntake;
  history: History;
  interims: Interims;
  room: ContextRoom;
  judge: Judge;
  questions: ApprovalQuestions;
  replies: ReplySink;
  /** An answer in the room of a team, as it is sent where all members speak through one account. */
  sign: (session: SessionKey, text: string) => string;
  tools: Toolbox;
  paid: PaidModel;
  locks: ResourceLocks;
  checkpoints: Checkpointing;
  changes: FileChanges;
  /** Lares' own line before what enters the history by itself. */
  ownLine: (of: { session: SessionKey; label: EventLabel; at: number }) => Promise<TextPart>;
  /** The same value without the secrets that are known. What a tool said passes it before anything keeps it. */
  scrub: (value: Json) => Json;
  /** The same text without the places of files on this machine: for strangers. */
  withoutPaths: (text: string) => string;
  /** Asks a turn to stop at its next safe point. */
  stop: (turn: TurnId, why: string) => Promise<void>;
  /** The model this agent is configured with, if any. */
  agentModel: (agent: AgentId) => string | undefined;
  /** The current limits; they may change while Lares runs. */
  limits: () => LimitsConfig;
  clock: Clock;
  ids: IdMaker;
  crash: Crash;
  bus: Bus;
  log: Log;
}
