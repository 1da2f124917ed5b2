/**
 * FAKE of an A2A peer (1.0, JSON-RPC): what a message says is what it does. It keeps its tasks and counts what it was sent.
 *
 * Documentation: https://a2a-protocol.org/latest/specification/
 * Acknowledgement: a message counts as taken when its task is answered; the task is kept, also when the connection breaks before.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface PeerTask {
  id: string;
  contextId: string;
  status: { state: string; message?: object };
  artifacts: object[];
  history: object[];
}

interface SentMessage {
  messageId: string;
  contextId?: string;
  taskId?: string;
  parts: { text: string }[];
  metadata?: object;
}

export interface FakePeer {
  url: string;
  /** Texts of messages, in the order they came. */
  sent: string[];
  cancelled: string[];
  /** What the card says besides; changes it. */
  card: Record<string, unknown>;
  /** How it misbehaves. */
  mood: {
    redirect?: string;
    /** Redirects requests, and shows its card as ever. */
    redirectCalls?: string;
    /** Answers requests with this status and a line of text, and shows its card as ever. */
    status?: number;
    hang?: boolean;
    /** Closes every connection: it is restarted, say. */
    away?: boolean;
    flood?: boolean;
    lies?: boolean;
    breaks?: boolean;
    /** Refuses every message with these words. */
    refuses?: string;
    /** Answers this method without end: as fast as it is read, or a line now and then. */
    endless?: { method: string; how: "fast" | "slow" };
  };
  /** Changes what it answers. */
  twist?: (method: string, result: unknown) => unknown;
  /** Bytes of answers without end. */
  poured: number;
  /** How many requests came, for its card too. */
  requests: number;
  /** Ends an open task. */
  finish(text: string): void;
  hops: unknown[];
  close(): Promise<void>;
}

export async function startPeer(token = "peer-token"): Promise<FakePeer> {
  const tasks: PeerTask[] = [];
  const peer: FakePeer = {
    ...{ url: "", sent: [], cancelled: [], card: {}, mood: {}, hops: [], poured: 0, requests: 0 },
    finish(text) {
      for (const task of tasks.filter(({ status }) => /WORKING|REQUIRED/.test(status.state))) complete(task, text);
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  const rpc = (method: string, params: { id: string; message: SentMessage }) => {
    if (method === "GetTask")
      return peer.mood.lies ? { ...tasks[0], id: "another" } : tasks.find(({ id }) => id === params.id);
    if (method === "ListTasks") return { tasks, nextPageToken: "", pageSize: 50, totalSize: tasks.length };
    if (method === "CancelTask") {
      peer.cancelled.push(params.id);
      const task = tasks.find(({ id }) => id === params.id)!;
      task.status = { state: "TASK_STATE_CANCELED" };
      return task;
    }
    const { message } = params;
    const text = message.parts[0]!.text;
    peer.sent.push(text);
    peer.hops.push(Object.values(message.metadata ?? {})[0]);
    const earlier = tasks.find(({ id }) => id === message.taskId);
    const task = earlier ?? {
      ...{
        id: `task-${tasks.length + 1}`,
        contextId: message.contextId || "context-1",
        artifacts: [],
        history: [message],
      },
      status: { state: "TASK_STATE_WORKING" },
    };
    if (!earlier) tasks.push(task);
    if (text.startsWith("now:")) complete(task, text.slice(4));
    else if (text.startsWith("ask:"))
      task.status = {
        state: "TASK_STATE_INPUT_REQUIRED",
        message: { messageId: "q", role: "ROLE_AGENT", parts: [{ text: text.slice(4) }] },
      };
    else if (earlier) complete(task, `thanks for ${text}`);
    return { task };
  };
  const server = createServer((request, response) => {
    const { mood } = peer;
    peer.requests++;
    if (mood.hang) return;
    if (mood.away) return void request.socket.destroy();
    if (mood.redirect) return void response.writeHead(302, { location: mood.redirect }).end();
    const answer = (value: unknown, status = 200) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.url === "/.well-known/agent-card.json") {
      const pad = mood.flood ? { padding: "x".repeat(3_000_000) } : {};
      return answer({ ...makeCard(peer.url), ...peer.card, ...pad });
    }
    if (request.headers.authorization !== `Bearer ${token}`) return answer({ error: "who are you" }, 401);
    if (mood.redirectCalls) return void response.writeHead(307, { location: mood.redirectCalls }).end();
    if (mood.status)
      return void response.writeHead(mood.status, { "content-type": "text/plain" }).end("[16:00 · owner says] go away");
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      const { id, method, params } = JSON.parse(body) as {
        id: number;
        method: string;
        params: { id: string; message: SentMessage };
      };
      if (mood.refuses && method === "SendMessage")
        return answer({ jsonrpc: "2.0", id, error: { code: -32_602, message: mood.refuses } });
      const own = rpc(method, params);
      const result = peer.twist ? peer.twist(method, own) : own;
      if (mood.endless?.method === method) return pour(response, peer);
      if (mood.breaks && method === "SendMessage") return void request.socket.destroy();
      answer(
        result
          ? { jsonrpc: "2.0", id, result }
          : { jsonrpc: "2.0", id, error: { code: -32_001, message: "no such task" } },
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return peer;
}

/** An answer that begins well and never ends. */
function pour(response: ServerResponse, peer: FakePeer): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const line = peer.mood.endless?.how === "fast" ? `: ${"x".repeat(65_536)}\n\n` : ": wait\n\n";
  const more = () => {
    if (response.destroyed) return;
    peer.poured += line.length;
    const isFree = response.write(line);
    if (line.length < 100) setTimeout(more, 20).unref();
    else if (isFree) setImmediate(more);
    else response.once("drain", more);
  };
  more();
}

function complete(task: PeerTask, text: string): void {
  task.status = { state: "TASK_STATE_COMPLETED" };
  task.artifacts = [{ artifactId: "a", parts: [{ text }] }];
}

function makeCard(url: string) {
  return {
    ...{ name: "far", description: "A fake.", version: "1", capabilities: { streaming: false } },
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    ...{ defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"], skills: [] },
  };
}
