/**
 * Aliases (`*name`) in a file that is edited: a change of one key changes that key alone. What shares a value with it gets a copy
 * first; aliases that have nothing to do with the key stay as they are written.
 */
import type { Alias, Document, Node } from "yaml";
import { AppError } from "../../core/domain/index.ts";
import { configInvalid, excerptAt, type Path } from "./problems.ts";
import { MOST_ALIASES, noAnchor, TOO_MANY_ALIASES, type Yaml } from "./source.ts";

/** Cuts every tie between `path` and other places of the file. */
export function cutTies(yaml: Yaml, doc: Document, path: Path, text: string): void {
  const { targets, isAmbiguous } = resolveAll(yaml, doc, text);
  if (targets.size === 0) return;
  // A copy would take the aliases in it to a place where their name may stand for something else.
  if (isAmbiguous) copyAliases(yaml, doc, { targets, isTied: () => true });
  passAliases(yaml, doc, path);
  const tied = nodesAlong(yaml, doc, path);
  copyAliases(yaml, doc, { targets: resolveAll(yaml, doc, text).targets, isTied: (node) => tied.has(node) });
}

/** What each alias stands for: the last anchor of that name before it. */
function resolveAll(yaml: Yaml, doc: Document, text: string): { targets: Map<Alias, Node>; isAmbiguous: boolean } {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  let isAmbiguous = false;
  yaml.visit(doc, {
    Node(_key, node, above) {
      if (!yaml.isAlias(node)) {
        if (node.anchor === undefined) return;
        isAmbiguous ||= anchors.has(node.anchor);
        anchors.set(node.anchor, node);
        return;
      }
      const target = anchors.get(node.source);
      if (!target) throw wrongAlias(text, node, noAnchor(node.source));
      if (above.includes(target)) throw wrongAlias(text, node, `*${node.source} is inside what it stands for`);
      targets.set(node, target);
    },
  });
  return { targets, isAmbiguous };
}

function wrongAlias(text: string, alias: Alias, message: string): AppError {
  return configInvalid("lares.yaml", [{ path: "", message, ...excerptAt(text, alias.range?.[0] ?? 0) }]);
}

/** In the order of the file, so that what is copied has its own copies already. */
function copyAliases(
  yaml: Yaml,
  doc: Document,
  { targets, isTied }: { targets: ReadonlyMap<Alias, Node>; isTied: (node: Node) => boolean },
): void {
  const copied = [...targets].filter(([, target]) => isTied(target));
  if (copied.length === 0) return;
  refuseTooMany(doc);
  yaml.visit(doc, {
    Alias(_key, alias) {
      const target = targets.get(alias);
      return target && isTied(target) ? makeCopy(yaml, target) : undefined;
    },
  });
  for (const [, target] of copied) dropAnchor(target);
}

/** Replaces the aliases that stand on the way to `path` by copies. */
function passAliases(yaml: Yaml, doc: Document, path: Path): void {
  let node: unknown = doc.contents;
  for (const part of path.slice(0, -1)) {
    if (!yaml.isCollection(node)) return;
    let next: unknown = node.get(part, true);
    if (yaml.isAlias(next)) {
      refuseTooMany(doc);
      next = makeCopy(yaml, next.resolve(doc)!);
      node.set(part, next);
    }
    node = next;
  }
}

/** The nodes above `path`, at it and below it: an alias of any of them would change too, or lose its anchor. */
function nodesAlong(yaml: Yaml, doc: Document, path: Path): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  let node: unknown = doc.contents;
  for (const part of path) {
    if (!yaml.isCollection(node)) return found;
    found.add(node);
    node = node.get(part, true);
  }
  if (yaml.isNode(node)) yaml.visit(node, { Node: (_key, one) => void found.add(one) });
  return found;
}

/** Without anchors: the original keeps its names. */
function makeCopy(yaml: Yaml, node: Node): Node {
  const copy = node.clone() as Node;
  // A note behind the original is about that line.
  copy.comment = null;
  copy.commentBefore = null;
  yaml.visit(copy, { Value: (_key, one) => dropAnchor(one) });
  return copy;
}

function dropAnchor(node: Node): void {
  if ("anchor" in node) delete node.anchor;
}

/** The same bound as when loading. */
function refuseTooMany(doc: Document): void {
  try {
    doc.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new AppError("CONFIG_INVALID", {
      message: `lares.yaml can't be changed: ${TOO_MANY_ALIASES}.`,
      hint: "Write out some of them by hand, then run: lares config check",
      retry: "after-change",
      details: { problems: [{ path: "", message: TOO_MANY_ALIASES }] },
    });
  }
}
