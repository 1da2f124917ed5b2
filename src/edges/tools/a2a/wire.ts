/** The SDK's client at one peer. Loaded with the first task: an installation without peers never pays for it. */
import { type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { A2AError } from "@a2a-js/sdk/errors";
import { HOPS } from "../../../core/contracts/index.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import type { FetchShape } from "../web/stream.ts";
import { PeerNonsense, PeerRefused, PeerStatus } from "./card.ts";
import { UNREADABLE, UNUSABLE_ID } from "./words.ts";

export type FarState = "working" | "asks" | "login" | "completed" | "failed" | "canceled" | "rejected";

/** What a peer says about a task. */
export interface FarTask {
  id: string;
  context: string;
  state: FarState;
  text: string;
  /** Ids of messages it knows to belong to it. */
  messages: string[];
}

export interface FarMessage {
  id: string;
  text: string;
  context?: string | undefined;
  task?: string | undefined;
  hops: number;
}

export interface FarSide {
  /** A message that is answered at once has no task. */
  send(message: FarMessage, signal: AbortSignal): Promise<FarTask | { text: string; context: string }>;
  /** Nothing when the peer doesn't know it. */
  get(task: string, signal: AbortSignal): Promise<FarTask | undefined>;
  /** The task that a message of ours began, if the peer lists it among the newest. */
  find(message: string, signal: AbortSignal): Promise<FarTask | undefined>;
  cancel(task: string, signal: AbortSignal): Promise<void>;
  /** A harmless request, to learn whether the peer takes any. Throws when it doesn't. */
  knock(signal: AbortSignal): Promise<void>;
}

const STATES: Readonly<Record<TaskState, FarState>> = {
  [TaskState.TASK_STATE_UNSPECIFIED]: "working",
  [TaskState.TASK_STATE_SUBMITTED]: "working",
  [TaskState.TASK_STATE_WORKING]: "working",
  [TaskState.TASK_STATE_COMPLETED]: "completed",
  [TaskState.TASK_STATE_FAILED]: "failed",
  [TaskState.TASK_STATE_CANCELED]: "canceled",
  [TaskState.TASK_STATE_INPUT_REQUIRED]: "asks",
  [TaskState.TASK_STATE_REJECTED]: "rejected",
  [TaskState.TASK_STATE_AUTH_REQUIRED]: "login",
  [TaskState.UNRECOGNIZED]: "working",
};

/** No peer has this one. */
const NO_TASK = "lares-no-such-task";
/** Tasks looked through for one of ours. */
const NEWEST = 100;
/** Ids are stored, logged and sent back: none that is longer than any id, or has signs that nobody sees. */
const ID = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

export async function openFarSide(card: JsonObject, fetch: FetchShape): Promise<FarSide> {
  const fetchImpl = answersOnly(fetch) as typeof globalThis.fetch;
  const both = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory(both), new RestTransportFactory(both)],
      cardResolver: new DefaultAgentCardResolver(both),
    }),
  );
  const resolver = new DefaultAgentCardResolver(both);
  const client: Client = await factory.createFromAgentCard(resolver.normalizeAgentCard(card));
  return {
    async send(message, signal) {
      return readable(async () => {
        const answer = await refusable(() => client.sendMessage(toRequest(message), { signal }));
        if ("messageId" in answer) return { text: joinText(answer.parts), context: readContext(answer.contextId) };
        return toFar(answer);
      });
    },
    async get(id, signal) {
      try {
        return await readable(async () => toFar(await client.getTask({ id, tenant: "" }, { signal })));
      } catch (error) {
        if (error instanceof A2AError && error.name.endsWith("TaskNotFoundError")) return undefined;
        throw error;
      }
    },
    async find(message, signal) {
      const query = { tenant: "", contextId: "", status: 0, pageSize: NEWEST, pageToken: "", historyLength: 5 };
      const { tasks } = await client.listTasks({ ...query, statusTimestampAfter: undefined }, { signal });
      return tasks.map(toFar).find(({ messages }) => messages.includes(message));
    },
    async cancel(id, signal) {
      await client.cancelTask({ id, tenant: "", metadata: undefined }, { signal });
    },
    async knock(signal) {
      try {
        await client.getTask({ id: NO_TASK, tenant: "" }, { signal });
      } catch (error) {
        const isAnswer = error instanceof A2AError || error instanceof SyntaxError || error instanceof TypeError;
        if (!isAnswer && !(error instanceof PeerStatus && error.status === 404)) throw error;
      }
    },
  };
}

/** The SDK tells a status in the middle of a text, if at all. */
function answersOnly(fetch: FetchShape): FetchShape {
  return async (to, init) => {
    const answer = await fetch(to, init);
    if (answer.ok) return answer;
    const isProtocol = /json/i.test(answer.headers.get("content-type") ?? "");
    const problem = new PeerStatus(answer.status);
    if (isProtocol && answer.status >= 400 && !problem.isAboutToken) return answer;
    throw problem;
  };
}

/** The SDK trips over what isn't JSON, or isn't what was asked for; that is the peer's fault and no bug. */
async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isGarbled = error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError;
    throw isGarbled ? new PeerNonsense(UNREADABLE, error) : error;
  }
}

/** An error of the protocol means that nothing was begun; a broken connection means nothing. */
async function refusable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isAnswer =
      error instanceof A2AError && !/internal|HTTP error/i.test(error.message) && error.name !== "A2AError";
    throw isAnswer ? new PeerRefused(error.message.slice(0, 2000)) : error;
  }
}

function toRequest({ id, text, context = "", task = "", hops }: FarMessage) {
  const message: Message = {
    messageId: id,
    contextId: context,
    taskId: task,
    role: Role.ROLE_USER,
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
    metadata: { [HOPS]: hops },
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration = {
    acceptedOutputModes: ["text/plain"],
    taskPushNotificationConfig: undefined,
    returnImmediately: true,
  };
  return { tenant: "", message, configuration, metadata: undefined };
}

function readContext(id: string): string {
  return ID.test(id) ? id : "";
}

function toFar({ id, contextId, status, artifacts, history, metadata }: Task): FarTask {
  if (!ID.test(id)) throw new PeerNonsense(UNUSABLE_ID);
  const state = STATES[status?.state ?? TaskState.TASK_STATE_UNSPECIFIED] ?? "working";
  const made = artifacts
    .map(({ parts }) => joinText(parts))
    .filter(Boolean)
    .join("\n\n");
  const said = joinText(status?.message?.parts ?? []);
  // Lares names the message of a task; others list what was said in it.
  const named = Object.values(metadata ?? {}).map((one) => (one as { messageId?: unknown } | null)?.messageId);
  const messages = [...named.filter((one) => typeof one === "string"), ...history.map(({ messageId }) => messageId)];
  return {
    id,
    context: readContext(contextId),
    state,
    text: state === "completed" ? made || said : said || made,
    messages,
  };
}

function joinText(parts: Message["parts"]): string {
  return parts
    .map(({ content, filename }) => {
      if (content?.$case === "text") return content.value;
      if (content?.$case === "data") return JSON.stringify(content.value ?? null);
      return filename ? `[a file that was not fetched: ${filename}]` : "[a file that was not fetched]";
    })
    .join("\n");
}
