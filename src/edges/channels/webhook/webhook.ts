/**
 * The generic webhook channel: signed JSON in, signed JSON out. Any program can be a channel with it.
 *
 * In:  POST /channels/webhook/<account>  {"id","chat","sender":{"id","name"?},"text","thread"?}
 * Out: POST <url>                        {"id","chat","thread"?,"text"}, header Idempotency-Key: <id>
 * Both carry `x-lares-timestamp` (seconds) and `x-lares-signature: sha256=<hex HMAC of "timestamp.body">`.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { type Channel, type Outgoing, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError, type InboundMessage, type JsonObject } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import type { WebhookAccount, WebhookConfig } from "./config.ts";

/** A signature is good for five minutes: long enough for a slow clock, too short for a replay to matter before dedupe. */
const SKEW_S = 300;

const inbound = z.strictObject({
  id: z.string().min(1).max(256),
  chat: z.string().min(1).max(256),
  thread: z.string().min(1).max(256).optional(),
  sender: z.strictObject({ id: z.string().min(1).max(256), name: z.string().max(256).optional() }),
  text: z.string().min(1).max(262_144),
});

type Admit = (message: InboundMessage) => Promise<{ turn: string; duplicate: boolean }>;

export class WebhookChannel implements Channel {
  readonly name = "webhook";
  readonly dedupes: boolean;
  readonly limit = 16_000;
  private admit: Admit | undefined;
  private lastError: string | undefined;
  private readonly accountName: string;
  private readonly account: WebhookAccount;
  private readonly clock: Clock;

  constructor(name: string, account: WebhookAccount, clock: Clock) {
    this.accountName = name;
    this.account = account;
    this.dedupes = account.dedupes;
    this.clock = clock;
  }

  async start(admit: Admit): Promise<void> {
    this.admit = admit;
  }

  async stop(): Promise<void> {
    this.admit = undefined;
  }

  status(): { state: "ok" | "down" | "idle"; detail?: string; meta?: JsonObject } {
    if (!this.admit) return { state: "idle" };
    return this.lastError ? { state: "down", detail: this.lastError } : { state: "ok" };
  }

  mayApprove(sender: string): boolean {
    return this.account.approvers.includes(sender);
  }

  /** Takes one signed message. Resolves after it is durable. */
  async receive(
    headers: { timestamp: string; signature: string },
    body: Buffer,
  ): Promise<{ turn: string; duplicate: boolean }> {
    this.verify(headers, body);
    let json: unknown;
    try {
      json = JSON.parse(body.toString("utf8"));
    } catch {
      throw new AppError("BAD_JSON", { message: "The body is not JSON.", hint: "Send one JSON object." });
    }
    const parsed = inbound.safeParse(json);
    if (!parsed.success) {
      const issue = parsed.error.issues[0]!;
      throw new AppError("BAD_REQUEST", {
        message: `Field ${issue.path.join(".") || "(body)"}: ${issue.message}.`,
        hint: 'Send {"id","chat","sender":{"id"},"text"}.',
      });
    }
    const m = parsed.data;
    const { senders } = this.account;
    if (!senders.includes("*") && !senders.includes(m.sender.id)) {
      throw new AppError("FORBIDDEN", { message: "This sender may not talk here.", hint: "Add the id to `senders`." });
    }
    if (!this.admit) throw new AppError("NOT_READY", { message: "The channel is not started.", retry: "later" });
    return this.admit({
      route: { channel: this.name, account: this.accountName, chat: m.chat, ...(m.thread ? { thread: m.thread } : {}) },
      sender: { id: m.sender.id, ...(m.sender.name ? { name: m.sender.name } : {}) },
      platformId: m.id,
      authority: this.mayApprove(m.sender.id) ? "owner" : "known",
      text: m.text,
    });
  }

  async send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
    const { url, secret } = this.account;
    if (!url) throw refused("The webhook account has no url.", "never");
    const { chat, thread } = message.route;
    const body = JSON.stringify({ id: message.key, chat, ...(thread ? { thread } : {}), text: message.text });
    const timestamp = String(Math.floor(this.clock.now() / 1000));
    let response: Response;
    try {
      response = await fetch(url, {
        method: "POST",
        redirect: "error",
        headers: {
          "content-type": "application/json",
          "idempotency-key": message.key,
          "x-lares-timestamp": timestamp,
          "x-lares-signature": sign(secret, timestamp, body),
        },
        body,
        signal,
      });
    } catch (cause) {
      this.lastError = "The far side cannot be reached.";
      if (neverConnected(cause)) throw refused("The webhook's address cannot be reached.", "later", cause);
      throw new SendUncertain("The connection broke while the message was sent.", { cause });
    }
    const text = await response.text().catch(() => "");
    if (response.ok) {
      this.lastError = undefined;
      return { platformId: idIn(text) };
    }
    this.lastError = `The far side answered ${response.status}.`;
    if (response.status >= 500) throw new SendUncertain(`The far side answered ${response.status}.`);
    const later = response.status === 408 || response.status === 425 || response.status === 429;
    throw refused(`The far side answered ${response.status}.`, later ? "later" : "never");
  }

  private verify(headers: { timestamp: string; signature: string }, body: Buffer): void {
    const expected = Buffer.from(sign(this.account.secret, headers.timestamp, body));
    const given = Buffer.from(headers.signature);
    const fresh = Math.abs(this.clock.now() / 1000 - Number(headers.timestamp)) <= SKEW_S;
    if (given.length !== expected.length || !timingSafeEqual(given, expected) || !fresh) {
      throw new AppError("UNAUTHORIZED", {
        message: "The signature is wrong or too old.",
        hint: 'Sign "timestamp.body" with the account\'s secret (HMAC SHA-256, hex) and send both headers.',
      });
    }
  }
}

export function sign(secret: string, timestamp: string, body: string | Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}

export function webhookChannels(config: WebhookConfig, clock: Clock): Map<string, WebhookChannel> {
  return new Map(Object.entries(config).map(([name, account]) => [name, new WebhookChannel(name, account, clock)]));
}

function refused(message: string, retry: "never" | "later", cause?: unknown): AppError {
  return new AppError("CHANNEL_SEND", { message, retry, ...(cause ? { cause } : {}) });
}

/** Failures before a byte was sent: the platform surely has nothing. */
function neverConnected(error: unknown): boolean {
  const code = ((error as { cause?: { code?: string } }).cause?.code ?? "") as string;
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(
    code,
  );
}

function idIn(text: string): string | null {
  try {
    const id = (JSON.parse(text) as { id?: unknown }).id;
    return typeof id === "string" || typeof id === "number" ? String(id) : null;
  } catch {
    return null;
  }
}
