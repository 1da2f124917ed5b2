/**
 * How many messages a server may send. A flood takes our own processor: each message costs the SDK up to a millisecond, and everything
 * else waits meanwhile. So many at once, and so many a second in the long run, are far more than progress and list changes need.
 */
export const MOST_AT_ONCE = 2000;
const MOST_A_SECOND = 200;

export class MessageAllowance {
  #left = MOST_AT_ONCE;
  #at = performance.now();

  /** False: it sends more than it may. */
  take(messages: number): boolean {
    const now = performance.now();
    this.#left = Math.min(MOST_AT_ONCE, this.#left + ((now - this.#at) / 1000) * MOST_A_SECOND) - messages;
    this.#at = now;
    return this.#left >= 0;
  }
}
