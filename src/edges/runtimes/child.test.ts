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

test("ended at once, a program isn't given the time that it takes to end with its input", async () => {
  let seen = "";
  const say = `process.stdin.on("end", () => process.stdout.write("went on\\n")).resume(); setInterval(() => {}, 1000)`;
  const spec = {
    argv: [process.execPath, "-e", `${say}; process.stdout.write("here\\n")`] as const,
    cwd: "/",
    env: {},
    key: `child-${process.pid}`,
    endsWithInput: true,
  };
  const started = new Promise<{ child: RunChild; ended: () => number }>((resolve) => {
    let ended = 0;
    const child = new RunChild(spec, {
      endRun: async ({ leader = 0 }) => {
        ended = performance.now();
        process.kill(leader, "SIGKILL");
      },
    });
    const line = (text: string) => {
      seen += text;
      resolve({ child, ended: () => ended });
    };
    void child.start({ line, ended: () => {} });
  });
  const { child, ended } = await started;
  const before = performance.now();
  await child.end("at-once");
  expect(ended() - before).toBeLessThan(500);
  expect(seen).toBe("here");
});
