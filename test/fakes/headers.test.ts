/** Each fake says what it is and which pages of the platform's documentation it was written from. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Not fakes: what they share, and the outsiders' libraries that are run against them. */
const TOOLS = new Set(["wire", "outsiders"]);
const here = new URL(".", import.meta.url);
const fakes = readdirSync(here, { withFileTypes: true }).filter((one) => one.isDirectory() && !TOOLS.has(one.name));

test("there are fakes to look at", () => {
  expect(fakes.length).toBeGreaterThan(5);
});

test.each(fakes.map((one) => one.name))("%s says that it is a fake and names its pages", (name) => {
  const headers = readdirSync(new URL(`${name}/`, here))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(new URL(`${name}/${file}`, here), "utf8"))?.[0] ?? "");
  const [header, ...more] = headers.filter((text) => /\bFAKE\b/.test(text));
  expect(more).toEqual([]);
  const pages = header?.match(/^ \* Documentation: https:\/\/\S+\.\S+/gm) ?? [];
  expect(pages.length, `${name} has no "Documentation: https://…" line`).toBeGreaterThan(0);
  if (name !== "model-server") expect(header).toMatch(/^ \* Acknowledgement: \S/m);
});
