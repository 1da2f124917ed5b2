/**
 * The folders of commands in the foreground: one for each try of a call, kept until the call's outcome is durable. From them the
 * next start of Lares learns the outcome of a command whose end the last one didn't see.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Crash, noCrash } from "../../../core/kit/index.ts";
import { claim, readPid, readStatus, supervises } from "../process/supervisor.ts";
import { endRun } from "./processes.ts";

export class CommandRuns {
  private readonly crash: Crash;
  private dir: string | undefined;
  /** The next life of Lares finds it again. */
  readonly isLasting: boolean;
  private readonly open = new Map<string, string[]>();

  /** Without a folder nothing outlives this process, and each run is cleared away when it is over. */
  constructor(dir?: string, crash: Crash = noCrash) {
    this.dir = dir;
    this.crash = crash;
    this.isLasting = dir !== undefined;
  }

  /** A fresh folder. Two tries of one call have two: what was left of the first cannot meddle with the second. */
  make(key: string): string {
    this.dir ??= mkdtempSync(join(tmpdir(), "lares-runs-"));
    const dir = join(this.dir, `${toName(key)}~${randomBytes(4).toString("hex")}`);
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.open.set(key, [...(this.open.get(key) ?? []), dir]);
    this.crash.at("command.prepared");
    return dir;
  }

  /** Its supervisor runs. */
  started(): void {
    this.crash.at("command.started");
  }

  /** The run is over, its outcome not yet durable. */
  over(key: string): void {
    if (!this.isLasting) this.settled(key, true);
  }

  /** Its outcome is durable: nobody asks for it again. */
  settled(key: string, now = false): void {
    for (const dir of this.open.get(key) ?? []) {
      if (now) rmSync(dir, { recursive: true, force: true });
      else void rm(dir, { recursive: true, force: true }).catch(() => {});
    }
    this.open.delete(key);
  }

  /** The attempt of this call that was started, if any. The others can no longer start. */
  async begun(key: string): Promise<string | undefined> {
    const tries = this.names()
      .filter((name) => toKey(name) === toName(key))
      .map((name) => join(this.dir!, name));
    this.open.set(key, tries);
    let found: string | undefined;
    for (const dir of tries) if ((await claim(dir)) === "begun") found = dir;
    return found;
  }

  /** Before turns go on: what no call will ask for is ended and cleared away. Only what is there when this is called. */
  async sweep(wanted: readonly string[]): Promise<void> {
    const kept = new Set(wanted.map(toName));
    for (const name of this.names()) {
      if (kept.has(toKey(name))) continue;
      const dir = join(this.dir!, name);
      if ((await claim(dir)) === "begun" && !(await readStatus(dir))) {
        const pid = await readPid(dir);
        // A number that is somebody else's by now is left alone.
        const isOurs = pid !== undefined && (await supervises(pid, dir));
        await endRun({ key: toKey(name), ...(isOurs ? { leader: pid } : {}) });
      }
      await rm(dir, { recursive: true, force: true });
    }
  }

  private names(): string[] {
    return this.dir !== undefined && existsSync(this.dir) ? readdirSync(this.dir) : [];
  }
}

function toName(key: string): string {
  return key.replace(/[^\w.-]/g, "_");
}

function toKey(name: string): string {
  return name.slice(0, name.lastIndexOf("~"));
}
