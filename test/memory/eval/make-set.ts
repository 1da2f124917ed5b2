/**
 * Makes set.json from scripts/: conversations written by hand from the first line to the last, nothing drawn from a list. `blind/` was
 * written with its questions before anything was measured on it; with `seen/` the weights were chosen.
 * Run it after a change of the scripts: npx tsx test/memory/eval/make-set.ts
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildConversation } from "./build.ts";
import type { EvalSet } from "./set.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const conversations = ["blind", "seen"].flatMap((part) =>
  readdirSync(here(`scripts/${part}`))
    .sort()
    .map((name) => {
      const script = readFileSync(here(`scripts/${part}/${name}`), "utf8");
      return buildConversation({ id: name.replace(/^\d+-|\.txt$/g, ""), part, script });
    }),
);
const set: EvalSet = { name: "lares-own", conversations };
writeFileSync(here("set.json"), `${JSON.stringify(set, null, 1)}\n`);
