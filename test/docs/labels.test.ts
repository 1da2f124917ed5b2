/**
 * Labels mean one thing each. An invariant's label begins with its room (`OUTBOX-2`) and is defined once, at the beginning of a line in
 * the comment that opens the file which keeps it: ` * OUTBOX-2: …`. The invariants of the whole (`I1`) are rows in docs/ARCHITECTURE.md.
 * What a comment, a test's title or a page cites exists.
 */
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { repositoryFiles, repositoryText } from "../support/repository.ts";
import { UNCITED } from "./uncited-labels.ts";

const CODE = repositoryFiles(["src", "test", "ui/src", "scripts"], /\.(ts|mjs|svelte)$/);
const PAGES = repositoryFiles(["docs", "README.md", "CONTRIBUTING.md"], /\.md$/);

/** What looks like a label and is somebody else's name. */
const FOREIGN = new Set(["NIP", "UTF"]);

interface Found {
  label: string;
  file: string;
  line: number;
}

const defined = CODE.flatMap((file) => find(file, /^\s*\* ([A-Z]+-\d+): /));
const invariants = new Set(find("docs/ARCHITECTURE.md", /^\| (I\d+) +\|/).map(({ label }) => label));

test("each label is defined once", () => {
  expect(defined.length).toBeGreaterThan(380);
  const places = groups(defined, ({ label }) => label);
  expect([...places.values()].filter((all) => all.length > 1).map((all) => all.map(show))).toEqual([]);
});

test("the labels of a prefix are those of one room", () => {
  const prefixes = groups(defined, ({ label }) => prefixOf(label));
  const spread = [...prefixes].flatMap(([prefix, all]) => {
    const rooms = new Set(all.map(({ file }) => room(file)));
    return rooms.size > 1 ? [`${prefix}: ${[...rooms].join(", ")}`] : [];
  });
  expect(spread).toEqual([]);
});

test("what is cited is defined, here or as a case in docs/SECURITY.md", () => {
  const cases = find("docs/SECURITY.md", /^\| ([A-Z]{2,3}-\d{2}) /);
  const known = new Set([...defined, ...cases].map(({ label }) => label));
  const cited = [...CODE, ...PAGES].flatMap((file) => find(file, /(?<![\w%-])([A-Z]{2,}-\d{1,2})(?![\w.-])/g));
  expect(cited.length).toBeGreaterThan(known.size);
  const missing = cited.filter(({ label }) => !known.has(label) && !FOREIGN.has(prefixOf(label)));
  expect(missing.map(show)).toEqual([]);
});

test("a test cites each label, but for those in the list, which only becomes shorter", () => {
  const tests = CODE.filter((file) => /^test\/|\.test\.ts$/.test(file) && file !== "test/docs/uncited-labels.ts");
  const cited = new Set(tests.flatMap((file) => citedIn(repositoryText(file))));
  const uncited = defined.map(({ label }) => label).filter((label) => !cited.has(label));
  const listed = Object.entries(UNCITED).flatMap(([prefix, numbers]) => numbers.map((n) => `${prefix}-${n}`));
  expect(uncited.filter((label) => !listed.includes(label))).toEqual([]);
  expect(listed.filter((label) => cited.has(label))).toEqual([]);
});

test("a range of labels cites each of them", () => {
  const labels = ["RENDER-1", "RENDER-2", "RENDER-3", "BUDGET-1", "RENDER-2", "RENDER-3"];
  expect(citedIn("RENDER-1 to RENDER-3, (BUDGET-1) and RENDER-2 to 3")).toEqual(labels);
});

test("what is cited as an invariant of the whole is in the table", () => {
  expect(invariants.size).toBeGreaterThanOrEqual(13);
  const cited = [...CODE, ...PAGES].flatMap((file) => find(file, /(?<=[(, ])(I\d{1,2})(?=[), :;–])/g));
  expect(cited.length).toBeGreaterThan(80);
  expect(cited.filter(({ label }) => !invariants.has(label)).map(show)).toEqual([]);
});

test("no label is only a letter and a number, except those of the whole", () => {
  const short = CODE.flatMap((file) => find(file, /^\s*(?:\/\*\*|\*|\/\/) (?!I\d)([A-Z]{1,2}\d{1,2}): /));
  expect(short.map(show)).toEqual([]);
});

/** Each match of the pattern's first group, line by line. */
function find(file: string, pattern: RegExp): Found[] {
  const every = new RegExp(pattern, pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`);
  return repositoryText(file)
    .split("\n")
    .flatMap((text, i) => [...text.matchAll(every)].map(([, label]) => ({ label: label!, file, line: i + 1 })));
}

/** Each label that a text names, also inside a range such as `RENDER-1 to RENDER-4`. */
function citedIn(text: string): string[] {
  const found = text.matchAll(/(?<![\w%-])([A-Z]{2,})-(\d{1,2})(?: to (?:[A-Z]+-)?(\d{1,2}))?(?![\w.-])/g);
  return [...found].flatMap(([, prefix, first, last]) => {
    const count = Number(last ?? first) - Number(first) + 1;
    return Array.from({ length: Math.max(1, count) }, (_, i) => `${prefix}-${Number(first) + i}`);
  });
}

const prefixOf = (label: string) => label.replace(/-\d+$/, "");

function groups(all: readonly Found[], by: (one: Found) => string): Map<string, Found[]> {
  const found = new Map<string, Found[]>();
  for (const one of all) found.set(by(one), [...(found.get(by(one)) ?? []), one]);
  return found;
}

const show = ({ label, file, line }: Found) => `${label} (${file}:${line})`;

/** `src/flow/outbox`, or the file itself where a folder holds contracts or leaves that have nothing to do with each other. */
function room(file: string): string {
  if (/^src\/core\/(contracts|kit)\//.test(file)) return file;
  const folders = dirname(file).split("/");
  return folders.slice(0, folders[0] === "src" ? 3 : 2).join("/");
}
