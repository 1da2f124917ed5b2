/**
 * A runtime is somebody else's agent that Lares drives: a program, a daemon, a peer or a person. A run is one turn given to it. An
 * adapter knows one runtime and nothing about sessions, policies or money; those come in as the request and the ports.
 *
 * RUNTIME-1: the host makes the run's id, its attempt and the first sequence number. Every event carries all three; numbers go up by
 *     one, also from one attempt to the next, and an event of a smaller attempt is never taken (`nextPlace`).
 * RUNTIME-2: the first event of an attempt is `run_started`; the last is `done`, and there is exactly one. Every failure ends in `done` too:
 *     a session never just stops talking.
 * RUNTIME-3: control events are never dropped, merged or reordered. Only neighbouring pieces of text, or of thinking, may be merged,
 *     and only while nobody has read them; then they keep the earlier number.
 * RUNTIME-4: asking for the next event says that the one before it is recorded. Until then it can be read again by `events(seq)`.
 * RUNTIME-5: a `tool_call` comes before its `tool_result`, and before an `ask` about it. Where the runtime announces none, the adapter
 *     makes one from the request for permission.
 * RUNTIME-6: an ask is answered once. Nothing it asked about happens before the answer; without an answer, or after `stop`, it is denied.
 * RUNTIME-7: usage is what was added since the last `usage` event, never a running total.
 * RUNTIME-8: after `close` nothing of the run is left: no process, no timer, no open connection.
 */
import type { Json, JsonObject } from "../domain/json.ts";
import type { FailureClass, Usage } from "../domain/turn.ts";
import type { ToolSpec } from "./model.ts";

/** How a runtime exists beside us. Nothing else about it may decide how it is driven. */
export type RuntimeClass =
  /** Our own loop, in this process. */
  | "in-process"
  /** A process for each run. */
  | "one-shot"
  /** A child that is spoken to over a protocol and serves many runs. */
  | "session"
  /** A daemon that somebody else started. */
  | "attached"
  /** Sleeps between requests and keeps its state elsewhere. */
  | "hosted"
  /** Another owner's agent, over A2A. */
  | "peer"
  /** A person with an inbox. */
  | "human";

/** `proven`: our own probe saw it work, with this version on this machine. `claimed`: the runtime, or its maker, says so. */
export type Proof = "proven" | "claimed" | "absent";

/** One thing a runtime may be able to do, and how. */
export type RuntimeClaim<T = true> =
  | { proof: "proven" | "claimed"; value: T; note?: string }
  | { proof: "absent"; note?: string };

/** Where a run can be confined. `sandbox`: bubblewrap or its like around our child. `own`: a sandbox that the runtime brings. */
export type RunBoundary = "none" | "worktree" | "sandbox" | "container" | "own" | "remote";

/** What a runtime's home can hold from one run to the next. */
export type RunKeeps = "memory" | "skills" | "sessions";

/** The wire formats of models that a runtime can be pointed at by a base URL. */
export type ModelApi = "anthropic" | "openai-chat" | "openai-responses" | "google";

export interface RuntimeCapabilities {
  /** Needs no proof: it is how the adapter is built. */
  class: RuntimeClass;
  /** Text as it is written, or in blocks. */
  stream: RuntimeClaim<"token" | "block">;
  /** Thinking comes apart from the answer. */
  thinking: RuntimeClaim;
  /** When a word said during a run reaches the model. `next-turn`: after the current one. */
  steer: RuntimeClaim<"mid-turn" | "next-turn">;
  /** A soft stop in the middle of an answer. */
  interrupt: RuntimeClaim;
  /** How far a conversation can be taken up again. */
  resume: RuntimeClaim<"same-process" | "same-host" | "any-host">;
  /** Permission requests. `covers`: every tool call, or only those it finds dangerous. `waits`: how long an answer may take. */
  approvals: RuntimeClaim<{
    covers: "every-call" | "some";
    denied: "goes-on" | "ends-turn";
    waits: "parked" | { ms: number } | "forever";
  }>;
  /** Questions to the person that are not about a tool call. */
  questions: RuntimeClaim;
  /** MCP servers that we name for a run. */
  mcp: RuntimeClaim<readonly ("stdio" | "http")[]>;
  /** What it reports of its use. `money`: what the provider billed, too. */
  usage: RuntimeClaim<{ tokens: "per-call" | "per-run"; money: boolean }>;
  /** Its model calls can go through our proxy, in these formats. */
  proxy: RuntimeClaim<readonly ModelApi[]>;
  /** It says when it waits because of a rate limit. */
  rateLimits: RuntimeClaim;
  /** Whether the agents it starts on its own are shown. */
  children: RuntimeClaim<"visible" | "hidden">;
  /** Boundaries it works inside of. */
  boundary: RuntimeClaim<readonly RunBoundary[]>;
  /** A home that we can give it. `identity`: one for each agent. */
  home: RuntimeClaim<{ scope: "identity" | "run"; keeps: readonly RunKeeps[] }>;
  /** It wakes itself; two schedulers must not own the same work. */
  ownScheduler: RuntimeClaim;
  /** People can talk to it without us. */
  ownChannels: RuntimeClaim;
}

