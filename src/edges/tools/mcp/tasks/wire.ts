/**
 * Tasks on the wire, in both eras: the extension `io.modelcontextprotocol/tasks` of 2026-07-28, and the experimental tasks of 2025-11-25.
 * The SDK follows neither (connect/past-sdk.ts).
 *
 * MCP-25: what a server says about a task is believed only about the task it was asked about, and only in words that the specification
 *     knows. Everything else is `nonsense`.
 */
import { z } from "zod";
import { isObject, type JsonObject } from "../../../../core/domain/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import type { McpAnswer } from "../call/result.ts";
import { findTask, unjudged } from "../connect/past-sdk.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";
/** Names a task that a question of an older server belongs to. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";

/** One that fits into a header, as the newer era sends it there. */
const taskId = z.string().regex(/^[\x21-\x7e]{1,256}$/);
const words = z.string().optional().catch(undefined);
const interval = z.number().nonnegative().optional().catch(undefined);
const shape = z.looseObject({
  taskId,
  status: z.string(),
  statusMessage: words,
  pollIntervalMs: interval,
  pollInterval: interval,
});

export interface CreatedTask {
  id: string;
  said?: string;
  pollMs?: number;
}

export type TaskNow =
  | { kind: "working"; said?: string; pollMs?: number }
  | { kind: "asks"; requests: unknown }
  | { kind: "completed"; answer: McpAnswer }
  | { kind: "failed" | "cancelled"; why: string }
  | { kind: "nonsense" };

/** A connection, as far as tasks need it. */
export interface TaskLine {
  isModern: boolean;
  /** Throws when the server can't be reached or refuses. */
  request(method: string, params: JsonObject): Promise<unknown>;
}

/** Whether this answer is a task. `unfit`: one that can't be followed. */
export function readCreated(answer: { _meta?: unknown }): CreatedTask | "unfit" | undefined {
  const raw = findTask(answer);
  if (raw === undefined) return undefined;
  const read = shape.safeParse(raw);
  if (!read.success) return "unfit";
  const { taskId: id, statusMessage: said, pollIntervalMs, pollInterval } = read.data;
  return { id, ...defined({ said, pollMs: pollIntervalMs ?? pollInterval }) };
}

/** Whether a question belongs to a task and not to a call that is open. */
export function isAboutTask(params: unknown): boolean {
  return isObject(params) && isObject(params._meta) && RELATED_TASK in params._meta;
}

export async function lookAtTask(line: TaskLine, id: string): Promise<TaskNow> {
  const raw = await line.request(named(line, "tasks/get"), { taskId: id });
  const read = shape.safeParse(raw);
  if (!read.success || read.data.taskId !== id) return { kind: "nonsense" };
  const { status, statusMessage: said, pollIntervalMs, pollInterval, ...more } = read.data;
  const pollMs = pollIntervalMs ?? pollInterval;
  switch (status) {
    case "working":
      return { kind: "working", ...defined({ said, pollMs }) };
    case "input_required":
      // An older server asks over the connection, while somebody waits for the result.
      return line.isModern ? { kind: "asks", requests: more.inputRequests ?? {} } : fetchResult(line, id, said);
    case "completed":
      return line.isModern ? readResult(more.result) : fetchResult(line, id, said);
    case "failed":
      return line.isModern ? { kind: "failed", why: readError(more.error) ?? said ?? "" } : fetchResult(line, id, said);
    case "cancelled":
      return { kind: "cancelled", why: said ?? "" };
    default:
      return { kind: "nonsense" };
  }
}

/** Passes on what a person said. */
export async function updateTask(line: TaskLine, id: string, inputResponses: JsonObject): Promise<void> {
  await line.request("tasks/update", { taskId: id, inputResponses });
}

export async function cancelTask(line: TaskLine, id: string): Promise<void> {
  await line.request(named(line, "tasks/cancel"), { taskId: id });
}

/** `tasks/update` is unknown to the SDK in both eras, and so passes as it is. */
function named({ isModern }: TaskLine, method: string): string {
  return isModern ? unjudged(method) : method;
}

function readResult(result: unknown): TaskNow {
  return isObject(result) ? { kind: "completed", answer: result } : { kind: "nonsense" };
}

/** The older era has a separate request for it. A failure is its answer in the server's words. */
async function fetchResult(line: TaskLine, id: string, said: string | undefined): Promise<TaskNow> {
  try {
    return readResult(await line.request("tasks/result", { taskId: id }));
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (typeof code !== "number") throw error;
    return { kind: "failed", why: message || (said ?? "") };
  }
}

function readError(error: unknown): string | undefined {
  return isObject(error) && typeof error.message === "string" ? error.message : undefined;
}
