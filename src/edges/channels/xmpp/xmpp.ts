/**
 * XMPP.
 *
 * In: a stanza is acknowledged by nobody we could wait for, so it is only the fast way. The truth is the server's archive
 * (XEP-0313): the cursor holds the last archive id taken, of our own archive and of each room's, and after every start what came
 * since is read from there. A server without an archive keeps direct messages while we are away and nothing else.
 * Out: a message's id is made from its key. A PING behind it says that the server took it; after a crash the archive is asked.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  type Channel,
  type Door,
  type Outgoing,
  type Placed,
  type PlatformEvent,
  SendUncertain,
} from "../../../core/contracts/index.ts";
import { AppError, type JsonObject, type ReplyRoute } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asObject, asText } from "../api.ts";
import { addressedIn } from "../named.ts";
import { refused } from "../sending.ts";
import { Archive } from "./archive.ts";
import type { XmppAccount } from "./config.ts";
import { bare, NS, readResource, type Xml, type XmppClient, type XmppLibrary } from "./library.ts";

const PING_MS = 30_000;
const PATIENCE_MS = 20_000;
const MOST_KNOWN = 1000;

export function create({ account, config, clock, log, library }: AdapterParts<XmppAccount>): Channel {
  const me = config.address.toLowerCase();
  const nick = config.nick ?? me.split("@")[0]!;
  const rooms = new Set(config.join.map((room) => room.toLowerCase()));
  /** Real addresses behind the names in rooms, as presence tells them. */
  const occupants = new Map<string, string>();
  /** A correction names a message by its writer's id; ours is the archive's. */
  const written = new Map<string, string>();
  /** For reactions to what people wrote: the other way round. */
  const origins = new Map<string, string>();
  let live: { client: XmppClient; xml: XmppLibrary["xml"]; archive: Archive } | undefined;

  async function connect(resource: string): Promise<{ client: XmppClient; xml: XmppLibrary["xml"]; jid: string }> {
    const { client: make, xml } = await library<XmppLibrary>("@xmpp/client");
    const [username, domain] = me.split("@") as [string, string];
    const isHere = /^\w+:\/\/(localhost|127\.|\[::1\])/.test(config.service ?? "");
    const client = make({
      service: config.service ?? `xmpp://${domain}`,
      domain,
      resource,
      timeout: PATIENCE_MS,
      // Asked late, when the connection is what it will be: a password never goes over an open line.
      credentials: async (authenticate: (c: object, mechanism?: string) => Promise<void>, mechanisms: string[]) => {
        if (!isHere && !client.isSecure()) throw new Error("the connection is not encrypted");
        // The library's SCRAM reckons in JavaScript, a second and more in which nothing else runs; inside TLS PLAIN tells no more.
        const mechanism = mechanisms.includes("PLAIN") ? "PLAIN" : mechanisms[0];
        await authenticate({ username, password: config.password }, mechanism);
      },
    });
    client.reconnect.stop();
    client.on("error", (error) => log.debug("XMPP", { error: String(error) }));
    try {
      const jid = await client.start();
      return { client, xml, jid: String(jid) };
    } catch (error) {
      await client.disconnect(500).catch(() => {});
      throw loginError(error);
    }
  }

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    // A resource of its own: two of the same name throw each other out.
    const { client, xml } = await connect(`lares-${createHash("sha256").update(account).digest("hex").slice(0, 6)}`);
    const archive = new Archive(client, xml);
    const ended = new Promise<never>((_resolve, reject) => {
      client.on("disconnect", () => reject(refused("The XMPP server closed the connection.", "later")));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    ended.catch(() => {});
    const waiting: Xml[] = [];
    let wake = () => {};
    client.on("stanza", (stanza) => {
      door.alive();
      if (stanza.is("presence")) return seePresence(stanza);
      if (!stanza.is("message")) return;
      const ours = (from: string | undefined) => from === undefined || bare(from) === me || rooms.has(bare(from));
      if (archive.take(stanza, ours)) return;
      waiting.push(stanza);
      wake();
    });
    const ping = setInterval(() => void pinged({ client, xml }).catch(() => client.disconnect(500)), PING_MS);
    try {
      await client.send(xml("presence"));
      for (const room of rooms) {
        // The archive has what was said before; the room need not say it again.
        const quiet = xml("x", { xmlns: NS.muc }, xml("history", { maxstanzas: "0" }));
        await client.send(xml("presence", { to: `${room}/${nick}` }, quiet));
      }
      const at = positions(await door.cursor());
      for (const where of [undefined, ...rooms]) await Promise.race([catchUp(archive, door, at, where), ended]);
      live = { client, xml, archive };
      door.known(me);
      door.alive();
      for (;;) {
        const next = waiting.shift();
        if (next) await take(door, at, { message: next, at: undefined, id: undefined });
        else {
          const news = new Promise<void>((resolve) => {
            wake = resolve;
          });
          await Promise.race([news, ended]);
        }
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(ping);
      if (live?.client === client) live = undefined;
      await client.disconnect(500).catch(() => {});
    }
  }

  /** Reads the archive from the cursor on. What is said meanwhile waits in line and is known by its id. */
  async function catchUp(archive: Archive, door: Door, at: Positions, room: string | undefined): Promise<void> {
    const where = room ?? "";
    if (at[where] === undefined) {
      // What was said before this account was added is not ours to answer.
      const page = await archive.ask({ room, newest: 1 });
      if (!page) return log.warn("no archive: what is said while away may be lost", { where: room ?? me });
      at[where] = page.last ?? "";
      await door.hear([], { ...at });
      return;
    }
    for (;;) {
      const after = at[where];
      const page = await archive.ask({ room, ...truthy({ after }) });
      if (!page) return;
      for (const one of page.items) await take(door, at, one);
      if (page.isComplete || !page.last) return;
    }
  }

  async function take(
    door: Door,
    at: Positions,
    one: { message: Xml; at: number | undefined; id: string | undefined },
  ): Promise<void> {
    const { message } = one;
    const isRoom = message.attrs.type === "groupchat";
    const by = isRoom ? bare(message.attrs.from) : me;
    const stamped = message.getChildren("stanza-id", NS.stanzaId).find((sid) => bare(sid.attrs.by) === by)?.attrs.id;
    const id = one.id ?? stamped;
    const event = door.read({ kind: "message", id, value: message.toString() }, () => toEvent(message, id, one.at));
    const where = isRoom ? by : "";
    const next = id !== undefined && (!isRoom || rooms.has(by)) ? { ...at, [where]: id } : undefined;
    if (!event && !next) return;
    await door.hear(event ? [event] : [], next);
    if (next) at[where] = id!;
  }

  function toEvent(message: Xml, id: string | undefined, at: number | undefined): PlatformEvent | undefined {
    const { type = "normal", from } = message.attrs;
    const isRoom = type === "groupchat";
    if (!from || type === "error" || type === "headline" || (!isRoom && bare(from) === me)) return undefined;
    const name = isRoom ? readResource(from) : undefined;
    if (isRoom && (!name || name === nick || !rooms.has(bare(from)))) return undefined;
    // A private word inside a room comes from the room's address: who it is nobody says.
    if (!isRoom && rooms.has(bare(from))) return undefined;
    const sender = isRoom ? readOccupant(message) : bare(from);
    const original = message.attrs.id;
    const base = {
      id: id ?? `${from}:${original ?? createHash("sha256").update(message.toString()).digest("hex")}`,
      at: at ?? clock.now(),
      chat: { id: bare(from), kind: isRoom ? ("group" as const) : ("direct" as const) },
      sender: { id: sender, ...truthy({ name }) },
    };
    const reactions = message.getChild("reactions", NS.reactions);
    if (reactions?.attrs.id) {
      const emoji = reactions.getChildText("reaction") ?? "";
      return { ...base, kind: "reaction", message: reactions.attrs.id, emoji, ...(emoji ? {} : { removed: true }) };
    }
    const mine = (one: string) => `${sender}\n${one}`;
    const retracted = message.getChild("retract", NS.retract)?.attrs.id;
    if (retracted) {
      // Only what the same person wrote: anybody can name any id.
      const gone = written.get(mine(retracted));
      return gone ? { ...base, kind: "delete", message: gone } : undefined;
    }
    const body = message.getChildText("body")?.trim();
    if (!body) return undefined;
    if (message.getChild("encrypted") && NS.omemo.test(message.getChild("encrypted")!.attrs.xmlns ?? "")) {
      log.info("an encrypted message cannot be read", { from: bare(from) });
      return undefined;
    }
    const { text, addressed } = isRoom ? addressedIn(body, nick) : { text: body, addressed: true };
    const corrected = message.getChild("replace", NS.correct)?.attrs.id;
    if (corrected) {
      const message = written.get(mine(corrected));
      return message
        ? { ...base, kind: "edit", message, text, addressed }
        : { ...base, kind: "message", text, addressed };
    }
    if (original) {
      remember(written, mine(original), base.id);
      // In a direct chat others know it by its writer's id, in a room by the room's.
      if (!isRoom) remember(origins, base.id, original);
    }
    remember(written, mine(base.id), base.id);
    return { ...base, kind: "message", text, addressed };
  }

  /** The real address where the room tells it; otherwise what is stable inside the room (CH-01: a nick is not). */
  function readOccupant(message: Xml): string {
    const from = message.attrs.from!;
    const told = message.getChild("x", NS.mucUser)?.getChild("item")?.attrs.jid ?? occupants.get(from.toLowerCase());
    const occupant = message.getChild("occupant-id", NS.occupant)?.attrs.id;
    if (told) return bare(told);
    if (occupant) return `${bare(from)}#${occupant}`;
    return from;
  }

  function seePresence(presence: Xml): void {
    const { from, type } = presence.attrs;
    if (!from || !rooms.has(bare(from))) return;
    const jid = presence.getChild("x", NS.mucUser)?.getChild("item")?.attrs.jid;
    if (type === "unavailable") occupants.delete(from.toLowerCase());
    else if (jid) remember(occupants, from.toLowerCase(), jid);
  }

  function connected() {
    if (!live) throw refused("Not connected to the XMPP server.", "later");
    return live;
  }

  async function put(message: Outgoing, id: string, replaces?: string): Promise<void> {
    const { client, xml } = connected();
    const { chat } = message.route;
    const stanza = xml(
      "message",
      { to: chat, type: rooms.has(chat) ? "groupchat" : "chat", id },
      xml("body", {}, message.text),
      xml("origin-id", { xmlns: NS.stanzaId, id }),
      xml("active", { xmlns: NS.states }),
      ...(replaces ? [xml("replace", { xmlns: NS.correct, id: replaces })] : []),
    );
    try {
      await client.send(stanza);
      await pinged({ client, xml });
    } catch (error) {
      throw new SendUncertain("The connection to the XMPP server broke while the message was sent.", { cause: error });
    }
  }

  return {
    name: "xmpp",
    account,
    run,

    async check() {
      const { client, xml } = await connect("lares-check");
      try {
        const page = await new Archive(client, xml).ask({ newest: 1 });
        const note = page ? undefined : "This server keeps no archive: what is said while Lares is away may be lost.";
        return { id: me, name: me, ...defined({ note }) };
      } finally {
        await client.disconnect(500).catch(() => {});
      }
    },

    async send(message) {
      const id = idFor(message.key);
      await put(message, id);
      return { platformId: id };
    },

    async find(message) {
      const { archive } = connected();
      const { chat } = message.route;
      const page = await archive.ask(rooms.has(chat) ? { room: chat, newest: 50 } : { with: chat, newest: 50 });
      if (!page) return undefined;
      const id = idFor(message.key);
      return page.items.some((one) => one.message.attrs.id === id) ? id : null;
    },

    async edit(at, message) {
      await put(message, idFor(`${message.key}\n${message.text}`), at.platformId).catch((error) => {
        throw error instanceof SendUncertain ? refused(error.message, "later", error) : error;
      });
    },

    react: (at, emoji) => reactWith(at, [emoji]),
    // The list is all of ours on that message; an empty one is none.
    unreact: (at) => reactWith(at, []),

    async typing(route) {
      const { client, xml } = connected();
      await client.send(xml("message", to(route), xml("composing", { xmlns: NS.states })));
    },
  };

  async function reactWith({ route, platformId }: Placed, signs: string[]): Promise<void> {
    const { client, xml } = connected();
    const id = rooms.has(route.chat) ? platformId : ((await findOrigin(route.chat, platformId)) ?? platformId);
    const all = signs.map((sign) => xml("reaction", {}, sign));
    const reactions = xml("reactions", { xmlns: NS.reactions, id }, ...all);
    await client.send(xml("message", { ...to(route), id: randomUUID() }, reactions));
  }

  /** The writer's own id of a message in a direct chat; after a restart the archive knows it. */
  async function findOrigin(chat: string, archived: string): Promise<string | undefined> {
    const known = origins.get(archived);
    if (known) return known;
    const page = await connected().archive.ask({ with: chat, newest: 50 });
    return page?.items.find((one) => one.id === archived)?.message.attrs.id;
  }

  function to({ chat }: ReplyRoute) {
    return { to: chat, type: rooms.has(chat) ? "groupchat" : "chat" };
  }
}

/** The last archive id taken: of our own archive under "", of a room's under its address. */
type Positions = JsonObject & Record<string, string>;

function positions(cursor: unknown): Positions {
  const known = Object.entries(asObject(cursor)).filter(([, id]) => asText(id) !== undefined);
  return Object.fromEntries(known) as Positions;
}

/** The server works through our stanzas in order: its answer to this one says that it has those before. */
async function pinged({ client, xml }: { client: XmppClient; xml: XmppLibrary["xml"] }): Promise<void> {
  const iq = xml("iq", { type: "get" }, xml("ping", { xmlns: "urn:xmpp:ping" }));
  await client.iqCaller.request(iq, PATIENCE_MS).catch((error: { name?: string }) => {
    // A server that knows no ping says so, which is an answer, too.
    if (error.name !== "StanzaError") throw error;
  });
}

function idFor(key: string): string {
  return `lares-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

function remember(map: Map<string, string>, key: string, value: string): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST_KNOWN) map.delete(map.keys().next().value as string);
}

function loginError(error: unknown): AppError {
  const { condition, name, message } = error as { condition?: string; name?: string; message?: string };
  if (name === "SASLError") {
    return new AppError("CHANNEL_SEND", {
      message: `The XMPP server refused the login (${condition ?? message}).`,
      hint: "Give the right address and password: lares channels add xmpp",
      retry: "later",
      cause: error,
    });
  }
  return refused(`The XMPP server cannot be used: ${message ?? String(error)}`, "later", error);
}
