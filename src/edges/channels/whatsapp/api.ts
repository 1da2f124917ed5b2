/** The calls of Meta's Graph API that we use. What they throw says whether Meta may have taken something (CHANNEL-2). */

import { ChannelBusy, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { defined, trimEndCharacters } from "../../../core/kit/index.ts";
import { type ApiAnswer, callApi } from "../api.ts";
import { notTaken, readBody, refused } from "../sending.ts";

const WHERE = "WhatsApp";
/** Meta's error codes for "too fast", with the seconds to wait where Meta doesn't say how long. */
const TOO_FAST = new Map([
  [4, 1],
  [80007, 5],
  [130429, 1],
  [131048, 60],
  // One message to one person every six seconds, after a burst.
  [131056, 6],
]);
const WINDOW_CLOSED = 131047;
const TOKEN = new Set([0, 190]);
/** Files are on Meta's hosts; the token is sent nowhere else. */
const MEDIA_HOSTS = /(^|\.)(fbsbx\.com|fbcdn\.net|whatsapp\.net|facebook\.com)$/;

export class Graph {
  private readonly base: string;
  private readonly token: string;
  private readonly phone: string;

  constructor(at: { graph: string; token: string; phoneNumberId: string }) {
    this.base = trimEndCharacters(at.graph, "/");
    this.token = at.token;
    this.phone = at.phoneNumberId;
  }

  async number(signal: AbortSignal): Promise<{ number: string; name: string }> {
    const answer = await this.call(
      "GET",
      `/${this.phone}?fields=display_phone_number,verified_name`,
      undefined,
      signal,
      true,
    );
    if (!answer.ok) throw refusal(answer);
    return {
      number: asText(answer.json.display_phone_number) ?? this.phone,
      name: asText(answer.json.verified_name) ?? this.phone,
    };
  }

  /** Sends one message; its id. */
  async message(body: Record<string, unknown>, signal: AbortSignal): Promise<string | null> {
    const json = { messaging_product: "whatsapp", ...body };
    const answer = await this.call("POST", `/${this.phone}/messages`, json, signal);
    if (!answer.ok) throw refusal(answer);
    const [first] = (answer.json.messages ?? []) as unknown[];
    return asText(asObject(first).id) ?? null;
  }

  async upload(file: { name: string; mediaType: string; data: Uint8Array }, signal: AbortSignal): Promise<string> {
    const form = new FormData();
    form.set("messaging_product", "whatsapp");
    form.set("type", file.mediaType);
    form.set("file", new Blob([file.data as Uint8Array<ArrayBuffer>], { type: file.mediaType }), file.name);
    // An uploaded file isn't in a chat yet, so uploading counts as reading.
    const answer = await this.call("POST", `/${this.phone}/media`, form, signal, true);
    const id = asText(answer.json.id);
    if (!answer.ok || !id) throw refusal(answer);
    return id;
  }

  async download(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const answer = await this.call("GET", `/${encodeURIComponent(id)}`, undefined, signal, true);
    const url = asText(answer.json.url);
    if (!answer.ok || !url) throw refusal(answer);
    const { host, hostname, protocol } = new URL(url);
    const isMeta = protocol === "https:" && MEDIA_HOSTS.test(hostname);
    if (!isMeta && host !== new URL(this.base).host)
      throw refused("The file is on a host that is not Meta's.", "never");
    return readBody(await fetch(url, { headers: this.headers, redirect: "error", signal }));
  }

  private get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  private call(
    method: "GET" | "POST",
    path: string,
    body: Record<string, unknown> | FormData | undefined,
    signal: AbortSignal,
    reads = false,
  ): Promise<ApiAnswer> {
    const what = body instanceof FormData ? { body } : defined({ json: body });
    return callApi({ method, url: this.base + path, headers: this.headers, reads, ...what }, WHERE, signal);
  }
}

function refusal(answer: ApiAnswer): Error {
  const error = asObject(answer.json.error);
  const code = asNumber(error.code);
  const details = asText(asObject(error.error_data).details) ?? asText(error.message);
  const pause = code === undefined ? undefined : TOO_FAST.get(code);
  if (pause !== undefined) {
    const wait = Number(answer.headers.get("retry-after")) || pause;
    return new ChannelBusy(wait * 1000, `WhatsApp asks us to slow down (${code}).`);
  }
  if (code === WINDOW_CLOSED) {
    return new AppError("CHANNEL_SEND", {
      message: "WhatsApp takes messages only within 24 hours after the person last wrote (131047).",
      hint: "The person has to write again first. Lares won't send this message later.",
      retry: "never",
    });
  }
  if (answer.status === 401 || (code !== undefined && TOKEN.has(code))) {
    return new AppError("CHANNEL_SEND", {
      message: "WhatsApp rejected the token.",
      hint: "Create a new token for the system user and enter it: lares channels add whatsapp",
      retry: "later",
    });
  }
  const detail = [code, details].filter((part) => part !== undefined).join(", ");
  if (answer.status >= 500) return new SendUncertain(`WhatsApp answered ${answer.status}: ${detail}.`);
  return notTaken(answer.status, WHERE, { detail });
}
