/** `lares context SESSION --request`: what the model would read now, each part under a line with its cost and its place in the cache. */
import type { Result } from "../../../core/protocol/index.ts";
import { count, plural, visible } from "../format.ts";
import type { Paint } from "../output.ts";

type Next = Result<"context.request">;
type Part = Next["parts"][number];

const CACHE = {
  marks: "Lares tells the provider what to cache",
  automatic: "the provider caches prompt prefixes automatically",
  none: "no cache",
} as const;

export function requestLines(next: Next, paint: Paint): string[] {
  const from = next.parts.filter((part) => part.sent && part.kept).reduce((sum, part) => sum + part.tokens, 0);
  const share = next.tokens ? Math.round((from / next.tokens) * 100) : 0;
  return [
    `About ${count(next.tokens)} tokens (${next.bytes} bytes) in ${plural(next.parts.length, "part")} to ${visible(next.model)} over ${next.api}.`,
    `${share} % of it was in the last request; ${CACHE[next.cache]}.`,
    ...(next.full ? ["Too long: older messages are compacted before sending."] : []),
    ...next.parts.flatMap((part) => ["", paint(headOf(part), "dim"), visible(part.text.trimEnd())]),
  ];
}

function headOf(part: Part): string {
  const of = part.message === undefined ? "" : `message ${part.message + 1}, `;
  const name = part.name ? ` ${visible(part.name)}` : "";
  const mark = part.mark ? ", cache mark here" : "";
  return `── ${of}${part.kind}${name} · ${plural(part.tokens, "token")} · ${cacheWords(part)}${mark}`;
}

function cacheWords({ sent, kept }: Part): string {
  if (sent) return kept ? "cached" : "sent before, not cached";
  return kept ? "new, then cached" : "new";
}
