/**
 * Words people see. The page's strings live in its catalogues, so that they can be read through in one go, and neither they
 * nor the documents fall back into phrases that no native writer would use.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "svelte/compiler";
import { describe, expect, test } from "vitest";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const filesIn = (folder: string, ending: string): string[] =>
  (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((file) => file.endsWith(ending) && !file.endsWith(".test.ts"))
    .map((file) => `${folder}/${file}`);

/** Attributes that a person reads or hears. */
const READ_ALOUD = new Set([
  "title",
  "placeholder",
  "alt",
  "label",
  "aria-label",
  "aria-description",
  "aria-roledescription",
]);
/** Not prose: a command to copy, and an example of one. */
const COMMANDS = /^(?:lares |df )/;

type Node = { type?: string; [key: string]: unknown };

/** Words that stand in the markup of a Svelte component. */
function wordsIn(source: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown, isShown: boolean): void => {
    if (Array.isArray(node)) {
      for (const one of node) walk(one, isShown);
      return;
    }
    if (node === null || typeof node !== "object") return;
    const { type, ...rest } = node as Node;
    if (type === "Text" && isShown) {
      const text = String(rest.data).trim();
      if (/\p{L}{2,}/u.test(text) && !COMMANDS.test(text)) found.push(text);
    }
    if (type === "Attribute") {
      walk(rest.value, READ_ALOUD.has(String(rest.name)));
      return;
    }
    for (const value of Object.values(rest)) walk(value, isShown);
  };
  walk(parse(source, { modern: true }).fragment, true);
  return found;
}

describe("the page", () => {
  test.each(filesIn("ui/src", ".svelte"))("%s takes its words from a catalogue", (file) => {
    expect(wordsIn(read(file))).toEqual([]);
  });

  test("the finder sees text and attributes that are read, and nothing else", () => {
    const planted = '<p class="wide card" title="Say it">Hello {name}</p><button aria-label="Close">{w.close}</button>';
    expect(wordsIn(planted)).toEqual(["Say it", "Hello", "Close"]);
  });
});

