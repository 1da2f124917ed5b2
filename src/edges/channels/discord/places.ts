/** What a Discord channel is: a direct chat, a server's channel, or a thread of another channel. Asked once each, and bounded. */
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { asNumber, asText } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { RecentMap } from "../recent.ts";
import type { DiscordApi } from "./api.ts";

const MOST = 1000;
/** Discord's numbers for direct chats and for the kinds of thread. */
const DIRECT = new Set([1, 3]);
const THREADS = new Set([10, 11, 12]);

interface ChannelKind {
  kind: "direct" | "group";
  /** The channel this one is a thread of. */
  parent?: string;
}

export class DiscordPlaces {
  private readonly api: DiscordApi;
  private readonly known = new RecentMap<ChannelKind>(MOST);

  constructor(api: DiscordApi) {
    this.api = api;
  }

  /** The event with its chat: a thread belongs to its channel, because rights and agents are set for channels. */
  async put(event: PlatformEvent, channel: string, signal: AbortSignal): Promise<PlatformEvent> {
    if (event.chat.kind === "direct") return event;
    const { parent } = await this.find(channel, signal);
    return parent ? { ...event, chat: { ...event.chat, id: parent, thread: channel } } : event;
  }

  async readKind(channel: string, signal: AbortSignal): Promise<"direct" | "group"> {
    return (await this.find(channel, signal)).kind;
  }

  private async find(channel: string, signal: AbortSignal): Promise<ChannelKind> {
    const before = this.known.get(channel);
    if (before) return before;
    const said = await this.api.call("GET", `/channels/${encodeURIComponent(channel)}`, signal);
    const type = asNumber(said.type) ?? 0;
    const parent = THREADS.has(type) ? asText(said.parent_id) : undefined;
    const place: ChannelKind = { kind: DIRECT.has(type) ? "direct" : "group", ...truthy({ parent }) };
    this.known.set(channel, place);
    return place;
  }
}
