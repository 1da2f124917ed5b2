/** An answer in the form of a platform. */
import type { Capabilities } from "../../core/contracts/index.ts";
import { type Json, toJson } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { boundedChunks, type Part } from "../../core/render/index.ts";
import { chunk } from "./chunk.ts";
import { restLeftOut } from "./words.ts";

/** A piece of a text, within a platform's limit and in its dialect. */
export interface MessagePiece {
  text: string;
  html?: string;
  styles?: Json;
}

/** What a program gets of one answer: at 16,000 characters a message, more than any model writes. */
const MOST_RAW = 250;

function toPiece({ text, html, styles }: Part): MessagePiece {
  return { text, ...defined({ html, styles: styles && toJson(styles) }) };
}

/** An answer as messages of a platform. What renders to nothing is sent as it is: silence would be no answer. */
export function pieces(text: string, can: Capabilities): MessagePiece[] {
  const { dialect, limit, unit, most } = can;
  const parts = dialect === "raw" ? [] : boundedChunks(text, dialect, { limit, unit, most });
  if (parts.length) return parts.map(toPiece);
  const raw = chunk(text, limit).map((piece): MessagePiece => ({ text: piece }));
  const room = most ?? MOST_RAW;
  if (raw.length <= room) return raw;
  return [...raw.slice(0, room - 1), { text: restLeftOut(raw.length - room + 1) }];
}
