/** `lares context SESSION --request`: what the model would read now, each part under a line with its cost and its place in the cache. */
import type { Result } from "../../../core/protocol/index.ts";
import { count, plural, visible } from "../format.ts";
import type { Paint } from "../output.ts";
import { contextWords as words } from "../words/talk.ts";

type Next = Result<"context.request">;
type Part = Next["parts"][number];

export function requestLines(next: Next, paint: Paint): string[] {
  const from = next.parts.filter((part) => part.sent && part.kept).reduce((sum, part) => sum + part.tokens, 0);
  const share = next.tokens ? Math.round((from / next.tokens) * 100) : 0;
  return [
    words.request(count(next.tokens), next.bytes, next.parts.length, visible(next.model), next.api),
    words.share(share, words.cache[next.cache]),
    ...(next.full ? [words.tooLong] : []),
    ...next.parts.flatMap((part) => ["", paint(showHead(part), "dim"), visible(part.text.trimEnd())]),
  ];
}

function showHead(part: Part): string {
  const of = part.message === undefined ? "" : words.message(part.message);
  const name = part.name ? ` ${visible(part.name)}` : "";
  const mark = part.mark ? words.cacheMark : "";
  return `── ${of}${part.kind}${name} · ${plural(part.tokens, "token")} · ${cacheWords(part)}${mark}`;
}

function cacheWords({ sent, kept }: Part): string {
  if (sent) return kept ? "cached" : words.sentNotCached;
  return kept ? words.newThenCached : "new";
}
