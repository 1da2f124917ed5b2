/** Applies the rooms' advice to the keys it is about. */
import type { AdviceContext, AdviceTable, ConfigAdvice } from "../../core/contracts/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { type Path, pathText } from "./problems.ts";

/** Some of it is learnt by trying (does a server answer?), all at the same time. */
export async function adviseBy(table: AdviceTable, at: AdviceContext): Promise<ConfigAdvice[]> {
  const found = Object.entries(table).flatMap(([pattern, judge]) =>
    valuesAt(at.config, pattern.split(".")).map(async ([path, value]): Promise<ConfigAdvice[]> => {
      const advice = value === undefined ? undefined : await judge(value, at, String(path.at(-1)));
      return advice ? [{ path: pathText(path), ...advice }] : [];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** What is new since `before`: a change is judged by what it brings. */
export function newAdvice(now: readonly ConfigAdvice[], before: readonly ConfigAdvice[]): ConfigAdvice[] {
  const known = new Set(before.map(({ path, message }) => `${path} ${message}`));
  return now.filter(({ path, message }) => !known.has(`${path} ${message}`));
}

/** What is wrong with the settings as they stand. That a setting creates something is said when it is set, and isn't wrong. */
export function standing(advice: readonly ConfigAdvice[]): ConfigAdvice[] {
  return advice.filter(({ weight }) => weight !== "new");
}

/** As the protocol carries it. */
export function toProblem(advice: ConfigAdvice): { path: string; message: string; note?: true; holds?: true } {
  const { path, message, weight, holds } = advice;
  return { path, message, ...(weight === "note" ? { note: true } : {}), ...truthy({ holds }) };
}

function valuesAt(value: unknown, [key, ...rest]: readonly string[], path: Path = []): [Path, unknown][] {
  if (key === undefined) return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value)
    .filter(([name]) => key === "*" || name === key)
    .flatMap(([name, item]) => valuesAt(item, rest, [...path, isList ? Number(name) : name]));
}
