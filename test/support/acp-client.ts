/** The protocol's own client on the pipes of `lares acp`, as an editor is. What the bridge says is kept and held against the protocol's schema. */
import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { ACP_ASKED, ACP_NAMES, notAcp } from "./acp-schema.ts";
import { PROGRAM } from "./lares.ts";

type AnyMessage = acp.Stream["readable"] extends ReadableStream<infer M> ? M : never;
type Update = acp.SessionNotification["update"];
type Asked = acp.RequestPermissionRequest;
type Outcome = acp.RequestPermissionResponse["outcome"];

export interface AcpClient {
  agent: acp.ClientContext;
  updates: Update[];
  asked: Asked[];
  hello: acp.InitializeResponse;
  child: ChildProcess;
  /** Everything the agent said in this session, as one text. */
  text(kind?: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk"): string;
  /** The updates of one tool call, first to last, as one object. */
  call(id: string): Record<string, unknown>;
  prompt(sessionId: string, text: string): Promise<acp.PromptResponse>;
  close(): Promise<number | null>;
}

export interface AcpOptions {
  home: string;
  token?: string;
  env?: Record<string, string>;
  args?: string[];
  capabilities?: acp.ClientCapabilities;
  /** Answers questions for permission: with an option's id, or as it likes. */
  answer?: (asked: Asked, signal: AbortSignal) => string | Outcome | Promise<string | Outcome>;
}

export async function openAcp(at: AcpOptions): Promise<AcpClient> {
  const child = spawn(process.execPath, [PROGRAM, "acp", "--home", at.home, ...(at.args ?? [])], {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: at.home,
      LARES_COMMAND: "lares",
      ...(at.token ? { LARES_TOKEN: at.token } : {}),
      ...at.env,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise<number | null>((resolve) => child.once("close", resolve));
  const updates: Update[] = [];
  const asked: Asked[] = [];
  const app = acp
    .client({ name: "a test" })
    .onNotification(acp.methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(acp.methods.client.session.requestPermission, async ({ params, signal }) => {
      asked.push(params);
      const outcome = (await at.answer?.(params, signal)) ?? { outcome: "cancelled" as const };
      return { outcome: typeof outcome === "string" ? { outcome: "selected" as const, optionId: outcome } : outcome };
    });
  const stream = acp.ndJsonStream(
    Writable.toWeb(child.stdin!) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>,
  );
  const wrong: string[] = [];
  const { agent } = app.connect(checked(stream, wrong));
  const hello = await agent.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: at.capabilities ?? {},
    clientInfo: { name: "a test", version: "1" },
  });
  return {
    agent,
    updates,
    asked,
    hello,
    child,
    text: (kind = "agent_message_chunk") =>
      updates
        .map((one) => (one.sessionUpdate === kind && one.content.type === "text" ? one.content.text : ""))
        .join(""),
    call: (id) =>
      Object.assign({}, ...updates.filter((one) => "toolCallId" in one && one.toolCallId === id)) as Record<
        string,
        unknown
      >,
    prompt: (sessionId, text) =>
      agent.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    async close() {
      child.stdin!.end();
      const code = await gone;
      if (wrong.length > 0) throw new Error(`not as the protocol's schema has it:\n${wrong.join("\n")}`);
      return code;
    },
  };
}

/** The same stream; what comes over it from the agent is held against the schema. */
function checked(stream: acp.Stream, wrong: string[]): acp.Stream {
  const methods = new Map<unknown, string>();
  type Message = { id?: unknown; method?: string; params?: unknown; result?: unknown };
  const see = (look: (message: Message) => void) =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, out) {
        look(message as Message);
        out.enqueue(message);
      },
    });
  const sent = see(({ id, method }) => void (method !== undefined && id !== undefined && methods.set(id, method)));
  const got = see(({ id, method, params, result }) => {
    const name = method === undefined ? ACP_NAMES[methods.get(id) ?? ""] : (ACP_ASKED[method] ?? method);
    const problem =
      method === undefined && result === undefined ? undefined : notAcp(name ?? "?", method ? params : result);
    if (problem) wrong.push(problem);
  });
  void sent.readable.pipeTo(stream.writable).catch(() => {});
  return { writable: sent.writable, readable: stream.readable.pipeThrough(got) };
}
