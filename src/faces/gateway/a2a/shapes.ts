/** Our tasks in the protocol's shapes, and its messages as what Lares is asked. */
import { type Message, Role, type StreamResponse, type Task, TaskState, type TaskStatus } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors";
import { HOPS, type PeerAsk, type PeerTask, type PeerTaskState, SAME_MESSAGE } from "../../../core/contracts/index.ts";
import { sha256, truthy } from "../../../core/kit/index.ts";

/**
 * Characters of an answer in one event. Many readers of streams take lines of up to 64 KiB, and a character takes at most six bytes as
 * JSON; smaller pieces cost more and bring nothing, because they all go out at once (docs/decisions/2026-11-16-a2a.md).
 */
const PIECE = 8000;
const ID = /^[\w.:@+=-]{1,128}$/;

const STATES: Readonly<Record<PeerTaskState, TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

export function toTask(task: PeerTask): Task {
  return {
    id: task.id,
    contextId: task.context,
    status: toStatus(task),
    artifacts: toArtifacts(task),
    history: [],
    metadata: { [SAME_MESSAGE]: { messageId: task.message } },
  };
}

/** What a stream begins with: the task, and the answer with it when that fits into one event. */
export function toBeginning(task: PeerTask): StreamResponse[] {
  const begun = (value: Task): StreamResponse => ({ payload: { $case: "task", value } });
  if (task.text.length <= PIECE) return [begun(toTask(task))];
  return [begun({ ...toTask(task), artifacts: [] }), ...toEnd(task)];
}

/** What a stream says after its first task: the answer in as few pieces as fit, then that it is over. */
export function toEnd(task: PeerTask): StreamResponse[] {
  const at = { taskId: task.id, contextId: task.context, metadata: undefined };
  const pieces = cutAnswer(task.text).flatMap((text) => toArtifacts({ ...task, text }));
  const artifacts = pieces.map((artifact, i): StreamResponse => {
    const value = { ...at, artifact, append: i > 0, lastChunk: i === pieces.length - 1 };
    return { payload: { $case: "artifactUpdate", value } };
  });
  return [...artifacts, { payload: { $case: "statusUpdate", value: { ...at, status: toStatus(task) } } }];
}

function cutAnswer(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    // Two halves of one character stay together.
    const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(from + PIECE - 1));
    const to = from + PIECE - (isHalf ? 1 : 0);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function toStatus(task: PeerTask): TaskStatus {
  const said = task.state === "completed" ? "" : task.text;
  return {
    state: STATES[task.state],
    message: said ? toMessage(task, said) : undefined,
    timestamp: new Date(task.at).toISOString(),
  };
}

function toMessage({ id, context, state }: PeerTask, text: string): Message {
  return {
    // The same words about the same state are the same message, however often it is asked for.
    messageId: sha256(JSON.stringify([id, state])).slice(0, 32),
    contextId: context,
    taskId: id,
    role: Role.ROLE_AGENT,
    parts: [toPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function toArtifacts(task: PeerTask): Task["artifacts"] {
  if (task.state !== "completed" || task.text === "") return [];
  const artifact = { artifactId: "answer", name: "answer", description: "", metadata: undefined, extensions: [] };
  return [{ ...artifact, parts: [toPart(task.text)] }];
}

function toPart(value: string): Message["parts"][number] {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "text/plain" };
}

export function readAsk(message: Message | undefined, agent: string): PeerAsk {
  if (!message) throw new RequestMalformedError("There is no message.");
  const { messageId, contextId, taskId, metadata } = message;
  if (!ID.test(messageId)) throw new RequestMalformedError(badId("messageId"));
  if (contextId !== "" && !ID.test(contextId)) throw new RequestMalformedError(badId("contextId"));
  const hops: unknown = metadata?.[HOPS];
  return {
    message: messageId,
    text: message.parts.map(readPart).join("\n\n"),
    hops: typeof hops === "number" && hops > 0 ? Math.ceil(hops) : 0,
    ...truthy({ agent, context: contextId, task: taskId }),
  };
}

function badId(field: string): string {
  return `${field} must have 1 to 128 letters, digits or any of . _ : @ + = -`;
}

/** Files are refused: fetching an address that a peer names would let it look around in the owner's network. */
function readPart({ content, filename }: Message["parts"][number]): string {
  if (content?.$case === "text") return content.value;
  if (content?.$case === "data") return JSON.stringify(content.value ?? null);
  throw new ContentTypeNotSupportedError(
    `Only text and data are accepted here, no files${filename ? `: ${filename}` : ""}.`,
  );
}
