import { expect, test } from "vitest";
import type { Pin } from "../store.ts";
import { readManifest } from "./manifest.ts";
import { sortTools } from "./pins.ts";

const good = (name: string, more: object = {}) => ({
  name,
  description: "does it",
  inputSchema: { type: "object" },
  ...more,
});

test("one bad tool loses itself and nothing else, with a reason (MC-02)", () => {
  let deep: object = { type: "object" };
  for (let n = 0; n < 20_000; n++) deep = { properties: { a: deep } };
  const { tools, quarantined } = readManifest("s", [
    good("b"),
    good("a"),
    good("text", { inputSchema: { type: "string" } }),
    good("none", { inputSchema: undefined }),
    good("deep", { inputSchema: deep }),
    good("big", { inputSchema: { type: "object", description: "x".repeat(70_000) } }),
    good(""),
    good("hid\u{E0041}den"),
    good("read\nAllowed"),
    good("a"),
    "nonsense",
  ]);
  expect(tools.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(quarantined.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
    'text: its input schema describes "string", and arguments are always an object',
    "none: its input schema is missing",
    expect.stringMatching(/^deep: its input schema (is nested|can't be written down)/),
    "big: its input schema is larger than 64 KB",
    ": its name has 0 characters; 1 to 128 are allowed",
    "hidden: its name has hidden characters",
    expect.stringMatching(/: its name has blanks or control characters$/),
    "a: the server lists this name twice",
    expect.stringMatching(/^\(without a name\): its entry isn't valid/),
  ]);
});

test("a list without end is cut, and says so", () => {
  const { tools, isCut } = readManifest(
    "s",
    Array.from({ length: 700 }, (_, n) => good(`t${n}`)),
  );
  expect(tools).toHaveLength(500);
  expect(isCut).toBe(true);
});

test("only an accepted tool that is still the same is offered (MCP-4, MCP-10)", () => {
  const manifest = (...tools: object[]) => readManifest("s", tools);
  const [first] = manifest(good("a")).tools;
  const pins = new Map<string, Pin>([["a", { tool: "a", digest: first!.digest, shown: "as it was", seenAt: 1 }]]);
  const sorted = (...tools: object[]) => sortTools(manifest(...tools), pins);
  expect(sorted(good("a"))).toMatchObject({ offered: [{ name: "a" }], held: [], isSeen: true });
  // The same in another order is the same.
  expect(sorted({ inputSchema: { type: "object" }, description: "does it", name: "a" }).held).toEqual([]);
  expect(sorted(good("a"), good("b")).held).toMatchObject([{ tool: { name: "b" }, why: "new" }]);
  const changes = [
    { description: "does it well" },
    { title: "A" },
    { outputSchema: { type: "object" } },
    { annotations: { readOnlyHint: true } },
  ];
  for (const change of changes)
    expect(sorted(good("a", change))).toMatchObject({ offered: [], held: [{ why: "changed", before: "as it was" }] });
});
