/**
 * Makes set.json from scripts/: six hand-written stories, stretched with small talk to the length of a real long conversation.
 * The same seed gives the same bytes. Run it after a change of the scripts: npx tsx test/memory/eval/make-set.ts
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildConversation, seeded } from "./build.ts";
import type { EvalSet } from "./set.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** Messages a conversation has in the end; long enough that most of it is noise for any one question. */
const LENGTH = 360;

const random = seeded(20_240_117);
const chatter = readFileSync(here("scripts/small-talk.txt"), "utf8");

const conversations = readdirSync(here("scripts"))
  .filter((name) => /^\d/.test(name))
  .sort()
  .map((name) => {
    const id = name.replace(/^\d+-|\.txt$/g, "");
    const script = readFileSync(here(`scripts/${name}`), "utf8");
    return buildConversation({ id, script, chatter, random, length: LENGTH, name: (s, m) => `${id}/s${s}/${m}` });
  });
const set: EvalSet = { name: "lares-own", conversations };
writeFileSync(here("set.json"), `${JSON.stringify(set, null, 1)}\n`);
