/**
 * The file as text: parses YAML, refuses what must not come further, and knows where each key stands.
 *
 * CONFIG-5: nothing here runs code, follows a path or expands without bound: no custom tags, no merge keys, at most
 *     `MOST_ALIASES` aliases' worth of expansion, a bounded file size.
 * CONFIG-6: `__proto__`, `constructor` and `prototype` are refused as keys at any depth, before anything becomes an object (DO-09).
 */
import type { Document, Node, Pair } from "yaml";
import type { Json } from "../../core/domain/index.ts";
import { isTooDeepYaml } from "../../core/kit/index.ts";
import { type ConfigProblem, excerptAt, type Path, pathText } from "./problems.ts";
import { isForbiddenKey } from "./schema.ts";

/** A generous hand-written config is a few kilobytes; what is larger is the wrong file. */
const LARGEST_FILE = 1_000_000;
/** yaml's own default; ten aliases of ten aliases already pass it. */
export const MOST_ALIASES = 100;
export const TOO_DEEP = "the file is nested too deeply to be read";
export const TOO_MANY_ALIASES = "the file's aliases (*name) repeat too much to be expanded";
export const noAnchor = (name: string) => `*${name} stands for nothing: there is no &${name} before it`;

export interface Source {
  /** The file's content as plain data, `${VAR}` still in place. */
  value: Json;
  problems: ConfigProblem[];
  /** A problem at the key or at the value of `path`, or at the nearest parent that is in the file. */
  problemAt(path: Path, at: "key" | "value", message: string): ConfigProblem;
}

export type Yaml = typeof import("yaml");

/** Parsed as strict YAML 1.2 core: `no` is text, `!tags` and `<<` are not understood, a repeated key is an error. */
export const PARSE_OPTIONS = { version: "1.2", schema: "core", merge: false, prettyErrors: false } as const;

/** Loads yaml when there is something to parse: a home without a config file does not pay for it. */
export async function readSource(text: string): Promise<Source> {
  const problems: ConfigProblem[] = [];
  const nowhere: Source = {
    value: {},
    problems,
    problemAt: (path, _at, message) => ({ path: pathText(path), message }),
  };
  if (text.trim() === "") return nowhere;
  if (text.length > LARGEST_FILE) {
    problems.push({ path: "", message: `the file is larger than ${LARGEST_FILE / 1_000_000} MB` });
    return nowhere;
  }

  // Near the end of the stack the parser's own expressions can fail to compile, which ends the process.
  if (isTooDeepYaml(text)) {
    problems.push({ path: "", message: TOO_DEEP });
    return nowhere;
  }
  const yaml = await import("yaml");
  const doc = parse(yaml, text, problems);
  if (!doc) return nowhere;
  const root = doc.contents;
  const problemAt: Source["problemAt"] = (path, at, message) => ({
    path: pathText(path),
    message,
    ...excerptAt(text, findOffset(yaml, root, path, at)),
  });
  // The tree of a file that did not parse is half a guess; its second-hand problems would only distract.
  if (problems.length > 0) return { value: {}, problems, problemAt };
  if (root === null || (yaml.isScalar(root) && root.value === null)) return { value: {}, problems, problemAt };
  if (!yaml.isMap(root)) {
    problems.push(problemAt([], "value", "the file must be a list of keys, such as  gateway: …"));
    return { value: {}, problems, problemAt };
  }
  checkKeys(yaml, doc, text, problems);
  if (problems.length > 0) return { value: {}, problems, problemAt };
  return { value: toPlain(doc, problems), problems, problemAt };
}

function parse(yaml: Yaml, text: string, problems: ConfigProblem[]): Document.Parsed | undefined {
  let doc: Document.Parsed;
  try {
    doc = yaml.parseDocument(text, PARSE_OPTIONS);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    problems.push({ path: "", message: TOO_DEEP });
    return undefined;
  }
  // A warning is an unknown tag or directive: something was meant that would silently not happen.
  for (const issue of [...doc.errors, ...doc.warnings]) {
    const message = /call stack/i.test(issue.message) ? TOO_DEEP : firstLine(issue.message);
    problems.push({ path: "", message, ...excerptAt(text, issue.pos[0]) });
  }
  return doc;
}

function checkKeys(yaml: Yaml, doc: Document.Parsed, text: string, problems: ConfigProblem[]): void {
  yaml.visit(doc, {
    Pair(_index, pair) {
      const key = pair.key;
      const offset = (key as Node | null)?.range?.[0] ?? 0;
      if (!yaml.isScalar(key) || key.value === null || typeof key.value === "object") {
        problems.push({ path: "", message: "a key must be a plain word", ...excerptAt(text, offset) });
        return yaml.visit.SKIP;
      }
      const name = String(key.value);
      if (isForbiddenKey(name)) {
        problems.push({ path: name, message: `"${name}" is not allowed as a key`, ...excerptAt(text, offset) });
      }
    },
  });
}

function toPlain(doc: Document.Parsed, problems: ConfigProblem[]): Json {
  try {
    return doc.toJS({ maxAliasCount: MOST_ALIASES }) as Json;
  } catch (error) {
    if (!(error instanceof ReferenceError) && !(error instanceof RangeError)) throw error;
    const unknown = /^Unresolved alias .*: (\S+)$/.exec(error.message)?.[1];
    problems.push({ path: "", message: unknown === undefined ? TOO_MANY_ALIASES : noAnchor(unknown) });
    return {};
  }
}

/** Where `path` stands in the text: as far down as the file goes. */
function findOffset(yaml: Yaml, root: unknown, path: Path, at: "key" | "value"): number {
  let node: unknown = root;
  let offset = start(node) ?? 0;
  for (const [depth, part] of path.entries()) {
    const last = depth === path.length - 1;
    if (yaml.isMap(node)) {
      const pair: Pair | undefined = node.items.find(
        (p) => yaml.isScalar(p.key) && String(p.key.value) === String(part),
      );
      if (!pair) return offset;
      offset = start(pair.key) ?? offset;
      node = pair.value;
      if (last && at === "value") offset = start(node) ?? offset;
    } else if (yaml.isSeq(node)) {
      node = node.items[Number(part)];
      offset = start(node) ?? offset;
    } else {
      return offset;
    }
  }
  return offset;
}

function start(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

function firstLine(text: string): string {
  const line = text.split("\n")[0] ?? text;
  return line.charAt(0).toLowerCase() + line.slice(1);
}
