import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scene } from "../testing.ts";
import { OutputCapture } from "./capture.ts";

test("what goes beyond the disk cap is dropped, and the note says how much is there", async () => {
  const place = await scene();
  const { spillDir } = place;
  const capture = new OutputCapture({ place, key: "k", mostOnDisk: 40_000 });
  for (let i = 0; i < 10; i++) capture.add(Buffer.alloc(10_000, 97 + i));
  const { text } = await capture.end();
  expect(text).toContain(
    `the first 39.1 KB of 97.7 KB are in .lares/out/k.txt; search it, or go on with read {"path":".lares/out/k.txt","offset":1}`,
  );
  expect((await readFile(join(spillDir, "k.txt"))).length).toBe(40_000);
  expect(text.endsWith("j".repeat(10_000))).toBe(true);
});

test("characters that arrive in pieces are not torn, neither at chunks nor at the cut", async () => {
  const place = await scene();
  const capture = new OutputCapture({ place, key: "k" });
  const bytes = Buffer.from("x😀€".repeat(20_000));
  for (let at = 0; at < bytes.length; at += 7) capture.add(bytes.subarray(at, at + 7));
  const { text } = await capture.end();
  expect(text).not.toMatch(/\p{Cs}/u);
  expect(text).not.toContain("\ufffd");
});

test("when the whole cannot be kept, the result says so and still has head and tail", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, ".lares"), "");
  const capture = new OutputCapture({ place, key: "k" });
  for (let i = 0; i < 5; i++) capture.add(Buffer.alloc(10_000, 97 + i));
  const { text, spill } = await capture.end();
  expect(spill).toBeUndefined();
  expect(text).toMatch(/^a{10000}\n\[… 20000 characters cut; the full output could not be saved: /);
  expect(text.endsWith("e".repeat(10_000))).toBe(true);
});

test("a NUL in the output is spelt out", async () => {
  const place = await scene();
  const capture = new OutputCapture({ place, key: "k" });
  capture.add(Buffer.from("a\0b"));
  expect(await capture.end()).toMatchObject({ text: "a\\u{0}b", cut: false });
});
