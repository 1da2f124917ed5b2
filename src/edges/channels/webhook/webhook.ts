/**
 * The generic webhook channel: signed JSON in, signed JSON out. Any program can be a channel with it.
 *
 * In:  POST /channels/webhook/<account>  {"id","chat","sender":{"id","name"?},"text","thread"?}
 * Out: POST <url>                        {"id","chat","thread"?,"text"}, header Idempotency-Key: <id>
 * Both carry `x-lares-timestamp` (seconds) and `x-lares-signature: sha256=<hex HMAC of "timestamp.body">`.
 */
import { z } from "zod";
import type { Channel, ChannelAnswer, ChannelRequest, Door, Outgoing } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSameSecret, parseJson, STOPPED_LARES, textWithin, truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { broken, notTaken, refused } from "../sending.ts";
import type { WebhookAccount } from "./config.ts";
import { sign } from "./sign.ts";

/** A signature is good for five minutes: long enough for a slow clock, too short for a replay to matter before dedupe. */
/** The far side says an id; whatever is longer is not that. */
const MOST_ANSWER_BYTES = 65_536;
const SKEW_S = 300;

const inbound = z.strictObject({
  id: z.string().min(1).max(256),
  chat: z.string().min(1).max(256),
  thread: z.string().min(1).max(256).optional(),
  sender: z.strictObject({ id: z.string().min(1).max(256), name: z.string().max(256).optional() }),
  text: z.string().min(1).max(262_144),
});

export function create({ account, config, clock }: AdapterParts<WebhookAccount>): Channel {
  type Headers = Readonly<Record<string, string>>;
  const unproven = () =>
    new AppError("UNAUTHORIZED", {
      message: "The signature is missing, wrong or too old.",
      hint: 'Sign "timestamp.body" with the account\'s secret (HMAC SHA-256, hex) and send both headers.',
    });
  const look = (headers: Headers) => {
    const { "x-lares-timestamp": timestamp = "", "x-lares-signature": signature = "" } = headers;
    if (!signature || !(Math.abs(clock.now() / 1000 - Number(timestamp)) <= SKEW_S)) throw unproven();
    return { timestamp, signature };
  };
  const verify = (headers: Headers, body: Buffer) => {
    const { timestamp, signature } = look(headers);
    if (!isSameSecret(signature, sign(config.secret, timestamp, body))) throw unproven();
  };
  return {
    name: "webhook",
    account,
    check: async () => ({ id: account, name: config.url ?? "takes messages in only" }),

    knock: ({ method, headers }) => void (method === "POST" && look(headers)),

    /** Takes one signed message. Answers after it is durable. */
    async receive(request: ChannelRequest, door: Door): Promise<ChannelAnswer> {
      if (request.method !== "POST") return { status: 405 };
      verify(request.headers, request.body);
      const raw = { kind: "body", id: undefined, value: request.body.toString("utf8") };
      const m = door.read(raw, () => parse(request.body));
      if (!m) throw new AppError("FORBIDDEN", { message: STOPPED_LARES });
      const [heard] = await door.hear([
        {
          kind: "message",
          id: m.id,
          chat: { id: m.chat, kind: "direct", ...truthy({ thread: m.thread }) },
          sender: { id: m.sender.id, ...truthy({ name: m.sender.name }) },
          text: m.text,
        },
      ]);
      if (heard?.turn) return { status: 202, body: { turn: heard.turn, duplicate: heard.outcome === "known" } };
      throw new AppError("FORBIDDEN", {
        message: heard?.say ?? "This sender may not talk here.",
        ...(heard?.say ? {} : { hint: "Add the id to `senders`." }),
      });
    },

    async send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }> {
      const { url, secret } = config;
      if (!url) throw refused("The webhook account has no url.", "never");
      const { chat, thread } = message.route;
      const body = JSON.stringify({ id: message.key, chat, ...truthy({ thread }), text: message.text });
      const timestamp = String(Math.floor(clock.now() / 1000));
      const headers = {
        "content-type": "application/json",
        "idempotency-key": message.key,
        "x-lares-timestamp": timestamp,
        "x-lares-signature": sign(secret, timestamp, body),
      };
      const response = await fetch(url, { method: "POST", redirect: "error", headers, body, signal }).catch((error) => {
        throw broken(error, "the webhook's address");
      });
      // Only an id is looked for in it.
      const text = await textWithin(response, MOST_ANSWER_BYTES).catch(() => "");
      if (response.ok) return { platformId: idIn(text) };
      const retryAfter = Number(response.headers.get("retry-after") ?? "") || undefined;
      throw notTaken(response.status, "the far side", { retryAfter });
    },
  };
}

function parse(body: Buffer): z.output<typeof inbound> {
  let json: unknown;
  try {
    json = parseJson(body.toString("utf8"));
  } catch {
    throw new AppError("BAD_JSON", { message: "The body is not JSON.", hint: "Send one JSON object." });
  }
  const parsed = inbound.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  throw new AppError("BAD_REQUEST", {
    message: `${issue.path.length ? `The field ${issue.path.join(".")} of the body` : "The body"} is not as expected: ${issue.message}.`,
    hint: 'Send {"id","chat","sender":{"id"},"text"}.',
  });
}

function idIn(text: string): string | null {
  try {
    const id = (JSON.parse(text) as { id?: unknown }).id;
    return typeof id === "string" || typeof id === "number" ? String(id) : null;
  } catch {
    return null;
  }
}
