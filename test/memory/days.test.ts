/** Which day it is in what memory takes in and hands out: the person's, else the owner's; never that of Greenwich or of the machine. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { dayIn, stampIn } from "../../src/core/kit/index.ts";
import { type Rig, startRig } from "../mind/rig.ts";
import { requestsWith, until } from "../support/index.ts";

const LOOKS = "You keep the long-term memory";
const MAIN = "agent:main:main";
const FACT = 'say:[{"text":"The plumber comes on a fixed day","kind":"fact"}]';

let rig: Rig | undefined;
afterEach(() => rig?.stop());

async function start(zone: string, at: string, everyMessages = 1): Promise<Rig> {
  rig = await startRig({
    start: Date.parse(at),
    config: {
      time: { zone },
      memory: {
        embedder: { use: "off" },
        // The night's pass looks through conversations, too.
        condense: { use: "off" },
        capture: { use: "model", everyMessages, idleSeconds: 86_400 },
      },
    },
  });
  return rig;
}
const looked = (of: Rig) =>
  until("a look through the conversation", () =>
    requestsWith(of.model, "plumber").findLast((r) => r.system.includes(LOOKS)),
  );

describe("around midnight", () => {
  test.each([
    // It is the 15th in Greenwich in all of these.
    ["Pacific/Auckland", "2026-11-15T11:30:00Z", "Mon 2026-11-16"],
    ["Pacific/Kiritimati", "2026-11-15T10:01:00Z", "Mon 2026-11-16"],
    ["America/Los_Angeles", "2026-11-15T07:59:00Z", "Sat 2026-11-14"],
    ["America/Los_Angeles", "2026-11-15T08:00:00Z", "Sun 2026-11-15"],
    ["UTC", "2026-11-15T23:59:00Z", "Sun 2026-11-15"],
  ])("in %s at %s facts are taken, noted and found as of %s", async (zone, at, day) => {
    const of = await start(zone, at);
    await of.rpc("chat.send", { message: FACT, session: MAIN });
    expect((await looked(of)).raw).toContain(`The conversation below began on ${day}.`);
    const notes = join(of.home, "agents/main/memory");
    const date = day.slice(4);
    await until("the day's note", () => existsSync(notes) && readdirSync(notes).includes(`${date}.md`));
    expect(readdirSync(notes)).toEqual([`${date}.md`]);
    await of.rpc("chat.send", {
      message: 'tool:memory_search {"query":"plumber fixed day"} then: say:found',
      session: MAIN,
    });
    const found = of.model.requests.flatMap((r) => r.messages).flatMap((m) => m.parts);
    expect(JSON.stringify(found)).toMatch(new RegExp(`mem_\\w+ ${date}`));
  });
});

test("somebody with a zone of their own is taken at their word; another day is named where it begins", async () => {
  const of = await start("America/Los_Angeles", "2026-11-15T11:30:00Z", 10);
  await of.chat("ana", "/timezone Pacific/Auckland");
  await of.chat("ana", "the plumber comes tomorrow");
  of.clock.set("2026-11-16T11:00:00Z");
  await of.chat("ana", FACT);
  // Looked through a day later: what counts is when it was said.
  of.clock.advance(25 * 3_600_000);
  const { raw } = await looked(of);
  expect(raw).toContain("The conversation below began on Mon 2026-11-16.");
  expect(raw).toContain("(now it is Tue 2026-11-17)");
});

test("a day is as long as its clocks make it", () => {
  const hours = (zone: string, date: string) => {
    const { from, to } = dayIn(zone, date);
    expect(stampIn(zone, from).date).toBe(date);
    expect(stampIn(zone, from - 1).date).not.toBe(date);
    expect(stampIn(zone, to - 1).date).toBe(date);
    return (to - from) / 3_600_000;
  };
  expect(hours("Europe/Berlin", "2026-10-25")).toBe(25);
  expect(hours("Europe/Berlin", "2026-03-29")).toBe(23);
  // The clocks go from 24:00 to 01:00 there.
  expect(hours("Asia/Beirut", "2026-03-29")).toBe(23);
  expect(hours("Asia/Kolkata", "2026-11-15")).toBe(24);
});
