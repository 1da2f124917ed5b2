/**
 * Discord: its gateway for what happens, its REST API for what is said.
 *
 * DISCORD-1: the session and the number up to which everything is durable are committed with the messages. After a crash the session is
 *     resumed from there and Discord replays the rest.
 * DISCORD-2: when Discord has forgotten the session, each chat that was talked in is read from where it was left.
 * DISCORD-3: a nonce makes a send one message for a few minutes; later the chat is looked at before anything is sent again.
 */
import type { Channel, Door, PlatformEvent } from "../../../core/contracts/index.ts";
import type { Json, JsonObject } from "../../../core/domain/index.ts";
import { type AdapterParts, toPolicy } from "../account.ts";
import { asList, asNumber, asObject, asText } from "../api.ts";
import { Lines } from "../lines.ts";
import { Positions } from "../positions.ts";
import { DiscordApi } from "./api.ts";
import type { DiscordAccount } from "./config.ts";
import { toEvent, toPress } from "./events.ts";
import { connect, type DiscordSession } from "./gateway.ts";
import { DiscordMessages } from "./messages.ts";
import { DiscordPlaces } from "./places.ts";
import { Watermark } from "./watermark.ts";

const GUILD_MESSAGES = 1 << 9;
const GUILD_MESSAGE_REACTIONS = 1 << 10;
const DIRECT_MESSAGES = 1 << 12;
const DIRECT_MESSAGE_REACTIONS = 1 << 13;
/** Needs a switch in the developer portal; without it the bot still reads what is direct or names it. */
const MESSAGE_CONTENT = 1 << 15;
const INTENTS = GUILD_MESSAGES | GUILD_MESSAGE_REACTIONS | DIRECT_MESSAGES | DIRECT_MESSAGE_REACTIONS;

/** Reading a chat back costs a call each; the ones last talked in are enough. */
const MOST_READ_BACK = 30;
const MOST_PAGES = 10;
/** A line that ends this soon, this often, is not taken up again at once. */
const SHORT_MS = 5000;
const MOST_SHORT = 20;

