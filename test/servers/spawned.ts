/** Real servers for tests: each in a folder of its own, on a free port, as the present user; nothing of the system is touched. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { until } from "../support/until.ts";

export function programAt(...paths: string[]): string | undefined {
  return paths.find((path) => existsSync(path));
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export interface Spawned {
  child: ChildProcess;
  output(): string;
  stop(): Promise<void>;
}

/** Runs until `stop`; resolves when its port answers. The folder goes with it. */
export async function serve(
  program: string,
  args: string[],
  at: { port: number; folder: string; env?: Record<string, string> },
): Promise<Spawned> {
  let said = "";
  let gone = false;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...at.env } });
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-20_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      gone = true;
      resolve();
    });
  });
  await until(
    `${program} to listen`,
    async () => {
      if (gone) throw new Error(`${program} ended:\n${said}`);
      return answers(at.port);
    },
    { instead: () => said },
  );
  return {
    child,
    output: () => said,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(at.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
