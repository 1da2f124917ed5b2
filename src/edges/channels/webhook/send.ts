/** Sending: one signed POST, under the message's key. */
import type { Outgoing } from "../../../core/contracts/index.ts";
import { asJson, asObject } from "../../../core/domain/index.ts";
import { textWithin, truthy } from "../../../core/kit/index.ts";
import { broken, notTaken, refused } from "../sending.ts";
import { sign } from "./sign.ts";
import type { WebhookState } from "./state.ts";

/** The answer holds an id; anything longer is something else. */
const MOST_ANSWER_BYTES = 65_536;

export async function send(
  { config, clock }: WebhookState,
  message: Outgoing,
  signal: AbortSignal,
): Promise<{ platformId: string | null }> {
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
  const text = await textWithin(response, MOST_ANSWER_BYTES).catch(() => "");
  if (response.ok) return { platformId: readId(text) };
  const retryAfter = Number(response.headers.get("retry-after") ?? "") || undefined;
  throw notTaken(response.status, "the far side", { retryAfter });
}

function readId(text: string): string | null {
  const { id } = asObject(asJson(text));
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
}
