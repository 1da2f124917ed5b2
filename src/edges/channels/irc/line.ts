/** One line of IRC, and what a person said in it. Pure. */

export interface IrcLine {
  tags: Readonly<Record<string, string>>;
  /** Who sent it, `nick!user@host` or a server's name. */
  from: string;
  command: string;
  params: readonly string[];
}

const ESCAPES: Record<string, string> = { ":": ";", s: " ", "\\": "\\", r: "\r", n: "\n" };

/** `@tags :prefix COMMAND a b :the rest` */
export function parseLine(raw: string): IrcLine | undefined {
  let rest = raw;
  const tags: Record<string, string> = {};
  if (rest.startsWith("@")) {
    const end = rest.indexOf(" ");
    if (end < 0) return undefined;
    for (const one of rest.slice(1, end).split(";")) {
      const [key, value = ""] = one.split(/=(.*)/s);
      if (key) tags[key] = value.replace(/\\(.?)/g, (_all, sign: string) => ESCAPES[sign] ?? sign);
    }
    rest = rest.slice(end).trimStart();
  }
  let from = "";
  if (rest.startsWith(":")) {
    const end = rest.indexOf(" ");
    if (end < 0) return undefined;
    from = rest.slice(1, end);
    rest = rest.slice(end).trimStart();
  }
  const at = rest.search(/(?:^| ):/);
  const words = (at < 0 ? rest : rest.slice(0, at)).split(" ").filter(Boolean);
  const last = at < 0 ? [] : [rest.slice(rest.indexOf(":", at) + 1)];
  const command = words.shift()?.toUpperCase();
  return command ? { tags, from, command, params: [...words, ...last] } : undefined;
}

export interface Person {
  nick: string;
  /** `user@host` */
  at: string;
  /** The account they are logged in to, as the server says it. */
  account?: string;
}

export function readPerson(line: IrcLine): Person | undefined {
  const named = /^([^!@]+)!([^@]+@\S+)$/.exec(line.from);
  if (!named) return undefined;
  const account = line.tags.account;
  return { nick: named[1]!, at: named[2]!, ...(account && account !== "*" ? { account } : {}) };
}

/**
 * As stable as IRC allows (CH-01): the account where the network names it, which can't be mistaken for a mask; otherwise the whole mask.
 * A nick alone can be anybody's.
 */
export function makePersonId(person: Person): string {
  return person.account ?? `${lower(person.nick)}!${person.at}`;
}

/** RFC 1459: these characters are letters, too. */
export function lower(name: string): string {
  return name.toLowerCase().replace(/[[\]\\~]/g, (sign) => ({ "[": "{", "]": "}", "\\": "|", "~": "^" })[sign]!);
}

/** What was said, without colours; undefined for messages between programs (CTCP). */
export function saidIn(text: string): string | undefined {
  let said = text;
  if (said.startsWith("\x01")) {
    const action = /^\x01ACTION (.*?)\x01?$/s.exec(said);
    if (!action) return undefined;
    said = `* ${action[1]}`;
  }
  return said.replace(/\x03(\d{1,2}(,\d{1,2})?)?|\x04([0-9a-f]{6})?|[\x00-\x1f]/gi, "").trim();
}
