/** One name, one type: a reader who meets `Verdict` in two rooms must not have to ask which one it is. */
import { type Ast, parse, visit } from "./syntax.ts";

/** The same idea on both sides: a room's own small interface for what another room gives it, or the wire's shape of a record. */
export const SAME_IDEA: Readonly<Record<string, string>> = {
  FileState: "what checkpoints read through core/files",
  Handlers: "the gateway's methods, and the command line's stand-in for them in tests",
  Interims: "the port of turns, and what keeps it",
  LogLine: "the log's line, and its shape on the wire",
  Outcome: "the engine's, and what a test of models collects",
  PaidModel: "the ports of turns and of compaction to paid model calls",
  PaidReply: "what comes back through those ports",
  RunStop: "the port of turns, and the runs that keep it",
  RunTrouble: "the same",
  SessionSummary: "the room's row, and its shape on the wire",
  StoredLog: "the log's file, and the command line's port to it",
};

type Declared = Ast & { id?: { name: string } };

/** Types, interfaces and classes that are exported from the place where they are declared. */
export function exportedTypes(source: string): string[] {
  const { body } = parse(source) as Ast & { body: Ast[] };
  return body.flatMap((statement) => {
    const { type, declaration } = statement as Ast & { declaration?: Declared | null };
    return type === "ExportNamedDeclaration" && declaration ? namesType(declaration) : [];
  });
}

/** Those that a file keeps to itself. */
function ownTypes(source: string): string[] {
  return (parse(source) as Ast & { body: Declared[] }).body.flatMap(namesType);
}

function namesType({ type, id }: Declared): string[] {
  return id && /^(TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/.test(type) ? [id.name] : [];
}

/** How many there are still. Lower it when you rename some. */
export const MOST_SHADOWED = 130;

/** Types that a file keeps to itself, called like one that another file exports: a reader takes the one for the other. */
export function shadowedNames(files: readonly { path: string; text: string }[]): { name: string; path: string }[] {
  const exported = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of exportedTypes(text)) exported.set(name, [...(exported.get(name) ?? []), path]);
  }
  return files.flatMap(({ path, text }) =>
    ownTypes(text).flatMap((name) => (exported.get(name)?.some((other) => other !== path) ? [{ name, path }] : [])),
  );
}

/** Each name that several files declare, with the files. */
export function sharedNames(files: readonly { path: string; text: string }[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of exportedTypes(text)) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return new Map([...places].filter(([, paths]) => paths.length > 1));
}

/** A function's name says what it does, so it begins with a verb: `readScope`, not `scopeOf`. A claim such as `isChildOf` may end so. */
export function nounFunctions(tree: Ast): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    const { type, id, key, init } = node as Ast & Partial<Record<"id" | "key" | "init", Ast | null>>;
    const isFunction =
      type === "FunctionDeclaration" ||
      type === "MethodDefinition" ||
      (type === "VariableDeclarator" && init?.type === "ArrowFunctionExpression");
    const name = ((id ?? key) as (Ast & { name?: string }) | null | undefined)?.name;
    if (isFunction && name !== undefined && /^(?!is[A-Z]).+Of$/.test(name)) found.push(name);
  });
  return found;
}
