/** The part of Matrix's client-server API that the adapter uses. */

import { AppError, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { sha256, trimEndCharacters, truthy } from "../../../core/kit/index.ts";
import { type ApiAnswer, type ApiCall, callApi } from "../api.ts";
import { notTaken, readBody, refused } from "../sending.ts";

const WHERE = "The Matrix homeserver";
/** How long a `/sync` may wait for news. */
const POLL_MS = 30_000;
/** What `/sync` returns: of each room the newest events up to `limit`, and nothing about presence and settings. */
const filter = (limit: number) =>
  JSON.stringify({
    presence: { types: [] },
    account_data: { types: [] },
    room: {
      account_data: { types: [] },
      ephemeral: { types: [] },
      state: { lazy_load_members: true, types: ["m.room.member"] },
      timeline: {
        limit,
        types: ["m.room.message", "m.reaction", "m.room.encrypted", "m.room.member", "m.room.redaction"],
      },
    },
  });

export class MatrixApi {
  private readonly base: string;
  private readonly token: string;

  constructor(homeserver: string, token: string) {
    this.base = trimEndCharacters(homeserver, "/");
    this.token = token;
  }

  async whoami(signal: AbortSignal): Promise<string> {
    const { json } = await this.read("/v3/account/whoami", signal);
    return asText(json.user_id) ?? "";
  }

  async displayName(user: string, signal: AbortSignal): Promise<string | undefined> {
    const answer = await this.call(
      { method: "GET", path: `/v3/profile/${enc(user)}/displayname`, reads: true },
      signal,
    );
    return answer.ok ? asText(answer.json.displayname) : undefined;
  }

  /** Everything after `since`, waiting until there is something. Without `since`: only the stream's current position. */
  async sync(since: string | undefined, signal: AbortSignal): Promise<Record<string, unknown>> {
    // The first call only asks for the position: one event for each of possibly many rooms is plenty.
    const query = new URLSearchParams({ filter: filter(since ? 50 : 1), set_presence: "online" });
    if (since) {
      query.set("since", since);
      query.set("timeout", String(POLL_MS));
    }
    return (await this.read(`/v3/sync?${query}`, signal, POLL_MS * 2)).json;
  }

  /** Older events from `from` back to `to`, newest first, and where the next page begins. */
  async messages(room: string, from: string, to: string, signal: AbortSignal) {
    const query = new URLSearchParams({ dir: "b", from, to, limit: "100" });
    const { json } = await this.read(`/v3/rooms/${enc(room)}/messages?${query}`, signal);
    return { chunk: (json.chunk ?? []) as unknown[], end: asText(json.end) };
  }

  async joined(room: string, signal: AbortSignal): Promise<Record<string, { display_name?: string }>> {
    const { json } = await this.read(`/v3/rooms/${enc(room)}/joined_members`, signal);
    return asObject(json.joined) as Record<string, { display_name?: string }>;
  }

  async event(room: string, id: string, signal: AbortSignal): Promise<Record<string, unknown> | undefined> {
    const path = `/v3/rooms/${enc(room)}/event/${enc(id)}`;
    const answer = await this.call({ method: "GET", path, reads: true }, signal);
    return answer.ok ? answer.json : undefined;
  }

  async join(room: string, signal: AbortSignal): Promise<boolean> {
    const path = `/v3/rooms/${enc(room)}/join`;
    return (await this.call({ method: "POST", path, json: {}, reads: true }, signal)).ok;
  }

  /** The same key is the same transaction, and so the same event, no matter how often it is sent. */
  async put(room: string, type: string, key: string, content: object, signal: AbortSignal): Promise<string | null> {
    const path = `/v3/rooms/${enc(room)}/send/${enc(type)}/${transaction(key)}`;
    const { json } = await this.took({ method: "PUT", path, json: content }, signal);
    return asText(json.event_id) ?? null;
  }

  async redact(room: string, event: string, signal: AbortSignal): Promise<void> {
    const path = `/v3/rooms/${enc(room)}/redact/${enc(event)}/${transaction(`redact ${event}`)}`;
    await this.took({ method: "PUT", path, json: {} }, signal);
  }

  async typing(room: string, user: string, signal: AbortSignal): Promise<void> {
    const path = `/v3/rooms/${enc(room)}/typing/${enc(user)}`;
    await this.took({ method: "PUT", path, json: { typing: true, timeout: 20_000 } }, signal);
  }

  async upload(file: { name: string; mediaType: string; data: Uint8Array }, signal: AbortSignal): Promise<string> {
    const path = `/_matrix/media/v3/upload?filename=${enc(file.name)}`;
    // Uploading a file twice is harmless, because no message refers to it yet: a failure may be retried like a read.
    const answer = await this.call(
      { method: "POST", path, body: file.data, headers: { "content-type": file.mediaType }, reads: true },
      signal,
    );
    const uri = asText(answer.json.content_uri);
    if (!answer.ok || !uri) throw this.refusal(answer);
    return uri;
  }

  async download(mxc: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const [, server, id] = /^mxc:\/\/([^/]+)\/([^/?#]+)$/.exec(mxc) ?? [];
    if (!server || !id) throw refused("The file has no Matrix address.", "never");
    const url = `${this.base}/_matrix/client/v1/media/download/${enc(server)}/${enc(id)}`;
    // Homeservers may redirect to their file store; fetch doesn't send the token to another host.
    return readBody(await fetch(url, { headers: this.headers, signal }));
  }

  private get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  private async read(path: string, signal: AbortSignal, patienceMs?: number): Promise<ApiAnswer> {
    const answer = await this.call({ method: "GET", path, reads: true, ...truthy({ patienceMs }) }, signal);
    if (!answer.ok) throw this.refusal(answer);
    return answer;
  }

  private async took(call: Omit<ApiCall, "url"> & { path: string }, signal: AbortSignal): Promise<ApiAnswer> {
    const answer = await this.call(call, signal);
    if (!answer.ok) throw this.refusal(answer);
    return answer;
  }

  private call(call: Omit<ApiCall, "url"> & { path: string }, signal: AbortSignal): Promise<ApiAnswer> {
    const { path, ...rest } = call;
    const url = `${this.base}${path.startsWith("/_matrix") ? "" : "/_matrix/client"}${path}`;
    return callApi({ ...rest, url, headers: { ...this.headers, ...rest.headers } }, WHERE, signal);
  }

  private refusal(answer: ApiAnswer): Error {
    const code = asText(answer.json.errcode);
    if (code === "M_UNKNOWN_TOKEN" || code === "M_MISSING_TOKEN") {
      return new AppError("CHANNEL_SEND", {
        message: "The Matrix homeserver doesn't accept this access token.",
        hint: "Log in again as the bot, then enter the new token: lares channels add matrix",
        retry: "later",
      });
    }
    const wait = asNumber(answer.json.retry_after_ms);
    const detail = [code, asText(answer.json.error)].filter(Boolean).join(", ");
    const retryAfter = wait === undefined ? Number(answer.headers.get("retry-after")) || undefined : wait / 1000;
    return notTaken(answer.status, WHERE, { retryAfter, detail });
  }
}

function enc(part: string): string {
  return encodeURIComponent(part);
}

/** Short and without slashes, which proxies decode. */
function transaction(key: string): string {
  return sha256(key);
}
