/** An agent's files, on a real disk. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readAgentFile, writeAgentFile } from "./files.ts";

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "agent-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("only the known names are read and written, and never through a link (AGENTS-1)", async () => {
  const dir = folder();
  const other = join(folder(), "other.md");
  writeFileSync(other, "not yours");
  await expect(readAgentFile(dir, "../SOUL.md")).rejects.toThrow();
  await expect(writeAgentFile(dir, "notes.md", "x")).rejects.toThrow();
  symlinkSync(other, join(dir, "SOUL.md"));
  await expect(readAgentFile(dir, "SOUL.md")).rejects.toThrow();
  await expect(writeAgentFile(dir, "SOUL.md", "x")).rejects.toThrow();
  expect(readFileSync(other, "utf8")).toBe("not yours");
});

test("a write fails if somebody else changed the file in the meantime, and then nothing is changed (AGENTS-2)", async () => {
  const dir = folder();
  const { version } = await writeAgentFile(dir, "USER.md", "one");
  await writeAgentFile(dir, "USER.md", "two", version);
  await expect(writeAgentFile(dir, "USER.md", "three", version)).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await readAgentFile(dir, "USER.md")).text).toBe("two");
});
