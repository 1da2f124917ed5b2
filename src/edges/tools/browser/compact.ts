/**
 * A page in few words: what can be read, and what can be acted on with its ref. Wrappers, addresses of links and refs of
 * things that do nothing are left out; a third to a half of the tokens go with them.
 */
import { type Element, parseOutline } from "./outline.ts";

export interface Compact {
  text: string;
  /** What each ref in the text is, in words: `button "Log in"`. */
  refs: ReadonlyMap<string, string>;
}

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

/** Fields that hold one of `secrets` (what stands in password fields) show that they are filled, not with what. */
export function compact(snapshot: string, secrets: ReadonlySet<string> = new Set()): Compact {
  const refs = new Map<string, string>();
  const text = parseOutline(snapshot)
    .flatMap((element) => lines(masked(element, secrets), refs))
    .join("\n");
  return { text, refs };
}

function masked(element: Element, secrets: ReadonlySet<string>): Element {
  if (secrets.size === 0) return element;
  const text = isField(element.role) && secrets.has(element.text) ? "••••" : element.text;
  return { ...element, text, children: element.children.map((child) => masked(child, secrets)) };
}

function lines(element: Element, refs: Map<string, string>): string[] {
  const { role, name, text, children } = element;
  if (role.startsWith("/")) return [];
  if (ACTS.has(role) || (element.clickable && element.ref)) return acting(element, refs);
  const inner = children.flatMap((child) => lines(child, refs));
  const all = text === "" ? inner : [flat(text), ...inner];
  if (role === "heading") return heading(element, all);
  if (role === "row") return all.length === 0 ? [] : [all.join(" | ")];
  if (role === "img") return name === "" ? all : [`img ${quoted(name)}`, ...all];
  if (PLACES.has(role)) return place(element, all);
  if (INLINE.has(role)) return inline(role, all.length === 0 && name !== "" ? [flat(name)] : all);
  return all.length === 0 && name !== "" ? [flat(name)] : all;
}

function acting(element: Element, refs: Map<string, string>): string[] {
  const { role, name, ref, text, children, marks } = element;
  const said = name || (ACTS.has(role) && isField(role) ? "" : plainText(element));
  const what = `${ACTS.has(role) ? role : "clickable"}${said === "" ? "" : ` ${quoted(said)}`}`;
  if (ref) refs.set(ref, what);
  const head = [
    what,
    ...marks.filter((mark) => !mark.startsWith("level=")).map((mark) => `[${mark}]`),
    ...(ref ? [`[${ref}]`] : []),
  ];
  const options = children.filter((child) => child.role === "option").map(option);
  const value = options.length > 0 ? choices(options) : isField(role) ? flat(text) : "";
  const line = value === "" ? head.join(" ") : `${head.join(" ")}: ${value}`;
  // Something to act on inside of something to act on: a button in a card that is a link.
  const nested = children.filter((child) => child.role !== "option").flatMap((child) => actingInside(child, refs));
  return [line, ...nested];
}

function actingInside(element: Element, refs: Map<string, string>): string[] {
  if (ACTS.has(element.role) && element.ref) return acting(element, refs);
  return element.children.flatMap((child) => actingInside(child, refs));
}

function isField(role: string): boolean {
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

function heading({ name, marks }: Element, inner: string[]): string[] {
  const level = Number(marks.find((mark) => mark.startsWith("level="))?.slice(6) ?? 1);
  const sign = "#".repeat(Math.min(Math.max(level, 1), 6));
  // A heading that is a link says its words once.
  const acts = inner.filter((line) => /\[(?:f\d+)?e\d+\]/.test(line));
  if (acts.length === 1 && acts[0]!.includes(quoted(name))) return [`${sign} ${acts[0]}`];
  return [`${sign} ${flat(name)}`, ...acts];
}

function place({ role, name, ref }: Element, inner: string[]): string[] {
  if (inner.length === 0) return [];
  if (inner.length === 1 && name === "" && role !== "iframe") return inner;
  const label = role === "iframe" && ref ? `${role} [${ref}]` : name === "" ? role : `${role} ${quoted(name)}`;
  return [`${label}:`, ...inner.map((line) => ` ${line}`)];
}

function inline(role: string, inner: string[]): string[] {
  if (inner.length === 0) return [];
  const mark = role === "listitem" ? "- " : "";
  const hasBlocks = inner.some((line) => line.startsWith(" ") || line.startsWith("- ") || line.startsWith("#"));
  return hasBlocks ? [`${mark}${inner[0]}`, ...inner.slice(1)] : [`${mark}${inner.join(" ")}`];
}

function plainText(element: Element): string {
  return flat(
    [element.text, ...element.children.filter(isShown).map((child) => child.name || plainText(child))].join(" "),
  );
}

function isShown(element: Element): boolean {
  return !element.role.startsWith("/");
}

function quoted(text: string): string {
  return `"${flat(text)}"`;
}

/** One line; nobody acts on the end of a very long name. */
function flat(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 1000 ? `${line.slice(0, 1000)}…` : line;
}
