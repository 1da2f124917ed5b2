/** The probe that judges stalls is itself tried: a stall that is planted is seen, and a quiet machine gets no allowance. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { allowedStall, stallBar, watched } from "./watching.ts";

/** Answers at once, and on `/block?MS` keeps its event loop from doing anything for so long. */
const SERVER = `
const server = require("node:http").createServer((request, response) => {
  const ms = Number(/^\\/block\\?(\\d+)/.exec(request.url)?.[1] ?? 0);
  for (const end = performance.now() + ms; performance.now() < end; );
  response.end("ok");
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

let child: ChildProcess;
let server: { url: string; pid: number };
beforeAll(async () => {
  child = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(child.stdout!, "data")) as [Buffer];
  server = { url: `http://127.0.0.1:${String(port).trim()}`, pid: child.pid! };
});
afterAll(() => {
  child?.kill("SIGKILL");
});

it("a stall above the bar is seen as one", async () => {
  const most = await allowedStall(server);
  const block = () => fetch(`${server.url}/block?${Math.ceil(most) + 100}`).then((response) => response.text());
  expect((await watched("planted stall", server, block)).worstMs).toBeGreaterThan(most);
});

it("a quiet machine is held to the bar itself, a busy one to what it can do", () => {
  expect(stallBar(200, { busy: 1, idleMs: 4 })).toBe(200);
  expect(stallBar(200, { busy: 1.1, idleMs: 40 })).toBe(200);
  expect(stallBar(200, { busy: 3, idleMs: 100 })).toBe(700);
});

it("a server that is gone does not pass for a quick one", async () => {
  const gone = spawn(process.execPath, ["-e", SERVER], { stdio: ["ignore", "pipe", "inherit"] });
  const [port] = (await once(gone.stdout!, "data")) as [Buffer];
  const at = { url: `http://127.0.0.1:${String(port).trim()}`, pid: gone.pid! };
  const { worstMs } = await watched("killed", at, async () => {
    gone.kill("SIGKILL");
    await once(gone, "exit");
    // One more question, and its answer.
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  expect(worstMs).toBe(Number.POSITIVE_INFINITY);
});
