/**
 * The generic webhook channel: signed JSON in, signed JSON out. Any program can be a channel with it.
 *
 * In:  POST /channels/webhook/<account>  {"id","chat","sender":{"id","name"?},"text","thread"?}
 * Out: POST <url>                        {"id","chat","thread"?,"text"}, header Idempotency-Key: <id>
 * Both carry `x-lares-timestamp` (seconds) and `x-lares-signature: sha256=<hex HMAC of "timestamp.body">`.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { WebhookAccount } from "./config.ts";
import { knock, receive } from "./receive.ts";
import { send } from "./send.ts";

export function create({ account, config, clock }: AdapterParts<WebhookAccount>): Channel {
  const state = { config, clock };
  return {
    name: "webhook",
    account,
    check: async () => ({ id: account, name: config.url ?? "receives messages only" }),
    knock: (head) => knock(state, head),
    receive: (request, door) => receive(state, request, door),
    send: (message, signal) => send(state, message, signal),
  };
}
