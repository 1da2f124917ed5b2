import { describe, expect, test } from "vitest";
import { asId, type QueueMode, type TurnId } from "../../../core/domain/index.ts";
import { isInterrupted, type Pending, taken } from "./take.ts";

const id = (name: string) => asId<TurnId>(name);
const waiting = (turn: string, mode: QueueMode, route = "here"): Pending => ({ turn: id(turn), mode, route });
const take = (pending: Pending[], turn: string, call: number) =>
  taken(pending, { turn: id(turn), call, route: "here" }).map((p) => p.turn);

describe("what a call takes from the inbox", () => {
  // own mode × other's mode × call → whether the other joins. Own is still waiting at call 0 only.
  const joins: Record<QueueMode, Record<QueueMode, [first: boolean, later: boolean]>> = {
    steer: { steer: [true, true], followup: [false, false], collect: [false, false], interrupt: [false, false] },
    followup: { steer: [true, true], followup: [false, false], collect: [false, false], interrupt: [false, false] },
    collect: { steer: [true, true], followup: [false, false], collect: [true, false], interrupt: [false, false] },
    interrupt: { steer: [true, true], followup: [false, false], collect: [false, false], interrupt: [false, false] },
  };
  for (const [own, others] of Object.entries(joins)) {
    for (const [other, [first, later]] of Object.entries(others)) {
      test(`${own} turn, ${other} message: ${first ? "joins" : "waits"} at first, ${later ? "joins" : "waits"} later`, () => {
        const b = waiting("b", other as QueueMode);
        expect(take([waiting("a", own as QueueMode), b], "a", 0)).toEqual(first ? ["a", "b"] : ["a"]);
        expect(take([b], "a", 1)).toEqual(later ? ["b"] : []);
      });
    }
  }

  test("a message that would be answered elsewhere never joins (I7, LANES-2)", () => {
    expect(take([waiting("a", "steer"), waiting("b", "steer", "there")], "a", 0)).toEqual(["a"]);
  });

  test("a waiting interrupt wants every other turn out of its way, not its own", () => {
    expect(isInterrupted([waiting("b", "interrupt")], id("a"))).toBe(true);
    expect(isInterrupted([waiting("a", "interrupt"), waiting("b", "steer")], id("a"))).toBe(false);
  });

  test("the own message comes first, the others in the order of admission (LANES-1)", () => {
    expect(take([waiting("x", "steer"), waiting("a", "steer"), waiting("y", "steer")], "a", 0)).toEqual([
      "a",
      "x",
      "y",
    ]);
  });
});
