import { describe, expect, it } from "vitest";
import type { Doing } from "../../core/kit/index.ts";
import { type Blame, chooseWait, count, findBlame, type HeldWork, isClear, judgeHeld, spare } from "./rule.ts";

const held = (strikes: number, deaths: number): HeldWork => ({ strikes, deaths, at: 0 });
const SAME = { laterSuspect: false, progressed: false };

describe("what is held against work", () => {
  it.each([
    // strikes, deaths, what it means, how long it waits
    [0, 0, "none", 0],
    [0, 1, "none", 0],
    [0, 2, "suspect", 1000],
    [0, 3, "suspect", 5000],
    [0, 4, "convicted", 0],
    [1, 0, "suspect", 0],
    [1, 1, "suspect", 0],
    [1, 2, "convicted", 1000],
    [1, 3, "convicted", 5000],
    [1, 4, "convicted", 0],
    [2, 0, "convicted", 0],
    [2, 1, "convicted", 0],
    [2, 2, "convicted", 1000],
    [2, 3, "convicted", 5000],
    [2, 4, "convicted", 0],
    [3, 0, "convicted", 0],
  ] as const)("%i strikes and %i deaths: %s", (strikes, deaths, suspicion, wait) => {
    expect(judgeHeld(held(strikes, deaths))).toBe(suspicion);
    expect(chooseWait(held(strikes, deaths))).toBe(wait);
  });

  it.each([
    [1, "none", 0],
    [2, "suspect", 1000],
    [50, "suspect", 1000],
  ] as const)("near %i times: %s", (near, suspicion, wait) => {
    expect(judgeHeld({ ...held(0, 0), near })).toBe(suspicion);
    expect(chooseWait({ ...held(0, 0), near })).toBe(wait);
    expect(chooseWait({ ...held(0, 3), near })).toBe(5000);
  });

  it("nothing is held against what is not known", () => {
    expect(judgeHeld(undefined)).toBe("none");
    expect(chooseWait(undefined)).toBe(0);
  });
});

describe("what the end of a life says about work that was running (WATCHDOG-1, WATCHDOG-2, WATCHDOG-4)", () => {
  const TABLE: Record<`${"own" | "died"} ${Doing} ${"further" | "same"} ${"alone" | "beside"}`, Blame> = {
    "own works further alone": "strike",
    "own works further beside": "strike",
    "own works same alone": "strike",
    "own works same beside": "strike",
    "own asks further alone": "strike",
    "own asks further beside": "strike",
    "own asks same alone": "strike",
    "own asks same beside": "strike",
    "own waits further alone": "none",
    "own waits further beside": "none",
    "own waits same alone": "none",
    "own waits same beside": "none",
    "died works further alone": "further",
    "died works further beside": "further",
    "died works same alone": "death",
    "died works same beside": "near",
    "died asks further alone": "further",
    "died asks further beside": "further",
    "died asks same alone": "asked",
    "died asks same beside": "asked",
    "died waits further alone": "further",
    "died waits further beside": "further",
    "died waits same alone": "elsewhere",
    "died waits same beside": "elsewhere",
  };
  it.each(Object.entries(TABLE))("%s: %s", (row, blame) => {
    const [end, doing, progress, company] = row.split(" ");
    for (const how of end === "died" ? (["died"] as const) : (["stalled", "threw", "full"] as const)) {
      const work = { doing: doing as Doing, progressed: progress === "further" };
      expect(findBlame(how, work, company === "alone")).toBe(blame);
    }
  });
});

