/**
 * One connection to OpenClaw's gateway: the handshake of a device, requests with their answers, and events. It ends once, with a
 * reason; who needs another one opens it.
 *
 * CLAW-1: what is signed is bound to the gateway's challenge and carries its time, not ours.
 * CLAW-2: a request has one answer. A second one under the same number, which some methods send, belongs to nobody.
 * CLAW-11: a gateway that starts, or is busy, says so by a code, and is asked again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type RawData, WebSocket } from "ws";
import { asJson, asObject, asText } from "../../../core/domain/index.ts";
import type { ClawDevice } from "./device.ts";
import type { GatewayPlace } from "./place.ts";
import { clawWords as words } from "./words.ts";

export interface GatewayEars {
  event(name: string, payload: Record<string, unknown>): void;
  /** Once, unless we closed it. */
  closed(why: string): void;
}

export interface ClawGateway {
  version: string;
  /** The agent that its gateway gives work to. */
  agent: string;
  /** Rejects with a GatewayFailure when it says no, with another error when nobody knows. */
  call(method: string, params: object, ms?: number): Promise<Record<string, unknown>>;
  /** The same, for a method whose answer is no object. */
  list(method: string, params: object): Promise<unknown[]>;
  pause(): void;
  resume(): void;
  close(): void;
}

/** It said no. `code` is what to branch on; words change with releases. */
export class GatewayFailure extends Error {
  readonly code: string;
  readonly detail: Record<string, unknown>;

  constructor(given: unknown) {
    const { code, message, details } = asObject(given);
    super(asText(message) ?? "It refused.");
    this.detail = asObject(details);
    this.code = asText(this.detail.code) ?? asText(code) ?? "";
  }
}

const PROTOCOL = 4;
const SCOPES = ["operator.read", "operator.write", "operator.approvals"];
/** Without the first, the gateway sends no events of tools. */
const CAPS = ["tool-events", "approvals", "exec-approvals"];
/** What it says that it sends at most, and some room. */
const LARGEST_FRAME = 32 * 1024 * 1024;
const HELLO_MS = 15_000;
const ANSWER_MS = 30_000;
const START_MS = 60_000;
const AGAIN_MS = 500;

interface ClawAnswer {
  take(answer: Record<string, unknown>): void;
  fail(error: Error): void;
}

/** CLAW-11 */
async function patiently<T>(ask: () => Promise<T>, ms: number): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isBusy = error instanceof GatewayFailure && error.code === "UNAVAILABLE";
      if (!isBusy || performance.now() + AGAIN_MS > until) throw error;
      await delay(AGAIN_MS);
    }
  }
}

/** The same for a connection: a gateway takes half a minute to start. */
export function connectPatiently(
  place: GatewayPlace,
  device: ClawDevice,
  given: { ears: GatewayEars; signal: AbortSignal },
): Promise<ClawGateway> {
  return patiently(() => connectGateway(place, device, given), START_MS);
}

/** `device`: null only looks: it is nobody's, and the gateway keeps nothing of it. */
export async function connectGateway(
  place: GatewayPlace,
  device: ClawDevice | null,
  { ears, signal, ms = HELLO_MS }: { ears: GatewayEars; signal: AbortSignal; ms?: number },
): Promise<ClawGateway> {
  const socket = new WebSocket(place.url, { handshakeTimeout: ms, maxPayload: LARGEST_FRAME });
  const wire = new ClawWire(socket, ears);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const stop = () => wire.end(words.closed);
  limit.addEventListener("abort", stop, { once: true });
  try {
    const challenge = await wire.challenge;
    const hello = await wire.ask("connect", introduce(place, device, challenge), ms);
    const defaults = asObject(asObject(hello.snapshot).sessionDefaults);
    wire.isOpen = true;
    return {
      version: asText(asObject(hello.server).version) ?? "unknown",
      agent: asText(defaults.defaultAgentId) ?? "main",
      call: async (method, params, within = ANSWER_MS) =>
        asObject(await patiently(() => wire.ask(method, params, within), within)),
      list: async (method, params) => {
        const answer: unknown = await wire.ask(method, params, ANSWER_MS);
        return Array.isArray(answer) ? answer : [];
      },
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      close: () => wire.close(),
    };
  } catch (error) {
    wire.close();
    throw error;
  } finally {
    limit.removeEventListener("abort", stop);
  }
}

class ClawWire {
  /** The handshake is done: from here on its end is an event. */
  isOpen = false;
  readonly challenge: Promise<Record<string, unknown>>;
  private readonly socket: WebSocket;
  private readonly ears: GatewayEars;
  private readonly waiting = new Map<string, ClawAnswer>();
  private challenged: (payload: Record<string, unknown>) => void = () => {};
  private refuse: (error: Error) => void = () => {};
  private isEnded = false;
  private count = 0;

  constructor(socket: WebSocket, ears: GatewayEars) {
    this.socket = socket;
    this.ears = ears;
    this.challenge = new Promise((resolve, reject) => {
      this.challenged = resolve;
      this.refuse = reject;
    });
    this.challenge.catch(() => {});
    socket.on("message", (data) => this.take(data));
    socket.on("error", (error) => this.end(error.message));
    socket.on("close", () => this.end(words.closed));
  }

  ask(method: string, params: object, ms: number): Promise<Record<string, unknown>> {
    if (this.isEnded) return Promise.reject(new Error(words.closed));
    const id = String(++this.count);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(words.noAnswer(method)));
      }, ms);
      this.waiting.set(id, {
        take(answer) {
          clearTimeout(timer);
          if (answer.ok === true) resolve(answer.payload as Record<string, unknown>);
          else reject(new GatewayFailure(answer.error));
        },
        fail(error) {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.socket.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  end(why: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.socket.terminate();
    const error = new Error(why);
    this.refuse(error);
    for (const one of this.waiting.values()) one.fail(error);
    this.waiting.clear();
    if (this.isOpen) this.ears.closed(why);
  }

  close(): void {
    this.isOpen = false;
    this.end(words.closed);
  }

  private take(data: RawData): void {
    if (this.isEnded) return;
    const frame = asObject(asJson(data.toString()));
    if (frame.type === "res") {
      const id = String(frame.id);
      const waiting = this.waiting.get(id);
      // CLAW-2
      this.waiting.delete(id);
      waiting?.take(frame);
    } else if (frame.type === "event") {
      const name = asText(frame.event) ?? "";
      if (name === "connect.challenge") this.challenged(asObject(frame.payload));
      else this.ears.event(name, asObject(frame.payload));
    }
  }
}

/** CLAW-1 */
function introduce({ token }: GatewayPlace, device: ClawDevice | null, { nonce, ts }: Record<string, unknown>): object {
  const mode = device ? "cli" : "probe";
  const client = { id: device ? "cli" : "openclaw-probe", version: "1", platform: process.platform, mode };
  const role = "operator";
  const scopes = device ? SCOPES : ["operator.read"];
  const said = { minProtocol: PROTOCOL, maxProtocol: PROTOCOL, client, role, scopes, auth: { token } };
  if (!device) return said;
  const signed = ["v3", device.id, client.id, mode, role, scopes.join(","), ts, token, nonce, client.platform, ""];
  const { id, publicKey } = device;
  const proof = { id, publicKey, signature: device.sign(signed.join("|")), signedAt: ts, nonce };
  return { ...said, caps: CAPS, device: proof };
}
