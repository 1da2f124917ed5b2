/**
 * FAKE of OpenClaw's gateway (2026.9.6), without a model: it replays transcripts of real runs (`transcripts/`, made by `record.ts`) with the
 * words, marks and numbers of the run at hand, and leaves the marks that the real one would leave. Its prompts are those of the scripted
 * model server. Quirks make it misbehave.
 *
 * Documentation: https://docs.openclaw.ai/gateway/protocol
 * Documentation: https://docs.openclaw.ai/gateway/clients
 * Acknowledgement: a message is accepted when `chat.send` is answered, and over with the `chat` event whose state is final, error or aborted.
 *     Conversations and runs are the gateway's: they go on when the connection ends.
 */
import { createHash, createPublicKey, randomUUID, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type WebSocket, WebSocketServer } from "ws";

export type ClawQuirk =
  /** Refuses the token; wants a person to approve the device; speaks another version. */
  | "bad-token"
  | "unpaired"
  | "newer"
  /** Is still starting when it is asked first. */
  | "starting"
  /** Answers every request a second time; sends what is no JSON. */
  | "twice"
  | "garbage"
  /** Closes the connection in the middle of an answer; forgets the run with it. */
  | "drops"
  | "forgets"
  /** The end of steered words never comes. */
  | "silent-steer"
  /** Somebody else answers what it asks; nobody does in time. */
  | "answered-elsewhere"
  | "expires"
  /** Ends with a warning in place of an answer. */
  | "warns";

type Fields = Record<string, unknown>;
type Frame = { type: string; event?: string; method?: string; payload?: Fields; params?: Fields };
type Part = { cue: string; frames: Frame[] };

interface Chat {
  key: string;
  sessionId: string;
  messages: Fields[];
  run: Running | undefined;
}

interface Running {
  id: string;
  parts: Part[];
  words: string;
  mark: string;
  text: string;
  events: Fields[];
  approval: Fields | undefined;
  timers: NodeJS.Timeout[];
  /** Told when it began: only they get its tool events. */
  witness: WebSocket | undefined;
}

export interface FakeGateway {
  port: number;
  token: string;
  work: string;
  heard(): string;
  connections(): number;
  /** The requests that came, in order. */
  asked: { method: string; params: Fields }[];
  /** What waits for an answer; a person at OpenClaw's own page answers it; the runs at work. */
  approvals(): Fields[];
  answer(id: string, decision: string): void;
  working(): number;
  /** Ends every connection, as a restart does. */
  drop(): void;
  close(): Promise<void>;
}

