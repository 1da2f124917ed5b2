/**
 * A page as an agent first sees it: where it is (headings, landmarks), what can be done there (with refs), and how its text
 * begins. That is what the next action needs; reading is asked for.
 *
 * BROWSER-1: nothing is dropped silently. What is left out is counted, and the last line says how to get it.
 * BROWSER-2: a small page is shown whole.
 * BROWSER-3: what a page wants to be seen (alerts, dialogs, states) and what stands in a form has space of its own.
 * BROWSER-4: of many things alike (cards, rows, links of a menu) some are shown, the others are named as far as there is space; the
 *     ref beside them opens them all.
 */

import type { Element } from "./outline.ts";
import {
  acting,
  actingInside,
  flat,
  hasRef,
  headingLine,
  isActing,
  isInline,
  isLabel,
  isPlace,
  isShown,
  joined,
  quoted,
} from "./whole.ts";

/** Up to here a page is shown whole: 150 tokens. */
export const WHOLE_CHARS = 600;
/** Beyond it the list of things to act on is cut as well: 1,000 tokens. */
const MOST_CHARS = 4000;
/** Text of the page in all, and of one block. */
const MOST_TEXT = 240;
const MOST_BLOCK = 120;
/** The same for BROWSER-3. */
const MOST_URGENT = 600;
const MOST_NAME = 80;
/** With more similar items in a row than this, only the first few are shown. Links of a menu take less space than cards. */
const MOST_ALIKE = 6;
const ALIKE_SHOWN = 3;
const MENU_SHOWN = 12;
/** Of a list that is longer than this nobody chooses by reading its beginning. */
const LONG_RUN = 40;
const LONG_SHOWN = 6;
const MOST_HEADINGS = 15;
/** Names of what is not shown. */
const MOST_NAMES = 60;

interface Space {
  text: number;
  urgent: number;
  headings: number;
  hidden: { characters: number; headings: number; elements: number };
  refs: Map<string, string>;
}

export function brief(page: readonly Element[], refs: Map<string, string>): string {
  const hidden = { characters: 0, headings: 0, elements: 0 };
  const space: Space = { text: MOST_TEXT, urgent: MOST_URGENT, headings: MOST_HEADINGS, hidden, refs };
  const lines = all(page, space, { isUrgent: false, parent: undefined });
  let text = "";
  for (const line of lines) {
    if (text.length + line.length > MOST_CHARS) {
      if (hasRef(line)) hidden.elements++;
      hidden.characters += line.length;
    } else text += `${text ? "\n" : ""}${line}`;
  }
  return `${text}${note(hidden)}`;
}

function note({ characters, headings, elements }: Space["hidden"]): string {
  const parts = [
    characters > 0 && `${characters.toLocaleString("en")} more characters`,
    headings > 0 && `${headings} headings`,
    elements > 0 && `${elements} elements`,
  ].filter(Boolean);
  return parts.length ? `\n[${parts.join(", ")}: snapshot with full, a ref, or text to find]` : "";
}

interface Where {
  isUrgent: boolean;
  parent: Element | undefined;
}

/** The children of one element, with runs of things alike shortened (BROWSER-4). */
function all(children: readonly Element[], space: Space, where: Where): string[] {
  const shown = children.filter((child) => isShown(child) && !isLabel(child, children));
  const out: string[] = [];
  for (let at = 0; at < shown.length; ) {
    let end = at + 1;
    while (end < shown.length && alike(shown[at]!, shown[end]!)) end++;
    const run = shown.slice(at, end);
    const isMenu = run.every(isSingle);
    const most = isMenu ? MENU_SHOWN : MOST_ALIKE;
    const [few, fewer] = isMenu ? [MENU_SHOWN, LONG_SHOWN] : [ALIKE_SHOWN, 2];
    const kept = run.length > most ? run.slice(0, run.length > LONG_RUN ? fewer : few) : run;
    for (const line of kept.flatMap((element) => one(element, space, where))) out.push(line);
    if (kept.length < run.length) out.push(...rest(run.slice(kept.length), space, where.parent));
    at = end;
  }
  return out;
}

function rest(others: readonly Element[], space: Space, parent: Element | undefined): string[] {
  const names: string[] = [];
  let length = 0;
  for (const other of others) {
    space.hidden.elements += actingInside(other, new Map()).length;
    space.hidden.characters += textLength(other);
    const name = readName(other).slice(0, 30);
    if (!name || length + name.length > MOST_NAMES) continue;
    names.push(name);
    length += name.length + 2;
  }
  const ref = parent?.ref;
  if (ref && !space.refs.has(ref)) space.refs.set(ref, "a part of the page");
  const more = names.length < others.length ? ", …" : "";
  const named = names.length ? `: ${names.join(", ")}${more}` : "";
  return [`… ${others.length} more like these${ref ? ` in ${ref}` : ""}${named}`];
}

