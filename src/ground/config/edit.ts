/**
 * Changes one key of the file's text and leaves the rest: comments, order, references. It works on the text alone, so a
 * resolved secret cannot find its way into the file (LK-03).
 */
import type { Document } from "yaml";
import { AppError, type Json } from "../../core/domain/index.ts";
import { isTooDeepYaml } from "../../core/kit/index.ts";
import { cutTies } from "./aliases.ts";
import { configInvalid, excerptAt, type Path, pathText } from "./problems.ts";
import { isForbiddenKey } from "./schema.ts";
import { PARSE_OPTIONS, TOO_DEEP } from "./source.ts";

/** `"gateway.port"`, or a list of parts where a name itself has a dot. */
export type KeyPath = string | Path;

/** The text with `path` set to `value`; `undefined` removes it. Does not judge the value: parse the result before saving. */
export async function setInFile(text: string, path: KeyPath, value: Json | undefined): Promise<string> {
  const parts = splitPath(path);
  const { doc, yaml } = await parse(text);
  if (!yaml.isMap(doc.contents)) {
    if (value === undefined) return text;
    // Keeps a file of comments only: they stay above the first key.
    doc.contents = doc.createNode({}) as typeof doc.contents;
  }
  cutTies(yaml, doc, parts, text);
  if (value === undefined) {
    if (!doc.hasIn(parts)) return text;
    doc.deleteIn(parts);
    removeEmpty(doc, parts, yaml);
    if (yaml.isMap(doc.contents) && doc.contents.items.length === 0 && !doc.contents.comment) doc.contents = null;
    return doc.contents === null && !doc.commentBefore && !doc.comment ? "" : print(doc);
  }
  makeWay(doc, parts, yaml);
  doc.setIn(parts, yaml.isScalar(doc.getIn(parts, true)) && isPlain(value) ? value : newNode(doc, value));
  return print(doc);
}

/** What the file says at `path`, as written: a reference stays a reference. `undefined` when it says nothing. */
export async function getFromFile(text: string, path: KeyPath): Promise<Json | undefined> {
  const parts = splitPath(path);
  const { doc, yaml } = await parse(text);
  const node = doc.getIn(parts, true);
  if (node === undefined) return undefined;
  // 100: the same bound on aliases as when loading.
  return (yaml.isNode(node) ? node.toJS(doc, { maxAliasCount: 100 }) : node) as Json;
}

async function parse(text: string) {
  if (isTooDeepYaml(text)) throw configInvalid("lares.yaml", [{ path: "", message: TOO_DEEP }]);
  const yaml = await import("yaml");
  const doc: Document = yaml.parseDocument(text, PARSE_OPTIONS);
  if (doc.errors.length > 0) {
    const problems = doc.errors.map((error) => ({
      path: "",
      message: error.message.split("\n")[0] ?? error.message,
      ...excerptAt(text, error.pos[0]),
    }));
    throw configInvalid("lares.yaml", problems);
  }
  return { doc, yaml };
}

/** Removes sections that are now empty, from the inside out. One with a comment stays, and so does one that names an agent. */
function removeEmpty(doc: Document, parts: Path, yaml: typeof import("yaml")): void {
  for (let depth = parts.length - 1; depth > 0; depth--) {
    const above = parts.slice(0, depth);
    const node = doc.getIn(above, true);
    if (!yaml.isMap(node) || node.items.length > 0 || node.comment || node.commentBefore || node.anchor) return;
    // `agents: { ada: {} }` says that there is an ada. The agent `main` is there in any case.
    if (depth === 2 && parts[0] === "agents" && parts[1] !== "main") return;
    doc.deleteIn(above);
  }
}

/** A section that is empty or commented out is null in YAML and cannot take a key until it is a map. */
function makeWay(doc: Document, parts: Path, yaml: typeof import("yaml")): void {
  for (let depth = 1; depth < parts.length; depth++) {
    const above = parts.slice(0, depth);
    const node = doc.getIn(above, true);
    if (node === undefined) return;
    if (yaml.isScalar(node) && node.value === null) {
      const map = doc.createNode({});
      map.commentBefore = node.commentBefore ?? node.comment;
      doc.setIn(above, map);
    } else if (!yaml.isCollection(node)) {
      throw new AppError("CONFIG_INVALID", {
        message: `${pathText(above)} in lares.yaml is a plain value, so nothing can be set below it.`,
        hint: `Change ${pathText(above)} in the file by hand.`,
        retry: "after-change",
        details: { problems: [{ path: pathText(above), message: "not a section" }] },
      });
    }
  }
}

/** A list that the value uses twice is written twice: a later change is meant for one place. */
function newNode(doc: Document, value: Json) {
  return doc.createNode(value, { aliasDuplicateObjects: false });
}

function splitPath(path: KeyPath): Path {
  const parts =
    typeof path === "string"
      ? path.split(/\.|(?=\[\d+\])/).map((part) => (/^\[\d+\]$/.test(part) ? Number(part.slice(1, -1)) : part))
      : path;
  if (parts.length === 0 || parts.some((part) => part === "" || isForbiddenKey(String(part)))) {
    throw new AppError("CONFIG_INVALID", {
      message: `"${pathText(parts)}" is not the name of a config key.`,
      hint: "Keys are words joined by dots, such as gateway.port. All keys: lares config explain",
      retry: "after-change",
      details: { problems: [{ path: pathText(parts), message: "not the name of a config key" }] },
    });
  }
  return parts;
}

/** Long lines stay as they are: folding a person's text is not an edit they asked for. */
function print(doc: Document): string {
  return doc.toString({ lineWidth: 0 });
}

function isPlain(value: Json): value is string | number | boolean | null {
  return value === null || typeof value !== "object";
}
