/**
 * A FAKE Mattermost server for tests (Debian has none). REST v4 and the event stream over real HTTP and WebSocket. It keeps:
 * - `pending_post_id`: the same id within its cache time (30 s, as at the real server) is the same post; it is
 *   not stored with the post and gone when the server restarts.
 * - events are numbered per connection; a reconnect with its id and number gets what was missed (see stream.ts).
 * - `GET /channels/{id}/posts?since=` gives everything created or changed from that millisecond on.
 * - a button press is a POST of the server to the integration's URL with the context the post was made with.
 *
 * Acknowledgement: none; what the stream lost is read again over REST with `since`.
 *
 * Documentation: https://developers.mattermost.com/api-documentation/
 * Documentation: https://developers.mattermost.com/integrate/plugins/interactive-messages/
 */
import { pretend } from "../../support/pretend.ts";
import { type Answer, type Call, type Faults, multipart, startWire } from "../wire/index.ts";
import { EventStream } from "./stream.ts";

export interface MattermostPost {
  id: string;
  channel_id: string;
  user_id: string;
  message: string;
  root_id: string;
  create_at: number;
  update_at: number;
  edit_at: number;
  delete_at: number;
  type: string;
  props: Record<string, unknown>;
  file_ids: string[];
  pending_post_id: string;
}

type ChannelType = "D" | "O" | "P";

export interface MattermostFake {
  url: string;
  token: string;
  me: string;
  faults: Faults;
  calls: string[];
  /** Posts of `me` that are there now. */
  sent: MattermostPost[];
  reactions: { post_id: string; emoji_name: string }[];
  /** Also those that were taken back. */
  reacted: { post_id: string; emoji_name: string }[];
  /** Channels `me` was typing in, each time. */
  typing: string[];
  stream: EventStream;
  say(chat: string, from: string, text: string, more?: SayMore): string;
  edit(post: string, text: string): void;
  remove(post: string): void;
  react(post: string, from: string, emoji: string): void;
  /** Presses a button of a post: the server calls its integration URL. Resolves with what the integration answered. */
  press(post: string, button: string, from: string): Promise<{ status: number; json: Record<string, unknown> }>;
  /** Where the names of integrations lead, as a hosts file would say: origin by origin. */
  hosts: Map<string, string>;
  file(chat: string, from: string, file: { name: string; type: string; data: Buffer }, text?: string): string;
  /** Files on posts of `me`, in a chat. */
  filesIn(chat: string): { name: string; bytes: Buffer }[];
  /** What the server forgets when it restarts. */
  forget(): void;
  down(): Promise<void>;
  up(): Promise<void>;
}

interface SayMore {
  type?: ChannelType;
  name?: string;
  root?: string;
  files?: string[];
  props?: Record<string, unknown>;
  postType?: string;
}

/** PendingPostIDsCacheTTL of the real server. */
const PENDING_MS = 30_000;

interface State {
  me: string;
  token: string;
  posts: Map<string, MattermostPost>;
  channels: Map<string, { id: string; type: ChannelType; display_name: string; header: string }>;
  users: Map<string, { id: string; username: string; is_bot: boolean }>;
  files: Map<string, { name: string; type: string; data: Buffer }>;
  pending: Map<string, { post: string; until: number }>;
  reactions: { user_id: string; post_id: string; emoji_name: string }[];
  reacted: State["reactions"];
  typing: string[];
  stream: EventStream;
  counter: number;
  lastAt: number;
}

