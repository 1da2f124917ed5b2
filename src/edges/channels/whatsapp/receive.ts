/** Requests that Meta makes to the webhook: the question at its set-up, and signed events. */
import { createHmac } from "node:crypto";
import type { ChannelAnswer, ChannelHost, ChannelRequest, PlatformEvent } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { isSameSecret } from "../../../core/kit/index.ts";
import { parseBody } from "../incoming.ts";
import { byChat } from "../lines.ts";
import type { Graph } from "./api.ts";
import type { WhatsAppAccount } from "./config.ts";
import { type MessageStatus, mapBody, type WhatsAppMapped } from "./events.ts";
import type { WhatsAppState } from "./state.ts";

export function knock({ method, headers }: Omit<ChannelRequest, "body">): void {
  if (method === "POST" && !headers["x-hub-signature-256"]) throw unauthorized("The signature is missing.");
}

export async function receive(
  state: WhatsAppState,
  request: ChannelRequest,
  door: ChannelHost,
): Promise<ChannelAnswer> {
  const { config } = state;
  if (request.method === "GET") return answerChallenge(config, request);
  verify(config, request);
  const body = parseBody(request.body);
  const read = door.read({ kind: "body", id: undefined, value: body }, () => mapBody(body, config.phoneNumberId));
  // Answered as if it had been taken: Meta would send it again for days.
  if (!read) return { status: 200, body: "" };
  for (const { kind, id } of read.unreadable) door.unreadable(kind, id);
  for (const status of read.statuses) await noteStatus(state, door, status);
  await hear(state, door, read.events);
  door.alive();
  return { status: 200, body: "" };
}

/** The status of a message of ours, known by the key that we sent along with it. */
async function noteStatus({ receipts }: WhatsAppState, door: ChannelHost, status: MessageStatus): Promise<void> {
  const { key, message, state, code, why } = status;
  if (!key) return;
  if (state !== "failed") return receipts.learn(key, message);
  await door.undelivered(key, `WhatsApp could not deliver it: ${why ?? "no reason"} (${code ?? "?"}).`);
}

/** Chats side by side, so that a slow file holds up only its own chat. */
async function hear({ graph, lastMessages }: WhatsAppState, door: ChannelHost, mapped: readonly WhatsAppMapped[]) {
  const events = mapped.map((one) => withFiles(one, graph));
  await Promise.all(byChat(events).map((line) => door.hear(line)));
  for (const { chat, id } of events) lastMessages.set(chat.id, id);
}

function withFiles({ event, media }: WhatsAppMapped, graph: Graph): PlatformEvent {
  if (!media || event.kind !== "message") return event;
  const { id, ...about } = media;
  return { ...event, files: [{ ...about, open: (signal) => graph.download(id, signal) }] };
}

/** Meta asks once, when the webhook is set up, whether it has the right address. */
function answerChallenge({ verifyToken }: WhatsAppAccount, { query }: ChannelRequest): ChannelAnswer {
  const isMeant = query["hub.mode"] === "subscribe" && isSameSecret(query["hub.verify_token"] ?? "", verifyToken);
  if (!isMeant) throw unauthorized("The verify token is wrong.");
  return { status: 200, body: query["hub.challenge"] ?? "", headers: { "content-type": "text/plain" } };
}

function verify({ appSecret }: WhatsAppAccount, { headers, body }: ChannelRequest): void {
  const expected = `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
  if (!isSameSecret(headers["x-hub-signature-256"] ?? "", expected)) throw unauthorized("The signature is wrong.");
}

function unauthorized(message: string): AppError {
  const hint = "The account's app secret and verify token must be the same as in the app's settings at Meta.";
  return new AppError("UNAUTHORIZED", { message, hint });
}
