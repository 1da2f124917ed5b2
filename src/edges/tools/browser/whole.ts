/**
 * Everything of a page, in lines: what can be read, and what can be acted on with its ref. Wrappers, addresses of links and
 * refs of things that do nothing are left out.
 */
import type { Element } from "./outline.ts";

const ACTS = new Set(
  "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton tab menuitem menuitemcheckbox menuitemradio treeitem".split(
    " ",
  ),
);
const PLACES = new Set(
  "navigation main banner contentinfo complementary dialog alertdialog alert status form region search iframe menu tablist tree toolbar group radiogroup".split(
    " ",
  ),
);
/** What stands in one line in the page stands in one line here. */
const INLINE = new Set(
  "paragraph listitem cell gridcell columnheader rowheader term definition strong emphasis caption".split(" "),
);
/** The rest of a long list of choices can be typed. */
const MOST_OPTIONS = 40;

/** The lines of one element; what acts is noted in `refs`. */
export function lines(element: Element, refs: Map<string, string>): string[] {
  const { role, name, text, children } = element;
  if (role.startsWith("/")) return [];
  if (isActing(element)) return acting(element, refs);
  const inner = children.filter((child) => !isLabel(child, children)).flatMap((child) => lines(child, refs));
  const all = text === "" ? inner : [flat(text), ...inner];
  if (role === "heading") return headingLine(element, all);
  if (role === "row") return all.length === 0 ? [] : [all.join(" | ")];
  if (role === "img") return name === "" ? all : [`img ${quoted(name)}`, ...all];
  if (PLACES.has(role)) return place(element, all);
  if (INLINE.has(role)) return inline(role, all.length === 0 && name !== "" ? [flat(name)] : all);
  return all.length === 0 && name !== "" ? [flat(name)] : all;
}

export function isActing(element: Element): boolean {
  return ACTS.has(element.role) || (element.clickable && element.ref !== undefined);
}

export function isPlace(role: string): boolean {
  return PLACES.has(role);
}

export function isInline(role: string): boolean {
  return INLINE.has(role);
}

export function acting(element: Element, refs: Map<string, string>): string[] {
  const { role, name, ref, text, children, marks } = element;
  const said = name || (ACTS.has(role) && takesValue(role) ? "" : plainText(element));
  const what = `${ACTS.has(role) ? role : "clickable"}${said === "" ? "" : ` ${quoted(said)}`}`;
  if (ref) refs.set(ref, what);
  // The ref stands first, where no name of the page's making can be taken for it; so the name needs no quotes.
  const head = [
    ...(ref ? [ref] : []),
    ACTS.has(role) ? role : "clickable",
    ...(said === "" ? [] : [flat(said)]),
    ...marks.filter((mark) => !mark.startsWith("level=")).map((mark) => `[${mark}]`),
  ];
  const options = children.filter((child) => child.role === "option").map(option);
  const typed = takesValue(role) ? flat(text) : "";
  const value = options.length > 0 ? choices(options) : typed;
  const line = value === "" ? head.join(" ") : `${head.join(" ")}: ${value}`;
  // Something to act on inside of something to act on: a button in a card that is a link.
  const nested = children.filter((child) => child.role !== "option").flatMap((child) => actingInside(child, refs));
  return [line, ...nested];
}

export function actingInside(element: Element, refs: Map<string, string>): string[] {
  if (ACTS.has(element.role) && element.ref) return acting(element, refs);
  return element.children.flatMap((child) => actingInside(child, refs));
}

/** Something that has its own label: a field, a box to tick. */
function isField({ role }: Element): boolean {
  return takesValue(role) || /^(?:checkbox|radio|switch)$/.test(role);
}

export function takesValue(role: string): boolean {
  return (
    role === "textbox" ||
    role === "searchbox" ||
    role === "combobox" ||
    role === "spinbutton" ||
    role === "slider" ||
    role === "listbox"
  );
}

function option({ name, text, marks }: Element): string {
  return `${flat(name || text)}${marks.includes("selected") ? " (selected)" : ""}`;
}

function choices(options: string[]): string {
  const shown = options.slice(0, MOST_OPTIONS).join(" | ");
  return options.length > MOST_OPTIONS ? `${shown} | … ${options.length - MOST_OPTIONS} more` : shown;
}

export function headingLine({ name, marks }: Element, inner: string[]): string[] {
  const level = Number(marks.find((mark) => mark.startsWith("level="))?.slice(6) ?? 1);
  const sign = "#".repeat(Math.min(Math.max(level, 1), 6));
  // A heading that is a link says its words once.
  const acts = inner.filter(hasRef);
  if (acts.length === 1 && acts[0]!.includes(flat(name))) return [`${sign} ${acts[0]}`];
  return [`${sign} ${flat(name) || flat(inner.filter((line) => !hasRef(line)).join(" "))}`, ...acts];
}

function place({ role, name, ref }: Element, inner: string[]): string[] {
  if (inner.length === 0) return [];
  if (inner.length === 1 && name === "" && role !== "iframe") return inner;
  const named = name === "" ? role : `${role} ${quoted(name)}`;
  const label = role === "iframe" && ref ? `${ref} ${role}` : named;
  return [`${label}:`, ...inner.map((line) => ` ${line}`)];
}

function inline(role: string, inner: string[]): string[] {
  if (inner.length === 0) return [];
  const mark = role === "listitem" ? "- " : "";
  const hasBlocks = inner.some((line) => line.startsWith(" ") || line.startsWith("- ") || line.startsWith("#"));
  return hasBlocks ? [`${mark}${inner[0]}`, ...inner.slice(1)] : [`${mark}${joined(inner)}`];
}

/** In one line with other words, what one acts on is set off from them. */
export function joined(parts: readonly string[]): string {
  if (parts.length === 1) return parts[0]!;
  return parts.map((part) => (hasRef(part) ? `(${part})` : part)).join(" ");
}

export function hasRef(line: string): boolean {
  return /^[ #-]*(?:f\d+)?e\d+ /.test(line);
}

function plainText(element: Element): string {
  return flat(
    [element.text, ...element.children.filter(isShown).map((child) => child.name || plainText(child))].join(" "),
  );
}

export function isShown(element: Element): boolean {
  return !element.role.startsWith("/");
}

export function quoted(text: string): string {
  return `"${flat(text)}"`;
}

/** One line; nobody acts on the end of a very long name. */
export function flat(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 1000 ? `${line.slice(0, 1000)}…` : line;
}

/** The words of a label stand in the name of its field. */
export function isLabel(element: Element, siblings: readonly Element[]): boolean {
  if (element.children.length > 0 || isActing(element)) return false;
  const words = flat(element.text || element.name);
  return words !== "" && siblings.some((other) => other !== element && isField(other) && flat(other.name) === words);
}
