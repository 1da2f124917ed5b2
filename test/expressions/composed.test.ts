/**
 * Expressions that are put together when a module is loaded are no literals, so the check of the sources does not see them. Here
 * the modules are loaded while the constructor keeps a list.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { expressionsOf, sourceFiles } from "./find.ts";
import { judge } from "./judge.ts";

const ROOT = resolve(import.meta.dirname, "..", "..");

/** `file: what` with the reason why it may stay although nothing here loads and tries it. */
const MADE_LATER: Readonly<Record<string, string>> = {
  "src/edges/channels/mattermost/events.ts": "the bot's own name, escaped; nothing behind it is taken back",
  "src/edges/channels/named.ts": "the bot's own name, escaped; the pump table has a row for it",
  "src/edges/tools/exec/shell/unwrap.ts": "a copy of a literal, which is judged where it stands",
  "src/edges/tools/search/matcher.ts": "a model's pattern, in a thread of its own with a deadline",
  "src/faces/gateway/static/files.ts": "one of two constant words in a header",
  "ui/src/lib/router.svelte.ts": "the page's own routes, each part up to the next slash",
};
/** Judged super-linear, and why the text they meet cannot make them so. */
const FED_SAFELY: Readonly<Record<string, string>> = {
  "src/edges/models/practice/rules/index.ts": "4,000 characters at most; the pump table has a row for it",
  "src/mind/memory/graph.ts": "rows of blanks are one blank before it looks; the pump table has a row for it",
};

const RealRegExp = RegExp;
afterEach(() => {
  globalThis.RegExp = RealRegExp;
});

test("every expression that is put together takes linear time", { timeout: 240_000 }, async () => {
  const constant = new Set(expressionsOf(["src"]).map(({ source }) => source));
  const composing = sourceFiles(["src", "ui/src"]).filter((file) =>
    /\bnew RegExp\((?!["'])/.test(readFileSync(join(ROOT, file), "utf8")),
  );
  const slow: string[] = [];
  const later: string[] = [];
  for (const file of composing) {
    const made = file.startsWith("ui/") ? [] : (await madeBy(file)).filter(([source]) => !constant.has(source));
    if (made.length === 0) later.push(file);
    for (const [source, flags] of made) {
      const why = judge(source, flags);
      if (why && !(file in FED_SAFELY)) slow.push(`${file} is ${why}: /${source.slice(0, 200)}/${flags}`);
    }
  }
  expect(slow).toEqual([]);
  expect(later.filter((file) => !(file in MADE_LATER))).toEqual([]);
});

/** What a module makes while it is loaded. Libraries make some as well; those written out in our sources are known. */
async function madeBy(file: string): Promise<[source: string, flags: string][]> {
  const made: [string, string][] = [];
  vi.resetModules();
  globalThis.RegExp = new Proxy(RealRegExp, {
    construct(target, [source, flags]: [string | RegExp, string?]) {
      if (typeof source === "string" && new Error().stack?.includes(file)) made.push([source, flags ?? ""]);
      return new target(source, flags);
    },
  });
  try {
    await import(join(ROOT, file));
  } finally {
    globalThis.RegExp = RealRegExp;
  }
  return made;
}
