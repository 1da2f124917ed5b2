/**
 * The default script: the newest user text says what the model does. It needs no code in the server's process, so a
 * test that kills and restarts the program under test can still script the model by what it sends.
 *
 *   text       = [lead] phase *( "then:" phase )
 *   phase      = *( directive )
 *   directive  = "say:" words            answer with these words (up to the next directive with a colon)
 *              | "think:" words          think these words first, signed "sig-" and the words
 *              | "tool:" name [json]     call a tool; several in one phase are parallel calls
 *              | "delay:" ms             wait before the first byte
 *              | "gap:" ms               write the answer slowly: twelve pieces, this long between them
 *              | "fail:" what ["*" n]    what: an HTTP status, or auth, billing, rate-limit, overload,
 *                                        context-overflow, format, not-found, server. With *n only the first n
 *                                        requests that reach this phase of this text fail; without it all do.
 *              | "retry-after:" seconds  header of that failure
 *              | "stall"                 send half of the answer, then nothing, connection open
 *              | "cut"                   send half of the answer, then close the socket
 *              | "garbage"               send the tool input as broken JSON (a call of exec when no tool is named)
 *              | "empty"                 answer with nothing
 *
 * - `lead` is whatever stands before the first directive (a message id, a name); it scripts nothing.
 * - Directives with a colon count at the start of a word anywhere in the text. The bare words count outside of a
 *   `say:` or `think:`, and only if the text has a directive with a colon or is that one word.
 * - stall and cut may carry `*n` like fail: they happen for the first n requests, then the rest of the phase counts.
 * - Inside `say:`, `{envelope}` becomes the last line of Lares before a message, `{seen}` the user texts after the last assistant message, joined by " | ", and `{results}`
 *   the tool results after it.
 *
 * Which text leads: phase k of a user text answers the k-th assistant message after it (k from 0). A text whose phases
 * are all answered is spent. The newest user text that has directives and is not spent leads, also when plain texts
 * came after it. When none leads the answer is `echo: ` and every user text after the last assistant message, joined
 * by " | " (the last user text when there is none), so that a test can see which messages a call contained.
 *
 * Two things of the house are no person's words: its notes before the conversation count for nothing, and a request to compact
 * one is answered with a short summary in the wanted form.
 *
 * Documentation: see server.ts
 */
import type { FailureKind, NormalMessage, NormalRequest, Reply, ScriptedCall } from "./types.ts";

interface Phase {
  reply: Reply;
  /** How many requests a failure, stall or cut lasts. */
  times: number;
  garbage: boolean;
}

const SLOW_PIECES = 12;
const COLON = /(^|\s)(say|think|tool|then|delay|gap|fail|retry-after):/g;
const BARE = /(^|\s)(stall|cut|garbage|empty)(?:\*(\d+))?(?=\s|$)/g;

const KIND_OF_STATUS: Record<number, FailureKind> = {
  400: "format",
  401: "auth",
  402: "billing",
  403: "auth",
  404: "not-found",
  413: "context-overflow",
  429: "rate-limit",
  503: "overload",
  529: "overload",
};

export function directiveScript(): (request: NormalRequest) => Reply {
  /** How often each phase of each text was asked for, for `*n`. */
  const asked = new Map<string, number>();
  return (request) => {
    if (isCompacting(request)) return { text: compacted(request) };
    const messages = withoutNotes(request.messages);
    const leader = findLeader(messages);
    if (!leader) return { text: `echo: ${seenTexts(messages).join(" | ")}` };
    const { phase, text, k } = leader;
    const key = `${k} ${text}`;
    const count = (asked.get(key) ?? 0) + 1;
    asked.set(key, count);
    return render(phase, count, { ...request, messages });
  };
}

export function isCompacting(request: Pick<NormalRequest, "system">): boolean {
  return request.system.startsWith("You condense the older part of a conversation");
}

/** What the house puts before the conversation. */
export function notesOf(messages: NormalMessage[]): string {
  const first = messages[0];
  return first?.role === "user" && textOf(first).startsWith("[Notes kept by Lares") ? textOf(first) : "";
}

function withoutNotes(messages: NormalMessage[]): NormalMessage[] {
  return notesOf(messages) ? messages.slice(1) : messages;
}

function compacted(request: NormalRequest): string {
  const text = textOf(request.messages.at(-1)!);
  const lines = text
    .slice(text.indexOf("Transcript:"))
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/\[[^\]]*\] ?/, ""));
  const list = (title: string) => new RegExp(`^${title}:\n((?:- .*\n)+)`, "m").exec(text)?.[1]?.trim() ?? "none";
  return [
    `SUMMARY\nThey said ${lines.length} things, first "${lines[0]?.slice(0, 40)}".`,
    `OPEN REQUESTS\n${list("Open requests")}\nDECISIONS\n${list("Decisions")}`,
    `ABOUT THE PERSON\n${list("About the person")}`,
  ].join("\n");
}