/** What to write instead is in the pairs; the left column must not come back. */
const HABITS: readonly [habit: RegExp, instead: string][] = [
  [/\banew\b/i, "again"],
  [/\bafresh\b/i, "again, or clear the context"],
  [/\bwhoever\b/i, "anyone, the person who, programs that"],
  [/\bput (?:it |this list |them )?away\b/i, "hide"],
  [/\bha(?:s|ve) not (?:the|an?|any)\b/i, "doesn't have; isn't allowed to"],
  [/\b(?:is|are|was|were|be|been|being) told\b/i, "is shown, is sent, is reported, learns"],
  [/\btold apart\b/i, "distinguished, reported separately"],
  [/\b(?:last|\d+) signs\b/i, "characters"],
  [/\bfor your word\b/i, "to confirm"],
  [/\bword for word\b/i, "in full, verbatim"],
  [/\bfrom now on answers\b|\banswers from now on\b/i, "now using"],
  [/\bwhat (?:becomes|became) of\b|\b(?:came|comes) of (?:it|them|that|this)\b/i, "the result, the outcome"],
  [/\btak(?:e|es|en|ing) (?:it |them |that |one )?back\b/i, "undo, revoke, cancel, roll back"],
  [/\bmeans no[,.]/i, "is denied"],
  [/\bhears nothing\b/i, "not receiving"],
  [/\bnot there any more\b/i, "no longer exists"],
  [/\b(?:not|no|nobody|nothing|never)\b[^.;:]*\bany more\b/i, "no longer"],
  [/\bin the clear\b/i, "unencrypted"],
  [/\bfor ever\b/i, "forever"],
  [/\bin silence\b/i, "silently"],
  [/\b(?:is|are|was|were|be|been) passed over\b/i, "skipped"],
  [/\breads? along\b/i, "can read the chat"],
  [/\bmend(?:ed)?\b/i, "fix"],
  [/\bknows? nothing of\b/i, "knows nothing about"],
  [/\b(?:a|the) hand's\b|\ba hand wrote\b/i, "a person's"],
  [/\bthe same (?:\w+ )?again changes nothing\b|\bAgain changes\b|\ba second time changes\b/i, "idempotent"],
  [/\bthe same as before it\b|\bhow manieth\b|\bit is said\b/i, "put it as you would say it"],
];

/** Words that have a good use and a stilted one; a text that needs one too often wants rewriting. */
const OVERUSED: readonly [habit: RegExp, instead: string][] = [
  [
    /\bof (?:its|their|our|one's) own(?=\W*$|[.,;:)]| (?:and|or|in|for|at|per|with|that|which|so|to|because|since)\b)/i,
    "its own, separate",
  ],
  [/\bwhatever\b/i, "anything, regardless of"],
];

/** None is left anywhere. */
const LEFT: Readonly<Record<string, number>> = {};

/** By room, how many overused words are left where the texts have not been read through yet. These numbers only ever become smaller. */
const OVERUSED_LEFT: Readonly<Record<string, number>> = {
  "docs/ARCHITECTURE.md": 1,
  "docs/CONFIG.md": 2,
  "docs/PROTOCOL.md": 1,
  "docs/SECURITY.md": 6,
  "docs/decisions": 17,
  "src/app": 3,
  "src/core": 21,
  "src/edges/channels": 4,
  "src/edges/embedder": 1,
  "src/edges/hooks": 1,
  "src/edges/imports": 2,
  "src/edges/models": 4,
  "src/edges/parsers": 1,
  "src/edges/tools": 29,
  "src/edges/watch": 1,
  "src/faces/cli": 3,
  "src/faces/gateway": 5,
  "src/flow": 20,
  "src/ground": 11,
  "src/mind": 18,
  ui: 1,
};

/** Rooms of the wide floors, the other floors, and documents each by itself. */
function placeOf(file: string): string {
  const parts = file.split("/");
  if (file.startsWith("docs/decisions/")) return "docs/decisions";
  if (parts[0] !== "src") return parts[0] === "ui" || parts[0] === "examples" ? parts[0] : file;
  return parts.slice(0, parts[1] === "edges" || parts[1] === "faces" ? 3 : 2).join("/");
}

/** Comments are joined where they wrap. Quotations in documents are titles of tests, and other people's words. */
function linesOf(file: string): string[] {
  const text = read(file);
  return (file.endsWith(".md") ? text.replace(/"[^"\n]*"/g, '""') : joined(text)).split("\n");
}

function joined(source: string): string {
  return source.replace(/\n\s*(?:\*(?!\/)|\/\/)[^\S\n]*/g, " ");
}

function habitsIn(text: string, habits: readonly [habit: RegExp, instead: string][]): string[] {
  return habits.flatMap(([habit, instead]) => {
    const found = habit.exec(text);
    return found
      ? [`"${found[0]}" → ${instead}: …${text.slice(Math.max(0, found.index - 40), found.index + 60).trim()}…`]
      : [];
  });
}

const WRITTEN = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...filesIn("docs", ".md"),
  ...filesIn("examples", ".ts"),
  ...filesIn("src", ".ts"),
  ...filesIn("ui/src", ".ts"),
  ...filesIn("ui/src", ".svelte"),
  // Released migrations are never edited, their comments included.
].filter((file) => file !== "src/ground/records/migrations.ts");

describe.each([
  ["habits of speech that no native writer has", HABITS, LEFT],
  ["words that are overused", OVERUSED, OVERUSED_LEFT],
])("%s", (_what, habits, left) => {
  const places = new Map<string, string[]>();
  for (const file of WRITTEN) places.set(placeOf(file), [...(places.get(placeOf(file)) ?? []), file]);

  test.each([...places])("%s, in comments and strings too", (place, files) => {
    const found = files.flatMap((file) =>
      linesOf(file).flatMap((line) => habitsIn(line, habits).map((one) => `${file}: ${one}`)),
    );
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(left[place] ?? 0);
  });

  test("no ceiling is for a place that is gone", () => {
    expect(Object.keys(left).filter((place) => !places.has(place))).toEqual([]);
  });
});

test("the finder sees a habit over a line break of a comment", () => {
  expect(habitsIn(joined("/**\n * Somebody is\n * told.\n */"), HABITS)).toHaveLength(1);
  expect(habitsIn("The person learns it.", HABITS)).toEqual([]);
});
