/** What adapters with a stream of events share: order inside a chat without waiting between chats, and a wait that can end early. */
import type { PlatformEvent } from "../../core/contracts/index.ts";
import type { Clock } from "../../core/kit/index.ts";

/**
 * Work of one chat runs one after another, different chats side by side: a slow file holds up its own chat and no other.
 * The first failure stops everything that has not begun, since what comes after it must not be taken before it.
 */
export class Lines {
  private readonly tails = new Map<string, Promise<void>>();
  private broken: { error: unknown } | undefined;
  private readonly onBroken: (error: unknown) => void;

  constructor(onBroken: (error: unknown) => void) {
    this.onBroken = onBroken;
  }

  push(chat: string, work: () => Promise<void>): void {
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

/** Resolves after `ms`, or at once when the signal aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
