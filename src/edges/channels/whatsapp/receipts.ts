/** What Meta's status events say about the messages we sent: which key became which message. */
import { RecentMap } from "../recent.ts";

const MOST = 2000;

export class Receipts {
  private readonly ids = new RecentMap<string>(MOST);
  private readonly waiting = new Set<() => void>();

  learn(key: string, id: string): void {
    this.ids.set(key, id);
    for (const look of [...this.waiting]) look();
  }

  /** The id of the message with this key, as soon as it is known; undefined when it still isn't after `ms`. */
  find(key: string, ms: number, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.waiting.delete(look);
        signal.removeEventListener("abort", end);
        resolve(this.ids.get(key));
      };
      const look = () => {
        if (this.ids.has(key)) end();
      };
      const timer = setTimeout(end, ms);
      this.waiting.add(look);
      signal.addEventListener("abort", end, { once: true });
      look();
    });
  }
}
