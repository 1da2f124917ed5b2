/**
 * Says whether an expression can take more than linear time. Two looks:
 *
 * - `scslre` (the analysis behind eslint-plugin-regexp) finds what one repeated character can do.
 * - What needs several characters repeated (`<!---->`, `<![CDATA[`) it does not see. So the parts of the expression itself
 *   are written out as text, repeated, and the expression is run on them: a linear one takes microseconds for two thousand
 *   characters, a quadratic one milliseconds, an exponential one shows at twenty repetitions.
 */
import { analyse } from "scslre";

type Pattern = ReturnType<typeof analyse>["parsed"]["pattern"];
type Alternative = Pattern["alternatives"][number];
type Element = Alternative["elements"][number];

/** Why it is super-linear, or nothing. */
export function judge(source: string, flags: string): string | undefined {
  // The analysis does not know all of the flags; none of those left out changes how long a match takes.
  const { parsed, reports } = analyse({ source, flags: flags.replace(/[dgy]/g, "") });
  const sticky = flags.includes("y");
  const report = reports.find((one) => !(sticky && one.type === "Move"));
  if (report)
    return `${report.exponential ? "exponential" : "super-linear"} on ${JSON.stringify(report.character.pick)} repeated`;
  return attack(new RegExp(source, flags), parsed.pattern);
}

/** Lengths to try. Each is far enough from the next that a cubic or exponential expression is caught before it hangs. */
const REPEATS = [14, 18, 22, 26, 40, 80, 400, 2500, 8000];
const LONGEST = 24_000;
const SUFFIXES = ["", "\n", "\u0001"];
/** A linear expression needs a fraction of this for the longest of these texts. */
const SLOW_MS = 4;

function attack(regex: RegExp, pattern: Pattern): string | undefined {
  const most = unbounded(pattern);
  if (most === 0 || (most === 1 && (isAnchored(regex, pattern) || endsOpen(pattern)))) return undefined;
  for (const { prefix, unit } of pumps(pattern)) {
    for (const suffix of SUFFIXES) {
      for (const count of REPEATS) {
        if (unit.length * count > LONGEST) break;
        const text = (times: number) => prefix + unit.repeat(times) + suffix;
        if (time(regex, text(count)) < SLOW_MS) continue;
        // A busy machine, or really slow? Of sixteen times the text a linear expression makes sixteen times the work, a
        // quadratic one two hundred and fifty.
        const best = (times: number) => Math.min(...[1, 2, 3, 4, 5].map(() => time(regex, text(times))));
        const whole = best(count);
        if (whole >= SLOW_MS && whole > 60 * best(Math.floor(count / 16))) {
          return `super-linear on ${JSON.stringify(unit)} repeated`;
        }
      }
    }
  }
  return undefined;
}

function time(regex: RegExp, text: string): number {
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  if (regex.global) text.replace(regex, "");
  else {
    regex.lastIndex = 0;
    regex.exec(text);
  }
  // On a busy machine the clock runs on while others work.
  const wall = performance.now() - begun;
  return wall < SLOW_MS ? wall : Math.min(wall, process.cpuUsage(cpu).user / 1000);
}

/** How many unbounded repetitions one way through it meets; a repetition of more than one character counts as many. */
function unbounded(node: Pattern | Element | Alternative): number {
  switch (node.type) {
    case "Quantifier": {
      const inner = unbounded(node.element);
      if (node.max !== Number.POSITIVE_INFINITY) return inner * node.max;
      return inner === 0 && /^Character/.test(node.element.type) ? 1 : MANY;
    }
    case "Alternative":
      return node.elements.reduce((sum, element) => sum + unbounded(element), 0);
    case "Backreference":
      return MANY;
    default:
      return "alternatives" in node ? Math.max(0, ...node.alternatives.map((one) => unbounded(one as Alternative))) : 0;
  }
}
const MANY = 100;

function isAnchored(regex: RegExp, pattern: Pattern): boolean {
  const starts = ({ elements: [first] }: Alternative) => first?.type === "Assertion" && first.kind === "start";
  return regex.sticky || (!regex.multiline && pattern.alternatives.every(starts));
}

/** Behind its repetitions nothing can fail, so none is ever taken back. */
function endsOpen(node: Pattern | Element | Alternative): boolean {
  if (unbounded(node) === 0) return true;
  if (node.type === "Quantifier") return unbounded(node) === 1;
  if (node.type === "Alternative") {
    return node.elements.every(
      (element, at) => unbounded(element) === 0 || (at === node.elements.length - 1 && endsOpen(element)),
    );
  }
  return (
    node.type !== "Assertion" &&
    "alternatives" in node &&
    node.alternatives.every((one) => endsOpen(one as Alternative))
  );
}

/** Which of the characters that fit a class stands for it: an ordinary one, one of the expression's own, or a blank. */
const ORDERS = ["a0 -", "\"'`<[(/*|:.-=\\", " \t\n"];

function pumps(pattern: Pattern): { prefix: string; unit: string }[] {
  const found = new Map<string, { prefix: string; unit: string }>();
  for (const order of ORDERS) {
    for (const times of [0, 1]) {
      const write = writer(order, times);
      eachSequence(pattern, "", write, (elements, before) => {
        const parts = written(elements, write);
        for (let from = 0; from < parts.length; from++) {
          let unit = "";
          for (const part of parts.slice(from, from + 8)) {
            unit += part;
            if (unit === "" || unit.length > 60) continue;
            const prefix = before + parts.slice(0, from).join("");
            found.set(`${prefix}\0${unit}`, { prefix, unit });
          }
        }
      });
    }
  }
  return [...found.values()];
}

/** The text of each element, with neighbouring plain characters as one. */
function written(elements: readonly Element[], write: (element: Element) => string): string[] {
  const parts: string[] = [];
  elements.forEach((element, at) => {
    if (element.type === "Character" && elements[at - 1]?.type === "Character")
      parts.push(parts.pop() + write(element));
    else parts.push(write(element));
  });
  return parts;
}

function eachSequence(
  node: Pattern | Element,
  before: string,
  write: (element: Element) => string,
  look: (elements: readonly Element[], before: string) => void,
): void {
  if (node.type === "Quantifier") eachSequence(node.element, before, write, look);
  if (!("alternatives" in node)) return;
  for (const alternative of node.alternatives) {
    if (alternative.type !== "Alternative") continue;
    look(alternative.elements, before);
    let prefix = before;
    for (const element of alternative.elements) {
      eachSequence(element, prefix, write, look);
      prefix += write(element);
    }
  }
}

/** A text that the element matches, roughly: each repetition `times` more than it must. */
function writer(order: string, times: number): (element: Element) => string {
  const write = (element: Element): string => {
    switch (element.type) {
      case "Character":
        return String.fromCodePoint(element.value);
      case "CharacterClass":
      case "CharacterSet":
      case "ExpressionCharacterClass": {
        const one = new RegExp(`^${element.raw}$`, /\\p|\\u\{|[^\0-\uffff]/iu.test(element.raw) ? "u" : "");
        return [...order, ..."aA0 -/.,:@<\"'\n\t_é"].find((sign) => one.test(sign)) ?? "";
      }
      case "Quantifier":
        return write(element.element).repeat(Math.min(element.min + times, element.max, 40));
      case "Group":
      case "CapturingGroup":
        return element.alternatives[0]?.elements.map(write).join("") ?? "";
      case "Backreference":
        return [element.resolved]
          .flat()
          .map((group) => write(group))
          .join("")
          .slice(0, 20);
      default:
        return "";
    }
  };
  return write;
}
