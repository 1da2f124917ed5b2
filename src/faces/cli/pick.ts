/** One thing among many, as people name it: by its whole id, its name, or the ending of its id. */
import { AppError } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { usage } from "./exit.ts";
import { commonWords as words } from "./words/common.ts";

/** Shorter endings hit the wrong one too easily. */
const LEAST = 4;

export interface Pickable {
  id: string;
  name?: string;
}

/** `noun`: "schedule", `list`: the command that shows them. Throws NOT_FOUND, or usage when it fits several. */
export function pick<T extends Pickable>(all: readonly T[], typed: string, about: { noun: string; list: string }): T {
  const exact = all.filter((one) => one.id === typed);
  const named = exact.length ? exact : all.filter((one) => one.name === typed);
  const found = named.length ? named : all.filter((one) => typed.length >= LEAST && one.id.endsWith(typed));
  if (found.length === 1) return found[0]!;
  if (found.length > 1) {
    throw usage(
      words.matches(typed, found.length, about.noun),
      words.moreOfTheId(found.map((one) => one.id.slice(-10)).join(", ")),
    );
  }
  const near = nearest(
    typed,
    all.flatMap((one) => [one.name ?? one.id]),
  );
  throw new AppError("NOT_FOUND", {
    message: words.unknown(about.noun, typed),
    hint: near ? words.didYouMean(near) : words.seeThem(about.list),
  });
}
