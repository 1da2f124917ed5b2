/** The SDK's own client at the A2A door of a Lares under test, over either binding. */
import { type Message, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";

export type Binding = "JSONRPC" | "HTTP+JSON";
export const BINDINGS: readonly Binding[] = ["JSONRPC", "HTTP+JSON"];

export interface AskOptions {
  id?: string;
  context?: string;
  task?: string;
  now?: boolean;
  hops?: number;
}

export interface A2aClient {
  client: Client;
  ask(text: string, options?: AskOptions): Promise<Task>;
  stream(text: string, options?: AskOptions): Promise<StreamResponse[]>;
  follow(id: string): Promise<StreamResponse[]>;
  get(id: string): Promise<Task>;
  cancel(id: string): Promise<Task>;
}

export async function openA2a(url: string, token: string, binding: Binding = "JSONRPC"): Promise<A2aClient> {
  const withToken: typeof fetch = (to, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(to, { ...init, headers });
  };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [
        new JsonRpcTransportFactory({ fetchImpl: withToken }),
        new RestTransportFactory({ fetchImpl: withToken }),
      ],
      preferredTransports: [binding],
    }),
  );
  const client = await factory.createFromUrl(url);
  const request = (text: string, options: AskOptions = {}) => toRequest(text, options);
  return {
    client,
    ask: async (text, options) => (await client.sendMessage(request(text, options))) as Task,
    stream: (text, options) => collect(client.sendMessageStream(request(text, options))),
    follow: (id) => collect(client.resubscribeTask({ id, tenant: "" })),
    get: (id) => client.getTask({ id, tenant: "" }),
    cancel: (id) => client.cancelTask({ id, tenant: "", metadata: undefined }),
  };
}

let count = 0;

export function toRequest(text: string, { id, context = "", task = "", now = false, hops }: AskOptions = {}) {
  const message: Message = {
    messageId: id ?? `m-${process.pid}-${++count}`,
    contextId: context,
    taskId: task,
    role: Role.ROLE_USER,
    parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "text/plain" }],
    metadata: hops === undefined ? undefined : { "https://lares.dev/a2a/hops": hops },
    extensions: [],
    referenceTaskIds: [],
  };
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: now };
  return { tenant: "", message, configuration, metadata: undefined };
}

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export function stateOf(task: Pick<Task, "status">): string {
  return TaskState[task.status?.state ?? 0]!.replace("TASK_STATE_", "");
}

/** The answer, or what is said about the state. */
export function textOf({ artifacts, status }: Task): string {
  const parts = artifacts.length ? artifacts.flatMap((one) => one.parts) : (status?.message?.parts ?? []);
  return parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
}

/** A stream in words: what came, in which order. */
export function told(events: readonly StreamResponse[]): string[] {
  return events.map(({ payload }) => {
    if (payload?.$case === "task") return `task ${stateOf(payload.value)}`;
    if (payload?.$case === "statusUpdate") return `status ${stateOf(payload.value)}`;
    if (payload?.$case === "artifactUpdate")
      return `artifact ${textOf({ ...NO_TASK, artifacts: [payload.value.artifact!] })}`;
    return "message";
  });
}

const NO_TASK: Task = { id: "", contextId: "", status: undefined, artifacts: [], history: [], metadata: undefined };
