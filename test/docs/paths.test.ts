/** Files that docs/ARCHITECTURE.md names exist, and on the drawn paths each is wired to the one that calls it. */
import { existsSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { pathsOfAMessage } from "../support/paths-of-a-message.ts";
import { ROOT, repositoryFiles, repositoryText } from "../support/repository.ts";

test("every file and folder with its floor in front exists", () => {
  const named = [...repositoryText("docs/ARCHITECTURE.md").matchAll(/`([^`\s]+)`/g)]
    .flatMap(([, text]) => spread(text!))
    .filter((path) => /^(?:core|ground|flow|mind|edges|faces|app|test)\/[\w./-]+$/.test(path));
  expect(named.length).toBeGreaterThan(60);
  const missing = named.filter((path) => !existsSync(ROOT + path) && !existsSync(`${ROOT}src/${path}`));
  expect(missing).toEqual([]);
});

test("every file on a drawn path exists", () => {
  const paths = pathsOfAMessage();
  expect(paths.map((path) => path.length > 10)).toEqual([true, true]);
  expect(paths.flat().filter(({ file }) => !existsSync(`${ROOT}src/${file}`))).toEqual([]);
});

test("every file on a drawn path is of its caller's room, imported by it, or joined to it in app/", () => {
  const joints = repositoryFiles(["src/app"], /\.ts$/).map(importsOf);
  const isWired = (file: string, caller: string) =>
    roomOf(file) === roomOf(caller) ||
    [...importsOf(`src/${caller}`)].some((one) => isPartOf(one, file)) ||
    [caller, file].some((one) => one.startsWith("app/")) ||
    joints.some((all) => [file, caller].every((one) => [...all].some((imported) => isPartOf(imported, one))));
  const loose = pathsOfAMessage()
    .flat()
    .filter(({ file, caller }) => caller && !isWired(file, caller));
  expect(loose).toEqual([]);
});

/** `a/{b,c}.ts` is two files. */
function spread(text: string): string[] {
  const [, before, inner, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(text) ?? [];
  return inner === undefined ? [text] : inner.split(",").map((one) => before + one.trim() + after);
}

const roomOf = (file: string) => file.split("/").slice(0, 2).join("/");

/** What is imported is the file itself, or the index of the room it is in. */
const isPartOf = (imported: string, file: string) => imported === file || imported === `${roomOf(file)}/index.ts`;

function importsOf(path: string): Set<string> {
  const folder = posix.dirname(path);
  return new Set(
    [...repositoryText(path).matchAll(/\bfrom "(\.[^"]+)"/g)].map(([, to]) =>
      posix.join(folder, to!).slice("src/".length),
    ),
  );
}
