/**
 * What a back end found, as far as it may be shown.
 *
 * BACKEND-1: what a back end writes is text from outside with the plugin's name. A fact of ours it may only name: its words and its trust
 *     are read here.
 * BACKEND-3: a session sees of it what it may see of memory: a find has a scope, or counts as the owner's. What was forgotten here isn't
 *     shown, even if the back end still has it.
 */
import { z } from "zod";
import { withoutHidden } from "../../../core/kit/index.ts";
import { type Found, type Remembered, SHARED } from "../kinds.ts";

/** Of one find, and of all finds of one back end. */
const MOST_TEXT = 2000;
export const MOST_FOUND = 5;
/** Looked at, so that some may be left out. */
const MOST_READ = 50;
/** Ids of ours begin so: one that isn't there any more was forgotten or replaced. */
const OURS = /^mem_/;

const find = z.object({
  id: z.string().min(1).max(256),
  text: z.string().optional(),
  scope: z.string().min(1).max(256).optional(),
  at: z.number().min(0).max(8.64e15).optional(),
  place: z.string().max(1024).optional(),
});
const answer = z.object({ results: z.array(z.unknown()) });

export interface FindParts {
  get(id: string): Promise<Remembered | undefined>;
  wasForgotten(text: string): Promise<boolean>;
}

interface BackendAnswer {
  plugin: string;
  answer: unknown;
  /** What the session sees; everything when there are none. */
  scopes: readonly string[] | undefined;
  now: number;
}

/** Undefined for an answer that isn't one. */
export async function readFinds(memory: FindParts, given: BackendAnswer): Promise<Found[] | undefined> {
  const { scopes } = given;
  const read = answer.safeParse(given.answer);
  const finds = read.success ? z.array(find).safeParse(read.data.results.slice(0, MOST_READ)) : undefined;
  if (!finds?.success) return undefined;
  const found: Found[] = [];
  for (const one of finds.data) {
    const shown = await show(memory, given, one);
    if (shown && (!scopes || scopes.includes(shown.scope))) found.push(shown.found);
    if (found.length === MOST_FOUND) break;
  }
  return found;
}

async function show(
  memory: FindParts,
  { plugin, now }: BackendAnswer,
  { id, text = "", scope = SHARED, at, place }: z.output<typeof find>,
): Promise<{ found: Found; scope: string } | undefined> {
  const ours = await memory.get(id);
  if (ours) {
    if (ours.state !== "live" || (ours.expiresAt !== undefined && ours.expiresAt <= now)) return undefined;
    const { kind, trust, person, source = null } = ours;
    const found = { id, text: ours.text, source, score: 0, at: ours.at, kind, trust };
    return { found: person === undefined ? found : { ...found, person }, scope: ours.scope };
  }
  const words = oneLine(text, MOST_TEXT);
  if (OURS.test(id) || words === "" || (await memory.wasForgotten(words))) return undefined;
  const found: Found = {
    id: oneLine(id, 64),
    text: words,
    source: `plugin ${plugin}`,
    score: 0,
    at: at ?? now,
    kind: "outside",
    trust: "outside",
  };
  return { found: place === undefined ? found : { ...found, place: oneLine(place, 200) }, scope };
}

/** On a line of its own it can't pass for another find. */
function oneLine(text: string, most: number): string {
  return withoutHidden(text.slice(0, most * 2))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, most);
}
