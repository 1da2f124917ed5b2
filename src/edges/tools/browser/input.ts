/** What the model may ask of the browser, and which words each action needs. */
import { z } from "zod";
import type { Json } from "../../../core/domain/index.ts";
import { parseInput, wholeNumber } from "../input.ts";
import { wrongInput } from "../paths/index.ts";

export const ACTIONS = [
  "navigate",
  "snapshot",
  "click",
  "type",
  "select",
  "press",
  "wait",
  "screenshot",
  "tabs",
  "close",
] as const;
export type BrowserAction = (typeof ACTIONS)[number];

const schema = z.strictObject({
  action: z.enum(ACTIONS),
  url: z.string().min(1).max(8192).optional(),
  ref: z
    .string()
    .regex(/^(?:f\d{1,6})?e\d{1,9}$/, "must be a ref from the last snapshot, such as e12")
    .optional(),
  text: z.string().max(100_000).optional(),
  tab: wholeNumber(1, 100).optional(),
  full: z.boolean().optional(),
});
export type BrowserInput = z.output<typeof schema>;

/** Checks words and which of them belong together. Throws TOOL_INPUT. */
export function parseBrowserInput(input: Json): BrowserInput {
  const parsed = parseInput("browser", schema, bare(input));
  for (const field of NEEDS[parsed.action]) {
    if (parsed[field] === undefined) throw wrongInput(`browser: ${parsed.action} needs the field "${field}".`);
  }
  return parsed;
}

const NEEDS: Record<BrowserAction, readonly ("url" | "ref" | "text")[]> = {
  navigate: ["url"],
  snapshot: [],
  click: ["ref"],
  type: ["ref", "text"],
  select: ["ref", "text"],
  press: ["text"],
  wait: [],
  screenshot: [],
  tabs: [],
  close: [],
};

/** Models write refs in many ways: `[e12]`, `ref=e12`. */
function bare(input: Json): Json {
  if (typeof input !== "object" || input === null || !("ref" in input) || typeof input.ref !== "string") return input;
  const ref = input.ref
    .trim()
    .replace(/^\[?(?:aria-)?(?:ref=)?/, "")
    .replace(/\]$/, "");
  return { ...input, ref };
}
