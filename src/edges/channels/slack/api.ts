/** One call of Slack's Web API. What it throws says whether Slack may have taken something (CHANNEL-2). */

import { SendUncertain } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";
import { trimEndCharacters } from "../../../core/kit/index.ts";
import { callApi } from "../api.ts";
import { notTaken, readBody, refused } from "../sending.ts";

/** Slack refused with one of its error words: nothing was taken. */
export class SlackRefusal extends AppError {
  readonly word: string;

  constructor(method: string, word: string) {
    super("CHANNEL_SEND", { message: `Slack refused ${method}: ${word}.`, retry: "never", ...explain(word) });
    this.word = word;
  }
}

/** What Slack's word means for the owner, where it isn't simply a no to this message. */
function explain(word: string): { message?: string; hint?: string; retry?: "later" | "after-change" } {
  if (BAD_TOKEN.has(word)) {
    const hint = "Copy the token again: lares channels add slack";
    return { message: `Slack rejected the token (${word}).`, hint, retry: "after-change" };
  }
  if (word === "missing_scope") {
    return { hint: "Add the scope under OAuth & Permissions and install the app again.", retry: "after-change" };
  }
  return LATER.has(word) ? { retry: "later" } : {};
}

const BAD_TOKEN = new Set(["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"]);
const LATER = new Set(["service_unavailable", "team_added_to_org", "request_timeout"]);
/** Slack's words for "something broke inside": the message may have been taken. */
const BROKE = new Set(["internal_error", "fatal_error"]);

type Answer = Record<string, unknown>;

export class SlackApi {
  private readonly root: string;
  private readonly token: string;

  constructor(root: string, token: string) {
    this.root = trimEndCharacters(root, "/");
    this.token = token;
  }

  /** `reads`: leaves nothing behind at Slack. */
  async call(method: string, params: JsonObject, signal: AbortSignal, reads = false): Promise<Answer> {
    const { status, json, headers } = await callApi(
      {
        method: "POST",
        url: `${this.root}/${method}`,
        headers: { authorization: `Bearer ${this.token}`, ...(reads ? FORM : {}) },
        // Slack's reading methods take forms only.
        ...(reads ? { body: form(params) } : { json: params }),
        reads,
      },
      "Slack",
      signal,
    );
    if (status !== 200) {
      const wrong = notTaken(status, "Slack", { retryAfter: Number(headers.get("retry-after") ?? "") || undefined });
      throw reads && wrong instanceof SendUncertain ? refused(wrong.message, "later") : wrong;
    }
    if (json.ok === true) return json;
    const word = typeof json.error === "string" ? json.error : "no answer";
    if (BROKE.has(word) && !reads) throw new SendUncertain(`Slack answered ${word}.`);
    throw new SlackRefusal(method, word);
  }

  /** The token is sent only to Slack itself. Without the right scope, Slack answers with a page to sign in. */
  async download(url: string, mediaType: string | undefined, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { origin, hostname, protocol } = new URL(url);
    const isSlack = protocol === "https:" && /(^|\.)slack(-gov|-edge)?\.com$/.test(hostname);
    if (!isSlack && origin !== new URL(this.root).origin) throw refused("The file is not at Slack.", "never");
    const headers = { authorization: `Bearer ${this.token}` };
    const response = await fetch(url, { headers, redirect: "error", signal }).catch(() => {
      throw refused("The file could not be fetched from Slack.", "later");
    });
    const isPage = response.headers.get("content-type")?.startsWith("text/html") && !mediaType?.startsWith("text/html");
    if (isPage) throw refused("Slack doesn't hand out this file: the app needs the scope files:read.", "never");
    return readBody(response);
  }

  /** To the address Slack gave for this file. It contains a ticket, so the token isn't sent. */
  async upload(url: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const headers = { "content-type": "application/octet-stream" };
    const { status } = await callApi({ method: "POST", url, headers, body: bytes, reads: true }, "Slack", signal);
    // Nothing is in a chat before the upload is completed.
    if (status !== 200)
      throw refused(`Slack didn't take the file (${status}).`, status >= 500 || status === 429 ? "later" : "never");
  }
}

const FORM = { "content-type": "application/x-www-form-urlencoded" };

function form(params: JsonObject): Uint8Array {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) fields.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return Buffer.from(fields.toString());
}
