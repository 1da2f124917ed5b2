/** Answers that the proxy gives itself. */
import type { ServerResponse } from "node:http";
import type { ModelApi } from "../../../core/contracts/index.ts";
import { type Refusal, writeRefusal } from "./refusals.ts";

/** Anthropic's and OpenAI's clients look at this header before they repeat a request. */
const GIVE_UP = { "x-should-retry": "false" };

export function say(response: ServerResponse, api: ModelApi, refusal: Refusal): void {
  const headers = {
    ...(refusal.isFinal ? GIVE_UP : undefined),
    ...refusal.headers,
  };
  sendText(response, refusal.status, writeRefusal(api, refusal), headers);
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return;
  const bytes = Buffer.from(text);
  response.writeHead(status, { "content-type": "application/json", ...headers, "content-length": bytes.length });
  response.end(bytes);
}
