/** What adapters with a stream of events share: each chat keeps its order, and no chat waits for another. */
import type { ChannelHost, PlatformEvent } from "../../core/contracts/index.ts";
import type { Json } from "../../core/domain/index.ts";

/**
 * The work of one chat runs one after another, different chats side by side: a slow file holds up its own chat and no other.
 * The first failure stops everything that hasn't begun, because a message must not be taken before an earlier one of its chat.
 */
export class Lines {
  private readonly tails = new Map<string, Promise<void>>();
  private broken: { error: unknown } | undefined;
  private readonly onBroken: (error: unknown) => void;

  constructor(onBroken: (error: unknown) => void) {
    this.onBroken = onBroken;
  }

  /** Nothing more begins. */
  end(): void {
    this.broken ??= { error: undefined };
  }

  /** Resolves when the work is done, or when it is clear that it never will be. */
  push(chat: string, work: () => Promise<void>): Promise<void> {
    const before = this.tails.get(chat) ?? Promise.resolve();
    const mine = before.then(async () => {
      if (this.broken) return;
      try {
        await work();
      } catch (error) {
        if (this.broken) return;
        this.broken = { error };
        this.onBroken(error);
      }
    });
    this.tails.set(chat, mine);
    void mine.then(() => {
      if (this.tails.get(chat) === mine) this.tails.delete(chat);
    });
    return mine;
  }
}

/** How many batches may wait for a slow one before nothing more is read. */
const MOST_OPEN = 50;

/**
 * Batches with a position each. A plain batch is taken at once, with its position in the same transaction. While files are fetched,
 * the chats run side by side, and a position is committed when its batch and all before it are done. What was taken before that
 * comes again after a restart, and is known by its ids.
 */
export class Batches {
  private readonly door: Pick<ChannelHost, "hear">;
  private readonly lines: Lines;
  private tail: Promise<unknown> = Promise.resolve();
  private open = 0;

  constructor(door: Pick<ChannelHost, "hear">, lines: Lines) {
    this.door = door;
    this.lines = lines;
  }

  async take(events: readonly PlatformEvent[], cursor: Json): Promise<void> {
    const withFiles = events.some((event) => event.kind === "message" && event.files?.length);
    if (!withFiles && this.open === 0) {
      await this.door.hear(events, cursor);
      return;
    }
    const works = byChat(events).map((line) =>
      this.lines.push(line[0]!.chat.id, async () => {
        await this.door.hear(line);
      }),
    );
    this.open++;
    this.tail = Promise.all([this.tail, ...works]).then(() =>
      this.lines.push("", async () => {
        this.open--;
        await this.door.hear([], cursor);
      }),
    );
    if (this.open > MOST_OPEN) await this.tail;
  }
}

/** Events by chat, each chat in order. */
export function byChat(events: readonly PlatformEvent[]): PlatformEvent[][] {
  const lines = new Map<string, PlatformEvent[]>();
  for (const event of events) {
    const line = lines.get(event.chat.id);
    if (line) line.push(event);
    else lines.set(event.chat.id, [event]);
  }
  return [...lines.values()];
}
