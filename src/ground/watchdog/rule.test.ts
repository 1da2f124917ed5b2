import { describe, expect, it } from "vitest";
import { chooseWait, count, type HeldWork, judgeHeld, spare } from "./rule.ts";

const held = (strikes: number, deaths: number): HeldWork => ({ strikes, deaths, at: 0 });

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

  it("nothing is held against what is not known", () => {
    expect(judgeHeld(undefined)).toBe("none");
    expect(chooseWait(undefined)).toBe(0);
  });
});

describe("a life that died before it started the work", () => {
  it("forgets its deaths, eight times, and never its strikes", () => {
    let now: HeldWork = { strikes: 1, deaths: 3, at: 5 };
    for (let spared = 1; spared <= 8; spared++) {
      now = spare({ ...now, deaths: 3 }, "died");
      expect(now).toEqual({ strikes: 1, deaths: 0, at: 5, spared });
    }
    expect(spare({ ...now, deaths: 3 }, "died")).toMatchObject({ deaths: 3, spared: 8 });
    expect(count(now, { how: "died", laterSuspect: false }, false, 9)).toMatchObject({ deaths: 1, spared: 8 });
  });
  it.each(["stalled", "threw", "full"] as const)("%s says nothing about it", (how) => {
    expect(spare({ strikes: 0, deaths: 3, at: 5 }, how)).toEqual({ strikes: 0, deaths: 3, at: 5 });
  });
});

describe("what a death adds", () => {
  const before = [0, 1, 2].flatMap((strikes) => [0, 1, 2, 3].map((deaths) => held(strikes, deaths)));
  const stall = (was: HeldWork | undefined, laterSuspect = false, progressed = false) =>
    count(was, { how: "stalled", laterSuspect }, progressed, 7);
  const death = (was: HeldWork | undefined, progressed = false) =>
    count(was, { how: "died", laterSuspect: false }, progressed, 7);

  for (const was of before) {
    const name = `${was.strikes} strikes, ${was.deaths} deaths`;
    it.each(["stalled", "threw", "full"] as const)(`${name}: %s adds a strike where no suspect began later`, (how) => {
      for (const progressed of [false, true]) {
        const now = count(was, { how, laterSuspect: false }, progressed, 7);
        expect(now).toEqual({ strikes: was.strikes + 1, deaths: was.deaths, at: 7 });
      }
    });

    it(`${name}: a plain death counts in a row, and only without progress`, () => {
      expect(death(was)).toEqual({ strikes: was.strikes, deaths: was.deaths + 1, at: 7 });
      expect(death(was, true)).toEqual({ strikes: was.strikes, deaths: 0, at: 7 });
    });
  }

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

  it("the fourth plain death in a row convicts, and no storm with progress in between", () => {
    expect(judgeHeld(death(death(death(undefined))))).toBe("suspect");
    expect(judgeHeld(death(death(death(death(undefined)))))).toBe("convicted");
    let stormy: HeldWork | undefined;
    for (let i = 0; i < 100; i++) stormy = death(stormy, i % 3 === 2);
    expect(judgeHeld(stormy)).toBe("none");
  });
});
