/** What a long stream costs the model proxy in memory: the proxy in a process of its own, between a provider that sends as fast as it can and a reader. */
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { call, FORMATS } from "../runtimes/proxy-world.ts";
import { rssMb } from "./process.ts";

export interface StreamFigures {
  /** Most resident memory above the start, MB, during a stream of so many MB. */
  short: { mb: number; grew: number };
  long: { mb: number; grew: number };
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const MB = 1024 * 1024;
const SHORT_MB = 6;
/** The longest answer that passes the proxy is a little longer. */
const LONG_MB = 60;

export async function benchStream(): Promise<StreamFigures> {
  const home = mkdtempSync(join(tmpdir(), "lares-bench-stream-"));
  let size = 0;
  const provider = createServer((request, answer) => {
    request.resume();
    answer.writeHead(200, { "content-type": "text/event-stream" });
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word ".repeat(800) } };
    const piece = Buffer.from(`event: content_block_delta\ndata: ${JSON.stringify(delta)}\n\n`);
    let written = 0;
    const pump = () => {
      while (written < size) {
        written += piece.length;
        if (!answer.write(piece)) return void answer.once("drain", pump);
      }
      answer.end();
    };
    pump();
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const file = fileURLToPath(new URL("./proxy-stream-child.ts", import.meta.url));
  const child = fork(file, [home, url], { execArgv: ["--import", TSX] });
  const { baseUrl, token } = await new Promise<{ baseUrl: string; token: string }>((resolve) =>
    child.once("message", (message) => resolve(message as { baseUrl: string; token: string })),
  );
  const stream = async (mb: number) => {
    size = mb * MB;
    const before = rssMb(child.pid!);
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, rssMb(child.pid!));
    }, 20);
    const answer = await call(baseUrl, FORMATS.anthropic(token, "tell me", true));
    let read = 0;
    for await (const piece of answer.body!) read += (piece as Uint8Array).length;
    clearInterval(timer);
    if (read < size) throw new Error(`only ${read} bytes of ${size} came through`);
    return { mb, grew: most - before };
  };
  try {
    await stream(SHORT_MB);
    return { short: await stream(SHORT_MB), long: await stream(LONG_MB) };
  } finally {
    child.kill();
    provider.closeAllConnections();
    provider.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Half of the stream: what Node has not collected yet comes and goes, and a stream that is kept would be all of it. */
const MOST_MB = LONG_MB / 2;

export function sayStream({ short, long }: StreamFigures) {
  return {
    what: `resident memory of the proxy during a stream of ${short.mb} / ${long.mb} MB`,
    seen: `+${short.grew.toFixed(0)} / +${long.grew.toFixed(0)} MB`,
    bar: `≤ ${MOST_MB} MB`,
    ok: long.grew <= MOST_MB,
  };
}
