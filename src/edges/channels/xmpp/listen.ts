/** Listening: log in, enter the rooms, read the archives from where they were left, then take what comes, one after another. */
import { createHash } from "node:crypto";
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { Queue } from "../queue.ts";
import { refused } from "../sending.ts";
import { Archive } from "./archive.ts";
import { catchUp, readPositions, take } from "./catch-up.ts";
import { connect, ping } from "./connection.ts";
import { bare, NS, type Xml } from "./library.ts";
import { notePresence, type XmppLive, type XmppState } from "./state.ts";

/** Well below `silenceMs`, so that a quiet account still proves that its connection lives. */
const PING_MS = 30_000;

export async function listen(state: XmppState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  const { client, xml, close } = await connect(state, makeResource(state.account), signal);
  const live = { client, xml, archive: new Archive(client, xml) };
  const queue = new Queue<Xml>();
  const ended = new Promise<never>((_resolve, reject) => {
    client.on("disconnect", () => reject(refused("The XMPP server closed the connection.", "later")));
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  ended.catch((error: unknown) => queue.end(error));
  client.on("stanza", (stanza) => {
    door.alive();
    if (stanza.is("presence")) return notePresence(state, stanza);
    if (stanza.is("message") && !live.archive.take(stanza, (from) => isOurs(state, from))) queue.push(stanza);
  });
  const beat = setInterval(() => void ping(live).catch(close), PING_MS);
  try {
    await enter(state, live);
    const at = readPositions(await door.cursor());
    const reading = { archive: live.archive, door, at };
    for (const where of [undefined, ...state.rooms]) await Promise.race([catchUp(state, reading, where), ended]);
    state.live = live;
    door.known(state.me);
    door.alive();
    for await (const message of queue.items()) await take(state, reading, { message, at: undefined, id: undefined });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(beat);
    if (state.live === live) state.live = undefined;
    await close();
  }
}

/** Each account has its own resource: two sessions of the same name throw each other out. */
function makeResource(account: string): string {
  return `lares-${createHash("sha256").update(account).digest("hex").slice(0, 6)}`;
}

/** Whose archive may answer: our own server's and our rooms'. */
function isOurs({ me, rooms }: XmppState, from: string | undefined): boolean {
  return from === undefined || bare(from) === me || rooms.has(bare(from));
}

async function enter({ rooms, nick }: XmppState, { client, xml }: XmppLive): Promise<void> {
  await client.send(xml("presence"));
  for (const room of rooms) {
    // The archive has what was said before; the room needn't repeat it.
    const quiet = xml("x", { xmlns: NS.muc }, xml("history", { maxstanzas: "0" }));
    await client.send(xml("presence", { to: `${room}/${nick}` }, quiet));
  }
}
