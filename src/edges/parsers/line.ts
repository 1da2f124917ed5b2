/**
 * The line before the parsers: a few run at once, a bounded number waits for a bounded time, and the next one is turned away. Without
 * it, the memory that hostile files may use would be the limit of one parser times the number of files.
 */
import { AppError } from "../../core/domain/index.ts";

export interface LineLimits {
  atOnce: number;
  mostWaiting: number;
  /** Of all that wait: they hold their input in memory. */
  mostWaitingBytes: number;
  mostWaitMs: number;
}

interface Waiting {
  bytes: number;
  go(): void;
}

export class WorkLine {
  private running = 0;
  private readonly waiting = new Set<Waiting>();
  private readonly limits: LineLimits;

  constructor(limits: LineLimits) {
    this.limits = limits;
  }

  /** Runs the work when it is its turn. Throws TOO_MANY when the line is too long or too slow, the reason of `signal` on abort. */
  async run<T>(bytes: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    // The next one takes over the place of the one that left: nobody can slip in between.
    if (this.running < this.limits.atOnce) this.running++;
    else await this.turn(bytes, signal);
    try {
      return await work();
    } finally {
      const [next] = this.waiting;
      if (next) next.go();
      else this.running--;
    }
  }

  private turn(bytes: number, signal?: AbortSignal): Promise<void> {
    const { mostWaiting, mostWaitingBytes, mostWaitMs } = this.limits;
    const total = [...this.waiting].reduce((sum, one) => sum + one.bytes, bytes);
    if (this.waiting.size >= mostWaiting || total > mostWaitingBytes) throw busy();
    return new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.waiting.delete(one);
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const one = {
        bytes,
        go: () => {
          leave();
          resolve();
        },
      };
      const timer = setTimeout(() => {
        leave();
        reject(busy());
      }, mostWaitMs);
      signal?.addEventListener("abort", abort, { once: true });
      this.waiting.add(one);
    });
  }
}

function busy(): AppError {
  return new AppError("TOO_MANY", {
    message: "Lares is busy reading other files and pages. Try again in a minute.",
    retry: "later",
  });
}
