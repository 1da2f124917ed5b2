/** What was said while Lares was away: Slack gives up on an event after minutes, so each chat is read from where it was left. */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Lines } from "../lines.ts";
import type { SlackMe } from "./events.ts";
import { fromPositionKey, hear, readEvent } from "./hear.ts";
import { readPositions, type SlackState } from "./state.ts";

/** Reading a chat back costs a call each; the ones talked in last are enough. */
const MOST_READ_BACK = 30;
/** A thousand messages of one chat. */
const MOST_PAGES = 10;
const PAGE = 100;

/** First in each chat's line, so that what was missed is taken before what comes now. */
export async function catchUp(
  state: SlackState,
  door: ChannelHost,
  { lines, me }: { lines: Lines; me: SlackMe },
  signal: AbortSignal,
): Promise<void> {
  const positions = await readPositions(state, door);
  for (const [key, since] of positions.chats().slice(0, MOST_READ_BACK)) {
    void lines.push(fromPositionKey(key).channel, async () => {
      const missed = await readMissed(state, door, { key, since, me }, signal).catch((error: unknown) => {
        state.log.warn("a chat could not be read back", { chat: key, error: String(error) });
        return [];
      });
      for (const event of missed) await hear(state, door, event);
    });
  }
}

async function readMissed(
  state: SlackState,
  door: ChannelHost,
  { key, since, me }: { key: string; since: string; me: SlackMe },
  signal: AbortSignal,
): Promise<PlatformEvent[]> {
  const { channel, thread } = fromPositionKey(key);
  const method = thread ? "conversations.replies" : "conversations.history";
  const found: { ts: string }[] = [];
  for (let latest: string | undefined, pages = 0; pages < MOST_PAGES; pages++) {
    const asked = { channel, oldest: since, limit: PAGE, ...truthy({ latest, ts: thread }) };
    const page = await state.api.call(method, asked, signal, true);
    const batch = asList(page.messages).map((one) => ({ ts: "", ...asObject(one), type: "message", channel }));
    found.push(...batch.filter((one) => one.ts > since));
    if (page.has_more !== true || !batch.length) break;
    latest = batch.map((one) => one.ts).sort()[0];
  }
  found.sort((a, b) => (a.ts < b.ts ? -1 : 1));
  return found.flatMap((one) => readEvent(state, door, one, me) ?? []);
}
