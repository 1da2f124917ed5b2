/** A conversation from a script: sessions with dates, lines with tags, questions that name the tags, stretched with small talk. */
import type { Conversation, Message, Question } from "./set.ts";

export interface Script {
  id: string;
  script: string;
  /** Exchanges nobody asks about, parted by empty lines. */
  chatter: string;
  /** Messages it has in the end; long enough that most of it is noise for any one question. */
  length: number;
  random: () => number;
  /** A message's id from the numbers of its session and its own. */
  name: (session: number, message: number) => string;
}

export function buildConversation({ id, script, chatter, length, random, name }: Script): Conversation {
  const talk = chatter
    .split(/\n\s*\n/)
    .map((block) => block.split("\n").filter((line) => line && !line.startsWith("#")));
  const blabber = (names: string[]) => exchange(talk, names, random);
  const people = new Map<string, string>();
  const sessions: { at: number; lines: { speaker: string; text: string; tag?: string }[] }[] = [];
  const questions: (Question & { tags: string[] })[] = [];
  for (const line of script.split("\n")) {
    if (line.startsWith("people ")) {
      for (const pair of line.slice(7).split(" ")) people.set(pair[0]!, pair.slice(2));
    } else if (line.startsWith("== ")) sessions.push({ at: Date.parse(`${line.slice(3)}:00Z`), lines: [] });
    else if (line.startsWith("? ")) {
      const [kind, question, tags] = line.slice(2).split(" | ") as [string, string, string];
      questions.push({ question, kind, evidence: [], tags: tags.split(",") });
    } else if (line) {
      const [, who, tag, text] = /^(\w)(?:@(\w+))?: (.*)$/.exec(line)!;
      sessions.at(-1)!.lines.push({ speaker: people.get(who!)!, text: text!, ...(tag ? { tag } : {}) });
    }
  }
  sessions.sort((a, b) => a.at - b.at);
  const names = [...people.values()];
  let count = sessions.reduce((sum, s) => sum + s.lines.length, 0);
  while (count < length) {
    // Whole sessions of small talk, and small talk at the end of a story's session, as people do.
    if (random() < 0.4) {
      const lines = blabber(names);
      const from = sessions[0]!.at;
      const to = sessions.at(-1)!.at;
      sessions.push({ at: Math.round((from + random() * (to - from)) / 60_000) * 60_000, lines });
      count += lines.length;
    } else {
      const lines = blabber(names);
      const session = sessions[Math.floor(random() * sessions.length)]!;
      if (random() < 0.5) session.lines.push(...lines);
      else session.lines.unshift(...lines);
      count += lines.length;
    }
    sessions.sort((a, b) => a.at - b.at);
  }
  const messages: Message[] = [];
  const tagged = new Map<string, string>();
  sessions.forEach((session, s) => {
    session.lines.forEach((line, m) => {
      const message = { id: name(s + 1, m + 1), speaker: line.speaker, text: line.text };
      messages.push({ ...message, at: new Date(session.at + m * 40_000).toISOString() });
      if (line.tag) tagged.set(line.tag, message.id);
    });
  });
  return {
    id,
    messages,
    questions: questions.map(({ tags, ...q }) => ({ ...q, evidence: tags.map((tag) => tagged.get(tag)!) })),
  };
}

function exchange(talk: readonly string[][], names: string[], random: () => number) {
  const block = talk[Math.floor(random() * talk.length)]!;
  const first = random() < 0.5 ? 0 : 1;
  return block.map((line, n) => ({
    speaker: names[(first + n) % 2]!,
    text: line.replace(/\{([^}]*)\}/g, (_, choices: string) => {
      const all = choices.split("|");
      return all[Math.floor(random() * all.length)]!;
    }),
  }));
}

/** mulberry32: small, good enough to shuffle with, the same on every machine. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
