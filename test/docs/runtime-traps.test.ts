/** docs/RUNTIME-TRAPS.md names a test for each trap of a runtime: every one of them exists. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

test("every test that the page of traps names is in its file", () => {
  const rows = [...read("docs/RUNTIME-TRAPS.md").matchAll(/^\| (.+) \| `([^`]+)`: (.+) \|$/gm)];
  expect(rows.length).toBeGreaterThan(50);
  const missing = rows.filter(([, , file, title]) => !read(file!).includes(title!)).map(([, trap]) => trap);
  expect(missing).toEqual([]);
});