export async function startMattermostFake(): Promise<MattermostFake> {
  const token = "fake-bot-token-0123456789";
  const state: State = {
    me: id26("botlares"),
    token,
    posts: new Map(),
    channels: new Map(),
    users: new Map(),
    files: new Map(),
    pending: new Map(),
    reactions: [],
    reacted: [],
    typing: [],
    stream: new EventStream(token),
    counter: 0,
    lastAt: 0,
  };
  state.users.set(state.me, { id: state.me, username: "lares", is_bot: true });
  const wire = await startWire({
    handle: (call) => serve(state, call),
    limited: () => ({
      status: 429,
      body: "limit exceeded",
      headers: { "x-ratelimit-limit": "10", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" },
    }),
    upgrade: (req, socket, head) => state.stream.upgrade(req, socket, head),
  });
  const hosts = new Map<string, string>();
  const enter = (chat: string, from: string, more: SayMore) => {
    if (!state.users.has(from)) state.users.set(from, { id: from, username: more.name ?? from, is_bot: false });
    if (!state.channels.has(chat)) {
      state.channels.set(chat, { id: chat, type: more.type ?? "D", display_name: chat, header: "" });
    }
  };
  const say = (chat: string, from: string, text: string, more: SayMore = {}) => {
    enter(chat, from, more);
    return create(state, {
      channel_id: chat,
      user_id: from,
      message: text,
      root_id: more.root ?? "",
      type: more.postType ?? "",
      props: more.props ?? {},
      file_ids: more.files ?? [],
    }).id;
  };
  return {
    ...wire,
    token,
    me: state.me,
    stream: state.stream,
    hosts,
    typing: state.typing,
    get sent() {
      return [...state.posts.values()].filter((p) => p.user_id === state.me && !p.delete_at);
    },
    get reacted() {
      return state.reacted.filter((r) => r.user_id === state.me);
    },
    get reactions() {
      return state.reactions.filter((r) => r.user_id === state.me);
    },
    say,
    edit(post, text) {
      change(state, state.posts.get(post)!, { message: text, edit_at: now(state) });
    },
    remove(post) {
      remove(state, state.posts.get(post)!);
    },
    react(post, from, emoji) {
      react(state, { user_id: from, post_id: post, emoji_name: emoji });
    },
    async press(postId, button, from) {
      const post = state.posts.get(postId)!;
      const attachments = (post.props.attachments ?? []) as { actions?: Action[] }[];
      const action = attachments.flatMap((a) => a.actions ?? []).find((a) => a.id === button || a.name === button);
      if (!action?.integration) throw new Error(`the post has no button "${button}"`);
      const asked = new URL(action.integration.url);
      const response = await fetch((hosts.get(asked.origin) ?? asked.origin) + asked.pathname, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          user_id: from,
          user_name: state.users.get(from)?.username ?? from,
          channel_id: post.channel_id,
          post_id: post.id,
          trigger_id: `t${++state.counter}`,
          type: "button",
          data_source: "",
          context: action.integration.context ?? {},
        }),
      });
      const json = (await response.json().catch(() => ({}))) as Record<string, unknown>;
      const update = json.update as { message?: string; props?: Record<string, unknown> } | undefined;
      if (response.ok && update) change(state, post, update);
      return { status: response.status, json };
    },
    file(chat, from, file, text = "") {
      const id = id26(`file${++state.counter}`);
      state.files.set(id, file);
      return say(chat, from, text, { files: [id] });
    },
    filesIn(chat) {
      const mine = [...state.posts.values()].filter((p) => p.user_id === state.me && p.channel_id === chat);
      const files = mine.flatMap((p) => p.file_ids.map((id) => state.files.get(id)!));
      return files.map(({ name, data }) => ({ name, bytes: data }));
    },
    forget() {
      state.pending.clear();
      state.stream.cut(true);
    },
  };
}

interface Action {
  id: string;
  name: string;
  integration?: { url: string; context?: Record<string, unknown> };
}

function serve(state: State, call: Call): Answer {
  if (call.headers.authorization !== `Bearer ${state.token}`) {
    return error(401, "api.context.session_expired.app_error", "Invalid or expired session, please login again.");
  }
  const path = call.path.replace(/^\/api\/v4/, "");
  const what = `${call.method} ${path}`;
  const parts = path.split("/").slice(1);
  if (what === "GET /users/me") return { json: state.users.get(state.me) };
  if (what === "POST /users/me/typing" || /^POST \/users\/\w+\/typing$/.test(what)) {
    state.typing.push(String(call.json.channel_id));
    return { json: { status: "OK" } };
  }
  if (what === "GET /users/me/channels") {
    return { json: [...state.channels.values()].map((c) => ({ ...c, last_post_at: lastPost(state, c.id) })) };
  }
  if (what === "POST /posts") return post(state, call);
  if (what === "POST /reactions") {
    react(state, pretend<State["reactions"][number]>(call.json));
    return { status: 201, json: call.json };
  }
  if (what === "POST /files") return upload(state, call);
  if (parts[0] === "users" && call.method === "DELETE" && parts[4] === "reactions") {
    state.reactions = state.reactions.filter((r) => !(r.post_id === parts[3] && r.emoji_name === parts[5]));
    return { json: { status: "OK" } };
  }
  if (parts[0] === "users" && call.method === "GET") return found(state.users.get(parts[1]!));
  if (parts[0] === "channels" && parts[2] === "posts") return since(state, parts[1]!, call);
  if (parts[0] === "channels" && call.method === "GET") return found(state.channels.get(parts[1]!));
  if (parts[0] === "files" && parts[2] === "info") {
    const file = state.files.get(parts[1]!);
    return found(file && { id: parts[1], name: file.name, mime_type: file.type, size: file.data.length });
  }
  if (parts[0] === "files") {
    const file = state.files.get(parts[1]!);
    return file ? { body: file.data, headers: { "content-type": file.type } } : found(undefined);
  }
  if (parts[0] === "posts") return onPost(state, call, parts);
  return found(undefined);
}

function post(state: State, call: Call): Answer {
  const pending = String(call.json.pending_post_id ?? "");
  const seen = pending ? state.pending.get(pending) : undefined;
  if (seen && seen.until > Date.now()) return { status: 201, json: state.posts.get(seen.post) };
  if (!state.channels.has(String(call.json.channel_id))) return error(403, "api.context.permissions.app_error", "no");
  if (String(call.json.message ?? "").length > 16_383) {
    return error(400, "model.post.is_valid.message_length.app_error", "Post Message property is too long.");
  }
  const made = create(state, {
    channel_id: String(call.json.channel_id),
    user_id: state.me,
    message: String(call.json.message ?? ""),
    root_id: String(call.json.root_id ?? ""),
    type: "",
    props: (call.json.props ?? {}) as Record<string, unknown>,
    file_ids: (call.json.file_ids ?? []) as string[],
    pending_post_id: pending,
  });
  if (pending) state.pending.set(pending, { post: made.id, until: Date.now() + PENDING_MS });
  return { status: 201, json: { ...made, pending_post_id: pending } };
}

