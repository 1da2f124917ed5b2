/** From a line of IRC to what the door understands. */
import { randomUUID } from "node:crypto";
import type { PlatformEvent } from "../../../core/contracts/index.ts";
import { addressedIn } from "../named.ts";
import { type IrcLine, lower, makePersonId, readPerson, saidIn } from "./line.ts";
import type { IrcState } from "./state.ts";

export function toEvent({ config, clock, live }: IrcState, line: IrcLine): PlatformEvent | undefined {
  // A NOTICE is never answered (RFC 2812), so that two bots don't answer each other.
  const person = line.command === "PRIVMSG" ? readPerson(line) : undefined;
  const [target, raw] = line.params;
  if (!person || !target || raw === undefined) return undefined;
  const me = live?.nick ?? config.nick;
  const said = saidIn(raw);
  if (!said || lower(person.nick) === lower(me)) return undefined;
  if (config.accounts && !person.account) return undefined;
  const id = makePersonId(person);
  const base = { kind: "message", id: line.tags.msgid ?? randomUUID(), at: clock.now() } as const;
  const sender = { id, name: person.nick };
  if (lower(target) === lower(me))
    return { ...base, sender, chat: { id, kind: "direct" }, text: said, addressed: true };
  return { ...base, sender, chat: { id: lower(target), kind: "group" }, ...addressedIn(said, me) };
}
