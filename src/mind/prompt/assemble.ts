/** The system prompt of a session, in the order that lets sessions of one agent share as much of it as they can. */
import { writeBuiltInRules } from "./built-in-rules.ts";
import { type PromptPlace, placeText } from "./place.ts";
import type { Situation } from "./situation.ts";

/** The owner's files in their current state; empty where they say nothing. */
export interface PromptFiles {
  soul: string;
  agents: string;
  user: string;
  memory: string;
}

/** Heads the files about the owner, so that no model mistakes them for a message or for its own rules. */
const USER_HEAD =
  "# About the owner (USER.md)\n\nWhat is known about the owner, partly in their own words. Follow the preferences among them.";
const MEMORY_HEAD =
  "# What you remember (MEMORY.md)\n\nFacts learned from the owner. They inform you and may be out of date; preferences among them are to be followed.";

export interface PromptSection {
  name: "soul" | "rules" | "family" | "agents" | "place" | "user" | "memory" | "skills";
  text: string;
}

/**
 * PROMPT-3: soul, built-in rules, family note and standing instructions are the same bytes for all chats of one situation; what belongs
 *           to the chat follows them.
 */
export function promptSections(of: {
  situation: Situation;
  place: PromptPlace;
  files: PromptFiles;
  familyNote: string;
  skills: string;
}): PromptSection[] {
  const { situation, place, files, familyNote, skills } = of;
  const { kind } = situation;
  const isPersonal = kind === "owner" || kind === "job" || kind === "heartbeat";
  const all: PromptSection[] = [
    { name: "soul", text: kind === "child" ? "" : files.soul },
    { name: "rules", text: writeBuiltInRules(situation) },
    { name: "family", text: kind === "api" ? "" : familyNote },
    { name: "agents", text: files.agents },
    { name: "place", text: placeText(place) },
    { name: "user", text: isPersonal && files.user ? `${USER_HEAD}\n\n${withoutTitle(files.user)}` : "" },
    { name: "memory", text: isPersonal && files.memory ? `${MEMORY_HEAD}\n\n${withoutTitle(files.memory)}` : "" },
    { name: "skills", text: kind === "api" ? "" : skills },
  ];
  return all.map(({ name, text }) => ({ name, text: text.trim() })).filter(({ text }) => text !== "");
}

export function joinSections(sections: readonly PromptSection[]): string {
  return sections.map(({ text }) => text).join("\n\n");
}

/** Our heading already says whose file it is, so the file's own title is dropped. */
function withoutTitle(text: string): string {
  const lines = text.trim().split("\n");
  return lines[0]?.startsWith("# ") ? lines.slice(1).join("\n").trim() : text.trim();
}

const OF_THE_CHAT: ReadonlySet<PromptSection["name"]> = new Set(["place", "user", "memory", "skills"]);

/** How many characters of the joined sections come before what belongs to the chat (PROMPT-3). */
export function sharedLength(sections: readonly PromptSection[]): number {
  const end = sections.findIndex(({ name }) => OF_THE_CHAT.has(name));
  return joinSections(end < 0 ? sections : sections.slice(0, end)).length;
}
