/** `lares mcp test` in a terminal, with a server that never answers. */
import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { PROGRAM, startLares } from "../support/index.ts";

it("a server that hangs is waited for with news about what it wrote, and ends in a sentence", async () => {
  const code = "console.error('fetching a package'); process.stdin.resume(); setInterval(() => {}, 1000)";
  const slow = { command: process.execPath, args: ["-e", code], sandbox: false, startSeconds: 5 };
  const lares = await startLares({ config: { mcp: { servers: { slow } } } });
  onTestFinished(() => lares.dispose());
  const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token };
  const child = spawn(process.execPath, [PROGRAM, "mcp", "test", "slow", "--home", lares.home], { env });
  let [out, news] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (news += chunk.toString()));
  const exit = await new Promise((resolve) => child.once("close", resolve));
  expect(exit).toBe(1);
  expect(news).toMatch(/Connecting to slow, \d+ s so far\. It wrote: fetching a package/);
  expect(out).toMatch(/^slow can't be reached: .*fetching a package/);
});
