/** Starts the driver program, listens to it, kills it. */
import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import type { CrashPoint } from "../../../src/core/kit/index.ts";
import type { Plan } from "./driver.ts";
import type { EngineFactory } from "./world.ts";

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

export class Child {
  readonly process: ChildProcess;
  private readonly told: string[] = [];
  private readonly waiting = new Set<() => void>();
  private errors = "";
  readonly gone: Promise<NodeJS.Signals | number>;

  constructor(program: URL, args: string[], env: NodeJS.ProcessEnv = {}) {
    this.process = fork(fileURLToPath(program), args, {
      execArgv: ["--import", tsx],
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.process.stderr!.on("data", (data) => (this.errors += data));
    this.process.on("message", (message) => {
      this.told.push(String(message));
      for (const look of this.waiting) look();
    });
    this.gone = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve(signal ?? code ?? 0)));
    onTestFinished(() => void this.process.kill("SIGKILL"));
  }

  static engine(factory: EngineFactory, home: string, plan: Plan, crashAt?: `${CrashPoint}:${number}`): Child {
    const env = crashAt ? { LARES_CRASH_AT: crashAt } : {};
    return new Child(new URL("./driver.ts", import.meta.url), [factory.module.href, home, JSON.stringify(plan)], env);
  }

  /** Resolves when the child has said this; rejects when it dies first. */
  says(word: string): Promise<void> {
    const heard = new Promise<void>((resolve) => {
      const look = () => {
        if (!this.told.includes(word)) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
    });
    const died = this.gone.then((how) => {
      if (!this.told.includes(word)) throw new Error(`the child died (${how}) before "${word}": ${this.errors}`);
    });
    return Promise.race([heard, died]);
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.gone;
  }

  /** Waits until it killed itself; anything else is an error with the child's own words. */
  async wasKilled(): Promise<void> {
    const how = await this.gone;
    if (how !== "SIGKILL") throw new Error(`the child was not killed but ended with ${how}: ${this.errors}`);
  }
}
