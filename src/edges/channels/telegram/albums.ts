/**
 * Albums: Telegram sends each picture of one as a separate message and says neither how many there are nor which is the last. They
 * belong together by `media_group_id` and become one event, under the id of the first.
 *
 * TELEGRAM-3: a part that came by webhook is stored before it is acknowledged, and the album is heard from there, also after a restart.
 */
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { asList, asObject, asText, type Json, toJson } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { truthy } from "../../../core/kit/index.ts";

/** Parts of an album follow each other at once; after this pause no more are expected. */
export const SETTLE_MS = 700;
/** How many finished albums are remembered, so that a part which Telegram repeats isn't taken for a new album. */
const MOST_KNOWN = 50;
const KEPT = "albums";

/** Which album an update is a part of. */
export function findAlbum(update: unknown): string | undefined {
  return asText(asObject(asObject(update).message).media_group_id);
}

/** Parts of the same album in the same chat as one message, where the first of them stood. */
export function joinAlbums(parts: readonly { event: PlatformEvent; album: string | undefined }[]): PlatformEvent[] {
  const all: PlatformEvent[] = [];
  const places = new Map<string, number>();
  for (const { event, album } of parts) {
    const key = album === undefined ? undefined : JSON.stringify([event.chat.id, event.sender.id, album]);
    const at = key === undefined ? undefined : places.get(key);
    const first = at === undefined ? undefined : all[at];
    if (at !== undefined && first?.kind === "message" && event.kind === "message") {
      const files = [...(first.files ?? []), ...(event.files ?? [])];
      all[at] = {
        ...first,
        text: [first.text, event.text].filter(Boolean).join("\n"),
        ...(files.length ? { files } : {}),
        ...(first.addressed || event.addressed ? { addressed: true } : {}),
        ...(first.forwarded || event.forwarded ? { forwarded: true } : {}),
        ...truthy({ forwardedFrom: event.forwardedFrom }),
      };
      continue;
    }
    if (key !== undefined) places.set(key, all.length);
    all.push(event);
  }
  return all;
}

/** Albums that come by webhook, part by part. */
export class AlbumShelf {
  private readonly clock: Clock;
  /** One change of what is stored at a time. */
  private line: Promise<unknown> = Promise.resolve();
  private readonly timers = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Durable when it resolves. `hear` gets the whole album, once it is quiet. */
  async add(door: ChannelHost, album: string, update: Json, hear: (parts: Json[]) => Promise<unknown>): Promise<void> {
    const isNew = await this.change(door, (kept) => {
      if (kept.heard.includes(album)) return false;
      const parts = kept.open[album] ?? [];
      const id = asObject(update).update_id;
      if (!parts.some((one) => asObject(one).update_id === id)) kept.open[album] = [...parts, update];
      return true;
    });
    if (isNew) this.expect(door, album, hear);
  }

  /** Takes up the albums that an earlier process left unfinished. */
  async resume(door: ChannelHost, hear: (parts: Json[]) => Promise<unknown>): Promise<void> {
    for (const album of Object.keys(read(await door.kept(KEPT)).open))
      if (!this.timers.has(album)) this.expect(door, album, hear);
  }

  private expect(door: ChannelHost, album: string, hear: (parts: Json[]) => Promise<unknown>): void {
    this.timers.get(album)?.();
    const cancel = this.clock.after(SETTLE_MS, () => {
      this.timers.delete(album);
      // An album that fails stays stored, and `resume` tries it again.
      void this.change(door, async (kept) => {
        const parts = kept.open[album];
        if (!parts) return;
        await hear(parts);
        delete kept.open[album];
        kept.heard = [...kept.heard, album].slice(-MOST_KNOWN);
      }).catch(() => {});
    });
    this.timers.set(album, cancel);
  }

  private change<T>(door: ChannelHost, act: (kept: Kept) => T | Promise<T>): Promise<T> {
    const done = this.line.then(async () => {
      const kept = read(await door.kept(KEPT));
      const before = JSON.stringify(kept);
      const result = await act(kept);
      if (JSON.stringify(kept) !== before) await door.keep(KEPT, toJson(kept));
      return result;
    });
    this.line = done.catch(() => {});
    return done;
  }
}

interface Kept {
  open: Record<string, Json[]>;
  heard: string[];
}

function read(value: unknown): Kept {
  const { open, heard } = asObject(value);
  return {
    open: Object.fromEntries(Object.entries(asObject(open)).map(([album, parts]) => [album, asList(parts) as Json[]])),
    heard: asList(heard).filter((one) => typeof one === "string"),
  };
}
