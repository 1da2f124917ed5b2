/**
 * A second set, of another kind: two people over many sessions, each turn a memory of its own with a source like `D3:12`. Four stories
 * written by hand with their questions before anything was measured on them, stretched with chatter on the same subjects.
 * Questions by what they need: one turn, several turns, a time, a guess about a person, or a question that names the wrong one
 * of the two ("adversarial": the turn it is about is still what should be found).
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildConversation, seeded } from "./build.ts";
import type { EvalSet } from "./set.ts";

const here = (name: string) => fileURLToPath(new URL(`long/${name}`, import.meta.url));

export function longSet(): EvalSet {
  const random = seeded(7_411);
  const chatter = readFileSync(here("chatter.txt"), "utf8");
  const conversations = readdirSync(here("."))
    .filter((name) => /^\d/.test(name))
    .sort()
    .map((name) =>
      buildConversation({
        ...{ id: name.replace(/^\d+-|\.txt$/g, ""), script: readFileSync(here(name), "utf8"), chatter, random },
        length: 480,
        name: (session, message) => `D${session}:${message}`,
      }),
    );
  return { name: "long", conversations };
}
