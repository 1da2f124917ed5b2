/** Listening: log in, join, and take lines one after another. IRC keeps nothing, so there is nothing to catch up on. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { Lines } from "../lines.ts";
import { IrcConnection } from "./connection.ts";
import { toEvent } from "./events.ts";
import type { IrcLine } from "./line.ts";
import { keepNick, loadNicks } from "./nicks.ts";
import type { IrcState } from "./state.ts";

/** Well below `silenceMs`, so that a quiet account still proves that its connection lives. */
const PING_MS = 30_000;

export async function listen(state: IrcState, door: ChannelHost, signal: AbortSignal): Promise<void> {
  await loadNicks(state, door);
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {});
  const lines = new Lines((error) => fail(error));
  const irc = new IrcConnection(state.config, (line) => takeLine(state, { door, lines }, line), signal);
  const ping = setInterval(() => irc.ping(), PING_MS);
  try {
    await enter(state, irc);
    door.known(irc.nick);
    door.alive();
    const error = await Promise.race([irc.closed, failed]);
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(ping);
    if (state.live === irc) state.live = undefined;
    irc.close();
  }
}

async function enter(state: IrcState, irc: IrcConnection): Promise<void> {
  const { config, log } = state;
  await irc.register();
  state.live = irc;
  if (irc.nick !== config.nick) log.warn("the nick is taken", { wanted: config.nick, got: irc.nick });
  if (!irc.knowsAccounts) log.warn("this server doesn't say who is logged in: people are known by nick!user@host");
  for (const channel of config.join) irc.join(channel);
}

/** All in one order; when one can't be stored, the connection ends. */
function takeLine(state: IrcState, { door, lines }: { door: ChannelHost; lines: Lines }, line: IrcLine): void {
  if (state.live) door.alive();
  const event = door.read({ kind: line.command, id: line.tags.msgid, value: line }, () => toEvent(state, line));
  if (!event) return;
  void lines.push("", async () => {
    const { id, name } = event.sender;
    if (event.chat.kind === "direct") await keepNick(state, door, { id, nick: name! });
    await door.hear([event]);
  });
}
