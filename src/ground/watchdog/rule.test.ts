import { describe, expect, it } from "vitest";
import { count, type Held, suspicionOf, waitOf } from "./rule.ts";

const held = (strikes: number, deaths: number): Held => ({ strikes, deaths, at: 0 });

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
    expect(suspicionOf(held(strikes, deaths))).toBe(suspicion);
    expect(waitOf(held(strikes, deaths))).toBe(wait);
  });

  it("nothing is held against what is not known", () => {
    expect(suspicionOf(undefined)).toBe("none");
    expect(waitOf(undefined)).toBe(0);
  });
});

describe("what a death adds", () => {
  const before = [0, 1, 2].flatMap((strikes) => [0, 1, 2, 3].map((deaths) => held(strikes, deaths)));
  for (const was of before) {
    const name = `${was.strikes} strikes, ${was.deaths} deaths`;
    it.each(["stalled", "threw"] as const)(`${name}: %s adds a strike, whatever it had recorded`, (how) => {
      for (const progressed of [false, true]) {
        expect(count(was, how, progressed, 7)).toEqual({ strikes: was.strikes + 1, deaths: was.deaths, at: 7 });
      }
    });

    it(`${name}: a plain death counts in a row, and only without progress`, () => {
      expect(count(was, "died", false, 7)).toEqual({ strikes: was.strikes, deaths: was.deaths + 1, at: 7 });
      expect(count(was, "died", true, 7)).toEqual({ strikes: was.strikes, deaths: 0, at: 7 });
    });
  }

  it("two stalls convict; so does the fourth plain death in a row, and no storm with progress in between", () => {
    const stall = (was: Held | undefined) => count(was, "stalled", false, 0);
    const death = (was: Held | undefined, progressed = false) => count(was, "died", progressed, 0);
    expect(suspicionOf(stall(stall(undefined)))).toBe("convicted");
    expect(suspicionOf(death(death(death(undefined))))).toBe("suspect");
    expect(suspicionOf(death(death(death(death(undefined)))))).toBe("convicted");
    let stormy: Held | undefined;
    for (let i = 0; i < 100; i++) stormy = death(stormy, i % 3 === 2);
    expect(suspicionOf(stormy)).toBe("none");
  });
});
