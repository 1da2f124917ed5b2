/** Every command that a hint anywhere in Lares names can be run. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { asCalled } from "../../../../core/protocol/client.ts";
import { COMMANDS } from "./index.ts";

test("hints name only commands that exist", () => {
  const known = new Set(COMMANDS.map(({ name }) => name));
  const first = new Set([...known].map((name) => name.split(" ")[0]!));
  const wrong: string[] = [];
  const src = fileURLToPath(new URL("../../../../", import.meta.url));
  const files = (readdirSync(src, { recursive: true }) as string[]).filter((name) => /(?<!\.test)\.ts$/.test(name));
  for (const file of files)
    for (const [, hint] of readFileSync(join(src, file), "utf8").matchAll(
      /: lares ([a-z][a-z0-9]*(?: [a-z][a-z-]*)?)/g,
    )) {
      const [one, two] = hint!.split(" ");
      const isKnown = known.has(hint!) || known.has(one!) || (first.has(one!) && two === undefined);
      if (!isKnown) wrong.push(`${file}: lares ${hint}`);
    }
  expect(wrong).toEqual([]);
});

test("a hint with any of our commands is shown as it can be typed here", () => {
  const first = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))];
  expect(first.length).toBeGreaterThan(30);
  expect(first.filter((word) => asCalled(`lares ${word} x`, "node bin/lares.js").startsWith("lares"))).toEqual([]);
});
