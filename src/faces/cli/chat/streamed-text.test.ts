import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { StreamedText } from "./streamed-text.ts";

function make() {
  const log: string[] = [];
  const text = new StreamedText({
    write: (t) => void log.push(t),
    next: () => void log.push("\n\n"),
    void: (why) => void log.push(`<${why}>`),
  });
  return { text, shown: () => log.join("") };
}

describe("an answer is shown once", () => {
  it("as it comes, and nothing more at the end", () => {
    const { text, shown } = make();
    for (const part of ["\n Hel", "lo ", "you\n"]) text.feed(0, part);
    text.finish("Hello you");
    expect(shown()).toBe("Hello you\n");
  });

  it("what comes again after a restart is not shown again (CHAT-11)", () => {
    const { text, shown } = make();
    text.feed(0, "Hello y");
    text.reconnected(true);
    for (const part of ["He", "llo", " you", " there"]) text.feed(0, part);
    text.finish("Hello you there");
    expect(shown()).toBe("Hello you there");
  });

  it("what comes different after a restart voids the old (CHAT-13)", () => {
    const { text, shown } = make();
    text.feed(0, "Hello y");
    text.reconnected(true);
    text.feed(0, "Good day");
    text.finish("Good day");
    expect(shown()).toBe("Hello y<different>Good day");
  });

  it("text whose beginning was missed after a restart is not taken for another answer (CHAT-12)", () => {
    const { text, shown } = make();
    text.feed(0, "one tw");
    text.reconnected(true);
    for (const part of ["ree", " four"]) text.feed(0, part);
    text.finish("one two three four");
    expect(shown()).toBe("one two three four");
  });

  it("text missed while away is added at the end (CHAT-12)", () => {
    const { text, shown } = make();
    text.feed(0, "one ");
    text.reconnected(false);
    text.feed(0, "three");
    text.finish("one two three");
    expect(shown()).toBe("one two three");
  });

  it("a discarded try is marked", () => {
    const { text, shown } = make();
    text.feed(0, "half an");
    text.discarded(0);
    text.feed(0, "whole");
    text.finish("whole");
    expect(shown()).toBe("half an<discarded>whole");
  });

  it("what is said before a tool and after are two paragraphs", () => {
    const { text, shown } = make();
    text.feed(0, "I look.");
    text.feed(1, "Done.");
    text.finish("Done.");
    expect(shown()).toBe("I look.\n\nDone.");
  });

  it("however it is cut, lost and repeated, the last text shown is the answer", () => {
    const chunk = fc.oneof(
      fc.constant("cut" as const),
      fc.constant("restart" as const),
      fc.integer({ min: 1, max: 5 }),
    );
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 40 }), fc.array(chunk, { maxLength: 30 }), (answer, steps) => {
        const whole = answer.trim();
        fc.pre(whole !== "" && !whole.includes("<"));
        const { text, shown } = make();
        let at = 0;
        for (const step of steps) {
          if (step === "restart") {
            text.reconnected(true);
            at = 0;
          } else if (step === "cut") {
            text.reconnected(false);
            at = Math.min(at + 3, whole.length);
          } else {
            text.feed(0, whole.slice(at, at + step));
            at = Math.min(at + step, whole.length);
          }
        }
        text.finish(whole);
        expect(shown().split(/<\w+>/).at(-1)?.trim()).toBe(whole);
      }),
    );
  });
});
