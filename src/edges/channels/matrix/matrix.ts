/**
 * Matrix, by our own client on the client-server API.
 *
 * In: one long poll (`/sync`) after another. The since token is committed with the last event of its batch, so a batch that was
 * not taken is given again; a batch that was, is known by its event ids. A gap the server leaves in a busy room is read back.
 * Out: every message is a transaction named after its key: the homeserver makes one event of it however often it is sent.
 * Unencrypted rooms only: what is encrypted is handed on as unreadable, never dropped in silence.
 */
import type { Channel, Door, Outgoing, PlatformEvent } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asList, asObject, asText } from "../api.ts";
import { Batches, Lines } from "../lines.ts";
import { MatrixClient } from "./client.ts";
import type { MatrixAccount } from "./config.ts";
import { mapEvent, type RoomEvent, repliedTo, roomEvent } from "./events.ts";
import { Rooms } from "./rooms.ts";

/** An event of the wire may have 65,536 bytes; the rest is for its frame and signatures. */
const MOST_CONTENT = 60_000;
/** A gap longer than this many pages of 100 is cut: what is older than that was not meant for an answer now. */
const MOST_PAGES = 20;

export function create({ account, config, log }: AdapterParts<MatrixAccount>): Channel {
  const client = new MatrixClient(config.homeserver, config.token);
  const rooms = new Rooms(client);
  let me = "";

  async function run(door: Door, stop: AbortSignal): Promise<void> {
    const broken = new AbortController();
    const lines = new Lines((error) => broken.abort(error));
    try {
      await listen(door, new Batches(door, lines), AbortSignal.any([stop, broken.signal]));
    } finally {
      lines.end();
    }
  }

  async function listen(door: Door, batches: Batches, signal: AbortSignal): Promise<void> {
    me = await client.whoami(signal);
    door.known(me);
    const name = await client.displayName(me, signal);
    door.alive();
    let since = (await door.cursor()) as string | undefined;
    while (!signal.aborted) {
      const batch = await client.sync(since, signal);
      door.alive();
      const next = asText(batch.next_batch);
      if (!next) throw new Error("The Matrix homeserver's answer has no position.");
      // What was said before this account was added is not ours to answer.
      const events = since === undefined ? [] : await toEvents(door, batch, since, { id: me, name }, signal);
      if (events.length || next !== since) await batches.take(events, next);
      await answerInvites(batch, door, signal);
      since = next;
    }
  }

  async function toEvents(
    door: Door,
    batch: Record<string, unknown>,
    since: string,
    self: { id: string; name: string | undefined },
    signal: AbortSignal,
  ): Promise<PlatformEvent[]> {
    const found: { at: number; event: PlatformEvent }[] = [];
    for (const [id, value] of Object.entries(asObject(asObject(batch.rooms).join))) {
      const { timeline, state } = asObject(value);
      const whole = await wholeTimeline(id, asObject(timeline), since, signal);
      const fresh = whole.flatMap((one) => {
        const { type, event_id } = asObject(one);
        const raw = { kind: asText(type) ?? "event", id: asText(event_id), value: one };
        const event = door.read(raw, () => roomEvent(one) ?? "unreadable");
        if (event === "unreadable") door.unreadable(raw.kind, raw.id ?? "");
        return event === undefined || event === "unreadable" ? [] : [event];
      });
      for (const one of [...asList(asObject(state).events).map(roomEvent), ...fresh]) if (one) rooms.note(id, one);
      for (const one of sinceInvited(fresh, self.id)) {
        const replied = await rooms.replied(id, repliedTo(one), signal);
        const isDirect = await rooms.isDirect(id, signal);
        const mapped = door.read({ kind: `${one.type} to map`, id: one.id, value: one }, () =>
          mapEvent(one, { me: self, room: { id, isDirect }, replied, names: rooms.names }),
        );
        if (!mapped) continue;
        const { event, file } = mapped;
        if (file && event.kind === "message") {
          const { url, name, mediaType, bytes } = file;
          const about = truthy({ name, mediaType, bytes });
          event.files = [{ ...about, open: (stop) => client.download(url, stop) }];
        }
        found.push({ at: one.at ?? 0, event });
      }
    }
    // Rooms are independent; over rooms, the order of the server's clock is the fairest.
    return found.sort((a, b) => a.at - b.at).map((one) => one.event);
  }

  /** The events of one room since the last batch, oldest first, with the gap the server left filled. */
  async function wholeTimeline(
    room: string,
    timeline: Record<string, unknown>,
    since: string,
    signal: AbortSignal,
  ): Promise<unknown[]> {
    const tail = asList(timeline.events);
    const older: unknown[] = [];
    const justJoined = tail.map(asObject).some((e) => e.type === "m.room.member" && e.state_key === me);
    let from = timeline.limited === true && !justJoined ? asText(timeline.prev_batch) : undefined;
    for (let page = 0; from && page < MOST_PAGES; page++) {
      const { chunk, end } = await client.messages(room, from, since, signal);
      older.push(...chunk);
      from = chunk.length ? end : undefined;
    }
    if (from) log.warn("a gap was too long to read back", { room });
    return [...older.reverse(), ...tail];
  }

  async function answerInvites(batch: Record<string, unknown>, door: Door, signal: AbortSignal): Promise<void> {
    for (const [id, value] of Object.entries(asObject(asObject(batch.rooms).invite))) {
      const state = asList(asObject(asObject(value).invite_state).events).map(asObject);
      const mine = state.find((e) => e.type === "m.room.member" && e.state_key === me);
      const inviter = asText(mine?.sender);
      if (!inviter || config.join === "never") continue;
      const isDirect = asObject(mine?.content).is_direct === true;
      const chat = { id, kind: isDirect ? ("direct" as const) : ("group" as const) };
      const invitation = {
        kind: "member" as const,
        id: `invite ${id}`,
        chat,
        sender: { id: inviter },
        change: "joined" as const,
      };
      const [heard] = await door.hear([invitation]);
      const isWelcome = heard?.outcome !== "refused" || (isDirect && config.join === "direct");
      if (isWelcome && !(await client.join(id, signal))) log.info("an invitation could not be taken", { room: id });
    }
  }

  return {
    name: "matrix",
    account,
    run,
    async check(signal) {
      const id = await client.whoami(signal);
      return { id, name: (await client.displayName(id, signal)) ?? id, note: "It reads unencrypted rooms only." };
    },

    async send(message, signal) {
      const { chat, thread } = message.route;
      const within = thread
        ? {
            "m.relates_to": {
              rel_type: "m.thread",
              event_id: thread,
              is_falling_back: true,
              "m.in_reply_to": { event_id: thread },
            },
          }
        : {};
      let first: string | null = null;
      if (message.text || !message.files?.length) {
        const content = { ...textContent(message), ...within };
        first = await client.put(chat, "m.room.message", message.key, content, signal);
      }
      for (const [i, file] of (message.files ?? []).entries()) {
        const url = await client.upload({ ...file, data: await file.read() }, signal);
        const info = { mimetype: file.mediaType, size: file.bytes };
        const content = { msgtype: toMessageType(file.mediaType), body: file.name, url, info, ...within };
        const id = await client.put(chat, "m.room.message", `${message.key} file ${i}`, content, signal);
        first ??= id;
      }
      return { platformId: first };
    },

    async edit(at, message, signal) {
      const content = textContent(message);
      // Clients that know no edits see the beginning; the whole text is in `m.new_content` and fits only once.
      const body = `* ${message.text.slice(0, 200)}`;
      const replace = { rel_type: "m.replace", event_id: at.platformId };
      const key = `${message.key} edit ${message.text}`;
      const whole = { msgtype: "m.text", body, "m.new_content": content, "m.relates_to": replace };
      await client.put(at.route.chat, "m.room.message", key, whole, signal);
    },

    remove: (at, signal) => client.redact(at.route.chat, at.platformId, signal),

    async react(at, emoji, signal) {
      const relation = { rel_type: "m.annotation", event_id: at.platformId, key: emoji };
      const key = `react ${at.platformId} ${emoji}`;
      await client.put(at.route.chat, "m.reaction", key, { "m.relates_to": relation }, signal);
    },

    async unreact(at, emoji, signal) {
      // The same transaction names the event that was made then; nothing new is sent.
      const relation = { rel_type: "m.annotation", event_id: at.platformId, key: emoji };
      const key = `react ${at.platformId} ${emoji}`;
      const made = await client.put(at.route.chat, "m.reaction", key, { "m.relates_to": relation }, signal);
      if (made) await client.redact(at.route.chat, made, signal);
    },

    async typing(route, signal) {
      if (me) await client.typing(route.chat, me, signal);
    },
  };
}

/** Only what came after we were asked in: the room's past is not said to us. */
function sinceInvited(events: readonly RoomEvent[], me: string): readonly RoomEvent[] {
  const isOurs = (e: RoomEvent) => e.type === "m.room.member" && e.stateKey === me;
  const invited = events.findLastIndex((e) => isOurs(e) && e.content.membership === "invite");
  const joined = events.findLastIndex(isOurs);
  return events.slice((invited >= 0 ? invited : joined) + 1);
}

function textContent(message: Outgoing): Record<string, unknown> {
  const plain = { msgtype: "m.text", body: message.text, "m.mentions": {} };
  if (!message.html) return plain;
  const rich = { ...plain, format: "org.matrix.custom.html", formatted_body: message.html };
  return Buffer.byteLength(JSON.stringify(rich)) > MOST_CONTENT ? plain : rich;
}

function toMessageType(mediaType: string): string {
  const kind = mediaType.split("/")[0];
  return kind === "image" || kind === "audio" || kind === "video" ? `m.${kind}` : "m.file";
}
