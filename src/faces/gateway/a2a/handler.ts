/** The protocol's operations, each one question to the rest of Lares. The SDK reads and writes the wire on both sides of it. */
import { AgentCard, type SendMessageRequest, type StreamResponse, type Task } from "@a2a-js/sdk";
import {
  ExtendedAgentCardNotConfiguredError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { PeerCaller, PeerTask } from "../../../core/contracts/index.ts";
import { deadline, truthy } from "../../../core/kit/index.ts";
import type { GatewayParts } from "../ports.ts";
import { makeCard } from "./card.ts";
import { withWireErrors } from "./errors.ts";
import { readAsk, toBeginning, toEnd, toTask } from "./shapes.ts";

/** A cancelled turn ends at its next safe point; the answer waits that long for it. */
const CANCEL_MS = 5000;
const PAGE = 50;

/** One request: who asks, for which agent, and until when. */
export interface PeerCall {
  peer: PeerCaller;
  agent: string;
  signal: AbortSignal;
}

type Unsupported =
  | "createTaskPushNotificationConfig"
  | "getTaskPushNotificationConfig"
  | "listTaskPushNotificationConfigs"
  | "deleteTaskPushNotificationConfig";

/** Of one call: nothing of it outlives the answer. */
export function makeHandler(parts: GatewayParts, call: PeerCall): A2ARequestHandler {
  const peers = parts.peers();
  const { peer, signal } = call;
  const waitMs = () => parts.config().http.wait * 1000;
  const hidden = (task: PeerTask): PeerTask => ({ ...task, text: parts.redact(task.text) });
  const send = (request: SendMessageRequest) => {
    // Nothing is sent to an address that a peer names.
    if (request.configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
    return peers.send(peer, readAsk(request.message, request.tenant || call.agent));
  };
  const follow = async function* (first: PeerTask): AsyncGenerator<StreamResponse, void, undefined> {
    yield* toBeginning(hidden(first));
    if (isSettled(first)) return;
    const last = await peers.settled(peer, first.id, signal);
    if (!signal.aborted) yield* toEnd(hidden(last));
  };
  return withWireErrors(parts, {
    ...noPushes(),
    getAgentCard: async () => {
      const [agent] = peers.shown().agents;
      return AgentCard.fromJSON(makeCard(peers, agent!, { base: "", version: parts.version, isFirst: true }));
    },
    async getAuthenticatedExtendedAgentCard() {
      throw new ExtendedAgentCardNotConfiguredError();
    },
    async sendMessage(request): Promise<Task> {
      const task = await send(request);
      if (request.configuration?.returnImmediately || isSettled(task)) return toTask(hidden(task));
      const patience = deadline(signal, waitMs());
      return toTask(hidden(await peers.settled(peer, task.id, patience.signal).finally(patience.done)));
    },
    async *sendMessageStream(request) {
      yield* follow(await send(request));
    },
    async *resubscribe({ id }) {
      const task = await peers.get(peer, id);
      if (isOver(task)) throw new UnsupportedOperationError("This task is over: nothing follows. Get it with GetTask.");
      yield* follow(task);
    },
    getTask: async ({ id }) => toTask(hidden(await peers.get(peer, id))),
    async listTasks({ contextId, pageSize = PAGE, pageToken, status }) {
      const limit = Math.min(Math.max(pageSize, 1), 100);
      const { tasks, next = "" } = await peers.list(peer, {
        limit,
        ...truthy({ context: contextId, after: pageToken }),
      });
      const all = tasks.map((task) => toTask(hidden(task)));
      const shown = status > 0 ? all.filter((task) => task.status?.state === status) : all;
      return { tasks: shown, nextPageToken: next, pageSize: limit, totalSize: shown.length };
    },
    async cancelTask({ id }) {
      const patience = deadline(signal, CANCEL_MS);
      const stopped = await peers.cancel(peer, id, patience.signal).finally(patience.done);
      if (!stopped) throw new TaskNotCancelableError("This task is over.");
      return toTask(hidden(stopped));
    },
  });
}

function isSettled({ state }: PeerTask): boolean {
  return state !== "submitted" && state !== "working";
}

function isOver(task: PeerTask): boolean {
  return isSettled(task) && task.state !== "input-required";
}

function noPushes(): Pick<A2ARequestHandler, Unsupported> {
  const refuse = async (): Promise<never> => {
    throw new PushNotificationNotSupportedError();
  };
  return {
    createTaskPushNotificationConfig: refuse,
    getTaskPushNotificationConfig: refuse,
    listTaskPushNotificationConfigs: refuse,
    deleteTaskPushNotificationConfig: refuse,
  };
}
