/** Applies the rooms' advice to the keys it is about. */
import type { AdviceContext, AdviceTable, ConfigAdvice } from "../../core/contracts/index.ts";
import { type Path, pathText } from "./problems.ts";

export function adviseBy(table: AdviceTable, at: AdviceContext): ConfigAdvice[] {
  return Object.entries(table).flatMap(([pattern, judge]) =>
    valuesAt(at.config, pattern.split(".")).flatMap(([path, value]) => {
      const advice = value === undefined ? undefined : judge(value, at);
      return advice ? [{ path: pathText(path), ...advice }] : [];
    }),
  );
}

/** What is new since `before`: a change is judged by what it brings. */
export function newAdvice(now: readonly ConfigAdvice[], before: readonly ConfigAdvice[]): ConfigAdvice[] {
  const known = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return now.filter(({ path, message }) => !known.has(`${path} ${message}`));
}

function valuesAt(value: unknown, [key, ...rest]: readonly string[], path: Path = []): [Path, unknown][] {
  if (key === undefined) return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value)
    .filter(([name]) => key === "*" || name === key)
    .flatMap(([name, item]) => valuesAt(item, rest, [...path, isList ? Number(name) : name]));
}
