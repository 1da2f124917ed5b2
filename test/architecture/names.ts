/** One name, one type: a reader who meets `Verdict` in two rooms must not have to ask which one it is. */
import { type Ast, parse } from "./syntax.ts";

/** The same idea on both sides: a room's own small interface for what another room gives it, or the wire's shape of a record. */
export const SAME_IDEA: Readonly<Record<string, string>> = {
  FileState: "what checkpoints read through core/files",
  Handlers: "the gateway's methods, and the command line's stand-in for them in tests",
  Interims: "the port of turns, and what keeps it",
  LogLine: "the log's line, and its shape on the wire",
  Outcome: "the engine's, and what a test of models collects",
  PaidModel: "the ports of turns and of compaction to paid model calls",
  PaidReply: "what comes back through those ports",
  Replays: "the gateway's port, and what keeps it",
  SessionSummary: "the room's row, and its shape on the wire",
  StoredLog: "the log's file, and the command line's port to it",
};

/** Types, interfaces and classes that are exported from the place where they are declared. */
export function exportedTypes(source: string): string[] {
  const { body } = parse(source) as Ast & { body: Ast[] };
  return body.flatMap((statement) => {
    const { type, declaration } = statement as Ast & { declaration?: (Ast & { id?: { name: string } }) | null };
    if (type !== "ExportNamedDeclaration" || !declaration?.id) return [];
    return /^(TSInterfaceDeclaration|TSTypeAliasDeclaration|ClassDeclaration)$/.test(declaration.type)
      ? [declaration.id.name]
      : [];
  });
}

/** Each name that several files declare, with the files. */
export function sharedNames(files: readonly { path: string; text: string }[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of exportedTypes(text)) places.set(name, [...(places.get(name) ?? []), path]);
  }
  return new Map([...places].filter(([, paths]) => paths.length > 1));
}
