import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ForeignFolder } from "./files.ts";

test("settings are read as people edit them, and what can't be read is listed with the reason", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lares-foreign-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, "good.json"), "{ // mine\n a: 1, }");
  writeFileSync(join(dir, "bad.json"), "[[");
  writeFileSync(join(tmpdir(), "lares-elsewhere.json"), "{}");
  symlinkSync(join(tmpdir(), "lares-elsewhere.json"), join(dir, "link.json"));
  const folder = new ForeignFolder(dir);
  const read = (name: string) => folder.json(join(dir, name));
  expect([await read("good.json"), await read("bad.json"), await read("link.json"), await read("none.json")]).toEqual([
    { a: 1 },
    ...[undefined, undefined, undefined],
  ]);
  expect(folder.leftOut([])).toHaveLength(2);
});
