/**
 * Small helpers the four protocols share.
 *
 * Documentation: see server.ts
 */
import type { NormalMessage, NormalPart, Reply, ScriptedCall } from "./types.ts";

export type Loose = Record<string, unknown>;

export function asObject(value: unknown): Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Loose) : {};
}

export function asList(value: unknown): Loose[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

export function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Text in the wanted number of deltas, none of them empty. */
export function cutText(text: string, pieces = 2): string[] {
  if (text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / pieces));
  const out: string[] = [];
  for (let i = 0; i < text.length; i += size) out.push(text.slice(i, i + size));
  return out;
}

export function inputText(call: ScriptedCall): string {
  return call.raw ?? JSON.stringify(call.input ?? {});
}

/** Ids are made from the content, so that the same script gives the same bytes. */
export function callId(call: ScriptedCall, index: number, prefix: string, turn: number): string {
  return call.id ?? `${prefix}_${turn}_${index}_${call.name}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
}

export function finishOf(reply: Reply): "stop" | "tool-calls" | "length" | "refusal" {
  return reply.finish ?? (reply.toolCalls?.length ? "tool-calls" : "stop");
}

/** Keeps the rule of the normal form: one message per user text, tool results together. */
export function pushUserParts(messages: NormalMessage[], parts: NormalPart[]): void {
  const results = parts.filter((part) => part.type === "tool-result");
  if (results.length > 0) messages.push({ role: "tool", parts: results });
  let current: NormalMessage | undefined;
  for (const one of parts) {
    if (one.type !== "text" && one.type !== "image") continue;
    const part = one.type === "text" && ENVELOPE.test(one.text) ? { ...one, type: "envelope" as const } : one;
    // A picture stands with the text before it, and what was said with the envelope before it.
    const isLed = current?.parts.at(-1)?.type === "envelope" && part.type !== "envelope";
    if (current && (part.type === "image" || isLed)) current.parts.push(part);
    else {
      current = { role: "user", parts: [part] };
      messages.push(current);
    }
  }
}

const ENVELOPE = /^\[(?:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d\d-\d\d)[^\n]*\]$/;

/** `data:image/png;base64,…` as a part. */
export function readDataUrl(url: string): NormalPart {
  const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  return { type: "image", mediaType, data };
}

export function sse(data: unknown, event?: string): string {
  return event ? `event: ${event}\ndata: ${JSON.stringify(data)}\n\n` : `data: ${JSON.stringify(data)}\n\n`;
}

/** The pictures of a tool's result, when there are some. */
export function withImages<T>(images: T[]): { images?: T[] } {
  return images.length ? { images } : {};
}
