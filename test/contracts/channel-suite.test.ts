/** The channel contract itself: it fails where a rig cannot try what its adapter declares, and leaves no adapter out. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Capabilities, Channel } from "../../src/core/contracts/index.ts";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { type Declared, type Platform, unfit } from "./channel/platform.ts";

const bare: Capabilities = {
  dialect: "plain",
  limit: 1000,
  unit: "utf16",
  dedupes: false,
  buttons: 0,
  files: 0,
  hears: [],
  does: [],
  pace: { chatMs: 0, accountMs: 0 },
};
const declared = (can: Partial<Capabilities>, channel: Partial<Channel> = {}): Declared => ({
  can: { ...bare, ...can },
  policy: { vouched: true },
  channel: channel as Channel,
});
const act = async () => {};

describe("a rig", () => {
  test.each([
    [{ hears: ["groups"] }, {}, "group"],
    [{ hears: ["files"] }, {}, "sendFile"],
    [{ hears: ["threads"] }, {}, "threads"],
    [{ hears: ["edits"] }, {}, "edit"],
    [{ hears: ["reactions"] }, {}, "react"],
    [{ hears: ["deletions"] }, {}, "delete"],
    [{ does: ["react"] }, { react: act, unreact: act }, "reactions"],
    [{ does: ["typing"] }, { typing: act }, "typed"],
    [{ buttons: 3 }, {}, "press"],
  ] as [Partial<Capabilities>, Partial<Channel>, keyof Platform][])(
    "without a driver for %j fails with a sentence that names adapter and part",
    (can, channel, driver) => {
      const [first, ...more] = unfit("parrot", declared(can, channel), {});
      const part = can.hears?.[0] ?? can.does?.[0] ?? "buttons";
      expect(first).toMatch(new RegExp(`^The parrot adapter declares "[^"]*${part}", and its rig has no "${driver}"`));
      expect(more).toEqual([]);
      expect(unfit("parrot", declared(can, channel), { [driver]: act })).toEqual([]);
    },
  );

  test("that cannot look at files fails for each of the two ways to look at them", () => {
    expect(unfit("parrot", declared({ files: 10 }), {})).toEqual([
      'The parrot adapter declares "files", and its rig has no "filesShown" to try it with.',
      'The parrot adapter declares "files", and its rig has no "holdFile" to try it with.',
    ]);
  });

  test("that drives more than the adapter declares fails: the adapter says too little, or the rig tries nothing", () => {
    expect(unfit("parrot", declared({}), { sendFile: act })).toEqual([
      'The rig of parrot has "sendFile", and the adapter does not declare "hears: files".',
    ]);
  });
});

test("an adapter that declares what its channel has no method for fails", () => {
  const can = { editMs: 1000, does: ["react", "remove", "typing"] } as const;
  const all = unfit("parrot", declared(can), { reactions: async () => ({ ever: [], now: [] }), typed: async () => 0 });
  expect(all).toEqual(
    (["react", "unreact", "remove", "typing", "edit"] as const).map((method) =>
      expect.stringMatching(
        new RegExp(`^The parrot adapter declares "[^"]+", and its channel has no method "${method}"`),
      ),
    ),
  );
});

test("every adapter of the table has a rig under the contract", () => {
  for (const name of Object.keys(ADAPTERS)) {
    const file = new URL(`../channels/${name}.test.ts`, import.meta.url);
    const isUnderContract =
      existsSync(file) && new RegExp(`channelContract\\(\\{\\s+name: "${name}"`).test(readFileSync(file, "utf8"));
    expect([name, isUnderContract]).toEqual([name, true]);
  }
});
