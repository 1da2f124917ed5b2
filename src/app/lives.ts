/** The instance that runs now. One whose records failed is over; after a full disk a new one takes its place. */
import { AppError } from "../core/domain/index.ts";
import { Current, type Log, truthy } from "../core/kit/index.ts";
import { hasRoom, proveRoom } from "../ground/records/index.ts";
import type { Instance } from "./instance.ts";

export interface LivesParts {
  home: string;
  log: Log;
  open: (onFatal: (error: AppError) => void) => Promise<Instance>;
  /** What the broken instance had under way is not held against it. */
  abandon: () => void;
}

/** Between two looks whether a full disk has room again. */
const FULL_RETRY_MS = 1000;

export class Lives {
  /** Resolves with an exit code when the program ended by itself. */
  readonly done: Promise<number>;
  /** Undefined before the start, and while room is waited for. */
  current: Instance | undefined;
  /** Why nothing can be served now, or nothing. */
  readonly trouble = new Current<AppError | undefined>(undefined);
  private finish!: (code: number) => void;
  private isStopping = false;
  private isWaiting = false;
  private readonly parts: LivesParts;

  constructor(parts: LivesParts) {
    this.parts = parts;
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  async start(): Promise<Instance> {
    this.current = await this.open();
    return this.current;
  }

  /** Throws STORAGE_FULL while there is none. */
  readonly now = (): Instance => {
    if (this.current) return this.current;
    throw new AppError("STORAGE_FULL", {
      message: this.trouble.get()?.message ?? "Lares is not ready.",
      hint: "Free some space; Lares goes on by itself.",
      retry: "later",
    });
  };

  /** From now on no new instance is built. */
  stopping(): void {
    this.isStopping = true;
  }

  async stop(drainMs: number): Promise<void> {
    this.stopping();
    await this.current?.stop(drainMs);
  }

  private open(): Promise<Instance> {
    return this.parts.open((error) => void this.fell(error));
  }

  /** The records failed. A full disk is waited out with a new instance; anything else ends the program. */
  private async fell(error: AppError): Promise<void> {
    // While room is waited for there is one loop, and an instance it built too early fails in its hands.
    if (this.isStopping || this.isWaiting) return;
    const { log, abandon } = this.parts;
    this.trouble.set(error);
    log.error(error.message, { code: error.code, ...truthy({ hint: error.hint }) });
    const broken = this.current;
    this.current = undefined;
    abandon();
    void broken?.stop(0).catch(() => {});
    if (error.code !== "STORAGE_FULL") return this.finish(1);
    this.isWaiting = true;
    const next = await this.nextWithRoom();
    if (!next) return;
    if (this.isStopping) return next.stop(0);
    this.current = next;
    this.trouble.set(undefined);
    this.isWaiting = false;
    log.warn("there is room again: Lares goes on");
  }

  /** Undefined when Lares stops meanwhile. */
  private async nextWithRoom(): Promise<Instance | undefined> {
    while (!this.isStopping) {
      await new Promise((resolve) => setTimeout(resolve, FULL_RETRY_MS));
      if (this.isStopping || !hasRoom(this.parts.home)) continue;
      const next = await this.openOnProbation().catch(() => undefined);
      if (next) return next;
    }
    return undefined;
  }

  /** An instance whose records took a write as large as a turn's. */
  private async openOnProbation(): Promise<Instance> {
    const next = await this.open();
    try {
      await proveRoom(next.records);
      return next;
    } catch (error) {
      await next.stop(0).catch(() => {});
      throw error;
    }
  }
}
