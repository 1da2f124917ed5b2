/** Who or what something comes from: people as platforms know them, sources of facts. Databases hold these strings. */
import { asId, type PersonId } from "./ids.ts";

/** People without a name in `identities`, and those who stand for several. */
export const personKeys = {
  at: (channel: string, id: string) => asId<PersonId>(`${channel}:${id}`),
  group: (channel: string, chat: string) => asId<PersonId>(`group:${channel}:${chat}`),
  several: (session: string) => asId<PersonId>(`several:${session}`),
} as const;

/** The platform's part first: ids of platforms may have colons themselves. A name from `identities` has no channel. */
export function readPerson(person: string): { channel?: string; id: string } {
  const [, channel, id] = /^([a-z][a-z0-9-]*):(.+)$/s.exec(person) ?? [];
  return channel === undefined || id === undefined ? { id: person } : { channel, id };
}

/** Whether it is known only by what this platform calls it. */
export function isPersonAt(person: string, channel: string): boolean {
  return person.startsWith(personKeys.at(channel, ""));
}

/** Where a fact comes from. */
/** What a hook is called where people read it. */
export const hookNames = {
  /** `n` counts the commands of one event. */
  command: (event: string, n: number) => `command:${event}:${n}`,
  webhook: (name: string) => `webhook:${name}`,
  plugin: (name: string) => `plugin:${name}`,
} as const;

export const factSources = {
  /** A file that a person edits. */
  file: (file: string) => `file:${file}`,
  import: (from: string, name: string) => `import:${from}:${name}`,
  condensed: (pass: string) => `condensed:${pass}`,
} as const;

export function isFileSource(source: string | null | undefined): boolean {
  return source?.startsWith("file:") === true;
}

export function isImportSource(source: string | null | undefined): boolean {
  return source?.startsWith("import:") === true;
}

/** What a fact is about, when it is about the person who said it. */
export function selfTopic(person: string | undefined): string {
  return `self:${person ?? ""}`;
}

export function isSelfTopic(topic: string | null | undefined): boolean {
  return topic?.startsWith("self:") === true;
}
