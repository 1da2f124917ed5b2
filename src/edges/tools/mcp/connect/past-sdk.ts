/**
 * What the SDK would refuse although Lares can read it passes it in disguise: a task as the answer to a call, requests about tasks in the
 * newer era, and lists that one bad entry would spoil. A request gets its real name where the transport sends it; a task comes in as a
 * plain result with the task in its `_meta`.
 */
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import { isObject } from "../../../../core/domain/index.ts";

const DISGUISE = "lares/";
const TASK = "lares/task";

/** A method whose result the SDK doesn't judge. Good on a transport from `pastSdk` only. */
export function unjudged(method: string): string {
  return `${DISGUISE}${method}`;
}

/** The task that an answer is, as the server described it. */
export function findTask({ _meta }: { _meta?: unknown }): unknown {
  return isObject(_meta) ? _meta[TASK] : undefined;
}

export function pastSdk<T extends Transport>(transport: T): T {
  // Only a tool call may become a task.
  const calls = new Set<RequestId>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && "id" in message && message.method === "tools/call") calls.add(message.id);
    return send(undisguise(message), options);
  };
  let hear: Transport["onmessage"];
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => hear,
    set: (given: Transport["onmessage"]) => {
      hear = given && ((message, extra) => given(disguise(message, calls), extra));
    },
  });
  return transport;
}

function undisguise(message: JSONRPCMessage): JSONRPCMessage {
  if (!("method" in message) || !message.method.startsWith(DISGUISE)) return message;
  return { ...message, method: message.method.slice(DISGUISE.length) };
}

function disguise(message: JSONRPCMessage, calls: Set<RequestId>): JSONRPCMessage {
  if (!("result" in message) || !calls.delete(message.id)) return message;
  const { result } = message;
  const isOlder = isObject(result.task) && result.content === undefined;
  if (result.resultType !== "task" && !isOlder) return message;
  const task = isOlder ? result.task : result;
  return { ...message, result: { resultType: "complete", content: [], _meta: { [TASK]: task } } };
}
