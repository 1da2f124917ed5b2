/** Words to the shell itself, which start nothing: every command after them is judged as one that runs. */
import type { SyntaxNode } from "unbash";
import { readWord } from "../word.ts";

/** Stop at the first error. Others (`-a`, `-x`, `+f`) change what variables and patterns do. */
const SET = /^set( (-[eu]+|-[eu]*o pipefail))+$/;
const EXIT = /^exit( \d{1,3})?$/;

/** `set -e`, `exit 1`, as they are written down again; undefined for anything else. */
export function saidToShell(node: SyntaxNode): string | undefined {
  if (node.type !== "Command" || !node.name || node.prefix.length + node.redirects.length > 0) return undefined;
  const words = [node.name, ...node.args].map((word) => (word.type === "Word" ? readWord(word).literal : undefined));
  if (words.some((word) => word === undefined || /[^\w-]/.test(word))) return undefined;
  const text = words.join(" ");
  return SET.test(text) || EXIT.test(text) ? text : undefined;
}