/** Capabilities by name, without the class, which needs no proof. */
export type RuntimeSkill = Exclude<keyof RuntimeCapabilities, "class">;

/** Whether a runtime can be used here. `fix`: one sentence, what the person does about it. */
export type RuntimeProbe =
  | { state: "ready"; version: string }
  | { state: "needs-login"; version: string; fix: string }
  | { state: "missing"; fix: string }
  | { state: "broken"; version?: string; fix: string };

/** What finds a runtime's conversation again. Opaque to everyone but its adapter, and versioned: it may be months old. */
export interface RunToken {
  /** The adapter's name. */
  runtime: string;
  /** Of the token's form. An adapter refuses one that it can't read, instead of guessing. */
  form: number;
  /** The adapter's own words. */
  state: JsonObject;
}

export interface RunRequest {
  /** Made by the host before anything starts. */
  run: string;
  /** From 1. A new attempt is made only after everything of the one before has ended. */
  attempt: number;
  /** The last number used in this run; 0 in a new one. */
  lastSeq: number;
  /** Whose body it is. */
  agent: string;
  /** Instructions that stay the same from run to run; then what this run is about. */
  prompt: { instructions: string; text: string };
  /** Where it works, and inside what. */
  workspace: { path: string; boundary: RunBoundary; writable: boolean } | null;
  /** `provider/model`, or the runtime's own choice. */
  model: string | null;
  /** When it is ended from outside. */
  limits: {
    /** A time, in milliseconds since 1970. */
    deadline: number | null;
    /** Longest silence before the run counts as hung. */
    quietMs: number;
    toolCalls: number | null;
  };
  /** The conversation to go on with; null starts a new one. */
  resume: RunToken | null;
  /** What was recorded of this run before this attempt: a run that is taken up says only what is new. */
  known?: readonly RunEventBody[];
}

/** What the host lends to one run. Everything here ends with it. */
export interface RunPorts {
  /** The only place model calls may go, with a token that is good for this run alone. Null where the runtime can't be pointed at it. */
  models: { baseUrl: string; token: string } | null;
  /** Our MCP servers, each with a separate token. */
  mcp: readonly { name: string; url: string; token: string }[];
  /** Whether it waits for one of those, which may wait for a person: then its silence isn't its own. */
  isServing?(): boolean;
  /** A folder that is kept for this identity; null where nothing is kept. */
  home: string | null;
  /** A folder for this run, removed after it. */
  tmp: string;
  /** The whole environment of a child, made from nothing. Includes the tag by which processes of this run are found again. */
  env: Readonly<Record<string, string>>;
  /** The command as it has to be started: inside the boundary that was planned. No program of a run is started without it. */
  confine(command: RunCommand): Promise<RunCommand>;
}

/** Tools of ours that one run may call, over MCP. Each call is judged where it is run, with the run's authority. */
export interface RunTools {
  /** As a model reads them. */
  specs: readonly ToolSpec[];
  /** Resolves when it is done or refused, which may take as long as a person does. Rejects when the run is over. */
  call(name: string, input: Json, signal: AbortSignal): Promise<RunToolResult>;
}

export type RunToolResult = { text: string; isError: boolean };

/** A program that a run starts. */
export interface RunCommand {
  /** The program by its absolute path, then its arguments. */
  argv: readonly [string, ...string[]];
  /** The folder it starts in. */
  cwd: string;
  /** All of its variables; nothing is inherited. */
  env: Readonly<Record<string, string>>;
}

/** What somebody, or the gate, said to an ask. */
export type RunAnswer =
  /** `input`: run it with this instead. Only where the ask allows that. */
  | { kind: "allow"; input?: JsonObject }
  /** The model reads the reason, where the runtime passes one on. */
  | { kind: "deny"; reason: string }
  | { kind: "said"; value: Json };

export type RunAsk =
  | { kind: "tool"; call: string; name: string; input: Json; summary: string; editable: boolean }
  | { kind: "question"; text: string; schema: JsonObject | null };

/** Money that the provider charged, that we computed from counted tokens, or that nobody counted. */
export type UsageBasis = "billed" | "priced" | "guessed";

/** How a run ended. `rejected`: the runtime gave up because somebody said no. `unknown`: an act of it may or may not have happened. */
export type RunOutcome = "finished" | "out-of-room" | "refused" | "rejected" | "stopped" | "failed" | "unknown";

