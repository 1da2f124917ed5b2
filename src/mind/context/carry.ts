/**
 * The carry-over: what remains when the older part of a conversation is no longer shown. It combines prose with lists, because a
 * list item is either there or not, while prose tends to lose the number it was about. Rules find what a model must not lose.
 * Pure.
 *
 * CONTEXT-13: what the rules find is copied verbatim from the messages.
 * CONTEXT-14: it never exceeds its token limit; the oldest items are dropped first. They stay in the records, where search finds
 * them.
 */
import { isObject, isWritten, type Json, type ModelMessage } from "../../core/domain/index.ts";
import { clip, textTokens } from "./tokens.ts";

export interface Carry {
  /** The person's request when its message had to be dropped because the turn is longer than the window. */
  asked: string;
  /**
   * When it was compacted, with the date, because the remaining messages may not show one. Absent in carry-overs from older
   * versions.
   */
  when?: string;
  prose: string;
  /** Requests that aren't done yet. */
  requests: string[];
  decisions: string[];
  /** About the person. */
  facts: string[];
  identifiers: string[];
  files: string[];
  /** The latest tool calls and their results. */
  calls: string[];
}

type List = Exclude<keyof Carry, "prose" | "asked" | "when">;

export const NO_CARRY: Carry = {
  asked: "",
  prose: "",
  requests: [],
  decisions: [],
  facts: [],
  identifiers: [],
  files: [],
  calls: [],
};

/** Each list's share of the space and its heading. */
const LISTS: readonly { name: List; title: string; share: number }[] = [
  { name: "facts", title: "About the person", share: 0.17 },
  { name: "requests", title: "Open requests", share: 0.12 },
  { name: "decisions", title: "Decisions", share: 0.12 },
  { name: "identifiers", title: "Identifiers", share: 0.1 },
  { name: "files", title: "Files touched", share: 0.06 },
  { name: "calls", title: "Latest tool calls", share: 0.08 },
];
const ASKED_SHARE = 0.25;
const LONGEST_ITEM = 60;
const MOST_CALLS = 6;

