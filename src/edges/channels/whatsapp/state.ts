/** What a WhatsApp account knows while it lives. All of it comes again with the next events, so nothing here is stored. */
import type { AdapterParts } from "../account.ts";
import { RecentMap } from "../recent.ts";
import { Graph } from "./api.ts";
import type { WhatsAppAccount } from "./config.ts";
import { Receipts } from "./receipts.ts";

export interface WhatsAppState {
  config: WhatsAppAccount;
  graph: Graph;
  /** The last message of each chat: WhatsApp shows that somebody is typing only as an answer to a message. */
  lastMessages: RecentMap<string>;
  receipts: Receipts;
}

/** More chats than are active at a time; without its last message a chat only isn't shown that somebody is typing. */
const MOST_CHATS = 2000;

export function makeState({ config }: AdapterParts<WhatsAppAccount>): WhatsAppState {
  return { config, graph: new Graph(config), lastMessages: new RecentMap(MOST_CHATS), receipts: new Receipts() };
}
