/** A second look at what the parser calls plain text. */
import { forEachChild, type SyntaxNode } from "unbash";

/** The parser's double: a piece it calls plain text must hold nothing that a shell would act on. */
export function leavesUnexplained(node: SyntaxNode, inTest: boolean): boolean {
  switch (node.type) {
    case "Word":
      return !node.parts && (ACTIVE.test(unescaped(node.text)) || (!inTest && SEPARATES.test(unescaped(node.text))));
    case "Literal":
    case "BraceExpansion":
    case "ExtendedGlob":
      return !("parts" in node && node.parts) && ACTIVE.test(unescaped(node.text));
    case "Command":
    case "For":
    case "Select":
    case "ArrayValue":
      return hasTouchingWords(node);
    case "HereDoc":
      return !node.delimiter?.quoted && !node.body.parts && ACTIVE_QUOTED.test(unescaped(node.body.text));
    case "ArithmeticWord":
      return !node.parts && /`|\$\(/.test(unescaped(node.value));
    default:
      return false;
  }
}

/** Two words without a blank between them are one word to a shell: `a<(x)` is not `a` and `<(x)`. */
function hasTouchingWords(node: SyntaxNode): boolean {
  let end = -1;
  let touches = false;
  forEachChild(node, (child) => {
    touches ||= child.pos === end && (child.type === "Word" || child.type === "Assignment");
    end = child.end;
  });
  return touches;
}

const ACTIVE = /`|\$[({[A-Za-z_0-9]|[<>]\(/;
const ACTIVE_QUOTED = /`|\$[({[A-Za-z_0-9]/;
const SEPARATES = /[;&|<>() \t\n"']/;

function unescaped(text: string): string {
  return text.replace(/\\[\s\S]/g, "");
}
