/** What comes in on a command's standard input. */
import type { Redirection, SyntaxNode } from "unbash";
import { type Fed, HIDDEN, NOTHING } from "./unwrap.ts";
import { readWord } from "./word.ts";

/** What a redirection puts on standard input; the last one holds. */
export function fedBy(redirects: readonly Redirection[], before: Fed): Fed {
  let fed = before;
  for (const redirect of redirects) {
    if (redirect.type === "HereDoc") {
      const { text } = redirect.body;
      fed = redirect.delimiter?.quoted || !/[$`\\]/.test(text) ? { kind: "shown", text } : HIDDEN;
    } else if (redirect.type === "HereString") {
      const text = redirect.target && readWord(redirect.target).literal;
      fed = text === undefined ? HIDDEN : { kind: "shown", text };
    } else if (redirect.operator.startsWith("<")) {
      fed = redirect.target?.text === "/dev/null" ? NOTHING : HIDDEN;
    }
  }
  return fed;
}

/** What the left side of a pipe says, when it is as plain as `echo words`. */
export function saidBy(node: SyntaxNode): Fed {
  if (node.type !== "Command" || node.prefix.length > 0 || node.name?.text !== "echo") return HIDDEN;
  const said: string[] = [];
  for (const part of node.suffix) {
    const literal = part.type === "Word" ? readWord(part).literal : undefined;
    if (literal === undefined || literal.includes("\\") || literal.startsWith("-")) return HIDDEN;
    said.push(literal);
  }
  return { kind: "shown", text: said.join(" ") };
}
