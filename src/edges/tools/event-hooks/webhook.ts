/**
 * A webhook as a hook: signed as the Standard Webhooks specification says, through the one fetcher.
 *
 * HOOKRUN-4: an event has the same `webhook-id` however often it is sent, so a receiver can tell a repetition.
 * HOOKRUN-5: the owner chose the address, so it may be private; where it redirects to is not followed.
 */
import { createHash, createHmac } from "node:crypto";
import type { HookPayload } from "../../../core/contracts/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { createFetcher, type Fetcher } from "../web/fetcher.ts";
import type { Webhook } from "./config.ts";

/** An answer is small. */
const MOST_BYTES = 64 * 1024;

export function makeWebhook(
  hook: Webhook,
  clock: Clock,
): (payload: HookPayload, signal: AbortSignal) => Promise<unknown> {
  const to = new URL(hook.url);
  const host = to.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = Number(to.port || (to.protocol === "https:" ? 443 : 80));
  const fetcher: Fetcher = createFetcher({ clock, mayReach: (name, _address, at) => name === host && at === port });
  return async (payload, signal) => {
    const body = JSON.stringify({
      type: payload.event,
      timestamp: new Date(payload.at).toISOString(),
      data: payload,
    });
    const answer = await fetcher.fetch(
      {
        url: to,
        method: "POST",
        headers: { "content-type": "application/json", ...sign(hook.secret, payload.id, clock.now(), body) },
        body,
        maxBytes: MOST_BYTES,
        follow: () => false,
      },
      signal,
    );
    if (answer.status < 200 || answer.status > 299) throw new Error(`${to.host} answered with ${answer.status}`);
    return readJson(answer.headers["content-type"], answer.body);
  };
}

/** The headers of a delivery. Pure. */
function sign(secret: string, id: string, now: number, body: string): Record<string, string> {
  // Ids of ours have dots, which separate the signed parts.
  const webhookId = `evt_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
  const time = String(Math.floor(now / 1000));
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret);
  const signature = createHmac("sha256", key).update(`${webhookId}.${time}.${body}`).digest("base64");
  return { "webhook-id": webhookId, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
}

/** Many receivers answer "ok" or nothing: only JSON is an answer. */
function readJson(type: string | undefined, body: Buffer): unknown {
  if (body.length === 0 || !type?.startsWith("application/json")) return undefined;
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new Error("its answer isn't JSON, although it says so");
  }
}
