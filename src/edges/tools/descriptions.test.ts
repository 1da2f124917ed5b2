/** What models are told about tools: long enough to be used right the first time, short enough to be paid for on every call. */

import { describe, expect, test } from "vitest";
import { everyTool } from "../../../test/support/every-tool.ts";
import { pretend } from "../../../test/support/pretend.ts";
import type { ToolCaller, ToolSpec } from "../../core/contracts/index.ts";
import { SHOWN } from "./exec/capture.ts";
import { DEFAULT_S as EXEC_DEFAULT_S, MOST_S as EXEC_MOST_S } from "./exec/input.ts";
import { EXAMPLE_PATCH } from "./files/apply-patch.ts";
import { MOST as NAMES } from "./files/list.ts";
import { parsePatch } from "./files/patch/parse.ts";
import { BYTES, IMAGE_BYTES, LINES } from "./files/read.ts";
import { MOST_FILES } from "./message/message.ts";
import { CLOSED, MOST_FILE_BYTES } from "./search/found.ts";
import { DEFAULT_MAX, MOST_CONTEXT, MOST as SEARCH_MOST } from "./search/search.ts";
import { MOST_SHOWN } from "./sessions/sessions.ts";
import { TIME_S, DEFAULT_S as WAIT_DEFAULT_S } from "./sessions/wait.ts";

import { MAX_BYTES } from "./web/web-fetch.ts";
import { COUNT, MOST as RESULTS_MOST } from "./web/web-search.ts";

const { registry, bound } = everyTool();
const offered = registry.specs();
const all: ToolSpec[] = [
  ...new Map([...offered, ...bound.map(({ spec }) => spec)].map((spec) => [spec.name, spec])).values(),
];
const told = (name: string) => JSON.stringify(all.find((spec) => spec.name === name));
const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

test.each(all.map((spec) => [spec.name, spec] as const))(
  "%s says what it does, when to use it, and its limits",
  (_, spec) => {
    expect(tokens(spec.description)).toBeGreaterThanOrEqual(15);
    expect(tokens(spec.description)).toBeLessThanOrEqual(120);
    expect(spec.description).toMatch(/^[A-Z].*[.\]}P…]$|Patch$/s);
  },
);

test.each(all.map((spec) => [spec.name, spec] as const))("every parameter of %s is described", (_, spec) => {
  expect(undescribed(spec.input)).toEqual([]);
});

/** Parameters without a word about them. */
function undescribed(schema: unknown): string[] {
  const { properties = {} } = schema as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).flatMap(([name, one]) => (one.description ? [] : [name]));
}

test("together the offered ones cost at most 2,130 tokens, as Anthropic's protocol writes them", () => {
  const written = offered.map(({ name, description, input }) => ({ name, description, input_schema: input }));
  expect(tokens(JSON.stringify(written))).toBeLessThanOrEqual(2130);
});

/** Sends a value to the tool and says whether it is taken. */
async function takes(name: string, input: object): Promise<boolean> {
  const tool = [
    ...bound,
    ...offered.filter(({ name }) => registry.has(name)).map(({ name }) => registry.get(name)),
  ].find(({ spec }) => spec.name === name)!;
  const place = {
    workspace: "/nowhere",
    agentDir: "/nowhere",
    spillDir: "/nowhere/out",
    caller: pretend<ToolCaller>({}),
  };
  return tool.plan(pretend(input), place).then(
    () => true,
    (error: { code?: string }) => error.code !== "TOOL_INPUT",
  );
}

describe("the numbers told are the ones in force", () => {
  test.each(all.map((spec) => [spec.name, spec] as const))("every number that %s names is a constant", (name, spec) => {
    expect(numbersIn(spec)).toEqual([...new Set(NUMBERS[name] ?? [])].sort((a, b) => a - b));
  });

  test.each([
    ["read", "limit", LINES, { path: "a" }],
    ["exec", "timeout_s", EXEC_MOST_S, { command: "true" }],
    ["search", "max", SEARCH_MOST, { pattern: "a" }],
    ["search", "context", MOST_CONTEXT, { pattern: "a" }],
    ["web_search", "count", RESULTS_MOST, { query: "a" }],
    ["sessions_history", "limit", MOST_SHOWN, { session: "s" }],
  ])("%s: %s up to %d", async (name, field, most, input) => {
    expect(await takes(name, { ...input, [field]: most })).toBe(true);
    expect(await takes(name, { ...input, [field]: most + 1 })).toBe(false);
  });

  test("what search skips is what it says", () => {
    expect(told("search")).toContain(`Skips ${[...CLOSED].join(" and ")}, binary files`);
  });
});

const MB = 1024 * 1024;
/** By tool, from the code. A number in a description that is not here is written by hand, and nobody keeps it true. */
const NUMBERS: Readonly<Record<string, readonly number[]>> = {
  // Lines count from 1.
  read: [IMAGE_BYTES / MB, LINES, BYTES / 1024, 1],
  list: [NAMES, 1],
  search: [MOST_FILE_BYTES / MB, DEFAULT_MAX, SEARCH_MOST, MOST_CONTEXT, 0],
  exec: [SHOWN, EXEC_DEFAULT_S, EXEC_MOST_S],
  message: [MOST_FILES],
  web_fetch: [MAX_BYTES / MB],
  web_search: [COUNT, RESULTS_MOST],
  sessions_history: [MOST_SHOWN],
  wait: [WAIT_DEFAULT_S, TIME_S],
};

/** Numbers in these are examples of what can be given, not limits. */
const EXAMPLES = [
  EXAMPLE_PATCH,
  ...["30 minutes", "10 minutes", "tomorrow 9am", "2026-12-24 18:00", "2 hours", "monday 9am", "0 7 * * 1-5"],
  "e12",
];

/** Every number in the description of a tool and of its parameters, once each. */
function numbersIn(spec: ToolSpec): number[] {
  const words = descriptionsIn({ description: spec.description, input: spec.input }).map((text) =>
    EXAMPLES.reduce((rest, example) => rest.replaceAll(example, ""), text),
  );
  const found = words.flatMap((text) => text.match(/\d[\d,]*/g) ?? []).map((text) => Number(text.replaceAll(",", "")));
  return [...new Set(found)].sort((a, b) => a - b);
}

function descriptionsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === "description" && typeof one === "string" ? [one] : descriptionsIn(one),
  );
}

test("the example of a patch is one that the parser accepts", () => {
  expect(told("apply_patch")).toContain(JSON.stringify(EXAMPLE_PATCH).slice(1, -1));
  expect(parsePatch(EXAMPLE_PATCH).map(({ kind }) => kind)).toEqual(["update", "add"]);
});
