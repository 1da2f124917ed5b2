import { expect, onTestFinished, test } from "vitest";
import { RunChild } from "./child.ts";

async function run(script: string, bounds: { line: number; run: number }) {
  const spec = {
    argv: [process.execPath, "-e", script] as const,
    cwd: "/",
    env: {},
    key: `child-${process.pid}`,
    endsWithInput: false,
    bounds,
  };
  let leader = 0;
  const child = new RunChild(spec, {
    endRun: async (one) => {
      leader = one.leader ?? 0;
      if (leader > 0) process.kill(leader, "SIGKILL");
    },
  });
  onTestFinished(() => child.end().catch(() => {}));
  const lines: string[] = [];
  const ends: string[] = [];
  const ended = new Promise<void>((resolve) => {
    void child.start({
      line: (line) => lines.push(line),
      ended: (why) => {
        ends.push(why);
        resolve();
      },
    });
  });
  await ended;
  return { lines, ends };
}

const flood = `setInterval(() => process.stdout.write("x".repeat(99) + "\\n"), 0)`;

test("a program that floods is over at its bound, once, and nothing after it is heard", async () => {
  const { lines, ends } = await run(flood, { line: 1024, run: 4096 });
  const heard = lines.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ends).toEqual(["It sent more than 4 kB in one run."]);
  expect(lines.length).toBe(heard);
  expect(heard).toBeLessThanOrEqual(40);
});

test("a program with an endless line is over at its bound", async () => {
  const { lines, ends } = await run(`process.stdout.write("y".repeat(5000) + "\\nz\\n")`, { line: 1024, run: 1e6 });
  expect(ends).toEqual(["It sent a line of more than 1 kB."]);
  expect(lines).toEqual([]);
});

test("a last line without its end is heard, then what it complained of", async () => {
  const { lines, ends } = await run(`process.stdout.write("last"); console.error("no home")`, { line: 1024, run: 1e6 });
  expect(lines).toEqual(["last"]);
  expect(ends).toEqual(["It ended by itself: no home"]);
});

test.each([
  ["at-once", true],
  ["with-input", false],
] as const)("ended %s, its processes are ended without waiting for it: %s", async (how, isAtOnce) => {
  let isEnding = false;
  const child = new RunChild(
    {
      argv: [process.execPath, "-e", "setInterval(() => {}, 1000)"],
      cwd: "/",
      env: {},
      key: `child-${process.pid}`,
      endsWithInput: true,
    },
    {
      endRun: async ({ leader = 0 }) => {
        isEnding = true;
        process.kill(leader, "SIGKILL");
      },
    },
  );
  await child.start({ line: () => {}, ended: () => {} });
  const ended = child.end(how);
  expect(isEnding).toBe(isAtOnce);
  await ended;
  expect(isEnding).toBe(true);
});
