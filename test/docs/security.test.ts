/** docs/SECURITY.md names each case once, and each names tests that exist: a row whose test is gone promises what nobody checks. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";
import { visit } from "../expressions/find.ts";
import { ROOT, repositoryFiles, repositoryText } from "../support/repository.ts";

/** Two or three letters for the kind of attack, and a number. */
const NUMBER = /^[A-Z]{2,3}-\d{2}(?= )/;
const PAGE = readFileSync(join(ROOT, "docs", "SECURITY.md"), "utf8");

const rows = PAGE.split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| case |"))
  .map((line) => {
    const cells = line.replaceAll("\\|", "¦").split("|").slice(1, -1);
    return { name: cells[0]!.trim(), cells: cells.length, tests: cells.at(-1)!.trim() };
  });

test("each case stands there once, in four columns", () => {
  expect(rows.length).toBeGreaterThan(90);
  const names = rows.map(({ name }) => name.toLowerCase());
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  expect(rows.filter(({ cells }) => cells !== 4).map(({ name }) => name)).toEqual([]);
});

test("each case names a file and a title in it", () => {
  const wrong = rows.flatMap(({ name, tests }) => {
    const named = read(tests);
    if (!named.length) return [`${name}: names no test`];
    return named.flatMap(({ file, titles }) => {
      if (!existsSync(join(ROOT, file))) return [`${name}: there is no ${file}`];
      if (!titles.length) return [`${name}: names no title in ${file}`];
      return titles.filter((title) => !isIn(file, title)).map((title) => `${name}: ${file} has no "${title}"`);
    });
  });
  expect(wrong).toEqual([]);
});

test("each numbered case is proved by a title or a table that names it, and each number cited anywhere is a case", () => {
  const numbered = rows.filter(({ name }) => NUMBER.test(name));
  const ids = numbered.map(({ name }) => NUMBER.exec(name)![0]);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(numbered.filter(({ tests }, i) => !tests.includes(ids[i]!)).map(({ name }) => name)).toEqual([]);
  const files = [
    ...repositoryFiles(["src", "test", "ui/src"], /\.(ts|svelte)$/),
    ...repositoryFiles(["docs"], /\.md$/),
  ];
  const kinds = [...new Set(ids.map((id) => id.split("-")[0]))].join("|");
  const cited = files.flatMap((file) =>
    [...repositoryText(file).matchAll(new RegExp(`\\b(?:${kinds})-\\d{2}\\b`, "g"))].map(([id]) => ({ id, file })),
  );
  expect(cited.length).toBeGreaterThan(2 * ids.length);
  expect(cited.filter(({ id }) => !ids.includes(id)).map(({ id, file }) => `${id} in ${file}`)).toEqual([]);
});

test("a title that does not exist is noticed, one that a table makes is found", () => {
  const file = "test/gate/paths.test.ts";
  expect(isIn(file, "ls /etc asks")).toBe(true);
  expect(isIn(file, "… asks")).toBe(true);
  expect(isIn(file, "redirections are judged by…")).toBe(true);
  expect(isIn(file, "redirections are judged by the moon")).toBe(false);
  expect(isIn(file, "…")).toBe(false);
});

/** `path/to/x.test.ts`: "title", "title with more…"; and the next file. */
function read(cell: string): { file: string; titles: string[] }[] {
  return cell
    .split(/(?=`(?:test|src)\/[\w./-]+\.ts`)/)
    .filter((part) => part.startsWith("`"))
    .map((part) => {
      const [, file = "", rest = ""] = /^`([^`]+)`(.*)$/.exec(part) ?? [];
      const titles = [...rest.matchAll(/"([^"]+)"|'([^']+)'/g)].map(([, double, single]) => double ?? single!);
      return { file, titles };
    });
}

/** Whether a text in the file, with whatever its table or template fills in, reads like this. "…" stands for anything. */
function isIn(file: string, title: string): boolean {
  if (title.replaceAll("…", "").trim().length < 4) return false;
  return textsIn(file).some((text) => fits(title.split(/ ?… ?/), text));
}

const known = new Map<string, string[][]>();

/** Every text of a file, cut where something is filled in. */
function textsIn(file: string): string[][] {
  const found = known.get(file);
  if (found) return found;
  const texts: string[][] = [];
  visit(parseAst(readFileSync(join(ROOT, file), "utf8"), { lang: "ts" }), (node) => {
    if (node.type === "Literal" && typeof node.value === "string") {
      texts.push(node.value.split(/%[sdijo]|\$\w+(?:\.\w+)*/));
    }
    if (node.type === "TemplateLiteral") {
      texts.push((node.quasis as { value: { cooked: string } }[]).map((one) => one.value.cooked));
    }
  });
  // What is nearly all filled in would fit anything.
  const told = texts.filter((parts) => parts.join("").trim().length >= 4);
  known.set(file, told);
  return told;
}

/** Both sides have gaps: the pieces of one must follow one another in the other, and its ends must meet. */
function fits(title: readonly string[], text: readonly string[]): boolean {
  if (text.length === 1) return contains(text[0]!, title);
  return contains(title.join("…"), text) || contains(text.join("…"), title);
}

function contains(whole: string, pieces: readonly string[]): boolean {
  let at = 0;
  for (const [i, piece] of pieces.entries()) {
    const found = i === pieces.length - 1 ? whole.length - piece.length : whole.indexOf(piece, at);
    if (found < at || !whole.startsWith(piece, found) || (i === 0 && found !== 0)) return false;
    at = found + piece.length;
  }
  return pieces.length > 1 || whole === pieces[0];
}
