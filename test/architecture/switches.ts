/**
 * Switches over a closed union end with assertNever, so that a new member of the union is a type error wherever it was forgotten. Which
 * switches those are only the type checker knows: it is asked through TypeScript's own interface, in about three seconds.
 */
import type { Node, SwitchStatement } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import { API, type Project, TypeFlags } from "typescript/unstable/sync";
import { lineOf } from "./syntax.ts";

/** Files with a switch that names a few members and treats all others alike, however many there will be, and why. */
export const FOR_SOME: Readonly<Record<string, string>> = {
  "edges/tools/exec/shell/settle/word.ts": "what isn't known to be harmless is given up",
  "edges/tools/exec/shell/unexplained.ts": "a shell's grammar, of which these nodes hide something",
  "edges/tools/exec/shell/word.ts": "a shell's grammar; what isn't understood is unseen",
  "faces/cli/chat/conversation.ts": "hears some events of a turn",
  "faces/gateway/live/partials.ts": "hears the events that show a turn's progress",
  "flow/outbox/live.ts": "hears the events that a live message shows",
  "flow/turns/runs/show.ts": "shows the events of a run that people look at",
  "ground/observe/event-log.ts": "hears the events that are logged",
};

/** `path:line` of each switch over a closed union that doesn't end with assertNever. Paths are relative to `root`. */
export function openEndedSwitches(
  root: string,
  files: readonly { path: string; text: string }[],
  config = `${root}/../tsconfig.json`,
): { path: string; line: number }[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProject: config }).getProjects();
    return files
      .filter(({ text }) => text.includes("switch ("))
      .flatMap(({ path, text }) =>
        switchesIn(project!.program.getSourceFile(`${root}/${path}`)!)
          .filter((one) => isClosed(project!, one) && !endsWithNever(one, text))
          .map((one) => ({ path, line: lineOf(text, one.expression.pos) })),
      );
  } finally {
    api.close();
  }
}

function switchesIn(tree: Node): SwitchStatement[] {
  const found: SwitchStatement[] = [];
  const look = (node: Node): void => {
    if (node.kind === SyntaxKind.SwitchStatement) found.push(node as SwitchStatement);
    node.forEachChild(look);
  };
  look(tree);
  return found;
}

const ONE_VALUE =
  TypeFlags.StringLiteral |
  TypeFlags.NumberLiteral |
  TypeFlags.BooleanLiteral |
  TypeFlags.EnumLiteral |
  TypeFlags.Undefined |
  TypeFlags.Null;

function isClosed({ checker }: Project, { expression }: SwitchStatement): boolean {
  const type = checker.getTypeAtLocation(expression);
  const members = type?.isUnionType() ? type.getTypes() : [];
  return members.length > 1 && members.every(({ flags }) => (flags & ONE_VALUE) !== 0);
}

function endsWithNever({ caseBlock }: SwitchStatement, text: string): boolean {
  const last = [...caseBlock.clauses].find((clause) => clause.kind === SyntaxKind.DefaultClause);
  return last !== undefined && /\bassertNever\(/.test(text.slice(last.pos, last.end));
}
