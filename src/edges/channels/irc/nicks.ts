/** Which nick a person has: stored, because neither an account's name nor an old mask says it. */
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asObject, asText } from "../../../core/domain/index.ts";
import { refused } from "../sending.ts";
import type { IrcConnection } from "./connection.ts";
import { lower, makePersonId } from "./line.ts";
import type { IrcState } from "./state.ts";

/** A nick doesn't change hands in so short a time. */
const FRESH_MS = 20_000;

export async function loadNicks({ nicks }: IrcState, door: ChannelHost): Promise<void> {
  for (const [id, value] of Object.entries(asObject(await door.kept("nicks")))) {
    const nick = asText(value);
    if (nick) nicks.set(id, { nick, at: 0 });
  }
}

export async function keepNick({ nicks, clock }: IrcState, door: ChannelHost, person: { id: string; nick: string }) {
  const { id, nick } = person;
  const before = nicks.get(id)?.nick;
  nicks.set(id, { nick, at: clock.now() });
  if (before !== nick)
    await door.keep("nicks", Object.fromEntries([...nicks].map(([one, known]) => [one, known.nick])));
}

/** The nick to write to. When somebody else has it by now, or nobody, the answer waits. */
export async function findTarget({ nicks, clock }: IrcState, irc: IrcConnection, chat: string): Promise<string> {
  if (/^[#&+!]/.test(chat)) return chat;
  const known = nicks.get(chat);
  const nick = known?.nick ?? chat.split("!")[0]!;
  if (known && clock.now() - known.at < FRESH_MS) return nick;
  const holder = await irc.whois(nick);
  if (!holder) throw refused(`${nick} isn't on IRC right now.`, "later");
  const ids = [makePersonId(holder), holder.account, `${lower(holder.nick)}!${holder.at}`];
  if (!ids.includes(chat)) throw refused(`Somebody else is ${nick} now.`, "later");
  return nick;
}
