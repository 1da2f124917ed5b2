/** Loops that count. */
import type { Word } from "unbash";

/** `$(seq 1 5)` and `{1..5}`: the numbers, without running anything. */
export function countedBy({ parts = [] }: Word): string[] | undefined {
  const [only, ...more] = parts;
  if (more.length > 0 || only === undefined) return undefined;
  if (only.type === "BraceExpansion") return counted(/^\{(\d{1,5})\.\.(\d{1,5})\}$/.exec(only.text)?.slice(1) ?? []);
  if (only.type !== "CommandExpansion" || only.script?.commands.length !== 1) return undefined;
  const words = /^\$\(\s*seq((?:\s+\d{1,5}){1,2})\s*\)$/.exec(only.text)?.[1]?.trim().split(/\s+/) ?? [];
  return counted(words.length === 1 ? ["1", words[0]!] : words);
}

/** More rounds nobody wants to read. */
export const MOST_COUNTED = 100;

function counted([from, to]: readonly string[]): string[] | undefined {
  if (from === undefined || to === undefined || [from, to].some((one) => /^0\d/.test(one))) return undefined;
  const count = Number(to) - Number(from) + 1;
  if (count < 1 || count > MOST_COUNTED) return undefined;
  return Array.from({ length: count }, (_, i) => String(Number(from) + i));
}
