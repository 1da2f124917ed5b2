/** The part of Mattermost's REST API v4 that the adapter uses. */

import { AppError, asList, asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { trimEndCharacters, truthy } from "../../../core/kit/index.ts";
import { type ApiAnswer, type ApiCall, callApi } from "../api.ts";
import { notTaken, readBody } from "../sending.ts";

const WHERE = "The Mattermost server";
/** The largest page of posts the server returns. */
export const PAGE = 200;

export interface Post {
  id: string;
  channel: string;
  user: string;
  message: string;
  root: string;
  type: string;
  createdAt: number;
  updatedAt: number;
  editedAt: number;
  deletedAt: number;
  props: Record<string, unknown>;
  files: { id: string; name?: string; mediaType?: string; bytes?: number }[];
}

export class MattermostApi {
  private readonly base: string;
  private readonly token: string;

  constructor(url: string, token: string) {
    this.base = `${trimEndCharacters(url, "/")}/api/v4`;
    this.token = token;
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}` };
  }

  get socketUrl(): string {
    return `${this.base.replace(/^http/, "ws")}/websocket`;
  }

  async me(signal: AbortSignal): Promise<{ id: string; name: string }> {
    const { json } = await this.read("/users/me", signal);
    return { id: asText(json.id) ?? "", name: asText(json.username) ?? "" };
  }

  async channels(signal: AbortSignal): Promise<{ id: string; type: string; lastPostAt: number }[]> {
    const { json } = await this.read("/users/me/channels", signal);
    return asList(json.list).map((one) => {
      const raw = asObject(one);
      return { id: asText(raw.id) ?? "", type: asText(raw.type) ?? "", lastPostAt: asNumber(raw.last_post_at) ?? 0 };
    });
  }

  async channelType(id: string, signal: AbortSignal): Promise<string> {
    return asText((await this.read(`/channels/${encodeURIComponent(id)}`, signal)).json.type) ?? "";
  }

  /** Posts written or changed after that moment, oldest first. */
  posts(channel: string, since: number, signal: AbortSignal): Promise<Post[]> {
    return this.postsBy(channel, `since=${since}`, signal);
  }

  /** The newest posts; higher pages go further back. Each page has its oldest post first. */
  page(channel: string, page: number, signal: AbortSignal): Promise<Post[]> {
    return this.postsBy(channel, `page=${page}&per_page=${PAGE}`, signal);
  }

  private async postsBy(channel: string, query: string, signal: AbortSignal): Promise<Post[]> {
    const { json } = await this.read(`/channels/${encodeURIComponent(channel)}/posts?${query}`, signal);
    const found = Object.values(asObject(json.posts))
      .map(parsePost)
      .filter((p) => p !== undefined);
    return found.sort((a, b) => a.createdAt - b.createdAt);
  }

  async post(id: string, signal: AbortSignal): Promise<Post | undefined> {
    const answer = await this.call({ method: "GET", path: `/posts/${encodeURIComponent(id)}`, reads: true }, signal);
    return answer.ok ? parsePost(answer.json) : undefined;
  }

  async file(id: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const url = `${this.base}/files/${encodeURIComponent(id)}`;
    return readBody(await fetch(url, { headers: this.headers, signal }));
  }

  async upload(channel: string, file: { name: string; mediaType: string; data: Uint8Array }, signal: AbortSignal) {
    const form = new FormData();
    form.set("channel_id", channel);
    form.set("files", new Blob([file.data as Uint8Array<ArrayBuffer>], { type: file.mediaType }), file.name);
    // Uploading a file twice is harmless, because no post refers to it yet: a failure may be retried like a read.
    const answer = await this.call({ method: "POST", path: "/files", body: form, reads: true }, signal);
    const id = asText(asObject(asList(answer.json.file_infos)[0]).id);
    if (!answer.ok || !id) throw this.refusal(answer);
    return id;
  }

  /** A call that changes something on the server. What it throws says whether the server may have done it (CHANNEL-2). */
  async change(
    call: { method: "POST" | "PUT" | "DELETE"; path: string; json?: unknown },
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const answer = await this.call(call, signal);
    if (!answer.ok) throw this.refusal(answer);
    return answer.json;
  }

  private async read(path: string, signal: AbortSignal): Promise<ApiAnswer> {
    const answer = await this.call({ method: "GET", path, reads: true }, signal);
    if (!answer.ok) throw this.refusal(answer);
    return answer;
  }

  private call(call: Omit<ApiCall, "url"> & { path: string }, signal: AbortSignal): Promise<ApiAnswer> {
    const { path, ...rest } = call;
    return callApi({ ...rest, url: this.base + path, headers: { ...this.headers, ...rest.headers } }, WHERE, signal);
  }

  private refusal(answer: ApiAnswer): Error {
    if (answer.status === 401) {
      return new AppError("CHANNEL_SEND", {
        message: "The Mattermost server doesn't accept this token.",
        hint: "Create a new token for the bot account, then run: lares channels add mattermost",
        retry: "later",
      });
    }
    const retryAfter = Number(answer.headers.get("x-ratelimit-reset")) || undefined;
    return notTaken(answer.status, WHERE, { retryAfter, detail: asText(answer.json.message) });
  }
}

export function parsePost(value: unknown): Post | undefined {
  const raw = asObject(value);
  const [id, channel, user] = [asText(raw.id), asText(raw.channel_id), asText(raw.user_id)];
  if (!id || !channel || !user) return undefined;
  const infos = asList(asObject(raw.metadata).files).map(asObject);
  return {
    id,
    channel,
    user,
    message: asText(raw.message) ?? "",
    root: asText(raw.root_id) ?? "",
    type: asText(raw.type) ?? "",
    createdAt: asNumber(raw.create_at) ?? 0,
    updatedAt: asNumber(raw.update_at) ?? 0,
    editedAt: asNumber(raw.edit_at) ?? 0,
    deletedAt: asNumber(raw.delete_at) ?? 0,
    props: asObject(raw.props),
    files: asList(raw.file_ids)
      .filter((one) => typeof one === "string")
      .map((one) => {
        const info = infos.find((i) => i.id === one) ?? {};
        const [name, mediaType, bytes] = [asText(info.name), asText(info.mime_type), asNumber(info.size)];
        return { id: one, ...truthy({ name, mediaType, bytes }) };
      }),
  };
}
