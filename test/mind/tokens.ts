/**
 * What each part of a first request costs in each situation: `npx tsx test/mind/tokens.ts`. Beside it stands what it cost before
 * Lares told its models when it is, who speaks and where (tokens-before.json, recorded with this very script). With `--json FILE` the
 * figures go to a file. Tokens are bytes of the wire's JSON over four.
 */
import { readFileSync, writeFileSync } from "node:fs";
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { recordSituations, SITUATIONS, type SituationName, TITLES } from "./situations.ts";

const PARTS = ["tools", "instructions", "place", "files", "line", "words", "whole"] as const;
type Part = (typeof PARTS)[number];
type Costs = Record<Part, number>;
type Table = Partial<Record<SituationName, Costs>>;

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

export function costsOf(request: SeenRequest): Costs {
  const sections = request.system.split(/(?<=\n)(?=# )/);
  const isPlace = (text: string) => text.startsWith("# Place");
  const isFile = (text: string) => /^# (About the owner|What you remember|Standing instructions)/.test(text);
  const sum = (texts: string[]) => tokens(texts.join(""));
  const parts = request.messages.flatMap((message) => message.parts);
  const all = (type: string) => parts.flatMap((part) => (part.type === type && "text" in part ? [part.text] : []));
  return {
    tools: tokens(JSON.stringify(request.body.tools ?? [])),
    instructions: sum(sections.filter((text) => !isPlace(text) && !isFile(text))),
    place: sum(sections.filter(isPlace)),
    files: sum(sections.filter(isFile)),
    line: sum(all("envelope")),
    words: sum(all("text")),
    whole: tokens(request.raw || JSON.stringify(request.body)),
  };
}

export function printTable(now: Table, before: Table = {}): string {
  const rows = SITUATIONS.flatMap((name) => {
    const costs = now[name];
    if (!costs) return [];
    const cell = (part: Part) => {
      const old = before[name]?.[part];
      return old === undefined || old === costs[part] ? String(costs[part]) : `${old} → ${costs[part]}`;
    };
    return [`| ${[TITLES[name], ...PARTS.map(cell)].join(" | ")} |`];
  });
  return [`| situation | ${PARTS.join(" | ")} |`, `|---|${PARTS.map(() => "---:").join("|")}|`, ...rows].join("\n");
}

async function main(args: string[]): Promise<void> {
  const after = (flag: string) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
  const requests = await recordSituations();
  const now = Object.fromEntries([...requests].map(([name, request]) => [name, costsOf(request)])) as Table;
  const file = after("--json");
  if (file) writeFileSync(file, JSON.stringify(now, null, 2));
  const before = JSON.parse(readFileSync(new URL("tokens-before.json", import.meta.url), "utf8")) as Table;
  process.stdout.write(`${printTable(now, before)}\n`);
}

if (process.argv[1]?.endsWith("tokens.ts")) await main(process.argv.slice(2));
