/**
 * Exports nobody uses. What a room's `index.ts` passes on has to be imported by somebody, tests included. A value exported by another
 * file has to be imported too, or the word `export` goes; a type may be exported beside the function that takes or returns it.
 * Something only tests import has to be used in its own file: then the test looks at a part of something that runs.
 */
import { posix } from "node:path";
import { type Ast, parse, visit } from "./syntax.ts";

export interface SourceFile {
  /** From the root of the repository. */
  path: string;
  text: string;
}

interface Imported {
  from: string;
  /** `*`: all of it, so that each export counts as used. */
  name: string;
}

/** Pages of docs/ that a test prints and compares. */
export const FOR_DOCS: Readonly<Record<string, string>> = {
  "src/faces/cli/words/table/page.ts: printCli": "docs/CLI.md",
};

/** The promise to authors of extensions and to clients: complete whether or not Lares itself needs all of it. */
const PROMISED = /^src\/core\/(contracts|protocol)\/index\.ts$|^examples\//;

/** Each unused export of a module as `path: name`. */
export function unusedExports(product: readonly SourceFile[], tests: readonly SourceFile[]): string[] {
  const byProduct = new Set(product.flatMap(imported).map(toKey));
  const byTests = new Set(tests.flatMap(imported).map(toKey));
  return product
    .filter(({ path }) => path.endsWith(".ts") && !PROMISED.test(path))
    .flatMap(({ path, text }) => {
      const isImported = (by: ReadonlySet<string>, name: string) =>
        by.has(toKey({ from: path, name })) || by.has(toKey({ from: path, name: "*" }));
      return exportedNames(text)
        .filter(({ name, kind }) => {
          if (isImported(byProduct, name)) return false;
          if (kind === "type") return !isUsedInside(text, name);
          return !isImported(byTests, name) || (kind === "value" && !isUsedInside(text, name));
        })
        .map(({ name }) => `${path}: ${name}`);
    });
}

function toKey({ from, name }: Imported): string {
  return `${from}#${name}`;
}

/** `passed-on`: from another file. */
type Kind = "value" | "type" | "passed-on";

/** What a file exports, under the names others import it by. */
export function exportedNames(source: string): { name: string; kind: Kind }[] {
  const { body } = parse(source) as Ast & { body: Ast[] };
  return body.flatMap((statement) => {
    const { type, declaration, specifiers } = statement as Ast & {
      declaration?: Ast | null;
      specifiers?: { exported: { name: string } }[];
    };
    if (type !== "ExportNamedDeclaration") return [];
    if (!declaration) return (specifiers ?? []).map(({ exported }) => ({ name: exported.name, kind: "passed-on" }));
    const kind = declaration.type.startsWith("TS") ? "type" : "value";
    return declaredNames(declaration).map((name): { name: string; kind: Kind } => ({ name, kind }));
  });
}

function declaredNames(declaration: Ast): string[] {
  const { id, declarations } = declaration as Ast & { id?: Ast; declarations?: { id: Ast }[] };
  return [...(id ? [id] : []), ...(declarations ?? []).map((one) => one.id)].flatMap(namesIn);
}

function namesIn(pattern: Ast): string[] {
  const found: string[] = [];
  if (pattern.type === "Identifier") return [pattern.name as string];
  for (const { value } of (pattern.properties ?? []) as { value: Ast }[]) found.push(...namesIn(value));
  return found;
}

/** Whether a name occurs besides its declaration. */
function isUsedInside(source: string, name: string): boolean {
  let times = 0;
  visit(parse(source), (node) => {
    if (node.type === "Identifier" && node.name === name) times++;
  });
  return times > 1;
}

/** Imports, exports from elsewhere and lazy imports, by expressions: a component and a script have them too. */
const NAMED = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*"([^"]+)"/g;
const WHOLE = /\b(?:import\s+(?:type\s+)?\*\s+as\s+\w+\s+from|export\s+\*\s+from)\s*"([^"]+)"/g;
const LAZY = /(?:\{([^{}]*)\}\s*=\s*await\s+)?\bimport\(\s*"([^"]+)"\s*\)(?:\.then\(\(\{([^{}]*)\}\))?(?:\)?\.(\w+))?/g;

function imported({ path, text }: SourceFile): Imported[] {
  const found: Imported[] = [];
  const add = (spec: string, names: readonly string[]) => {
    if (spec.startsWith("."))
      for (const name of names) found.push({ from: posix.join(posix.dirname(path), spec), name });
  };
  for (const [, names, spec] of text.matchAll(NAMED)) add(spec!, split(names!, /\s+as\s+/));
  for (const [, spec] of text.matchAll(WHOLE)) add(spec!, ["*"]);
  for (const [, assigned, spec, given, member] of text.matchAll(LAZY)) {
    const names = assigned ?? given;
    if (names !== undefined) add(spec!, split(names, /\s*:\s*/));
    else add(spec!, [member !== undefined && !/^(then|catch)$/.test(member) ? member : "*"]);
  }
  return found;
}

/** `type A, b as c` gives A and b. */
function split(names: string, renamed: RegExp): string[] {
  return names
    .split(",")
    .map(
      (one) =>
        one
          .trim()
          .replace(/^type\s+/, "")
          .split(renamed)[0]!,
    )
    .filter(Boolean);
}
