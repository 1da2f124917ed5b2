import { expect, test } from "vitest";
import { findPrompt, readPromptArguments, readPrompts, showPrompt } from "./prompts.ts";

const [report, plain] = readPrompts([
  { name: "report", description: "A\u{E0041} report", arguments: [{ name: "city", required: true }, { name: "days" }] },
  { name: "one", arguments: [{ name: "topic", required: true }] },
  { name: "not a name" },
  { arguments: [] },
  7,
]);

test("prompts that can't be typed are left out, hidden characters too", () => {
  expect(report).toEqual({
    name: "report",
    about: "A report",
    arguments: [
      { name: "city", required: true },
      { name: "days", required: false },
    ],
  });
  expect(plain?.name).toBe("one");
  expect(showPrompt("sky", report!)).toBe("/sky:report city=… [days=…]");
});

test("arguments are named, or left unnamed where there is only one", () => {
  expect(readPromptArguments("sky", report!, 'city="New York" days=3')).toEqual({ city: "New York", days: "3" });
  expect(readPromptArguments("sky", plain!, "rain in May")).toEqual({ topic: "rain in May" });
  expect(() => readPromptArguments("sky", report!, "days=3")).toThrow('"city" is missing');
  expect(() => readPromptArguments("sky", report!, "town=Rome")).toThrow('doesn\'t take "town"');
  expect(() => readPromptArguments("sky", report!, "Rome")).toThrow("name what you give it");
  expect(() => findPrompt("sky", [report!], "reprot")).toThrow("no prompt");
});