function onPost(state: State, call: Call, parts: string[]): Answer {
  const target = state.posts.get(parts[1]!);
  if (!target) return found(undefined);
  if (call.method === "DELETE") {
    remove(state, target);
    return { json: { status: "OK" } };
  }
  if (call.method === "PUT" && parts[2] === "patch") {
    const { message, props } = call.json as { message?: string; props?: Record<string, unknown> };
    change(state, target, {
      ...(message === undefined ? {} : { message, edit_at: now(state) }),
      ...(props ? { props } : {}),
    });
    return { json: target };
  }
  return { json: target };
}

/** Without `since`: the newest posts, page by page. */
function since(state: State, channel: string, call: Call): Answer {
  const from = call.query.get("since");
  const all = [...state.posts.values()].filter((p) => p.channel_id === channel);
  const size = Number(call.query.get("per_page") ?? 60);
  const page = Number(call.query.get("page") ?? 0);
  const newest = all.filter((p) => !p.delete_at).reverse();
  const list =
    from === null ? newest.slice(page * size, (page + 1) * size) : all.filter((p) => p.update_at > Number(from));
  const order = list.sort((a, b) => b.create_at - a.create_at).map((p) => p.id);
  return { json: { order, posts: Object.fromEntries(list.map((p) => [p.id, withFiles(state, p)])) } };
}

/** A post as it goes over the wire: with what its files are. */
function withFiles(state: State, post: MattermostPost): MattermostPost & { metadata: object } {
  const files = post.file_ids.flatMap((id) => {
    const file = state.files.get(id);
    return file ? [{ id, name: file.name, mime_type: file.type, size: file.data.length }] : [];
  });
  return { ...post, metadata: { files } };
}

function upload(state: State, call: Call): Answer {
  const parts = multipart(String(call.headers["content-type"]), call.body);
  const file = parts.get("files");
  if (!file) return error(400, "api.file.upload_file.no_file", "no file");
  const id = id26(`file${++state.counter}`);
  const name = file.filename ?? "file";
  state.files.set(id, { name, type: file.type ?? "application/octet-stream", data: file.data });
  return { status: 201, json: { file_infos: [{ id, name, size: file.data.length }], client_ids: [] } };
}

function create(
  state: State,
  one: Pick<MattermostPost, "channel_id" | "user_id" | "message" | "root_id" | "type" | "props" | "file_ids"> & {
    pending_post_id?: string;
  },
): MattermostPost {
  const at = now(state);
  const { pending_post_id = "", ...kept } = one;
  const made: MattermostPost = {
    ...kept,
    id: id26(`post${++state.counter}`),
    create_at: at,
    update_at: at,
    edit_at: 0,
    delete_at: 0,
    pending_post_id: "",
  };
  state.posts.set(made.id, made);
  const channel = state.channels.get(made.channel_id)!;
  const text = JSON.stringify({ ...withFiles(state, made), pending_post_id });
  const sender_name = `@${state.users.get(made.user_id)?.username ?? made.user_id}`;
  state.stream.emit("posted", { channel_type: channel.type, post: text, sender_name }, { channel_id: channel.id });
  return made;
}

function change(state: State, target: MattermostPost, how: Partial<MattermostPost>): void {
  Object.assign(target, how, { update_at: now(state) });
  state.stream.emit("post_edited", { post: JSON.stringify(target) }, { channel_id: target.channel_id });
}

function remove(state: State, target: MattermostPost): void {
  target.delete_at = now(state);
  target.update_at = target.delete_at;
  state.stream.emit("post_deleted", { post: JSON.stringify(target) }, { channel_id: target.channel_id });
}

function react(state: State, reaction: State["reactions"][number]): void {
  state.reactions.push(reaction);
  state.reacted.push(reaction);
  const channel_id = state.posts.get(reaction.post_id)?.channel_id;
  const full = { ...reaction, create_at: now(state), channel_id };
  state.stream.emit("reaction_added", { reaction: JSON.stringify(full) }, { channel_id });
}

/** Strictly growing, so that `since` tests mean something. */
function now(state: State): number {
  state.lastAt = Math.max(Date.now(), state.lastAt + 1);
  return state.lastAt;
}

function lastPost(state: State, channel: string): number {
  return Math.max(0, ...[...state.posts.values()].filter((p) => p.channel_id === channel).map((p) => p.create_at));
}

/** Ids are 26 letters and digits, as the real ones. */
function id26(seed: string): string {
  return `${seed}x`.padEnd(26, "0").slice(0, 26);
}

function found(what: unknown): Answer {
  return what ? { json: what } : error(404, "app.missing.app_error", "Not found.");
}

function error(status: number, id: string, message: string): Answer {
  return { status, json: { id, message, status_code: status } };
}
