import { describe, expect, test } from "vitest";
import type { SituationKind } from "./situation.ts";
import { DAILY_TOOLS, toolsFor } from "./tools.ts";

const KINDS: Readonly<Record<SituationKind, true>> = {
  owner: true,
  known: true,
  stranger: true,
  group: true,
  job: true,
  heartbeat: true,
  child: true,
  api: true,
};
const NAMES = [
  ...DAILY_TOOLS,
  "apply_patch",
  "list",
  "message",
  "process",
  "schedule_add",
  "web_fetch",
  "sessions_spawn",
];
const spec = (name: string) => ({
  name,
  description: "Does it. Use it wisely. Up to 20 lines. See also a.b: Not here.",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "where" }, max: { type: "integer", description: "lines" } },
    required: ["path"],
  },
});
/** Without a word about what may be left out. */
const BARE = { ...spec("").input, properties: { ...spec("").input.properties, max: { type: "integer" } } };
const specs = NAMES.map(spec);

/** What is told by window, and what each situation leaves out of it. */
const WINDOWS = [
  { window: 1_000_000, names: NAMES, isShort: false },
  { window: 32_000, names: NAMES, isShort: false },
  { window: 31_999, names: NAMES, isShort: true },
  { window: 16_000, names: NAMES, isShort: true },
  { window: 15_999, names: DAILY_TOOLS, isShort: true },
  { window: 8_000, names: DAILY_TOOLS, isShort: true },
];
const WITHOUT: Partial<Record<SituationKind, string[]>> = {
  child: ["message", "schedule_add", "memory_save"],
  stranger: ["read", "write", "edit", "apply_patch", "list", "search", "schedule_add"],
};

describe.each(Object.keys(KINDS) as SituationKind[])("%s", (kind) => {
  test.each(WINDOWS)("in a window of $window", ({ window, names, isShort }) => {
    const told = toolsFor({ kind, window }, specs);
    expect(told.map(({ name }) => name).sort()).toEqual(
      names.filter((name) => !(WITHOUT[kind] ?? []).includes(name)).sort(),
    );
    const isSmall = window < 16_000;
    const words = isSmall ? "Does it." : isShort ? "Does it. Up to 20 lines." : spec("").description;
    for (const { description, input } of told) {
      expect(description).toBe(words);
      expect(input).toEqual(isSmall ? BARE : spec("").input);
    }
  });
});

test("an example stays with the sentence that leads to it", () => {
  const patch = {
    ...spec("apply_patch"),
    description: "Change files. Takes this form:\n*** Begin Patch\n*** End Patch",
  };
  expect(toolsFor({ kind: "owner", window: 20_000 }, [patch])[0]!.description).toBe(patch.description);
});
