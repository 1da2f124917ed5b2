/** The HTTP+JSON binding: which operation a path names. The agent may stand before it, as the protocol's "tenant". */
import type { Json, JsonObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { PeerRequest } from "./serve.ts";

export interface Operation {
  method: string;
  tenant: string;
  params: JsonObject;
}

interface RestPath {
  verb: RegExp;
  path: RegExp;
  method: string;
}

const AGENT = "(?:/(?<tenant>[a-z0-9][a-z0-9-]{0,63}))?";
const TASK = "/tasks/(?<id>[^/:]{1,200})";
const way = (verb: string, path: string, method: string): RestPath => ({
  verb: new RegExp(`^(?:${verb})$`),
  path: new RegExp(`^${AGENT}${path}$`),
  method,
});

const WAYS: readonly RestPath[] = [
  way("POST", "/message:send", "SendMessage"),
  way("POST", "/message:stream", "SendStreamingMessage"),
  way("GET|POST", `${TASK}:subscribe`, "SubscribeToTask"),
  way("POST", `${TASK}:cancel`, "CancelTask"),
  way("GET", TASK, "GetTask"),
  way("GET", "/tasks", "ListTasks"),
  way("GET", "/extendedAgentCard", "GetExtendedAgentCard"),
  way("POST", `${TASK}/pushNotificationConfigs`, "CreateTaskPushNotificationConfig"),
  way("GET", `${TASK}/pushNotificationConfigs`, "ListTaskPushNotificationConfigs"),
];

const NUMBERS = new Set(["pageSize", "historyLength"]);

export function readOperation(request: Pick<PeerRequest, "method" | "path" | "query" | "body">): Operation | undefined {
  for (const { verb, path, method } of WAYS) {
    const found = path.exec(request.path);
    if (!found || !verb.test(request.method)) continue;
    const { tenant = "", id } = found.groups ?? {};
    const given = request.method === "POST" ? asObject(request.body) : readQuery(request.query);
    return { method, tenant, params: { ...given, ...truthy({ id: id && decoded(id), tenant }) } };
  }
  return undefined;
}

function asObject(body: unknown): JsonObject {
  return body !== null && typeof body === "object" && !Array.isArray(body) ? (body as JsonObject) : {};
}

function readQuery(query: URLSearchParams): JsonObject {
  const read = (name: string, value: string): Json => (NUMBERS.has(name) ? Number(value) || 0 : value);
  return Object.fromEntries([...query].filter(([name]) => name !== "A2A-Version").map(([n, v]) => [n, read(n, v)]));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
