/**
 * What several hooks say together. Pure.
 *
 * HOOKED-1: merging is monotone: one more answer, whatever it says, never widens the outcome. There is nothing in an outcome that could
 *     allow something.
 * HOOKED-2: what an answer may not say is left out and named in `ignored`; what can't be read at all is a failure.
 * HOOKED-3: a failed call counts as the subscription's `onFail` says: `deny` is a denial with the reason.
 */
import {
  HOOK_EVENTS,
  type HookAnswer,
  type HookEventName,
  type HookNote,
  type HookOnFail,
  type HookOutcome,
  hookAnswer,
} from "../../core/contracts/index.ts";
import { isObject } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { cannotRead, hookDenies, hookFailed } from "./words.ts";

/** What one source said to one event. */
export type HookSaid = { by: string; onFail: HookOnFail } & ({ answer: HookAnswer } | { failed: string });

export type Shorten = NonNullable<HookOutcome["shorten"]>;

/** Characters of notes that one event may add, about 2,000 tokens: as much as a long message by a person. */
export const MOST_NOTES = 8000;

/** Reads an answer as it came. Nothing at all is an answer, too: no objection. */
export function readAnswer(
  event: HookEventName,
  raw: unknown,
): { answer: HookAnswer; ignored: string[] } | { failed: string } {
  if (raw === undefined || raw === null) return { answer: {}, ignored: [] };
  if (!isObject(raw)) return { failed: cannotRead("it isn't a JSON object") };
  const may: readonly string[] = HOOK_EVENTS[event].may;
  const given = Object.keys(raw).filter((field) => raw[field] !== undefined && raw[field] !== null);
  const known = Object.fromEntries(given.filter((field) => may.includes(field)).map((field) => [field, raw[field]]));
  const parsed = hookAnswer.safeParse(known);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { failed: cannotRead(`${issue?.path.join(".")}: ${issue?.message}`) };
  }
  return { answer: parsed.data, ignored: given.filter((field) => !may.includes(field)).slice(0, 10) };
}

/** `said` in the order of the sources. */
export function merge(said: readonly HookSaid[]): HookOutcome {
  const answers = said.flatMap((one) => ("answer" in one ? [{ by: one.by, ...one.answer }] : []));
  const failures = said.flatMap((one) => ("failed" in one ? [one] : []));
  const denials = [
    ...answers.flatMap(({ by, deny }) => (deny === undefined ? [] : [hookDenies(by, deny)])),
    ...failures.filter(({ onFail }) => onFail === "deny").map(({ by, failed }) => hookFailed(by, failed)),
  ];
  const asks = answers.flatMap(({ by, ask }) => (ask === undefined ? [] : [hookDenies(by, ask)]));
  const again = answers.find((one) => one.again !== undefined);
  const isDenied = denials.length > 0;
  return defined({
    deny: isDenied ? denials.join(" ") : undefined,
    ask: !isDenied && asks.length > 0 ? asks.join(" ") : undefined,
    notes: withinBudget(answers.flatMap(({ by, notes = [] }) => notes.map((text) => ({ by, text })))),
    tools: intersect(answers.flatMap(({ tools }) => (tools ? [tools] : []))),
    shorten: shortest(answers.flatMap(({ shorten }) => (shorten ? [shorten] : []))),
    again: !isDenied && again ? { by: again.by, text: again.again! } : undefined,
    failed: failures.length > 0 ? failures.map(({ by, failed }) => hookFailed(by, failed)) : undefined,
  });
}

function intersect(lists: readonly (readonly string[])[]): string[] | undefined {
  const [first, ...others] = lists;
  return first && [...new Set(first)].filter((name) => others.every((list) => list.includes(name)));
}

function withinBudget(notes: readonly HookNote[]): HookNote[] | undefined {
  let left = MOST_NOTES;
  const kept: HookNote[] = [];
  for (const { by, text } of notes) {
    if (left <= 0) break;
    kept.push({ by, text: text.length <= left ? text : `${text.slice(0, left)} […]` });
    left -= text.length;
  }
  return kept.length > 0 ? kept : undefined;
}

function shortest(all: readonly NonNullable<HookAnswer["shorten"]>[]): Shorten | undefined {
  if (all.length === 0) return undefined;
  const least = (side: "head" | "tail") => {
    const given = all.flatMap((one) => one[side] ?? []);
    return given.length > 0 ? Math.min(...given) : undefined;
  };
  const remove = [...new Set(all.flatMap((one) => one.remove ?? []))];
  return defined({ head: least("head"), tail: least("tail"), remove: remove.length > 0 ? remove : undefined });
}

/** What stands where something was taken out. As short as it can be: shortening must not make a text longer. */
const GAP = "[…]";

/** The text with less in it. Never longer than it was, and nothing in it that wasn't there but for the gaps. */
export function applyShorten(text: string, { head, tail, remove = [] }: Shorten): string {
  // The longest first: a text may be part of another one.
  const without = remove
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, one) => rest.replaceAll(one, one.length >= GAP.length ? GAP : ""), text);
  if (head === undefined && tail === undefined) return without;
  const begin = head ?? 0;
  const end = tail ?? 0;
  if (begin + end + GAP.length >= without.length) return without;
  return `${without.slice(0, begin)}${GAP}${end > 0 ? without.slice(-end) : ""}`;
}
