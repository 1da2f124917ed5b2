/** What models are told about tools: long enough to be used right the first time, short enough to be paid for on every call. */
import { describe, expect, test } from "vitest";
import type { Tool, ToolSpec } from "../../core/contracts/index.ts";
import { createBrowserTool } from "./browser/index.ts";
import { SHOWN } from "./exec/capture.ts";
import { EXAMPLE_PATCH } from "./files/apply-patch.ts";
import { parsePatch } from "./files/patch/parse.ts";
import { createTools, registerTools } from "./index.ts";
import { createMemoryTools } from "./memory/memory.ts";
import { createMessageTool } from "./message/message.ts";
import { createProcess } from "./process/index.ts";
import { createScheduleTools } from "./schedule/schedule.ts";
import { CLOSED, MOST_FILE_BYTES } from "./search/found.ts";
import { createSessionTools } from "./sessions/sessions.ts";
import { createWait } from "./sessions/wait.ts";
import { createWebTools } from "./web/index.ts";

// Nothing is run here: what the tools are made with is not asked.
const nothing = {} as never;
const web = () => ({ privateHosts: [], search: { provider: "searxng", baseUrl: "http://127.0.0.1:9" } }) as never;
const house: Tool[] = [
  ...createScheduleTools(nothing),
  ...createSessionTools(nothing),
  createWait(nothing),
  ...createMemoryTools(nothing),
  ...createWebTools(web, nothing),
  createMessageTool(nothing),
  createProcess(nothing),
  createBrowserTool(nothing).tool,
];
const registry = createTools({ exec: { processes: nothing } });
registerTools(registry, house);
const offered = registry.specs();
const all: ToolSpec[] = [
  ...new Map([...offered, ...house.map(({ spec }) => spec)].map((spec) => [spec.name, spec])).values(),
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

test("together the offered ones cost at most 2,100 tokens, as Anthropic's protocol writes them", () => {
  const written = offered.map(({ name, description, input }) => ({ name, description, input_schema: input }));
  expect(tokens(JSON.stringify(written))).toBeLessThanOrEqual(2100);
});

/** Sends a value to the tool and says whether it is taken. */
async function takes(name: string, input: object): Promise<boolean> {
  const tool = [
    ...house,
    ...offered.filter(({ name }) => registry.has(name)).map(({ name }) => registry.get(name)),
  ].find(({ spec }) => spec.name === name)!;
  const place = { workspace: "/nowhere", agentDir: "/nowhere", spillDir: "/nowhere/out", caller: nothing };
  return tool.plan(input as never, place).then(
    () => true,
    (error: { code?: string }) => error.code !== "TOOL_INPUT",
  );
}

describe("the numbers told are the ones in force", () => {
  test.each([
    ["read", "limit", 2000, { path: "a" }, /up to 2000 lines/],
    ["exec", "timeout_s", 600, { command: "true" }, /default 120, max 600/],
    ["search", "max", 1000, { pattern: "a" }, /default 100, max 1000/],
    ["search", "context", 10, { pattern: "a" }, /default 0, max 10/],
    ["web_search", "count", 20, { query: "a" }, /default 5, max 20/],
    ["sessions_history", "limit", 50, { session: "s" }, /max 50/],
  ])("%s: %s up to %d", async (name, field, most, input, words) => {
    expect(told(name)).toMatch(words);
    expect(await takes(name, { ...input, [field]: most })).toBe(true);
    expect(await takes(name, { ...input, [field]: most + 1 })).toBe(false);
  });

  test("and so are those that are no parameters", () => {
    expect(told("exec")).toContain(`up to ${SHOWN.toLocaleString("en-US")} characters`);
    expect(told("read")).toMatch(/64 KB.*|up to 5 MB/);
    expect(told("list")).toMatch(/at most 500/);
    expect(told("search")).toContain(
      `Skips ${[...CLOSED].join(" and ")}, binary files and files over ${MOST_FILE_BYTES / 1024 / 1024} MB`,
    );
    expect(told("message")).toMatch(/up to 8 files/);
    expect(told("web_fetch")).toMatch(/up to 5 MB/);
  });
});

test("the example of a patch is one that the parser accepts", () => {
  expect(told("apply_patch")).toContain(JSON.stringify(EXAMPLE_PATCH).slice(1, -1));
  expect(parsePatch(EXAMPLE_PATCH).map(({ kind }) => kind)).toEqual(["update", "add"]);
});
