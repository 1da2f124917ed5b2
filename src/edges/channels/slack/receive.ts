/** Requests that Slack makes when the app has no socket mode: events and presses of buttons, signed. */
import { createHmac } from "node:crypto";
import type { ChannelAnswer, ChannelHost, ChannelRequest } from "../../../core/contracts/index.ts";
import { AppError, asObject, type JsonObject } from "../../../core/domain/index.ts";
import { isSameSecret } from "../../../core/kit/index.ts";
import { parseBody } from "../incoming.ts";
import { hear, readEnvelope } from "./hear.ts";
import type { SlackState } from "./state.ts";

/** Slack's own advice: a request older than this is a replay. */
const SKEW_S = 300;

export function knock({ config, clock }: SlackState, { method, headers }: Omit<ChannelRequest, "body">): void {
  if (method === "POST" && config.signingSecret) readProof(headers, clock.now());
}

export async function receive(state: SlackState, request: ChannelRequest, door: ChannelHost): Promise<ChannelAnswer> {
  const { signingSecret } = state.config;
  if (!signingSecret) throw new AppError("NOT_FOUND", { message: "This Slack account uses socket mode." });
  if (request.method !== "POST") return { status: 405 };
  verify(signingSecret, request, state.clock.now());
  const isForm = request.headers["content-type"]?.includes("urlencoded") === true;
  const payload = readPayload(request.body, isForm);
  if (payload.type === "url_verification") return { status: 200, body: { challenge: String(payload.challenge) } };
  const me = await state.self.get(AbortSignal.timeout(10_000));
  const event = readEnvelope(state, door, { type: isForm ? "interactive" : "events_api", payload }, me);
  if (event) await hear(state, door, event);
  return { status: 200 };
}

/** Presses of buttons come as a form with the JSON in one of its fields. */
function readPayload(body: Buffer, isForm: boolean): JsonObject {
  if (!isForm) return asObject(parseBody(body)) as JsonObject;
  const field = new URLSearchParams(body.toString("utf8")).get("payload") ?? "";
  return asObject(parseBody(Buffer.from(field))) as JsonObject;
}

/** What the headers alone can prove: there is a signature, and its time is now. */
function readProof(headers: ChannelRequest["headers"], now: number): { timestamp: string; signature: string } {
  const { "x-slack-request-timestamp": timestamp = "", "x-slack-signature": signature = "" } = headers;
  const isFresh = /^\d+$/.test(timestamp) && Math.abs(now / 1000 - Number(timestamp)) <= SKEW_S;
  if (!signature || !isFresh) throw unproven();
  return { timestamp, signature };
}

/** Over the raw body. The time is signed as well, so an old request can't be sent again (WH-03). */
function verify(secret: string, { headers, body }: ChannelRequest, now: number): void {
  const { timestamp, signature } = readProof(headers, now);
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest("hex");
  if (!isSameSecret(signature, `v0=${expected}`)) throw unproven();
}

function unproven(): AppError {
  return new AppError("UNAUTHORIZED", { message: "The signature is missing, wrong or too old." });
}