describe("a life that died before it started the work", () => {
  it("forgets its deaths, eight times, that it was near always, and never its strikes", () => {
    let now: HeldWork = { strikes: 1, deaths: 3, at: 5 };
    for (let spared = 1; spared <= 8; spared++) {
      now = spare({ ...now, deaths: 3, near: 3 }, "died");
      expect(now).toEqual({ strikes: 1, deaths: 0, near: 0, at: 5, spared });
    }
    expect(spare({ ...now, deaths: 3 }, "died")).toMatchObject({ deaths: 3, spared: 8 });
    expect(count(now, "death", SAME, 9)).toMatchObject({ deaths: 1, spared: 8 });
  });
  it.each(["stalled", "threw", "full"] as const)("%s says nothing about it", (how) => {
    expect(spare({ strikes: 0, deaths: 3, near: 2, at: 5 }, how)).toEqual({ strikes: 0, deaths: 3, near: 2, at: 5 });
  });
});

describe("what it adds", () => {
  const before = [0, 1, 2].flatMap((strikes) =>
    [0, 1, 2, 3].flatMap((deaths) => [0, 1, 2].map((near): HeldWork => ({ strikes, deaths, near, at: 0 }))),
  );
  const stall = (was: HeldWork | undefined, laterSuspect = false, progressed = false) =>
    count(was, "strike", { laterSuspect, progressed }, 7);
  const death = (was: HeldWork | undefined, progressed = false) =>
    count(was, progressed ? "further" : "death", { laterSuspect: false, progressed }, 7);

  it.each(before)("$strikes strikes, $deaths deaths, near $near times", (was) => {
    const { strikes, deaths, near = 0 } = was;
    const spared = deaths > 0 ? { deaths: 0, spared: 1 } : { deaths: 0 };
    const now = (blame: Blame) => count(was, blame, SAME, 7);
    expect(now("strike")).toEqual({ strikes: strikes + 1, deaths, near, at: 7 });
    expect(now("death")).toEqual({ strikes, deaths: deaths + 1, near, at: 7 });
    expect(now("near")).toEqual({ strikes, deaths, near: near + 1, at: 7 });
    expect(now("asked")).toEqual({ strikes, ...spared, near: near + 1, at: 7 });
    expect(now("further")).toEqual({ strikes, deaths: 0, near: 0, at: 7 });
    expect(now("elsewhere")).toEqual({ strikes, ...spared, near, at: 7 });
    expect(now("none")).toEqual({ strikes, deaths, near, at: 7 });
    expect(isClear(was)).toBe(strikes + deaths + near === 0);
  });

  it.each([
    // strikes before, progressed, what a stall adds when another suspect began later
    [0, false, 1],
    [0, true, 1],
    [1, false, 0.5],
    [1, true, 0],
  ])("with %d strikes and progress %s, beside a suspect that began later: a stall adds %d", (strikes, moved, added) => {
    expect(stall(held(strikes, 0), true, moved).strikes).toBe(strikes + added);
  });

  it("two stalls convict; one that others always begin after is convicted by the third", () => {
    expect(judgeHeld(stall(stall(undefined)))).toBe("convicted");
    expect(judgeHeld(stall(stall(undefined, true), true))).toBe("suspect");
    expect(judgeHeld(stall(stall(stall(undefined, true), true), true))).toBe("convicted");
  });

  it("the fourth plain death of work that was alone convicts, and no storm with progress in between", () => {
    expect(judgeHeld(death(death(death(undefined))))).toBe("suspect");
    expect(judgeHeld(death(death(death(death(undefined)))))).toBe("convicted");
    let stormy: HeldWork | undefined;
    for (let i = 0; i < 100; i++) stormy = death(stormy, i % 3 === 2);
    expect(judgeHeld(stormy)).toBe("none");
  });

  it.each(["near", "asked", "elsewhere", "further", "none"] as const)(
    "a thousand times %s convicts nothing",
    (blame) => {
      let now: HeldWork | undefined;
      for (let i = 0; i < 1000; i++) now = count(now, blame, SAME, 7);
      expect(judgeHeld(now)).toBe(blame === "near" || blame === "asked" ? "suspect" : "none");
      expect(chooseWait(now)).toBeLessThanOrEqual(1000);
    },
  );
});
