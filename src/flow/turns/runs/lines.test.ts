import { expect, test } from "vitest";
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { answerText, toLines } from "./lines.ts";

const started: RunEventBody = { type: "run_started", session: null, model: null, version: null };
const text = (words: string): RunEventBody => ({ type: "text", text: words });
const call = (id: string): RunEventBody => ({ type: "tool_call", call: id, name: "bash", input: { command: "ls" } });
const result = (id: string): RunEventBody => ({ type: "tool_result", call: id, isError: false, text: "files" });

test("the answer is what was said after the last deed of the last attempt", () => {
  expect(answerText([started, text("I look. "), call("a"), result("a"), text("Two "), text("files.")])).toBe(
    "Two files.",
  );
  expect(answerText([started, text("Half an ans"), started, text("Whole.")])).toBe("Whole.");
  expect(answerText([started, text("Look:"), call("a"), result("a")])).toBe("Look:");
});

test("each call is followed by its result, also one that has none and one whose id comes twice", () => {
  const lines = toLines([
    started,
    text("I look."),
    call("a"),
    result("a"),
    call("b"),
    started,
    call("a"),
    text("Done."),
  ]);
  expect(lines.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant", "tool", "assistant"]);
  const ids = lines.flatMap(({ content }) => content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])));
  const ended = lines.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === "tool-result" ? [part.id] : [])),
  );
  expect(new Set(ids).size).toBe(3);
  expect(ended).toEqual(ids);
});

test("an answer that was cut off is in the conversation once: as the next attempt says it", () => {
  const lines = toLines([
    started,
    text("I look."),
    call("a"),
    result("a"),
    text("It is do"),
    started,
    text("It is done."),
    started,
    text("It is done."),
  ]);
  const said = lines.flatMap(({ content }) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])));
  expect(said).toEqual(["I look.", "It is done."]);
});

test("a run that was taken up goes on in the middle of its answer", () => {
  const takenUp: RunEventBody = { ...started, takenUp: true } as RunEventBody;
  const events = [started, call("a"), result("a"), text("It is "), takenUp, text("done.")];
  expect(answerText(events)).toBe("It is done.");
  expect(toLines(events).at(-1)?.content).toEqual([{ type: "text", text: "It is done." }]);
});
