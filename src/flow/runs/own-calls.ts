/**
 * Calls of our own tools that a run makes over MCP. They come beside the run's events, so each waits until the run has announced it: what
 * the runtime read before it is known then.
 *
 * RUNTOOLS-1: a call is run by the turn, as a call of our own loop is: judged by the gate, recorded, asked about.
 * RUNTOOLS-2: a call that nobody announced is judged as caused by text from outside.
 */
import type { RunEventBody, RunToolResult } from "../../core/contracts/index.ts";
import type { Json } from "../../core/domain/index.ts";
import { AppError } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { RUN_IS_OVER, TOO_MANY_CALLS } from "./words.ts";

export interface ReadyCall {
  call: string;
  name: string;
  input: Json;
  isAnnounced: boolean;
}

interface WaitingOwnCall extends ReadyCall {
  /** Nobody announced it in time. */
  isLate: boolean;
  settle(result: RunToolResult): void;
  refuse(error: AppError): void;
}

/** How long a word about it may be on its way. */
const ANNOUNCED_MS = 3000;
/** A model calls a few at once; more is a fault. */
const MOST_WAITING = 32;

export class OwnCalls {
  private readonly clock: Clock;
  /** In the order they came. */
  private readonly waiting: WaitingOwnCall[] = [];
  /** With the turn. */
  private readonly taken = new Map<string, WaitingOwnCall>();
  /** What the runtime says that it calls, and hasn't ended. */
  private readonly announced = new Map<string, string>();
  private count = 0;
  private isOver = false;
  /** Called when a call may be ready. */
  wake: () => void = () => {};

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get isServing(): boolean {
    return this.waiting.length + this.taken.size > 0;
  }

  take(name: string, input: Json, signal: AbortSignal): Promise<RunToolResult> {
    if (this.isOver) return Promise.reject(over());
    if (this.waiting.length + this.taken.size >= MOST_WAITING)
      return Promise.resolve({ text: TOO_MANY_CALLS, isError: true });
    return new Promise((settle, refuse) => {
      const one: WaitingOwnCall = {
        call: `own-${++this.count}`,
        name,
        input,
        isAnnounced: false,
        isLate: false,
        settle,
        refuse,
      };
      this.waiting.push(one);
      const stopTimer = this.clock.after(ANNOUNCED_MS, () => {
        one.isLate = true;
        this.wake();
      });
      // Nobody waits for it: it isn't begun. What the turn has begun goes on.
      signal.addEventListener("abort", () => {
        stopTimer();
        this.drop(one);
        refuse(over());
      });
      this.wake();
    });
  }

  /** An event of the run was recorded. */
  heard(event: RunEventBody): void {
    if (event.type === "tool_call") this.announced.set(event.call, event.name);
    else if (event.type === "tool_result") this.announced.delete(event.call);
  }

  /** The first call whose turn it is. */
  next(): ReadyCall | undefined {
    const found = this.waiting.find((one) => one.isLate || this.findAnnounced(one) !== undefined);
    if (!found) return undefined;
    const announced = this.findAnnounced(found);
    if (announced !== undefined) this.announced.delete(announced);
    this.drop(found);
    this.taken.set(found.call, found);
    const { call, name, input } = found;
    return { call, name, input, isAnnounced: announced !== undefined };
  }

  settle(call: string, result: RunToolResult): void {
    this.taken.get(call)?.settle(result);
    this.taken.delete(call);
  }

  /** The run is over. */
  end(): void {
    this.isOver = true;
    for (const one of [...this.waiting, ...this.taken.values()]) one.refuse(over());
    this.waiting.length = 0;
    this.taken.clear();
  }

  /** Runtimes put the server's name before a tool's. */
  private findAnnounced({ name }: WaitingOwnCall): string | undefined {
    return [...this.announced].find(([, said]) => said === name || said.endsWith(`_${name}`))?.[0];
  }

  private drop(one: WaitingOwnCall): void {
    const at = this.waiting.indexOf(one);
    if (at >= 0) this.waiting.splice(at, 1);
  }
}

function over(): AppError {
  return new AppError("NOT_READY", { message: RUN_IS_OVER });
}
