/** What the config says about a wrong form is one sentence: "channels.telegram.main.token must be a bot token such as …". */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../../", import.meta.url));
const files = (readdirSync(src, { recursive: true }) as string[]).filter((name) => /(^|\/)config\.ts$/.test(name));
const words = files.flatMap((file) =>
  [...readFileSync(join(src, file), "utf8").matchAll(/\.regex\([^"']*,\s*(["'])(.*?)\1\s*\)/g)].map(
    ([, , text]): [string, string] => [file, text!],
  ),
);

test("the table is there", () => {
  expect(words.length).toBeGreaterThan(15);
});

test.each(words)("%s: it must be %s", (_file, text) => {
  // A noun, or what it is made of: no second verb, no sentence of its own, no bare "as".
  expect(text).toMatch(/^(?:an? |one |two |made of |digits|\d+ to \d+ )/);
  expect(text).not.toMatch(/\bmust\b|\blooks\b|\.$/);
});
