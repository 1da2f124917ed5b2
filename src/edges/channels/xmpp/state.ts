/** What an XMPP account knows while it lives, and its connection while there is one. */
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { RecentMap } from "../recent.ts";
import { refused } from "../sending.ts";
import type { Archive } from "./archive.ts";
import type { XmppAccount } from "./config.ts";
import { bare, NS, type Xml, type XmppClient, type XmppLibrary } from "./library.ts";

export interface XmppState {
  account: string;
  config: XmppAccount;
  clock: Clock;
  log: Log;
  library: AdapterParts<XmppAccount>["library"];
  /** The bare address, in lower case. */
  me: string;
  /** Our name in rooms. */
  nick: string;
  rooms: ReadonlySet<string>;
  /** Real addresses behind the names in rooms, as presence shows them. */
  occupants: RecentMap<string>;
  /** By sender and the writer's id of a message: our id of it, which is the archive's. Corrections name the writer's. */
  written: RecentMap<string>;
  /** The other way round, for reactions to what people wrote in direct chats. */
  origins: RecentMap<string>;
  live: XmppLive | undefined;
}

export interface XmppLive {
  client: XmppClient;
  xml: XmppLibrary["xml"];
  archive: Archive;
}

/** More people and messages than a correction or reaction refers back to. */
const MOST_KNOWN = 1000;

export function makeState({ account, config, clock, log, library }: AdapterParts<XmppAccount>): XmppState {
  const me = config.address.toLowerCase();
  return {
    account,
    config,
    clock,
    log,
    library,
    me,
    nick: config.nick ?? me.split("@")[0]!,
    rooms: new Set(config.join.map((room) => room.toLowerCase())),
    occupants: new RecentMap(MOST_KNOWN),
    written: new RecentMap(MOST_KNOWN),
    origins: new RecentMap(MOST_KNOWN),
    live: undefined,
  };
}

export function getLive({ live }: XmppState): XmppLive {
  if (!live) throw refused("Not connected to the XMPP server.", "later");
  return live;
}

/** In a room, presence shows who is behind a name, where the room allows it. */
export function notePresence({ rooms, occupants }: XmppState, presence: Xml): void {
  const { from, type } = presence.attrs;
  if (!from || !rooms.has(bare(from))) return;
  const jid = presence.getChild("x", NS.mucUser)?.getChild("item")?.attrs.jid;
  if (type === "unavailable") occupants.delete(from.toLowerCase());
  else if (jid) occupants.set(from.toLowerCase(), jid);
}
