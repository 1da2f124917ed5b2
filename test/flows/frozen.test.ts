/** A gateway that is stopped still accepts connections: whoever asks it must not wait for ever. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Lares, startLares } from "../support/index.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/main.js");

function ask(words: string[], { home, token }: Lares): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [PROGRAM, ...words, "--home", home, "--token", token],
      { timeout: 20_000 },
      (_, out, err) => resolve({ code: child.exitCode, text: out + err }),
    );
  });
}

it("a frozen gateway is named as one that doesn't answer, within seconds and with the code for unreachable", async () => {
  const lares = await startLares();
  try {
    process.kill(lares.pid, "SIGSTOP");
    const asked = [["status"], ["status", "--json"], ["sessions", "list"]];
    const answers = await Promise.all(asked.map((words) => ask(words, lares)));
    for (const { code, text } of answers) {
      expect(text).toMatch(/Lares at http:\S+ accepted the connection but doesn't answer: it may be stopped or busy\./);
      expect(text).toMatch(/Check its log: .* logs/);
      expect(code).toBe(3);
    }
    process.kill(lares.pid, "SIGCONT");
    expect((await ask(["status"], lares)).code).toBe(0);
  } finally {
    process.kill(lares.pid, "SIGCONT");
    await lares.dispose();
  }
}, 60_000);
