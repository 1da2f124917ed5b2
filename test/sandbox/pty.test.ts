import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { onScript } from "../../src/edges/tools/exec/pty.ts";
import { runCommand } from "../../src/edges/tools/exec/run.ts";
import { TerminalText } from "../../src/edges/tools/exec/terminal-text.ts";
import { createExec } from "../../src/edges/tools/index.ts";
import { scratch, until } from "../support/index.ts";
import { alive, confinement, never, newKey, world } from "./support.ts";

const run = (command: string, more: object = {}, at = world(), key = newKey(), signal = never) =>
  createExec({ sandbox: confinement(at, { backend: "auto" }) }).run({ command, pty: true, ...more }, at, key, signal);

describe("exec on a terminal", () => {
  test("programs see a terminal of a known size, and the output is plain text", async () => {
    const { text } = await run(
      `test -t 0 && test -t 1 && echo a terminal; stty size; printf '\\033[31mred\\033[0m \\033]0;title\\007done\\n'; printf '10%%\\r50%%\\r100%%\\n'`,
    );
    expect(text).toMatch(/^a terminal\n40 120\nred done\n100%\n\[exit 0, /);
  });

  test("without one they do not", async () => {
    expect((await run("test -t 1 || echo no terminal", { pty: false })).text).toContain("no terminal");
  });

  test("exit code, working directory, environment and limits are those of any command", async () => {
    const at = world();
    const key = newKey();
    const { text, meta } = await run("pwd; echo $LARES_RUN $HOME; exit 4", {}, at, key);
    expect(text).toContain(`${at.workspace}\n${key} ${at.workspace}\n[exit 4`);
    expect(meta).toMatchObject({ exit: 4, how: "exited" });
    const long = await run("seq 1 20000", {}, at);
    expect(long.text).toContain("characters cut");
    const late = await run("trap '' HUP TERM; sleep 300", { timeout_s: 1 }, at, key);
    expect(late).toMatchObject({ isError: true, text: expect.stringContaining("timed out") });
    expect(alive(key)).toEqual([]);
  });

  test("a stop ends it with all its processes", async () => {
    const at = world();
    const key = newKey();
    const stop = new AbortController();
    const done = run("sleep 300 & setsid -f sleep 300; touch begun; sleep 300", {}, at, key, stop.signal);
    await until("begun", () => existsSync(join(at.workspace, "begun")));
    stop.abort();
    expect((await done).text).toContain("stopped by request");
    expect(alive(key)).toEqual([]);
  });

  test("without the package, script makes the terminal", async () => {
    const at = world();
    const command = {
      dir: scratch("runs"),
      argv: ["/bin/sh", "-c", 'test -t 1 && echo "it\'s" a terminal; exit 6'] as const,
      cwd: at.workspace,
      env: { PATH: "/usr/bin:/bin" },
      key: newKey(),
      timeoutMs: 10_000,
      place: at,
    };
    const { output, code } = await runCommand(onScript(command).command, never);
    expect(output.text.replaceAll("\r", "")).toContain("it's a terminal\n");
    expect(code).toBe(6);
  });
});

describe("what a terminal was told, as plain text", () => {
  const plain = (...pieces: string[]) => {
    const text = new TerminalText();
    return pieces.map((piece) => text.add(piece)).join("") + text.end();
  };
  test("sequences may be cut anywhere", () => {
    const all = "a\x1b[1;31mb\x1b[0m\x1b]8;;http://x\x1b\\c\x1b]0;t\x07\x1b(Bd\x1b[?25l\r\ne";
    for (let i = 0; i <= all.length; i++) expect(plain(all.slice(0, i), all.slice(i)), String(i)).toBe("abcd\ne");
  });
  test("what was drawn over is there once; backspaces take back", () => {
    expect(plain("10%\r20", "%\r\n", "abc\b\bx\n", "\x07bell\n")).toBe("20%\nax\nbell\n");
  });
  test("something that never ends is no sequence", () => {
    expect(plain(`\x1b]${"x".repeat(10_000)}`).length).toBeGreaterThan(9000);
  });
});
