import { expect, test } from "vitest";
import { ManualClock } from "../../core/kit/index.ts";
import { describeProgress, makeProgress } from "./tool-progress.ts";

test("progress is one bounded line without hidden characters", () => {
  expect(describeProgress({ done: 3, total: 10, text: "index\u{E0041}ing\nmore" })).toBe("3 of 10: indexing\\u{a}more");
  expect(describeProgress({ done: 0.333333 })).toBe("0.33");
  expect(describeProgress({ done: 1, text: "x".repeat(5000) })).toHaveLength(160);
});

test("a flood of progress is shown four times a second at most", () => {
  const clock = new ManualClock();
  const shown: string[] = [];
  const report = makeProgress(clock, (text) => shown.push(text));
  for (let done = 0; done < 1000; done++) {
    report({ done });
    if (done % 100 === 99) clock.advance(250);
  }
  expect(shown).toHaveLength(10);
});
