/** What leaves for XMPP: messages, corrections, reactions, typing. */
import { createHash, randomUUID } from "node:crypto";
import { type Outgoing, type Placed, SendUncertain } from "../../../core/contracts/index.ts";
import type { ReplyRoute } from "../../../core/domain/index.ts";
import { failedIfUncertain } from "../sending.ts";
import { ping } from "./connection.ts";
import { NS } from "./library.ts";
import { getLive, type XmppState } from "./state.ts";

/** Messages of a chat's archive that are looked through for one of ours. */
const LOOK_BACK = 50;

export async function send(state: XmppState, message: Outgoing): Promise<{ platformId: string }> {
  const id = makeId(message.key);
  await put(state, message, { id });
  return { platformId: id };
}

/** After a crash the archive tells, by the id. */
export async function find(state: XmppState, message: Outgoing): Promise<string | null | undefined> {
  const { chat } = message.route;
  const which = state.rooms.has(chat) ? { room: chat } : { with: chat };
  const page = await getLive(state).archive.ask({ ...which, newest: LOOK_BACK });
  if (!page) return undefined;
  const id = makeId(message.key);
  return page.items.some((one) => one.message.attrs.id === id) ? id : null;
}

export async function edit(state: XmppState, at: Placed, message: Outgoing): Promise<void> {
  const id = makeId(`${message.key}\n${message.text}`);
  await put(state, message, { id, replaces: at.platformId }).catch(failedIfUncertain);
}

/** `emoji` is all of ours on that message; an empty list removes them. */
export async function react(state: XmppState, { route, platformId }: Placed, emoji: readonly string[]): Promise<void> {
  const { client, xml } = getLive(state);
  const isRoom = state.rooms.has(route.chat);
  const id = isRoom ? platformId : ((await findOrigin(state, route.chat, platformId)) ?? platformId);
  const all = emoji.map((one) => xml("reaction", {}, one));
  const reactions = xml("reactions", { xmlns: NS.reactions, id }, ...all);
  await client.send(xml("message", { ...toAddress(state, route), id: randomUUID() }, reactions));
}

export async function typing(state: XmppState, route: ReplyRoute): Promise<void> {
  const { client, xml } = getLive(state);
  await client.send(xml("message", toAddress(state, route), xml("composing", { xmlns: NS.states })));
}

async function put(state: XmppState, message: Outgoing, as: { id: string; replaces?: string }): Promise<void> {
  const { client, xml } = getLive(state);
  const { id, replaces } = as;
  const stanza = xml(
    "message",
    { ...toAddress(state, message.route), id },
    xml("body", {}, message.text),
    xml("origin-id", { xmlns: NS.stanzaId, id }),
    xml("active", { xmlns: NS.states }),
    ...(replaces ? [xml("replace", { xmlns: NS.correct, id: replaces })] : []),
  );
  try {
    await client.send(stanza);
    await ping({ client, xml });
  } catch (error) {
    throw new SendUncertain("The connection to the XMPP server broke while the message was sent.", { cause: error });
  }
}

/** The writer's own id of a message in a direct chat; after a restart the archive knows it. */
async function findOrigin(state: XmppState, chat: string, archived: string): Promise<string | undefined> {
  const known = state.origins.get(archived);
  if (known) return known;
  const page = await getLive(state).archive.ask({ with: chat, newest: LOOK_BACK });
  return page?.items.find((one) => one.id === archived)?.message.attrs.id;
}

function toAddress({ rooms }: XmppState, { chat }: ReplyRoute) {
  return { to: chat, type: rooms.has(chat) ? "groupchat" : "chat" };
}

function makeId(key: string): string {
  return `lares-${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}
