/**
 * IRC.
 *
 * In: a server keeps nothing and expects no acknowledgement. What is said while we are away is lost, and so is what was on its
 * way when the power went; docs/CHANNELS.md says so. A line has no id (but for `msgid`, where the server gives one).
 * Out: one line after another, at the pace servers bear. An answer to a person goes to whoever was heard, not to whoever holds
 * their nick by then: the server is asked first.
 */
import { randomUUID } from "node:crypto";
import type { Channel, Door, PlatformEvent } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { asObject, asText } from "../api.ts";
import { addressedIn } from "../named.ts";
import { refused } from "../sending.ts";
import type { IrcAccount } from "./config.ts";
import { IrcConnection } from "./connection.ts";
import { type IrcLine, lower, makePersonId, readPerson, saidIn } from "./line.ts";

const PING_MS = 30_000;
/** A nick does not change hands in so short a time. */
const FRESH_MS = 20_000;
const MOST_NICKS = 200;

export function create({ account, config, clock, log }: AdapterParts<IrcAccount>): Channel {
  let live: IrcConnection | undefined;
  /** The nick each account was last heard under; kept, since an account does not tell it. */
  const nicks = new Map<string, { nick: string; at: number }>();

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    for (const [id, nick] of Object.entries(asObject(await door.kept("nicks"))))
      if (asText(nick)) nicks.set(id, { nick: String(nick), at: 0 });
    let line = Promise.resolve();
    let failed: (error: unknown) => void = () => {};
    const trouble = new Promise<never>((_resolve, reject) => {
      failed = reject;
    });
    trouble.catch(() => {});
    const hear = (heard: IrcLine) => {
      if (live) door.alive();
      const event = door.read({ kind: heard.command, id: heard.tags.msgid, value: heard }, () => toEvent(heard));
      if (!event) return;
      // In order, one at a time; when it cannot be kept the line ends.
      line = line.then(async () => {
        if (event.chat.kind === "direct") await keepNick(door, event.sender.id, event.sender.name!);
        await door.hear([event]);
      });
      line.catch(failed);
    };
    const irc = new IrcConnection(config, hear, signal);
    const ping = setInterval(() => irc.ping(), PING_MS);
    try {
      await irc.register();
      live = irc;
      if (irc.nick !== config.nick) log.warn("the nick is taken", { wanted: config.nick, got: irc.nick });
      if (!irc.knowsAccounts) log.warn("this server does not say who is logged in: people are known by nick!user@host");
      for (const channel of config.join) irc.join(channel);
      door.known(irc.nick);
      door.alive();
      const error = await Promise.race([irc.closed, trouble]);
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(ping);
      if (live === irc) live = undefined;
      irc.close();
    }
  }

  function toEvent(heard: IrcLine): PlatformEvent | undefined {
    // A NOTICE is never answered (RFC 2812), and so no two bots answer each other.
    const person = heard.command === "PRIVMSG" ? readPerson(heard) : undefined;
    const [target, raw] = heard.params;
    if (!person || !target || raw === undefined) return undefined;
    const me = live?.nick ?? config.nick;
    const said = saidIn(raw);
    if (!said || lower(person.nick) === lower(me)) return undefined;
    if (config.accounts && !person.account) return undefined;
    const isDirect = lower(target) === lower(me);
    const id = makePersonId(person);
    const words = addressedIn(said, me);
    return {
      kind: "message",
      id: heard.tags.msgid ?? randomUUID(),
      at: clock.now(),
      chat: isDirect ? { id, kind: "direct" } : { id: lower(target), kind: "group" },
      sender: { id, name: person.nick },
      text: isDirect ? said : words.text,
      addressed: isDirect || words.addressed,
    };
  }

  async function keepNick(door: Door, id: string, nick: string): Promise<void> {
    const before = nicks.get(id)?.nick;
    nicks.delete(id);
    nicks.set(id, { nick, at: clock.now() });
    if (nicks.size > MOST_NICKS) nicks.delete(nicks.keys().next().value as string);
    if (before !== nick) await door.keep("nicks", Object.fromEntries([...nicks].map(([one, { nick }]) => [one, nick])));
  }

  /** The nick to write to: of the same person, or nobody. */
  async function findTarget(irc: IrcConnection, chat: string): Promise<string> {
    if (/^[#&+!]/.test(chat)) return chat;
    const known = nicks.get(chat);
    const nick = known?.nick ?? chat.split("!")[0]!;
    if (known && clock.now() - known.at < FRESH_MS) return nick;
    const holder = await irc.whois(nick);
    if (!holder) throw refused(`${nick} is not on IRC now.`, "later");
    if (makePersonId(holder) !== chat && holder.account !== chat && `${lower(holder.nick)}!${holder.at}` !== chat)
      throw refused(`Somebody else is ${nick} now.`, "later");
    return nick;
  }

  return {
    name: "irc",
    account,
    run,

    async check(signal) {
      // Under another nick, so that the running one is not in the way.
      const irc = new IrcConnection(
        { ...config, nick: `${config.nick.slice(0, 12)}${randomUUID().slice(0, 3)}` },
        () => {},
        signal,
      );
      try {
        await irc.register();
        const note = irc.knowsAccounts
          ? "People who are logged in are known by their account."
          : "This server does not say who is logged in: people are known by nick!user@host, which is weak.";
        return { id: `${config.nick}@${config.host}`, name: config.nick, note };
      } finally {
        irc.close();
      }
    },

    async send(message) {
      const irc = live;
      if (!irc) throw refused("Not connected to the IRC server.", "later");
      const target = await findTarget(irc, message.route.chat);
      for (const line of message.text.split(/\r?\n/)) if (line) await irc.say(target, line);
      return { platformId: null };
    },
  };
}