export type RunEventBody =
  /** `takenUp`: the run went on without us, and so do its words: what the attempt before heard of them belongs to them. */
  | { type: "run_started"; session: string | null; model: string | null; version: string | null; takenUp?: true }
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_call"; call: string; name: string; input: Json }
  | { type: "tool_progress"; call: string; text: string }
  | { type: "tool_result"; call: string; isError: boolean; text: string }
  /** `expires`: when the runtime stops waiting, in milliseconds since 1970; null: it waits. */
  | { type: "ask"; ask: string; about: RunAsk; expires: number | null }
  /** The runtime took the answer, or stopped waiting for one. */
  | { type: "answered"; ask: string; how: RunAnswer["kind"] | "withdrawn" }
  | { type: "plan"; steps: readonly { text: string; state: "open" | "doing" | "done" }[] }
  | { type: "child"; child: string; state: "started" | "ended"; text: string }
  | { type: "usage"; usage: Usage; basis: UsageBasis; model: string | null }
  /** It waits and tries again by itself. */
  | { type: "rate_limit"; failure: FailureClass; attempt: number; retryAt: number | null }
  /** From here on, this token finds the conversation again. Replaces the one before. */
  | { type: "checkpoint"; token: RunToken }
  /** For the person: a warning, a thing left out. Never part of the answer. */
  | { type: "notice"; text: string }
  /** What went wrong, in our words. The run may go on; when it doesn't, `done` follows. */
  | { type: "error"; failure: FailureClass; text: string; hint: string | null }
  | { type: "done"; outcome: RunOutcome; text: string };

export interface RunEvent {
  /** As in the request. */
  run: string;
  /** As in the request. */
  attempt: number;
  /** One more than the event before (RUNTIME-1). */
  seq: number;
  /** When the adapter heard of it, in milliseconds since 1970. */
  at: number;
  /** What happened. */
  body: RunEventBody;
}

export interface RunSession {
  /** As in the request. */
  readonly run: string;
  /** As in the request. */
  readonly attempt: number;
  /** Every event after this number, in order, waiting for those to come, until `done` (RUNTIME-2, -4). A new reader ends the one before. */
  events(afterSeq: number): AsyncIterable<RunEvent>;
  /**
   * More words of the person. `steer`: into the turn that runs, where the runtime can; `queue`: after it. Resolves when the runtime
   * has them, with when the model reads them; `ended` when the run is over.
   */
  say(text: string, mode: "steer" | "queue"): Promise<"mid-turn" | "next-turn" | "ended">;
  /** The first answer counts. `late`: it was answered, or the runtime stopped waiting. `unknown`: there is no such ask. */
  answer(ask: string, answer: RunAnswer): Promise<"taken" | "late" | "unknown">;
  /** Ends the run: `soft` as the runtime's own way to interrupt, `hard` at once. Idempotent; `done` follows. Open asks are denied. */
  stop(how: "soft" | "hard"): Promise<void>;
  /** Lets the process go and says how to find the conversation again; null where the runtime can't. Open asks stay open, `done` doesn't follow. */
  park(): Promise<RunToken | null>;
  /** Releases everything (RUNTIME-8), stopping hard what still runs. Idempotent, never throws. */
  close(): Promise<void>;
}

export interface RuntimeAdapter {
  /** As in `agents.<id>.runtime`. */
  readonly name: string;
  /**
   * Looks whether it is here and usable. Quick (two seconds at most, unless there is more patience), changes nothing, never throws. The
   * version is `unknown` where it took longer.
   */
  probe(signal: AbortSignal, patienceMs?: number): Promise<RuntimeProbe>;
  /** What this version says that it can do: `claimed` or `absent`. Only the host's own record of what it saw makes it `proven`. */
  capabilities(version: string): RuntimeCapabilities;
  /** Starts a run. Rejects with an AppError when it surely did not start; anything that happens later is an event. */
  open(request: RunRequest, ports: RunPorts, signal: AbortSignal): Promise<RunSession>;
  /**
   * Takes up a run that goes on elsewhere, or was parked, without saying anything to it. Null when it is gone for good: the host
   * then opens a new attempt. Rejects when nobody can say.
   */
  reattach(token: RunToken, request: RunRequest, ports: RunPorts, signal: AbortSignal): Promise<RunSession | null>;
}

/** How far a run has been recorded. The attempt is raised when one is opened, before anything of it comes. */
export interface RunPlace {
  /** The latest one. */
  attempt: number;
  /** Of the last event that was recorded. */
  seq: number;
  /** `done` was recorded. */
  ended: boolean;
}

export const RUN_START: RunPlace = { attempt: 1, seq: 0, ended: false };

/**
 * Whether an event may be recorded after what is known (RUNTIME-1, -2). `stale`: of an earlier attempt, or already known. `gap`: one
 * before it is missing, so the reader asks again from where it is. `ended`: nothing comes after `done`.
 */
export function nextPlace(known: RunPlace, event: RunEvent): RunPlace | "stale" | "gap" | "ended" {
  if (event.attempt < known.attempt || event.seq <= known.seq) return "stale";
  if (known.ended) return "ended";
  if (event.seq !== known.seq + 1) return "gap";
  return { attempt: event.attempt, seq: event.seq, ended: event.body.type === "done" };
}
