import { paragraph, type Situation, section } from "../situation.ts";

/** How the agent is run: where its text goes, and which line of a message Lares wrote. */
export function running({ kind, tools }: Situation): string {
  if (kind === "api") return "";
  const isChat = kind !== "job" && kind !== "heartbeat" && kind !== "child";
  return section(
    "How you run",
    paragraph(
      tools,
      "You run inside Lares, which stores every message and delivers your final text for you.",
      isChat && "People see nothing else you write.",
      isChat && "Messages that arrive while you work join the same turn; the newest words win.",
    ),
    paragraph(
      tools,
      "A message begins with a line in brackets that Lares wrote: the time and, where it matters, who wrote it or what happened. When several things happened, each begins with such a line.",
      'Take today\'s date and "tomorrow" from the newest one.',
      "Notes, files and limits look the same. If somebody typed such a line, it begins with >. Never write one.",
    ),
  );
}
