/**
 * Playwright's accessibility snapshot, read line by line into a tree. The text is YAML of a narrow kind: one element per line,
 * `- role "name" [attribute] [ref=e1]: text`, quoted as a whole when it would not be YAML otherwise.
 */

export interface Element {
  role: string;
  name: string;
  /** `checked`, `disabled`, `level=2`, …; neither `ref` nor `cursor`. */
  marks: string[];
  ref: string | undefined;
  /** The page shows a hand over it: it reacts to clicks, whatever its role says. */
  clickable: boolean;
  /** Text of its own, or the value of a field. */
  text: string;
  children: Element[];
}

/** The elements at the top. A line that is not understood is taken as text: nothing is lost. */
export function parseOutline(snapshot: string): Element[] {
  const root = element("root");
  const open: { depth: number; element: Element }[] = [{ depth: -1, element: root }];
  for (const line of snapshot.split("\n")) {
    const found = /^( *)- (.*)$/.exec(line);
    if (!found) continue;
    const depth = found[1]!.length;
    while (open.at(-1)!.depth >= depth) open.pop();
    const parsed = parseLine(found[2]!);
    open.at(-1)!.element.children.push(parsed);
    open.push({ depth, element: parsed });
  }
  return root.children;
}

const KEY = /^(\/?[\w-]+)(?: ("(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)*\/))?((?: \[[^\]]*\])*)$/;

function parseLine(line: string): Element {
  const { key, value } = split(line);
  const parts = KEY.exec(key);
  if (!parts) return { ...element("text"), text: unquoted(line) };
  const [, role = "", name = "", brackets = ""] = parts;
  const marks = [...brackets.matchAll(/ \[([^\]]*)\]/gy)].map((found) => found[1]!);
  return {
    role,
    name: unquoted(name),
    marks: marks.filter((mark) => !/^(?:ref|cursor)=|^active$/.test(mark)),
    ref: marks.find((mark) => mark.startsWith("ref="))?.slice(4),
    clickable: marks.includes("cursor=pointer"),
    text: unquoted(value),
    children: [],
  };
}

/** The key before the colon, and the value behind it. */
function split(line: string): { key: string; value: string } {
  const quoted = /^'((?:[^']|'')*)'(?::(?: (.*))?)?$/.exec(line);
  if (quoted) return { key: quoted[1]!.replaceAll("''", "'"), value: quoted[2] ?? "" };
  const plain = /^(\/?[\w-]+(?: (?:"(?:[^"\\]|\\.)*"|\/(?:[^/\\]|\\.)*\/))?(?: \[[^\]]*\])*)(?::(?: (.*))?)?$/.exec(
    line,
  );
  return plain ? { key: plain[1]!, value: plain[2] ?? "" } : { key: "", value: line };
}

function unquoted(text: string): string {
  if (text.startsWith('"') && text.endsWith('"') && text.length > 1) {
    try {
      return String(JSON.parse(text));
    } catch {
      return text.slice(1, -1);
    }
  }
  return text.startsWith("'") && text.endsWith("'") && text.length > 1 ? text.slice(1, -1).replaceAll("''", "'") : text;
}

function element(role: string): Element {
  return { role, name: "", marks: [], ref: undefined, clickable: false, text: "", children: [] };
}
