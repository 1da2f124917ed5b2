/**
 * A prompt cache as the providers keep one: beginnings of requests, in whole pieces. Anthropic keeps what a mark ends and, from each
 * mark, looks back over twenty pieces; the others keep every beginning by themselves.
 *
 * Documentation: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
import { createHash } from "node:crypto";
import type { SeenRequest } from "./types.ts";

interface Piece {
  text: string;
  isMarked: boolean;
}

/** How far Anthropic looks back from a mark. */
const LOOK_BACK = 20;
const tokens = (bytes: number) => Math.ceil(bytes / 4);

export class PromptCache {
  private readonly kept = new Set<string>();

  /** What of this request is read from the cache and what is written to it, in tokens of four bytes. */
  take(request: SeenRequest): { total: number; read: number; write: number } {
    const pieces = piecesOf(request);
    const hash = createHash("sha256").update(`${request.protocol} ${request.model}`);
    const ends: { key: string; bytes: number; isMarked: boolean }[] = [];
    let bytes = 0;
    for (const { text, isMarked } of pieces) {
      hash.update("\0").update(text);
      bytes += Buffer.byteLength(text);
      ends.push({ key: hash.copy().digest("hex"), bytes, isMarked });
    }
    const reached = ends.filter((_, i) => ends.slice(i, i + LOOK_BACK + 1).some((end) => end.isMarked));
    const read = reached.findLast(({ key }) => this.kept.has(key))?.bytes ?? 0;
    const marked = ends.findLast((end) => end.isMarked)?.bytes ?? 0;
    for (const end of ends) if (end.isMarked) this.kept.add(end.key);
    const write = request.protocol === "anthropic" ? Math.max(marked - read, 0) : 0;
    return { total: tokens(bytes), read: tokens(read), write: tokens(write) };
  }

  clear(): void {
    this.kept.clear();
  }
}

type Loose = Record<string, unknown>;

function piecesOf({ protocol, body }: SeenRequest): Piece[] {
  const list = (value: unknown) =>
    Array.isArray(value) ? (value as Loose[]) : value === undefined ? [] : [value as Loose];
  switch (protocol) {
    case "anthropic":
      return [...list(body.tools), ...list(body.system), ...list(body.messages).flatMap(blocks)].map(marked);
    case "openai-chat":
      return [...list(body.tools), ...list(body.messages)].map(always);
    case "openai-responses":
      return [...list(body.tools), ...list(body.input)].map(always);
    case "google":
      return [...list(body.tools), ...list(body.systemInstruction), ...list(body.contents)].map(always);
  }
}

function blocks({ role, content }: Loose): Loose[] {
  return Array.isArray(content) ? (content as Loose[]).map((block) => ({ role, ...block })) : [{ role, content }];
}

function marked({ cache_control, ...rest }: Loose): Piece {
  return { text: JSON.stringify(rest), isMarked: cache_control !== undefined };
}

function always(piece: Loose): Piece {
  return { text: JSON.stringify(piece), isMarked: true };
}
