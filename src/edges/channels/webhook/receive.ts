/** Requests of the far side: the signature first, the body only after it; 202 only after the commit (CHANNEL-1). */
import type { ChannelAnswer, ChannelHost, ChannelRequest } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSameSecret, STOPPED_LARES } from "../../../core/kit/index.ts";
import { toEvent } from "./events.ts";
import { sign } from "./sign.ts";
import type { WebhookState } from "./state.ts";

/** A signature is good for five minutes: long enough for a slow clock, too short for a replay to matter before dedupe. */
const SKEW_S = 300;

/** Refuses by the headers alone what can't be proven. */
export function knock(state: WebhookState, { method, headers }: Omit<ChannelRequest, "body">): void {
  if (method === "POST") readProof(state, headers);
}

export async function receive(state: WebhookState, request: ChannelRequest, door: ChannelHost): Promise<ChannelAnswer> {
  const { method, headers, body } = request;
  if (method !== "POST") return { status: 405 };
  const { timestamp, signature } = readProof(state, headers);
  if (!isSameSecret(signature, sign(state.config.secret, timestamp, body))) throw unproven();
  const event = door.read({ kind: "body", id: undefined, value: body.toString("utf8") }, () => toEvent(body));
  if (!event) throw new AppError("FORBIDDEN", { message: STOPPED_LARES });
  const [heard] = await door.hear([event]);
  if (heard?.turn) return { status: 202, body: { turn: heard.turn, duplicate: heard.outcome === "known" } };
  if (heard?.say) throw new AppError("FORBIDDEN", { message: heard.say });
  if (heard?.outcome === "ignored")
    throw new AppError("BAD_REQUEST", {
      message: "There is nothing to answer: the message has no text that can be read.",
    });
  throw new AppError("FORBIDDEN", { message: "This sender may not talk here.", hint: "Add the id to `senders`." });
}

function readProof({ clock }: WebhookState, headers: ChannelRequest["headers"]) {
  const { "x-lares-timestamp": timestamp = "", "x-lares-signature": signature = "" } = headers;
  // Written so that a timestamp that isn't a number fails, too.
  const isRecent = Math.abs(clock.now() / 1000 - Number(timestamp)) <= SKEW_S;
  if (!signature || !isRecent) throw unproven();
  return { timestamp, signature };
}

function unproven(): AppError {
  return new AppError("UNAUTHORIZED", {
    message: "The signature is missing, wrong or too old.",
    hint: 'Sign "timestamp.body" with the account\'s secret (HMAC SHA-256, hex) and send both headers.',
  });
}
