/** One call of a server's tool: what is asked, and what can come of it. */
import type { CreatedTask } from "../tasks/wire.ts";
import type { OpenQuestion, Sampler } from "./open-call.ts";
import type { McpAnswer } from "./result.ts";

export type CallOutcome =
  /** `notes`: what it asked on the way and did not get. */
  | { kind: "answered"; answer: McpAnswer; notes?: readonly string[] }
  /** It wants to know something first. The same call again, with the answers and this state, goes on from there. */
  | { kind: "input-required"; requests: unknown; state?: string }
  /** It has begun, and answers later, when it is asked. */
  | { kind: "task"; task: CreatedTask }
  /** The same of a server that waits meanwhile: `answer` goes on with the call. */
  | { kind: "asks"; question: OpenQuestion }
  /** It did not happen: never sent, or the server said no. */
  | { kind: "refused"; why: string; lost?: LostLogin }
  | { kind: "unknown"; why: string };

/** Since when it refuses us. `isNew`: this call found out. */
export interface LostLogin {
  at: number;
  isNew: boolean;
}

interface CallProgress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface CallRequest {
  /** Of this call, the same when it goes on. */
  key: string;
  tool: string;
  /** What was judged: a tool that says something else by now is not called (MCP-10). */
  digest: string;
  arguments: Record<string, unknown>;
  /** From an earlier `input-required`. */
  answers?: { responses: unknown; state?: string };
  onProgress?(progress: CallProgress): void;
  /** A server of the older era wants text from a model in the middle of the call. */
  onSample?: Sampler;
  signal: AbortSignal;
}
