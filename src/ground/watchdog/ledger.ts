/**
 * What is running, in a file of fixed slots: a line a slot, the first says how the life goes. Written without fsync, a few
 * microseconds each: what the kernel has, it keeps however this process dies. Only a power cut loses it, and that is no work's fault.
 *
 * The watchdog's thread writes the first slot when the main thread can't (worker-source.ts).
 */

import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { shortWorkKey } from "../../core/domain/index.ts";
import type { Doing } from "../../core/kit/index.ts";
import type { LastLife, RunningWork } from "./rule.ts";

export const SLOT_BYTES = 256;
/** Room for `{"key":"…","began":1234567890,"progressed":false,"doing":"works"}` around it. */
const MOST_KEY_BYTES = 190;

export interface Past extends LastLife {
  life: string;
}

export interface LedgerSlot {
  key: string;
  n: number;
  began: number;
  progressed: boolean;
  doing: Doing;
}

export class WorkLedger {
  readonly file: string;
  readonly life: string;
  private fd: number | undefined;
  private readonly buffer = Buffer.alloc(SLOT_BYTES);
  private readonly free: number[] = [];
  private used = 1;
  private begun = 0;

  /** Begins a new life: what the last one left is gone. A home that can't be written shows that elsewhere. */
  constructor(file: string, life: string) {
    this.file = file;
    this.life = life;
    try {
      this.fd = openSync(file, "w", 0o600);
    } catch {
      this.fd = undefined;
    }
    this.note("died");
  }

  take(key: string): LedgerSlot {
    const n = this.free.pop() ?? this.used++;
    const slot: LedgerSlot = { key, n, began: ++this.begun, progressed: false, doing: "works" };
    this.change(slot, {});
    return slot;
  }

  change(slot: LedgerSlot, now: Partial<Pick<LedgerSlot, "progressed" | "doing">>): void {
    const { n, ...line } = Object.assign(slot, now);
    this.write(n, line);
  }

  give(slot: LedgerSlot): void {
    this.write(slot.n, undefined);
    this.free.push(slot.n);
  }

  /** How this life is judged when it ends now. */
  note(how: LastLife["how"]): void {
    this.write(0, { life: this.life, how });
  }

  /** This life ended as it should: there is nothing to judge. */
  close(): void {
    if (this.fd === undefined) return;
    closeSync(this.fd);
    this.fd = undefined;
    rmSync(this.file, { force: true });
  }

  /** A full disk must not break a turn: what can't be noted is just not guarded. */
  private write(n: number, line: object | undefined): void {
    if (this.fd === undefined) return;
    this.buffer.fill(0x20);
    if (line) this.buffer.write(JSON.stringify(line));
    this.buffer[SLOT_BYTES - 1] = 0x0a;
    try {
      writeSync(this.fd, this.buffer, 0, SLOT_BYTES, n * SLOT_BYTES);
    } catch {
      // Not guarded.
    }
  }
}

/** A key that fits its slot. */
export function fitting(key: string): string {
  if (Buffer.byteLength(JSON.stringify(key)) <= MOST_KEY_BYTES) return key;
  return shortWorkKey(key, createHash("sha256").update(key).digest("hex"));
}

/** What the last life left, when it didn't end as it should. Lines that can't be read count as nothing. */
export function readPast(file: string): Past | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  const [first, ...rest] = text.split("\n").map(parsed);
  if (typeof first?.life !== "string") return undefined;
  const how = first.how === "stalled" || first.how === "threw" || first.how === "full" ? first.how : "died";
  const running = rest.flatMap((line): RunningWork[] =>
    typeof line?.key === "string"
      ? [
          {
            key: line.key,
            began: Number(line.began) || 0,
            progressed: line.progressed === true,
            doing: line.doing === "asks" || line.doing === "waits" ? line.doing : "works",
          },
        ]
      : [],
  );
  return { life: first.life, how, running };
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line.trim()) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
