/** The plain words the practice model understands, as a table. The first row that matches counts, so order matters. */
import type { JsonObject } from "../../../../core/domain/index.ts";
import { NOTHING_RECALLED, type Recalled } from "../recall.ts";
import { BOARD } from "./board.ts";
import { FILES } from "./files.ts";
import { MEMORY } from "./memory.ts";
import { TIME_ROWS } from "./time.ts";
import { WEB } from "./web.ts";
import { END, type PracticeRule, row } from "./words.ts";
import { WORK } from "./work.ts";

export interface Rule extends Omit<PracticeRule, "pattern"> {
  pattern: RegExp;
}

const ENDINGS: readonly PracticeRule[] = [
  row("nothing_to_report", "report nothing", `(?:report nothing|nothing to report)${END}`, () => ({})),
  row("stay_silent", "stay silent", `(?:stay silent|say nothing|be quiet)${END}`, () => ({ reason: "asked to" })),
];

const TOOLS: readonly PracticeRule[] = [
  row(
    "tool_search",
    "find a tool for schedules",
    `(?:find|is there|look for|do you have) (?:a|any) tools? (?:for|to|that can) (?<query>.+?)${END}`,
    ({ query }) => ({ query: query! }),
  ),
  row(
    "tool_search",
    "which tools do you have?",
    `(?:(?:what|which)(?: other)? tools (?:do you have|are there|can you use)|(?:list|show)(?: me)?(?: all| the| your)* tools)${END}`,
    () => ({}),
  ),
  row(
    "tool_run",
    "run the tool schedule_list",
    String.raw`(?:run|use|call) the tool (?<name>\w+)(?: with (?<input>\{.*\}))?${END}`,
    ({ name, input }) => toolInput(name!, input),
  ),
];

const PLEASE = String.raw`^(?:please\s+|(?:can|could|would|will) you\s+(?:please\s+)?)?`;

export const RULES: readonly Rule[] = [
  ...ENDINGS,
  ...BOARD,
  ...WEB,
  ...WORK,
  ...TOOLS,
  ...TIME_ROWS,
  ...MEMORY,
  ...FILES,
].map((one) => ({ ...one, pattern: new RegExp(PLEASE + one.pattern, "is") }));

/** The patterns look back and forth; on a pasted book they would do so for minutes. */
const LONGEST = 4_000;

/** A call the words ask for. */
export interface WantedCall {
  tool: string;
  input: JsonObject;
}

export function matchRule(text: string, recalled: Recalled = NOTHING_RECALLED): WantedCall | undefined {
  if (text.length > LONGEST) return undefined;
  const words = text.trim().replace(/,? please([.!?]?)$/i, "$1");
  for (const candidate of RULES) {
    const found = candidate.pattern.exec(words);
    if (!found) continue;
    const input = candidate.input(found.groups ?? {}, recalled);
    if (input) return { tool: candidate.tool, input };
  }
  return undefined;
}

function toolInput(name: string, input: string | undefined): JsonObject | undefined {
  if (input === undefined) return { name, input: {} };
  try {
    return { name, input: JSON.parse(input) as JsonObject };
  } catch {
    return undefined;
  }
}
