/** Channel names as people use them, for telling the model where it is. */
import type { Capabilities } from "../../core/contracts/index.ts";
import { type InboundMessage, PULLED, type ReplyRoute } from "../../core/domain/index.ts";
import { quotedName, truthy } from "../../core/kit/index.ts";
import { shows } from "../../core/render/index.ts";
import type { ChatFormat } from "./place.ts";

/** How a message came in: the channel and, for HTTP or WebSocket, the interface the person types into. */
export interface WayIn {
  channel: string;
  face?: InboundMessage["face"];
}

const CHANNEL_NAMES: Readonly<Record<string, string>> = {
  ws: "the web page",
  http: "a program over HTTP",
  a2a: "another agent over A2A",
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  whatsapp: "WhatsApp",
  "whatsapp-web": "WhatsApp",
  matrix: "Matrix",
  mattermost: "Mattermost",
  signal: "Signal",
  email: "email",
  irc: "IRC",
  xmpp: "XMPP",
  teams: "Microsoft Teams",
  nostr: "Nostr",
  webhook: "a webhook",
  external: "a program outside",
};

export function channelName({ channel, face }: WayIn): string {
  if (face === "terminal") return "the terminal";
  if (face === "editor") return "a code editor";
  return face === "page" ? CHANNEL_NAMES.ws! : (CHANNEL_NAMES[channel] ?? channel);
}

const PREPOSITIONS: Readonly<Record<string, string>> = {
  "the terminal": "in",
  "a code editor": "in",
  "a program over HTTP": "through",
  "another agent over A2A": "through",
  "a webhook": "through",
  "a program outside": "through",
  email: "by",
};

/** "on Telegram", "in the terminal", "by email". */
function onChannel(way: WayIn): string {
  const name = channelName(way);
  return `${PREPOSITIONS[name] ?? "on"} ${name}`;
}

/** How an answer that is fetched rather than sent will be shown: the web page and code editors render Markdown. */
export function fetchedFormat({ channel, face }: WayIn): ChatFormat {
  if (face === "terminal") return { text: "typed" };
  return face === "page" || face === "editor" || channel === "ws" ? shows("raw") : { text: "unknown" };
}

/** Where a message was written and what is shown there: "on Telegram (files up to 50 MB)". */
export function whereInWords(
  { route, face }: Pick<InboundMessage, "route" | "face">,
  can: Capabilities | undefined,
): string {
  const way = { channel: route.channel, ...truthy({ face }) };
  const shown = showsInWords(way, can);
  return `${onChannel(way)}${shown ? ` (${shown})` : ""}`;
}

/** For the line above a message from a different channel than the last: what differs most between chats. */
function showsInWords(way: WayIn, can: Capabilities | undefined): string | undefined {
  if (!can) {
    if (!PULLED.has(way.channel)) return undefined;
    return fetchedFormat(way).text === "markdown" ? "Markdown is rendered" : "plain text";
  }
  const text = shows(can.dialect).text === "plain" ? ["plain text"] : [];
  return [...text, can.files > 0 ? `files up to ${Math.floor(can.files / 1_000_000)} MB` : "no files"].join(", ");
}

/** Who receives an answer sent there: `"Ann Lee" on Telegram`. `chats`: the recently used ones. */
export async function recipientInWords(
  route: ReplyRoute,
  chats: () => Promise<
    readonly { channel: string; account: string; chat: string; isGroup: boolean; name?: string; title?: string }[]
  >,
): Promise<string> {
  const { channel, account, chat } = route;
  if (PULLED.has(channel)) return channelName(route);
  const known = (await chats()).find((one) => one.channel === channel && one.account === account && one.chat === chat);
  const name = known?.isGroup ? known.title : known?.name;
  return name ? `${quotedName(name)} ${onChannel(route)}` : `a chat ${onChannel(route)}`;
}
