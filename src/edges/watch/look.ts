/**
 * One look at a watched thing: what is new since the cursor, and the next cursor. A look changes nothing anywhere, so it may be
 * made again; the caller stores the cursor together with what was new.
 */
import { assertNever, type Json } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { Watched } from "./config.ts";
import { lookAtFeed } from "./feed.ts";
import { lookAtFiles } from "./files.ts";
import { lookAtPage } from "./page.ts";
import { lookByPlugin } from "./plugin.ts";

export interface WatchedItem {
  /** Tells it apart within this watch. */
  id: string;
  /** One line in our words. */
  label: string;
  body: string;
}

/** Oldest first. The first look, without a cursor, finds nothing new. */
export interface Look {
  items: WatchedItem[];
  cursor: Json;
}

export interface LookParts {
  clock: Clock;
  /** The one fetcher with the operator's rules. Throws AppError. */
  fetch(
    request: { url: string; headers: Record<string, string>; maxBytes: number },
    signal: AbortSignal,
  ): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Buffer }>;
  /** Asks a plugin that looks at something. Throws when it is off, wasn't granted that, or doesn't answer. */
  askPlugin?(
    to: { plugin: string; right: "watch" },
    method: string,
    params: object,
    signal: AbortSignal,
  ): Promise<unknown>;
}

/** Throws AppError with what to do when it cannot look. */
export async function look(
  parts: LookParts,
  watched: Watched,
  cursor: Json | null,
  signal: AbortSignal,
): Promise<Look> {
  switch (watched.kind) {
    case "feed":
      return lookAtFeed(parts, watched.url, cursor, signal);
    case "page":
      return lookAtPage(parts, watched.url, cursor, signal);
    case "files":
      return lookAtFiles(parts.clock, watched.path, cursor);
    case "imap":
      // A mail library that most homes never need.
      return (await import("./imap.ts")).lookAtMail(watched, cursor, signal);
    case "plugin":
      return lookByPlugin(parts, watched, cursor, signal);
    default:
      return assertNever(watched);
  }
}

/** What a watch is about: a cursor of something else does not hold. */
export function describeWatched(watched: Watched): string {
  switch (watched.kind) {
    case "feed":
    case "page":
      return `${watched.kind} ${watched.url}`;
    case "files":
      return `files ${watched.path}`;
    case "plugin":
      return `plugin ${watched.plugin} ${watched.about}`.trim();
    case "imap":
      return `imap ${watched.user}@${watched.host}:${watched.port}/${watched.folder}`;
    default:
      return assertNever(watched);
  }
}
