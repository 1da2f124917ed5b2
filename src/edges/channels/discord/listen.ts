/** Listening: one connection to the gateway after another, as long as resuming the session or beginning a new one makes sense. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asNumber, asObject, asText } from "../../../core/domain/index.ts";
import { Lines } from "../lines.ts";
import { Positions } from "../positions.ts";
import { catchUp } from "./catch-up.ts";
import type { DiscordAccount } from "./config.ts";
import { DiscordConnection, type DiscordEnd, type DiscordSession } from "./connection.ts";
import { type DiscordProgress, type DiscordReading, makeCursor, takeDispatch } from "./hear.ts";
import type { DiscordState } from "./state.ts";
import { Watermark } from "./watermark.ts";

const GUILD_MESSAGES = 1 << 9;
const GUILD_MESSAGE_REACTIONS = 1 << 10;
const DIRECT_MESSAGES = 1 << 12;
const DIRECT_MESSAGE_REACTIONS = 1 << 13;
/** Needs a switch in the developer portal; without it the bot still reads messages that are direct or mention it. */
const MESSAGE_CONTENT = 1 << 15;
const INTENTS = GUILD_MESSAGES | GUILD_MESSAGE_REACTIONS | DIRECT_MESSAGES | DIRECT_MESSAGE_REACTIONS;

/** Connections that end this soon, this many in a row, are not followed by another one at once. */
const SHORT_MS = 5000;
const MOST_SHORT = 20;

export async function listen(state: DiscordState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const me = await state.self.get(signal);
  door.known(`@${me.name}`);
  const kept = asObject(await door.cursor());
  const progress = { session: readSession(kept.session), positions: new Positions(kept.last) };
  for (let short = 0; !signal.aborted; ) {
    const isResuming = progress.session !== undefined;
    const began = state.clock.now();
    const { how, wasOpen } = await listenOnce(state, door, progress, signal);
    if (signal.aborted) return;
    short = state.clock.now() - began < SHORT_MS ? short + 1 : 0;
    if (short > MOST_SHORT) throw new Error("Discord closes the connection again and again.");
    // A session that is gone is replaced, and one that worked is resumed, at once; anything else waits before the next try.
    if (how === "identify" && isResuming) progress.session = undefined;
    else if (!wasOpen || how === "identify") throw new Error("Discord closed the connection.");
  }
}

/** One connection: resumes the session or begins one, and listens until it ends. */
async function listenOnce(
  state: DiscordState,
  door: ChannelHost,
  progress: DiscordProgress,
  signal: AbortSignal,
): Promise<{ how: DiscordEnd; wasOpen: boolean }> {
  const { api, config, clock } = state;
  const me = await state.self.get(signal);
  const url = progress.session?.url ?? String((await api.call("GET", "/gateway/bot", signal)).url);
  const mark = new Watermark(progress.session?.seq ?? 0);
  const lines = new Lines((error) => connection.fail(error));
  const reading = { door, me, progress, mark, lines };
  let wasOpen = false;
  const connection = new DiscordConnection(
    {
      token: config.token,
      intents: chooseIntents(config),
      url,
      session: progress.session,
      clock,
      onBeat: () => door.alive(),
      onOpen: (session, fresh) => {
        wasOpen = true;
        progress.session = session;
        door.alive();
        if (fresh) begin(state, reading, session, signal);
      },
      onDispatch: (type, body, seq) => takeDispatch(state, reading, { type, body, seq }, signal),
    },
    signal,
  );
  return { how: await connection.done, wasOpen };
}

/** A new session knows nothing about what came before: it is committed, and the chats are read from where they were left. */
function begin(state: DiscordState, reading: DiscordReading, session: DiscordSession, signal: AbortSignal): void {
  const { door, progress, mark, lines } = reading;
  mark.restart(session.seq);
  void lines.push("", async () => {
    await door.hear([], makeCursor(progress, mark.upTo(), progress.positions.all()));
  });
  catchUp(state, reading, signal);
}

function chooseIntents({ groups }: DiscordAccount): number {
  const listensToAll = Object.values(groups).some((group) => !group.mention);
  return listensToAll ? INTENTS | MESSAGE_CONTENT : INTENTS;
}

function readSession(kept: unknown): DiscordSession | undefined {
  const raw = asObject(kept);
  const [id, url, seq] = [asText(raw.id), asText(raw.url), asNumber(raw.seq)];
  return id && url && seq !== undefined ? { id, url, seq } : undefined;
}
