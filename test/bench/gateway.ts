/** The door's figures: WebSocket calls, idle sockets, fan-out of events, the weight of the web UI. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { WebSocket } from "ws";
import { chat, end, type Lares, percentile, rssMb, sleep, startLares } from "./process.ts";

interface Frame {
  type: string;
  id?: string;
  event?: string;
  payload?: { turn?: string };
}

export interface GatewayFigures {
  rpcP50: number;
  rpcP95: number;
  socketsMb: number;
  fanOutP95: number;
  events: number;
}

export async function gatewayFigures(modelUrl: string): Promise<GatewayFigures> {
  const lares = await startLares(modelUrl);
  const first = await open(lares);
  for (let i = 0; i < 50; i++) await call(first, "health");
  const times: number[] = [];
  for (let i = 0; i < 500; i++) times.push(await call(first, "health"));
  await sleep(500);
  const before = rssMb(lares.pid);
  const idle = await Promise.all(Array.from({ length: 200 }, () => open(lares)));
  await sleep(1000);
  const socketsMb = rssMb(lares.pid) - before;
  const watchers = idle.slice(0, 50);
  const { p95, events } = await fanOut(lares, watchers);
  for (const socket of [first, ...idle]) socket.close();
  await end(lares);
  return { rpcP50: percentile(times, 50), rpcP95: percentile(times, 95), socketsMb, fanOutP95: p95, events };
}

/** How long after the first watcher the last one hears of a turn's end. */
async function fanOut(lares: Lares, watchers: WebSocket[]): Promise<{ p95: number; events: number }> {
  let events = 0;
  const spreads: number[] = [];
  for (let i = 0; i < 40; i++) {
    const heard = watchers.map(
      (socket) =>
        new Promise<number>((resolve) => {
          const listen = (data: Buffer) => {
            events++;
            if ((JSON.parse(data.toString()) as Frame).event !== "turn.ended") return;
            socket.off("message", listen);
            resolve(performance.now());
          };
          socket.on("message", listen);
        }),
    );
    await chat(lares, `fan-${i}`, "hello");
    const at = await Promise.all(heard);
    spreads.push(Math.max(...at) - Math.min(...at));
  }
  return { p95: percentile(spreads, 95), events };
}

function open(lares: Lares): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${lares.url.replace("http", "ws")}/ws`, {
      headers: { authorization: `Bearer ${lares.token}` },
    });
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

let calls = 0;
function call(socket: WebSocket, method: string): Promise<number> {
  const id = `c${++calls}`;
  const began = performance.now();
  return new Promise((resolve) => {
    const listen = (data: Buffer) => {
      if ((JSON.parse(data.toString()) as Frame).id !== id) return;
      socket.off("message", listen);
      resolve(performance.now() - began);
    };
    socket.on("message", listen);
    socket.send(JSON.stringify({ type: "req", id, method, params: {} }));
  });
}

/** What the first page loads: the scripts and styles its document names, compressed. */
export function uiWeight(root: string): { script: number; style: number } | undefined {
  const dir = join(root, "dist/ui");
  if (!existsSync(join(dir, "index.html"))) return undefined;
  const html = readFileSync(join(dir, "index.html"), "utf8");
  const named = [...html.matchAll(/(?:src|href)="\/?(assets\/[^"]+)"/g)].map((m) => m[1]!);
  const size = (ending: string) =>
    named
      .filter((file) => file.endsWith(ending) && statSync(join(dir, file)).isFile())
      .reduce((sum, file) => sum + gzipSync(readFileSync(join(dir, file))).length, 0);
  if (!readdirSync(join(dir, "assets")).length) return undefined;
  return { script: size(".js"), style: size(".css") };
}