export function create({ account, config, clock, log }: AdapterParts<DiscordAccount>): Channel {
  const api = new DiscordApi(config.apiUrl, config.token);
  const messages = new DiscordMessages(api);
  const places = new DiscordPlaces(api);
  const { groups } = toPolicy(config);
  const listensToAll = Object.values(groups).some((group) => !group.mention);
  const intents = listensToAll ? INTENTS | MESSAGE_CONTENT : INTENTS;
  let me: { id: string; name: string } | undefined;
  const self = async (signal: AbortSignal) => {
    const told = me ? undefined : await api.call("GET", "/users/@me", signal);
    me ??= { id: asText(told?.id) ?? "", name: asText(told?.username) ?? "" };
    return me;
  };

  /** Whether a chat must be read back after a long stop: not for what would be ignored anyway. */
  const matters = (event: PlatformEvent) =>
    event.kind === "message" &&
    (event.chat.kind === "direct" ||
      event.addressed === true ||
      (groups[event.chat.id] ?? groups["*"])?.mention === false);

  /** One life of the line: connects, resumes or begins, and listens until it ends. */
  async function listen(
    door: Door,
    state: { session: DiscordSession | undefined; positions: Positions },
    signal: AbortSignal,
  ): Promise<{ how: "resume" | "identify"; wasOpen: boolean }> {
    const who = await self(signal);
    const url = state.session?.url ?? String((await api.call("GET", "/gateway/bot", signal)).url);
    const mark = new Watermark(state.session?.seq ?? 0);
    const cursor = (at: JsonObject, own?: number): Json => ({
      ...(state.session ? { session: { ...state.session, seq: mark.upTo(own) } } : {}),
      last: at,
    });
    let wasOpen = false;
    const lines = new Lines((error) => line.fail(error));

    const hear = async (given: PlatformEvent, channel: string, seq?: number) => {
      const event = await places.put(given, channel, signal);
      const moves = matters(event);
      const at = moves ? cursor(state.positions.with(channel, event.id), seq) : undefined;
      const [heard] = await door.hear([event], at);
      if (seq !== undefined) mark.finish(seq);
      if (moves) state.positions.moved(channel, event.id);
      return heard!;
    };
    const readBack = async (channel: string, since: string) => {
      const found = await missed(channel, since, signal).catch((error: unknown) => {
        log.warn("a chat could not be read back", { chat: channel, error: String(error) });
        return [];
      });
      for (const one of found) {
        const raw = { kind: "MESSAGE_CREATE", id: asText(asObject(one).id), value: one };
        const event = door.read(raw, () => toEvent("MESSAGE_CREATE", one, "", who.id, api));
        if (event === "unreadable") door.unreadable("MESSAGE_CREATE", String(asObject(one).id));
        else if (event) await hear(event, channel);
      }
    };

    const line = connect(
      {
        token: config.token,
        intents,
        url,
        session: state.session,
        clock,
        onBeat: () => door.alive(),
        onOpen: (session, fresh) => {
          wasOpen = true;
          state.session = session;
          door.alive();
          if (!fresh) return;
          mark.restart(session.seq);
          lines.push("", async () => void (await door.hear([], cursor(state.positions.all()))));
          // First in each chat's line: what came meanwhile is taken before what comes now.
          for (const [channel, since] of state.positions.chats().slice(0, MOST_READ_BACK)) {
            lines.push(channel, () => readBack(channel, since));
          }
        },
        onDispatch: (type, body, seq) => {
          const own = asText(asObject(body).id) ?? `${state.session?.id}:${seq}`;
          const read = door.read({ kind: type, id: own, value: body }, () => {
            const press = type === "INTERACTION_CREATE" ? toPress(body) : undefined;
            return { press, event: press?.event ?? toEvent(type, body, `${state.session?.id}:${seq}`, who.id, api) };
          });
          const { press, event } = read ?? {};
          if (event === "unreadable") door.unreadable(type, String(asObject(body).id ?? seq));
          if (!event || event === "unreadable") return mark.skip(seq);
          mark.begin(seq);
          const channel = event.chat.id;
          lines.push(channel, async () => {
            const heard = await hear(event, channel, seq);
            if (press) tellPresser(press.answerAt, heard.say);
          });
        },
      },
      signal,
    );
    return { how: await line.done, wasOpen };
  }

  function tellPresser(path: string, say: string | undefined): void {
    messages.answerPress(path, say, AbortSignal.timeout(10_000)).catch((error: unknown) => {
      log.debug("a button press could not be answered", { error: String(error) });
    });
  }

  /** What was said in a chat since it was left, oldest first. */
  async function missed(channel: string, since: string, signal: AbortSignal): Promise<JsonObject[]> {
    const all: JsonObject[] = [];
    const guild = (await places.readKind(channel, signal)) === "direct" ? {} : { guild_id: "?" };
    for (let after = since, pages = 0; pages < MOST_PAGES; pages++) {
      const path = `/channels/${encodeURIComponent(channel)}/messages?after=${after}&limit=100`;
      const page = asList((await api.call("GET", path, signal)).list).map((one) => ({ ...asObject(one), ...guild }));
      all.push(...(page.reverse() as JsonObject[]));
      if (page.length < 100) break;
      after = String(all.at(-1)!.id);
    }
    return all;
  }

  return {
    name: "discord",
    account,

    async run(door, signal) {
      const who = await self(signal);
      door.known(`@${who.name}`);
      const kept = asObject(await door.cursor());
      const state = { session: readSession(kept.session), positions: new Positions(kept.last) };
      for (let short = 0; !signal.aborted; ) {
        const resuming = state.session !== undefined;
        const began = clock.now();
        const { how, wasOpen } = await listen(door, state, signal);
        if (signal.aborted) return;
        short = clock.now() - began < SHORT_MS ? short + 1 : 0;
        if (short > MOST_SHORT) throw new Error("Discord closes the connection again and again.");
        // A session that is gone is begun anew, and one that worked is resumed, at once; anything else waits its turn.
        if (how === "identify" && resuming) state.session = undefined;
        else if (!wasOpen || how === "identify") throw new Error("Discord closed the connection.");
      }
    },

    async check(signal) {
      // Asked anew: whether it answers now is the question.
      me = undefined;
      const who = await self(signal);
      return { id: who.id, name: `@${who.name}` };
    },

    send: (message, signal) => messages.send(message, signal),
    find: async (message, signal) => messages.find(message, (await self(signal)).id, signal),
    edit: (at, message, signal) => messages.edit(at, message, signal),
    remove: (at, signal) => messages.remove(at, signal),
    react: (at, emoji, signal) => messages.react(at, emoji, signal),
    unreact: (at, emoji, signal) => messages.unreact(at, emoji, signal),
    typing: (route, signal) => messages.typing(route, signal),
  };
}

function readSession(kept: unknown): DiscordSession | undefined {
  const { id, url, seq } = asObject(kept);
  const [name, at, number] = [asText(id), asText(url), asNumber(seq)];
  return name && at && number !== undefined ? { id: name, url: at, seq: number } : undefined;
}