const ABOUT_ME =
  /\b(my (?:name|wife|husband|partner|son|daughter|child|mother|father|sister|brother|dog|cat|car|flat|house|home|job|boss|team|company|birthday|email|phone|address|doctor|favou?rite|code|pin|number|\w+ (?:is|are|was) )|call me|i(?:'m| am) (?:a|an|allergic|from|called|vegan|vegetarian|married|\d+)|i (?:live|work|prefer|like|love|hate|own|moved|was born|speak|study)\b)/i;
const DECIDED =
  /\b(we(?:'ll| will| have)? (?:decided?|agreed?|go with|use|chose|settled)|let'?s (?:go with|use|do|take)|decision:|decided (?:to|on|against)|agreed (?:to|on|that)|i(?:'ll| will) take|from now on|instead of)\b/i;
const ASKED_FOR_LATER =
  /\b(remind me|don'?t forget|remember to|to-?do\b|later (?:please|on)?|tomorrow|next (?:week|month|time)|when you (?:can|have)|still (?:need|have) to|by (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)|follow up|get back to)\b/i;
const IDENTIFIER =
  /https?:\/\/[^\s<>"')\]]+|(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+|\+\d[\d ()-]{6,}\d|\b[0-9a-f]{8}-[0-9a-f-]{27,60}\b|(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+\b|\b(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Z])[A-Za-z0-9]{5,}\b|#\d{2,}/g;
const FILE_KEYS = new Set(["path", "file", "from", "to", "target"]);

/** Adds what the rules find in these messages to the existing carry-over. */
export function gather(carried: Carry, messages: readonly ModelMessage[]): Carry {
  const found: Carry = {
    ...carried,
    requests: [...carried.requests],
    decisions: [...carried.decisions],
    facts: [...carried.facts],
    identifiers: [...carried.identifiers],
    files: [...carried.files],
    calls: [...carried.calls],
  };
  for (const [i, message] of messages.entries()) {
    for (const part of message.content) {
      if (part.type === "text" && isWritten(part)) readText(found, message.role, part.text);
      if (part.type === "tool-call") {
        found.files.push(...filesIn(part.input));
        const next = messages[i + 1];
        const result = next?.role === "tool" ? next.content.find((r) => r.id === part.id) : undefined;
        const came = result ? ` → ${result.isError ? "error: " : ""}${oneLine(result.text, 20)}` : "";
        found.calls.push(`${part.name} ${oneLine(JSON.stringify(part.input), 25)}${came}`);
      }
    }
  }
  for (const { name } of LISTS) found[name] = newestOnce(found[name]);
  found.calls = found.calls.slice(-MOST_CALLS);
  return found;
}

function readText(found: Carry, role: ModelMessage["role"], text: string): void {
  for (const sentence of sentences(text)) {
    const ids = sentence.match(IDENTIFIER);
    if (ids) found.identifiers.push(oneLine(sentence, 30, ids[0]));
    if (role !== "user") continue;
    const isQuestion = /[?？]\s*$/.test(sentence);
    if (!isQuestion && ABOUT_ME.test(sentence)) found.facts.push(oneLine(sentence, LONGEST_ITEM));
    if (!isQuestion && DECIDED.test(sentence)) found.decisions.push(oneLine(sentence, LONGEST_ITEM));
    if (ASKED_FOR_LATER.test(sentence)) found.requests.push(oneLine(sentence, LONGEST_ITEM));
  }
}

/** A longer text is pasted rather than typed; its beginning is enough for the rules. */
const LONGEST_TALK = 4_000;

function sentences(text: string): string[] {
  return text
    .slice(0, LONGEST_TALK)
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map((one) => one.trim())
    .filter((one) => one.length > 3);
}

/** One line of at most this many tokens, centred on what matters in it. */
function oneLine(text: string, tokens: number, around?: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const at = around ? line.indexOf(around) : 0;
  const from = at > tokens * 2 ? at - tokens * 2 : 0;
  return from > 0 ? `…${clip(line.slice(from), tokens)}` : clip(line, tokens);
}

function filesIn(input: Json): string[] {
  if (!isObject(input)) return [];
  return Object.entries(input).flatMap(([key, value]) => {
    if (typeof value !== "string") return [];
    if (FILE_KEYS.has(key) && value.length < 200) return [value];
    return [...value.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map((m) => m[1]!.trim());
  });
}

/** Removes duplicates, keeping the newest of each. */
export function newestOnce(items: readonly string[]): string[] {
  const kept = new Map<string, string>();
  for (const item of items) {
    const key = item
      .toLowerCase()
      .replace(/[\s.,;!]+/g, " ")
      .trim();
    if (key === "") continue;
    kept.delete(key);
    kept.set(key, item);
  }
  return [...kept.values()];
}

/** Cuts it to this many tokens: each list to its share, the prose to the rest. */
export function bounded(carry: Carry, tokens: number): Carry {
  const out: Carry = { ...NO_CARRY, asked: clip(carry.asked, Math.floor(tokens * ASKED_SHARE)) };
  let left = tokens - textTokens(out.asked);
  for (const { name, title, share } of LISTS) {
    const kept: string[] = [];
    let room = Math.floor(tokens * share) - textTokens(title) - 2;
    for (const item of carry[name].toReversed()) {
      const cost = textTokens(item) + 2;
      if (cost > room) break;
      room -= cost;
      left -= cost;
      kept.push(item);
    }
    if (kept.length) left -= textTokens(title) + 2;
    out[name] = kept.reverse();
  }
  out.prose = clip(carry.prose, Math.max(left - 8, 0));
  return out;
}

export function isEmpty(carry: Carry): boolean {
  return carry.prose === "" && carry.asked === "" && LISTS.every(({ name }) => carry[name].length === 0);
}

/** As the model reads it. */
export function carryText(carry: Carry): string {
  const lists = LISTS.filter(({ name }) => carry[name].length > 0).map(
    ({ name, title }) => `${title}:\n${carry[name].map((item) => `- ${item}`).join("\n")}`,
  );
  const asked = carry.asked ? `What the person had asked before the messages below:\n${carry.asked}` : "";
  const when = carry.when ? `Compacted ${carry.when}.` : "";
  return [when, carry.prose, ...lists, asked].filter(Boolean).join("\n\n");
}

/** A summary without a model: quotes from the conversation, its first words and as many of the latest as fit. */
export function quoted(before: string, messages: readonly ModelMessage[], tokens: number): string {
  const lines = messages.flatMap((m) => {
    if (m.role === "tool") return [];
    const text = m.content
      .map((part) => (part.type === "text" && !("ours" in part && part.ours) ? part.text : ""))
      .join(" ");
    return text.trim()
      ? [`${m.role === "user" ? "person" : "agent"}: ${oneLine(text, m.role === "user" ? 40 : 25)}`]
      : [];
  });
  const old = clip(before, Math.floor(tokens * 0.4));
  let room = tokens - textTokens(old) - 12;
  const kept: string[] = [];
  for (const line of lines.toReversed()) {
    const cost = textTokens(line) + 1;
    if (cost > room) break;
    room -= cost;
    kept.push(line);
  }
  return [old, kept.length ? `Said, abridged:\n${kept.reverse().join("\n")}` : ""].filter(Boolean).join("\n\n");
}
