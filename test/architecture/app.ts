/** What keeps src/app a place that builds and does not decide: which files are in it, and how long they are. */
import { type Ast, lineOf, parse, visit } from "./syntax.ts";

/** Beside these, app/ has the builders in instance/ and the handlers in methods/. */
export const FILES: readonly string[] = [
  "app/app.ts",
  "app/backups.ts",
  "app/base.ts",
  "app/config.ts",
  "app/examine.ts",
  "app/index.ts",
  "app/instance.ts",
  "app/lives.ts",
  "app/server.ts",
  "app/settle-restored.ts",
];
export const FOLDERS = /^app\/(instance|methods)\/[a-z0-9-]+\.ts$/;

/** Lines of code. A limit that goes up only with a new noun of the protocol: what is added to app/ and is more than wiring belongs to a room. */
export const MOST_LINES = 4010;

/** Without blank lines, comments, and lines that only pass something on under its name: neither saying why nor wiring costs anything. */
export function countCode(source: string): number {
  return source.split("\n").filter((line) => !/^\s*(?:$|\/\/|\/\*|\*|(?:type )?\w+,$)/.test(line)).length;
}

/** Files of app/methods/ that handle nothing themselves. */
const WITHOUT_METHODS = new Set(["index", "parts"]);

/** `app/methods/<noun>.ts` handles `<noun>.*` and nothing else, so that a handler is where its method's name says. */
export function misplacedMethods(path: string, source: string): string[] {
  const noun = /^app\/methods\/([a-z0-9]+)\.ts$/.exec(path)?.[1];
  if (noun === undefined || WITHOUT_METHODS.has(noun)) return [];
  const found: string[] = [];
  visit(parse(source), (node) => {
    const { key } = node as Ast & { key?: { value?: unknown } };
    const method = node.type === "Property" && typeof key?.value === "string" ? key.value : "";
    if (method.includes(".") && !method.startsWith(`${noun}.`))
      found.push(`src/${path}:${lineOf(source, node.start)} handles ${method}`);
  });
  return found;
}
