/** Each fake says what it is, and each of its files which pages of the platform's documentation it was written from. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Not fakes: what they share, and the outsiders' libraries that are run against them. */
const TOOLS = new Set(["wire", "outsiders"]);
const here = new URL(".", import.meta.url);
const folders = readdirSync(here, { withFileTypes: true }).filter((one) => one.isDirectory());
const fakes = folders.filter((one) => !TOOLS.has(one.name));
const filesOf = (name: string) =>
  readdirSync(new URL(`${name}/`, here), { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.m?[jt]s$/.test(file),
  );
const headOf = (file: string) => /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(new URL(file, here), "utf8"))?.[0] ?? "";
const PAGES = /^ \* Documentation: https:\/\/\S+\.\S+/gm;

test("there are fakes to look at", () => {
  expect(fakes.length).toBeGreaterThan(5);
});

test.each(fakes.map((one) => one.name))("%s says that it is a fake and names its pages", (name) => {
  const heads = filesOf(name).map((file) => headOf(`${name}/${file}`));
  const [head, ...more] = heads.filter((text) => /\bFAKE\b/.test(text));
  expect(more).toEqual([]);
  expect(head?.match(PAGES) ?? [], `${name} has no "Documentation: https://…" line`).not.toEqual([]);
  if (name !== "model-server") expect(head).toMatch(/^ \* Acknowledgement: \S/m);
});

test.each(folders.flatMap(({ name }) => filesOf(name).map((file) => `${name}/${file}`)))(
  "%s names its pages, or the file beside it that does",
  (file) => {
    const head = headOf(file);
    const see = /^ \* Documentation: see (\S+)$/m.exec(head)?.[1];
    const told = see === undefined ? head : headOf(`${file.slice(0, file.lastIndexOf("/"))}/${see}`);
    expect(
      told.match(PAGES) ?? [],
      `${file} has no "Documentation: https://…" and no "Documentation: see …"`,
    ).not.toEqual([]);
  },
);
