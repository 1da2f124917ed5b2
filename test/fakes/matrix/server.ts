/**
 * A FAKE Matrix homeserver for tests (Debian stable has no Synapse). It speaks the client-server API over real HTTP and keeps:
 * - `/sync`: the same `since` gives the same events again, however often; it waits up to `timeout`; a timeline longer than
 *   the filter's limit (10 unless asked) is `limited`, and the gap is read with `/messages`.
 * - `PUT …/send/{type}/{txnId}`: the same transaction of the same device is the same event.
 * - edits (`m.replace`), threads, reactions, redactions, typing, invites, authenticated media, `M_LIMIT_EXCEEDED`.
 * It has no federation, no encryption, no power levels and no presence.
 *
 * Acknowledgement: none; the same `since` token gives the same events again.
 *
 * Documentation: https://spec.matrix.org/latest/client-server-api/#syncing
 * Documentation: https://spec.matrix.org/latest/client-server-api/#redactions
 * Documentation: https://spec.matrix.org/latest/client-server-api/#threading
 * Documentation: https://spec.matrix.org/latest/client-server-api/#content-repository
 */
import { type Answer, type Call, type Faults, startWire } from "../wire/index.ts";
import { type Room, type RoomEvent, World } from "./world.ts";

/** One message as a person in the room sees it now: edits applied, redacted ones gone. */
export interface MatrixShown {
  id: string;
  room: string;
  sender: string;
  text: string;
  html?: string;
  thread?: string;
  content: Record<string, unknown>;
}

export interface MatrixFake {
  url: string;
  token: string;
  /** The account the adapter uses. */
  me: string;
  faults: Faults;
  calls: string[];
  /** Messages of `me`, as shown. */
  sent: MatrixShown[];
  /** Reactions `me` set and did not take back. */
  reactions: { target: string; key: string }[];
  /** Also those that were taken back. */
  reacted: { target: string; key: string }[];
  typing(room: string): boolean;
  /** Makes the room with both in it when it is new. `direct` (default) has two members, otherwise a third is there. */
  say(room: string, from: string, text: string, more?: SayMore): string;
  react(room: string, from: string, target: string, key: string): string;
  edit(room: string, from: string, target: string, text: string): string;
  redact(room: string, from: string, target: string): string;
  media(room: string, from: string, file: MatrixMedia): string;
  /** Files `me` sent into a room. */
  filesIn(room: string): { name: string; bytes: Buffer }[];
  invite(room: string, from: string, direct?: boolean): void;
  encrypt(room: string): void;
  world: World;
  down(): Promise<void>;
  up(): Promise<void>;
}

interface MatrixMedia {
  name: string;
  type: string;
  data: Buffer;
  msgtype?: string;
  text?: string;
}

interface SayMore {
  group?: boolean;
  name?: string;
  thread?: string;
  content?: Record<string, unknown>;
}