/** A transcript, cut where the gateway was spoken to: each part is what it sent from there on. */
function readScene(name: string): Part[] {
  const lines = readFileSync(new URL(`transcripts/${name}.jsonl`, import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean);
  const parts: Part[] = [];
  for (const line of lines) {
    const frame = JSON.parse(line.slice(2)) as Frame;
    if (line.startsWith(">")) parts.push({ cue: frame.method!, frames: [] });
    else parts.at(-1)!.frames.push(frame);
  }
  return parts;
}

const SCENES: readonly (readonly [RegExp, string])[] = [
  [/^fail:401/, "fail-401"],
  [/^fail:rate-limit/, "limited"],
  [/tool:exec/, "act"],
  [/think:/, "think"],
  [/gap:/, "forever"],
  [/say:/, "say"],
];

const wordsIn = (text: string) => /say:([^\n]*?)(?: then:)?\s*$/.exec(text)?.[1]?.trim() ?? "";
const PIECE_MS = 4;

export async function startFakeGateway(work: string, quirks: readonly ClawQuirk[] = []): Promise<FakeGateway> {
  const has = (quirk: ClawQuirk) => quirks.includes(quirk);
  const token = "gateway-token";
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((resolve) => server.once("listening", resolve));
  const devices = new Set<WebSocket>();
  const chats = new Map<string, Chat>();
  const asked: FakeGateway["asked"] = [];
  const sent = new Map<string, string>();
  let heard = "";
  let steered: string[] = [];
  let isStarted = false;

  const tell = (event: string, payload: Fields, to: Iterable<WebSocket> = devices) => {
    for (const one of to) one.send(JSON.stringify({ type: "event", event, payload }));
  };

  /** The recorded frames with this run's own words, mark and numbers in them. */
  function dress(frame: Frame, chat: Chat, run: Running): Frame {
    const inText = (words: string) => JSON.stringify(words).slice(1, -1);
    const half = Math.ceil(run.words.length / 2);
    const text = JSON.stringify(frame)
      .replaceAll("{half}", inText(run.words.slice(0, half)))
      .replaceAll("{rest}", inText(run.words.slice(half)))
      .replaceAll("{run}", run.id)
      .replaceAll("{key}", chat.key)
      .replaceAll("{approval}", `approval-${run.id}`)
      .replaceAll("{mark}", run.mark)
      .replaceAll("{words}", inText(run.words));
    return JSON.parse(text) as Frame;
  }

  function play(chat: Chat, run: Running, frames: readonly Frame[]): void {
    const [next, ...rest] = frames;
    if (!next || chat.run !== run) return;
    show(chat, run, dress(next, chat, run));
    const timer = setTimeout(() => play(chat, run, rest), PIECE_MS);
    run.timers.push(timer);
  }

  function show(chat: Chat, run: Running, { event = "", payload = {} }: Frame): void {
    if (event === "session.message") chat.messages.push(payload.message as Fields);
    if (event === "exec.approval.requested") {
      // As the real one: half an hour from now, not from when it was recorded.
      const now = Date.now();
      Object.assign(payload, { createdAtMs: now, expiresAtMs: now + 30 * 60_000 });
      run.approval = payload;
    }
    if (event === "exec.approval.resolved") run.approval = undefined;
    if (event === "agent") {
      const { stream, data } = payload as { stream: string; data: Fields };
      if (stream === "assistant") run.text = String(data.text ?? "");
      else run.events.push(payload);
      if (stream === "assistant" && (has("drops") || has("forgets"))) drop(has("forgets") ? chat : undefined);
    }
    if (event === "chat" && ["final", "error", "aborted"].includes(String(payload.state))) chat.run = undefined;
    const isTool = event === "agent" && payload.stream === "tool";
    if (has("warns") && event === "chat" && payload.state === "final")
      Object.assign(payload.message as Fields, { content: [{ type: "text", text: "⚠️ Context is nearly full." }] });
    tell(event, payload, isTool ? [...devices].filter((one) => one === run.witness) : devices);
    if (event === "exec.approval.requested" && (has("answered-elsewhere") || has("expires"))) {
      const decision = has("expires") ? null : "allow-once";
      setTimeout(() => cue(chat, run, "exec.approval.resolve", decision), 20);
    }
  }

  let dropped = false;
  function drop(forget?: Chat): void {
    if (dropped) return;
    dropped = true;
    if (forget?.run) {
      for (const timer of forget.run.timers) clearTimeout(timer);
      forget.run = undefined;
    }
    for (const one of server.clients) one.terminate();
  }

  /** Somebody spoke to a run: the transcript goes on from there. */
  function cue(chat: Chat, run: Running, method: string, decision?: unknown): void {
    const at = run.parts.findIndex((part) => part.cue === method);
    if (at < 0 || chat.run !== run) return;
    for (const timer of run.timers) clearTimeout(timer);
    if (method === "exec.approval.resolve") {
      const id = run.approval?.id;
      run.approval = undefined;
      tell("exec.approval.resolved", { id, decision: decision ?? null });
      if (decision === "allow-once") writeFileSync(join(work, `mark.${run.mark}.${randomUUID().slice(0, 6)}`), "");
      for (const steer of steered) chat.messages.push({ role: "user", content: steer });
      if (steered.length > 0) heard = steered.join(" ");
      steered = [];
      const isYes = decision === "allow-once";
      const scene = isYes ? "act" : "deny";
      run.parts = readScene(scene).slice(1);
      play(chat, run, run.parts[0]!.frames);
      return;
    }
    play(chat, run, run.parts[at]!.frames);
  }

  function send(params: Fields, socket: WebSocket | undefined): Fields {
    const { sessionKey, message, idempotencyKey, queueMode } = params as Record<string, string>;
    const chat = chats.get(sessionKey!)!;
    if (sent.has(idempotencyKey!)) return { runId: idempotencyKey, status: "ok" };
    sent.set(idempotencyKey!, message!);
    if (chat.run && queueMode === "steer") {
      steered.push(message!);
      if (!has("silent-steer"))
        setTimeout(() => tell("chat", { runId: idempotencyKey, sessionKey, seq: 1, state: "final" }), 5);
      return { runId: idempotencyKey, status: "started" };
    }
    heard = message!;
    const name = SCENES.find(([pattern]) => pattern.test(message!))?.[1] ?? "say";
    const mark = /mark\.(\w+)\./.exec(message!)?.[1] ?? "";
    const words = wordsIn(message!);
    const parts = readScene(name);
    const run: Running = {
      id: idempotencyKey!,
      parts,
      words,
      mark,
      text: "",
      events: [],
      approval: undefined,
      timers: [],
      witness: socket,
    };
    chat.run = run;
    setTimeout(() => play(chat, run, parts[0]!.frames), 2);
    return { runId: run.id, status: "started" };
  }

  function abort(params: Fields): Fields {
    const chat = chats.get(String(params.sessionKey));
    const run = chat?.run;
    if (!chat || !run) return { ok: true, aborted: false, runIds: [] };
    for (const timer of run.timers) clearTimeout(timer);
    if (run.approval) tell("exec.approval.resolved", { id: run.approval.id, decision: "deny" });
    run.parts = readScene("forever").slice(1);
    run.words = run.text;
    setTimeout(() => play(chat, run, run.parts[0]!.frames), 1);
    return { ok: true, aborted: true, runIds: [run.id] };
  }

  const METHODS: Record<string, (params: Fields, socket: WebSocket | undefined) => unknown> = {
    "sessions.create"({ key }) {
      const chat: Chat = { key: String(key), sessionId: randomUUID(), messages: [], run: undefined };
      chats.set(chat.key, chat);
      return { ok: true, key, sessionId: chat.sessionId, resolved: { modelProvider: "test", model: "scripted" } };
    },
    "sessions.messages.subscribe": ({ key }) => ({ subscribed: true, key }),
    "chat.history"({ sessionKey }) {
      const chat = chats.get(String(sessionKey));
      if (!chat) return { sessionKey, messages: [], sessionInfo: {} };
      const { run, messages, sessionId } = chat;
      const inFlightRun = run && { runId: run.id, text: run.text, events: run.events };
      return { sessionKey, sessionId, messages, sessionInfo: { hasActiveRun: run !== undefined }, inFlightRun };
    },
    "chat.send": send,
    "chat.abort": abort,
    "exec.approval.list": () => [...chats.values()].flatMap(({ run }) => (run?.approval ? [run.approval] : [])),
    "exec.approval.resolve"({ id, decision }) {
      const chat = [...chats.values()].find(({ run }) => run?.approval?.id === id);
      if (!chat?.run) throw { code: "INVALID_REQUEST", message: "unknown or expired approval id" };
      cue(chat, chat.run, "exec.approval.resolve", decision);
      return { ok: true };
    },
  };

  /** As the real one checks it: the key makes the id, and the signature is over its own challenge. */
  function greet(params: Fields, nonce: string, ts: number): Fields {
    const { auth, device, client, role, scopes } = params as Record<string, Fields> & {
      role: string;
      scopes: string[];
    };
    const refuse = (code: string, more: Fields = {}) => {
      throw { code: "INVALID_REQUEST", message: code, details: { code, ...more } };
    };
    if (has("starting") && !isStarted) {
      isStarted = true;
      throw {
        code: "UNAVAILABLE",
        message: "gateway starting; retry shortly",
        details: { reason: "startup-sidecars" },
      };
    }
    if (has("newer")) refuse("PROTOCOL_MISMATCH", { expectedProtocol: 5 });
    if (has("bad-token") || auth?.token !== token) refuse("AUTH_TOKEN_MISMATCH");
    if (device) {
      const { id, publicKey, signature, signedAt } = device as Record<string, string>;
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey! }, format: "jwk" });
      const raw = Buffer.from(publicKey!, "base64url");
      const signed = [
        "v3",
        id,
        client!.id,
        client!.mode,
        role,
        scopes.join(","),
        ts,
        token,
        nonce,
        client!.platform,
        "",
      ];
      const isSigned = verify(null, Buffer.from(signed.join("|")), key, Buffer.from(signature!, "base64url"));
      const isOwn = createHash("sha256").update(raw).digest("hex") === id;
      if (!isSigned || !isOwn || Number(signedAt) !== ts) refuse("DEVICE_AUTH_SIGNATURE_INVALID");
      if (has("unpaired")) refuse("PAIRING_REQUIRED", { requestId: "req-1" });
    }
    const snapshot = { sessionDefaults: { defaultAgentId: "main" } };
    return { type: "hello-ok", protocol: 4, server: { version: "2026.9.6" }, snapshot };
  }

  server.on("connection", (socket) => {
    const nonce = randomUUID();
    const ts = Date.now() - 1000;
    socket.on("close", () => devices.delete(socket));
    socket.on("error", () => {});
    socket.send(JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce, ts } }));
    socket.on("message", (data) => {
      const { id, method, params } = JSON.parse(String(data)) as { id: string; method: string; params: Fields };
      if (method !== "connect") asked.push({ method, params });
      let answer: Fields;
      try {
        const payload = method === "connect" ? greet(params, nonce, ts) : METHODS[method]!(params, socket);
        if (method === "connect" && params.device) devices.add(socket);
        answer = { type: "res", id, ok: true, payload };
      } catch (error) {
        answer = { type: "res", id, ok: false, error };
      }
      if (has("garbage")) socket.send("not json {");
      socket.send(JSON.stringify(answer));
      if (has("twice")) socket.send(JSON.stringify({ ...answer, ok: false, error: { message: "again" } }));
    });
  });

  return {
    port: (server.address() as AddressInfo).port,
    token,
    work,
    heard: () => heard,
    connections: () => devices.size,
    asked,
    approvals: () => METHODS["exec.approval.list"]!({}, undefined) as Fields[],
    answer: (id, decision) => void METHODS["exec.approval.resolve"]!({ id, decision }, undefined),
    working: () => [...chats.values()].filter(({ run }) => run).length,
    drop: () => {
      dropped = false;
      drop();
    },
    async close() {
      for (const { run } of chats.values()) for (const timer of run?.timers ?? []) clearTimeout(timer);
      for (const one of server.clients) one.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
