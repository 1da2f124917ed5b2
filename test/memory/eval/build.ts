/** A conversation from a script: sessions with dates, lines with tags, questions that name the tags. */
import type { Conversation, Message, Question } from "./set.ts";

export function buildConversation({ id, part, script }: { id: string; part: string; script: string }): Conversation {
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
  const messages: Message[] = [];
  const tagged = new Map<string, string>();
  sessions.forEach((session, s) => {
    session.lines.forEach((line, m) => {
      const message = { id: `${id}/s${s + 1}/${m + 1}`, speaker: line.speaker, text: line.text };
      messages.push({ ...message, at: new Date(session.at + m * 40_000).toISOString() });
      if (line.tag) tagged.set(line.tag, message.id);
    });
  });
  return {
    id,
    part,
    messages,
    questions: questions.map(({ tags, ...q }) => ({ ...q, evidence: tags.map((tag) => tagged.get(tag.trim())!) })),
  };
}