export async function startMatrixFake(): Promise<MatrixFake> {
  const world = new World();
  const me = `@lares:${world.server}`;
  const token = "syt_fake_0123456789";
  const wire = await startWire({
    handle: (call) => serve(world, { me, token }, call),
    limited: () => ({
      status: 429,
      json: { errcode: "M_LIMIT_EXCEEDED", error: "Too Many Requests", retry_after_ms: 40 },
    }),
  });

  const enter = (id: string, from: string, more: SayMore): Room => {
    const room = world.room(id);
    if (!room.members.has(me)) {
      world.member(room, from, "join", { displayname: more.name ?? from });
      world.member(room, me, "join");
      if (more.group) world.member(room, `@third:${world.server}`, "join");
    } else if (room.members.get(from) !== "join") world.member(room, from, "join", { displayname: more.name ?? from });
    return room;
  };
  const put = (id: string, from: string, type: string, content: Record<string, unknown>, more: SayMore = {}) =>
    world.add(enter(id, from, more), { type, sender: from, content }).event_id;

  return {
    ...wire,
    token,
    me,
    world,
    get sent() {
      return [...world.rooms.values()].flatMap((room) => shown(room)).filter((m) => m.sender === me);
    },
    get reactions() {
      return [...world.rooms.values()].flatMap((room) => reactionsOf(room, me));
    },
    get reacted() {
      return [...world.rooms.values()].flatMap((room) => reactionsOf(room, me, false));
    },
    typing: (room: string) => world.rooms.get(room)?.typing.has(me) ?? false,
    say(room: string, from: string, text: string, more: SayMore = {}) {
      const thread = more.thread ? { "m.relates_to": { rel_type: "m.thread", event_id: more.thread } } : {};
      return put(room, from, "m.room.message", { msgtype: "m.text", body: text, ...thread, ...more.content }, more);
    },
    react: (room: string, from: string, target: string, key: string) =>
      put(room, from, "m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: target, key } }),
    edit: (room: string, from: string, target: string, text: string) =>
      put(room, from, "m.room.message", {
        msgtype: "m.text",
        body: `* ${text}`,
        "m.new_content": { msgtype: "m.text", body: text },
        "m.relates_to": { rel_type: "m.replace", event_id: target },
      }),
    redact: (room: string, from: string, target: string) =>
      world.add(world.room(room), { type: "m.room.redaction", sender: from, redacts: target, content: {} }).event_id,
    filesIn(room: string) {
      return shown(world.room(room)).flatMap(({ sender, content }) => {
        const file = world.media.get(
          String(content.url ?? "")
            .split("/")
            .at(-1)!,
        );
        return sender === me && file ? [{ name: String(content.body), bytes: file.data }] : [];
      });
    },
    media(room: string, from: string, file: MatrixMedia) {
      const id = world.id("m");
      world.media.set(id, file);
      const info = { mimetype: file.type, size: file.data.length };
      const url = `mxc://${world.server}/${id}`;
      // With words, the name stands beside them.
      const named = file.text ? { body: file.text, filename: file.name } : { body: file.name };
      return put(room, from, "m.room.message", { msgtype: file.msgtype ?? "m.file", ...named, url, info });
    },
    invite(id: string, from: string, direct = true) {
      const room = world.room(id);
      world.member(room, from, "join");
      const content = { membership: "invite", is_direct: direct };
      world.add(room, { type: "m.room.member", sender: from, state_key: me, content });
    },
    encrypt(room: string) {
      world.add(world.room(room), {
        type: "m.room.encryption",
        sender: me,
        state_key: "",
        content: { algorithm: "m.megolm.v1.aes-sha2" },
      });
    },
  };
}

type Who = { me: string; token: string };

async function serve(world: World, who: Who, call: Call): Promise<Answer> {
  const path = call.path;
  if (path === "/_matrix/client/versions") return { json: { versions: ["v1.11", "v1.12"] } };
  if (path === "/_matrix/client/v3/login" && call.method === "POST") {
    if (call.json.password !== "fake-password") return error(403, "M_FORBIDDEN", "Invalid username or password");
    return { json: { user_id: who.me, access_token: who.token, device_id: "FAKE" } };
  }
  if (call.headers.authorization !== `Bearer ${who.token}`)
    return error(401, "M_UNKNOWN_TOKEN", "Invalid access token");
  const v3 = /^\/_matrix\/client\/v3(\/.*)$/.exec(path)?.[1];
  const parts = (v3 ?? "").split("/").slice(1).map(decodeURIComponent);
  if (v3 === "/account/whoami") return { json: { user_id: who.me, device_id: "FAKE" } };
  if (v3 === "/sync") return sync(world, who.me, call);
  if (parts[0] === "join") return join(world, who.me, parts[1]!);
  if (parts[0] === "rooms") return inRoom(world, who.me, call, parts.slice(1));
  if (parts[0] === "user" && parts[2] === "account_data") return accountData(world, call, parts[3]!);
  return media(world, call);
}

function inRoom(world: World, me: string, call: Call, [id, verb, ...rest]: string[]): Answer {
  if (verb === "join") return join(world, me, id!);
  const room = world.rooms.get(id ?? "");
  if (room?.members.get(me) !== "join") return error(403, "M_FORBIDDEN", "You are not in that room");
  if (verb === "leave") {
    world.member(room, me, "leave");
    return { json: {} };
  }
  if (call.method === "PUT" && verb === "send") {
    return once(world, call, (unsigned) =>
      world.add(room, { type: rest[0]!, sender: me, content: call.json, unsigned }),
    );
  }
  if (call.method === "PUT" && verb === "redact") {
    return once(world, call, (unsigned) =>
      world.add(room, { type: "m.room.redaction", sender: me, redacts: rest[0]!, content: call.json, unsigned }),
    );
  }
  if (call.method === "PUT" && verb === "typing") {
    if (call.json.typing) room.typing.add(me);
    else room.typing.delete(me);
    return { json: {} };
  }
  if (verb === "joined_members") {
    const joined = [...room.members].filter(([, membership]) => membership === "join");
    return { json: { joined: Object.fromEntries(joined.map(([user]) => [user, {}])) } };
  }
  if (verb === "event") {
    const found = room.timeline.find((e) => e.event.event_id === rest[0]);
    return found ? { json: { ...found.event, room_id: room.id } } : error(404, "M_NOT_FOUND", "No such event");
  }
  if (verb === "messages") return messages(room, call);
  return error(404, "M_UNRECOGNIZED", "Unrecognized request");
}

/** The same path (so: room, kind and transaction) of the one device is the same event. */
function once(world: World, call: Call, make: (unsigned: Record<string, unknown>) => RoomEvent): Answer {
  const before = world.transactions.get(call.path);
  if (before) return { json: { event_id: before } };
  const event = make({ transaction_id: decodeURIComponent(call.path.split("/").at(-1)!) });
  world.transactions.set(call.path, event.event_id);
  return { json: { event_id: event.event_id } };
}

function join(world: World, me: string, id: string): Answer {
  const room = world.rooms.get(id);
  if (!room || !["invite", "join"].includes(room.members.get(me) ?? "")) {
    return error(403, "M_FORBIDDEN", "You are not invited to this room");
  }
  if (room.members.get(me) === "invite") world.member(room, me, "join");
  return { json: { room_id: id } };
}

function accountData(world: World, call: Call, type: string): Answer {
  if (call.method === "PUT") {
    world.accountData.set(type, call.json);
    return { json: {} };
  }
  const found = world.accountData.get(type);
  return found ? { json: found } : error(404, "M_NOT_FOUND", "Account data not found");
}

async function sync(world: World, me: string, call: Call): Promise<Answer> {
  const since = call.query.get("since");
  const from = since === null ? -1 : Number(since.slice(1));
  if (Number.isNaN(from)) return error(400, "M_INVALID_PARAM", "Invalid since token");
  const filter = JSON.parse(call.query.get("filter") ?? "{}") as { room?: { timeline?: { limit?: number } } };
  const limit = filter.room?.timeline?.limit ?? 10;
  const deadline = Date.now() + Number(call.query.get("timeout") ?? 0);
  while (since !== null && world.position <= from && Date.now() < deadline && !call.gone.aborted) {
    await world.next(deadline - Date.now(), call.gone);
  }
  const join: Record<string, unknown> = {};
  const invite: Record<string, unknown> = {};
  for (const room of world.rooms.values()) {
    const membership = room.members.get(me);
    const since = room.timeline.filter((e) => e.at > from);
    if (!since.length) continue;
    // A room joined since then comes with its past, as far as the limit goes.
    const isNew = since.some((e) => e.event.state_key === me && e.event.content.membership === "join");
    const fresh = isNew ? room.timeline : since;
    if (membership === "invite") {
      invite[room.id] = { invite_state: { events: [...room.state.values()] } };
      continue;
    }
    if (membership !== "join") continue;
    const kept = fresh.slice(-limit);
    join[room.id] = {
      timeline: {
        events: kept.map((e) => e.event),
        limited: kept.length < fresh.length,
        prev_batch: `s${kept[0]!.at - 1}`,
      },
      state: { events: from < 0 ? [...room.state.values()] : [] },
      summary: { "m.joined_member_count": [...room.members.values()].filter((m) => m === "join").length },
      ephemeral: { events: [] },
    };
  }
  return { json: { next_batch: `s${world.position}`, rooms: { join, invite, leave: {} } } };
}

function messages(room: Room, call: Call): Answer {
  const at = (name: string) => Number((call.query.get(name) ?? "s0").slice(1));
  const limit = Number(call.query.get("limit") ?? 10);
  const older = room.timeline.filter((e) => e.at <= at("from") && e.at > at("to")).reverse();
  const chunk = older.slice(0, limit);
  const end = chunk.length < older.length ? `s${chunk.at(-1)!.at - 1}` : undefined;
  return { json: { chunk: chunk.map((e) => e.event), start: call.query.get("from"), ...(end ? { end } : {}) } };
}

function media(world: World, call: Call): Answer {
  if (call.method === "POST" && call.path === "/_matrix/media/v3/upload") {
    const id = world.id("m");
    const name = call.query.get("filename");
    const type = String(call.headers["content-type"] ?? "application/octet-stream");
    world.media.set(id, { type, data: call.body, ...(name ? { name } : {}) });
    return { json: { content_uri: `mxc://${world.server}/${id}` } };
  }
  const id = /^\/_matrix\/client\/v1\/media\/download\/[^/]+\/([^/]+)$/.exec(call.path)?.[1];
  const found = id ? world.media.get(id) : undefined;
  if (found) return { body: found.data, headers: { "content-type": found.type } };
  return error(404, "M_UNRECOGNIZED", "Unrecognized request");
}

function shown(room: Room): MatrixShown[] {
  const gone = new Set(room.timeline.map((e) => e.event.redacts).filter(Boolean));
  const out = new Map<string, MatrixShown>();
  for (const { event } of room.timeline) {
    if (event.type !== "m.room.message" || gone.has(event.event_id)) continue;
    const relation = event.content["m.relates_to"] as { rel_type?: string; event_id?: string } | undefined;
    if (relation?.rel_type === "m.replace") {
      const target = out.get(relation.event_id ?? "");
      const fresh = event.content["m.new_content"] as Record<string, unknown>;
      // Only the author's own edits count.
      if (target?.sender === event.sender) {
        target.text = String(fresh.body);
        target.html = fresh.formatted_body as string | undefined;
        target.content = fresh;
      }
      continue;
    }
    const html = event.content.formatted_body as string | undefined;
    out.set(event.event_id, {
      id: event.event_id,
      room: room.id,
      sender: event.sender,
      text: String(event.content.body),
      ...(html ? { html } : {}),
      ...(relation?.rel_type === "m.thread" ? { thread: relation.event_id! } : {}),
      content: event.content,
    });
  }
  return [...out.values()];
}

function reactionsOf(room: Room, by: string, isNow = true): { target: string; key: string }[] {
  const gone = new Set(isNow ? room.timeline.map((e) => e.event.redacts).filter(Boolean) : []);
  return room.timeline
    .map((e) => e.event)
    .filter((e) => e.type === "m.reaction" && e.sender === by && !gone.has(e.event_id))
    .map((e) => e.content["m.relates_to"] as { event_id: string; key: string })
    .map((r) => ({ target: r.event_id, key: r.key }));
}

function error(status: number, errcode: string, message: string): Answer {
  return { status, json: { errcode, error: message } };
}
