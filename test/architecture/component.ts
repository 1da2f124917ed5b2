/** The syntax tree of a Svelte component: its scripts and its markup, without the styles. */
import { parse } from "svelte/compiler";
import type { Ast } from "./syntax.ts";

export function parseComponent(source: string): Ast {
  const { instance, module, fragment } = parse(source, { modern: true });
  const content = [instance?.content, module?.content, fragment].filter(Boolean);
  return { type: "Component", start: 0, end: source.length, content };
}