function one(element: Element, space: Space, where: Where): string[] {
  const { role, name, text, children } = element;
  if (isActing(element)) return acting(shortened(element), new Map());
  const isUrgent = where.isUrgent || /^(?:alert|alertdialog|dialog|status|form|search)$/.test(role);
  if (role === "heading") return heading(element, space);
  if (isInline(role) || role === "row") return block(element, space, isUrgent);
  const inner = all(children, space, { isUrgent, parent: element });
  const own = text || (inner.length === 0 ? name : "");
  const lines = own ? [...say(flat(own), space, isUrgent), ...inner] : inner;
  if (role === "img") return [];
  if (!isPlace(role) || lines.length === 0) return lines;
  return placed(element, lines);
}

/** A paragraph, an item, a row: one line. Prose beyond the space goes with the links in it. */
function block(element: Element, space: Space, isUrgent: boolean): string[] {
  const acts = actingInside(element, new Map());
  const words = textLength(element);
  const left = isUrgent ? space.urgent : space.text;
  if (words > 0 && left <= 0) {
    // An item or row that is only something to act on stays; prose with links in it goes.
    if (acts.length === 0 || element.role === "paragraph") {
      space.hidden.characters += words;
      space.hidden.elements += acts.length;
      return [];
    }
  }
  const inner = all(element.children, space, { isUrgent, parent: element });
  const own = element.text || (inner.length === 0 ? element.name : "");
  const lines = own ? [...say(flat(own), space, isUrgent), ...inner] : inner;
  if (lines.length === 0) return [];
  const mark = element.role === "listitem" ? "- " : "";
  if (element.role === "row") return [lines.join(" | ")];
  const hasBlocks = lines.some((line) => /^(?: |- |#|…)/.test(line));
  return hasBlocks ? [`${mark}${lines[0]}`, ...lines.slice(1)] : [`${mark}${joined(lines)}`];
}

function heading(element: Element, space: Space): string[] {
  const acts = actingInside(element, new Map());
  if (space.headings <= 0 && acts.length === 0) {
    space.hidden.headings++;
    return [];
  }
  space.headings--;
  return headingLine({ ...element, name: cut(element.name, MOST_NAME) }, acts);
}

/** As much of it as there is space for. */
function say(text: string, space: Space, isUrgent: boolean): string[] {
  const kind = isUrgent ? "urgent" : "text";
  const most = Math.min(isUrgent ? MOST_URGENT : MOST_BLOCK, space[kind]);
  // The end of a word or two is not worth a cut.
  if (text.length <= most + 10) {
    space[kind] -= text.length;
    return [text];
  }
  space.hidden.characters += text.length - Math.max(most, 0);
  if (most < 20) {
    space.hidden.characters += Math.max(most, 0);
    space[kind] = 0;
    return [];
  }
  space[kind] -= most;
  return [`${text.slice(0, most)}…`];
}

function placed({ role, name, ref }: Element, lines: string[]): string[] {
  const named = name === "" ? role : `${role} ${quoted(cut(name, 40))}`;
  const label = role === "iframe" && ref ? `${ref} ${role}` : named;
  if (lines.length === 1 && name === "" && role !== "iframe") return lines;
  // Links of a menu stand in one line.
  if (lines.every((line) => /^- /.test(line) && line.length < 60))
    return [`${label}: ${lines.map((line) => line.slice(2)).join(", ")}`];
  return [`${label}:`, ...lines.map((line) => ` ${line}`)];
}

function alike(a: Element, b: Element): boolean {
  if (a.role !== b.role || a.role === "heading" || a.role === "paragraph" || a.role === "text") return false;
  if (isPlace(a.role) && (a.name !== "" || b.name !== "")) return false;
  const [inA, inB] = [rolesIn(a), rolesIn(b)];
  const both = [...inA].filter((role) => inB.has(role)).length;
  return both / Math.max(1, new Set([...inA, ...inB]).size) >= 0.6 || inA.size + inB.size === 0;
}

function rolesIn(element: Element, depth = 2, found = new Set<string>()): Set<string> {
  for (const child of element.children.filter(isShown)) {
    found.add(child.role);
    if (depth > 1) rolesIn(child, depth - 1, found);
  }
  return found;
}

/** One thing to act on and nothing else: a link of a menu, a button of a bar. */
function isSingle(element: Element): boolean {
  return isActing(element) || (textLength(element) === 0 && actingInside(element, new Map()).length === 1);
}

function readName(element: Element): string {
  if (element.name) return flat(element.name);
  for (const child of element.children.filter(isShown)) {
    const name = readName(child);
    if (name) return name;
  }
  return flat(element.text);
}

/** Characters of plain text: not the names of what one acts on. */
function textLength(element: Element): number {
  if (isActing(element)) return 0;
  const inner = element.children.filter(isShown).reduce((sum, child) => sum + textLength(child), 0);
  const own = flat(
    element.text || (element.children.length === 0 && element.role !== "img" ? element.name : ""),
  ).length;
  return own + inner;
}

function shortened(element: Element): Element {
  const children = element.children.map(shortened);
  return { ...element, name: cut(element.name, MOST_NAME), text: cut(element.text, MOST_NAME), children };
}

function cut(text: string, most: number): string {
  const line = flat(text);
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