/** The phases of a text, or nothing when it has no directives. */
export function parseDirectives(text: string): Phase[] | undefined {
  const marks = [...text.matchAll(COLON)].map((m) => ({
    at: m.index + m[1]!.length,
    word: m[2]!,
    end: m.index + m[0].length,
  }));
  const isOneWord = /^\s*(stall|cut|garbage|empty)(\*\d+)?\s*$/.test(text);
  if (marks.length === 0 && !isOneWord) return undefined;
  const phases: Phase[] = [newPhase()];
  readBare(text.slice(0, marks[0]?.at ?? text.length), phases[0]!);
  let from = 0;
  for (const [i, mark] of marks.entries()) {
    // A word inside a tool's JSON is not a directive.
    if (mark.at < from) continue;
    const next = marks.slice(i + 1).find((m) => m.at >= mark.end);
    let value = text.slice(mark.end, next?.at ?? text.length);
    if (mark.word === "then") phases.push(newPhase());
    const phase = phases.at(-1)!;
    switch (mark.word) {
      case "then":
        readBare(value, phase);
        break;
      case "say":
        phase.reply.text = value.trim();
        break;
      case "think":
        phase.reply.thinking = { text: value.trim(), signature: `sig-${value.trim()}` };
        break;
      case "tool": {
        const call = readTool(text.slice(mark.end));
        phase.reply.toolCalls = [...(phase.reply.toolCalls ?? []), call.call];
        from = mark.end + call.length;
        value = text.slice(from, marks.find((m) => m.at >= from)?.at ?? text.length);
        readBare(value, phase);
        break;
      }
      default:
        readValue(mark.word, value, phase);
    }
  }
  return phases;
}

function newPhase(): Phase {
  return { reply: {}, times: Number.POSITIVE_INFINITY, garbage: false };
}

function readValue(word: string, value: string, phase: Phase): void {
  const [first = "", ...rest] = value.trim().split(/\s+/);
  if (word === "delay") phase.reply.delayMs = Number(first) || 0;
  if (word === "gap") Object.assign(phase.reply, { gapMs: Number(first) || 0, pieces: SLOW_PIECES });
  if (word === "retry-after") phase.reply.fail = { ...phase.reply.fail, retryAfterS: Number(first) || 0 };
  if (word === "fail") {
    const [what = "", times] = first.split("*");
    const status = Number(what);
    phase.reply.fail = {
      ...phase.reply.fail,
      ...(status ? { status, kind: KIND_OF_STATUS[status] ?? "server" } : { kind: what as FailureKind }),
    };
    if (times) phase.times = Number(times);
  }
  readBare(` ${rest.join(" ")}`, phase);
}

function readBare(text: string, phase: Phase): void {
  for (const [, , word, times] of text.matchAll(BARE)) {
    if (word === "stall") phase.reply.stall = true;
    if (word === "cut") phase.reply.cut = true;
    if (word === "garbage") phase.garbage = true;
    if (word === "empty") phase.reply.text = "";
    if (times) phase.times = Number(times);
  }
}

/** `name {json}`: the JSON object ends where its brackets close, strings respected. */
function readTool(text: string): { call: ScriptedCall; length: number } {
  const head = /^\s*([\w.-]+)\s*/.exec(text);
  const name = head?.[1] ?? "exec";
  const start = head?.[0].length ?? 0;
  if (text[start] !== "{") return { call: { name, input: {} }, length: start };
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === "\\") i++;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) {
      const json = text.slice(start, i + 1);
      try {
        return { call: { name, input: JSON.parse(json) }, length: i + 1 };
      } catch {
        return { call: { name, raw: json }, length: i + 1 };
      }
    }
  }
  return { call: { name, raw: text.slice(start) }, length: text.length };
}

function findLeader(messages: NormalMessage[]): { phase: Phase; text: string; k: number } | undefined {
  let k = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === "assistant") k++;
    if (message.role !== "user") continue;
    const text = textOf(message);
    const phase = parseDirectives(text)?.[k];
    if (phase) return { phase, text, k };
  }
  return undefined;
}

function render(phase: Phase, count: number, request: NormalRequest): Reply {
  const { fail, stall, cut, ...rest } = phase.reply;
  const reply: Reply = { ...rest };
  if (count <= phase.times) {
    if (fail) reply.fail = fail;
    if (stall) reply.stall = true;
    if (cut) reply.cut = true;
  }
  if (phase.garbage) {
    const calls = reply.toolCalls ?? [{ name: "exec" }];
    reply.toolCalls = calls.map((call) => ({ ...call, raw: '{"command": "ls' }));
  }
  if ((reply.stall || reply.cut) && reply.text === undefined) reply.text = "this answer does not end";
  reply.text = reply.text
    ?.replaceAll("{seen}", seenTexts(request.messages).join(" | "))
    .replaceAll("{results}", seenResults(request.messages).join(" | "))
    .replaceAll("{envelope}", request.messages.flatMap((message) => envelopeOf(message) ?? []).at(-1) ?? "");
  if (reply.text === undefined && !reply.toolCalls) reply.text = "ok";
  return reply;
}

/** What was said, without the line Lares puts before it. */
export function textOf(message: NormalMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The line Lares put before this message. */
export function envelopeOf(message: NormalMessage): string | undefined {
  return message.parts.find((part) => part.type === "envelope")?.text;
}

/** The user texts after the last assistant message; the last user text when there is none. */
export function seenTexts(messages: NormalMessage[]): string[] {
  const users = (list: NormalMessage[]) => list.filter((message) => message.role === "user").map(textOf);
  const fresh = users(messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1));
  return fresh.length > 0 ? fresh : users(messages).slice(-1);
}

function seenResults(messages: NormalMessage[]): string[] {
  const fresh = messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
  return fresh.flatMap((m) => m.parts.flatMap((part) => (part.type === "tool-result" ? [part.text] : [])));
}
