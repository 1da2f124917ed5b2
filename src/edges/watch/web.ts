/** A page got only when it changed. */
import { AppError } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import type { LookParts } from "./look.ts";

export type CacheMarks = { etag?: string; modified?: string };

/** `undefined`: it is as it was. */
export async function getChanged(
  parts: LookParts,
  url: string,
  marks: CacheMarks,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ body: Buffer; type: string; marks: CacheMarks } | undefined> {
  const headers = truthy({ "if-none-match": marks.etag, "if-modified-since": marks.modified });
  const got = await parts.fetch({ url, headers, maxBytes }, signal);
  if (got.status === 304) return undefined;
  if (got.status < 200 || got.status >= 300) {
    throw new AppError("NOT_READY", {
      message: `${new URL(url).host} answered ${got.status}.`,
      hint: "Check the address in lares.yaml.",
      retry: "later",
    });
  }
  const { etag, "last-modified": modified, "content-type": type = "" } = got.headers;
  return { body: got.body, type, marks: truthy({ etag, modified }) };
}
