import { expect, test } from "vitest";
import { answerWords } from "./answer-words.ts";

test.each([
  ["approve k7qw2m", { decision: "allow-once", code: "k7qw2m" }],
  ["Approve K7QW2M.", { decision: "allow-once", code: "k7qw2m" }],
  ["yes k7qw2m!", { decision: "allow-once", code: "k7qw2m" }],
  ["Yes, k7qw2m!!", { decision: "allow-once", code: "k7qw2m" }],
  ["approve: k7qw2m", { decision: "allow-once", code: "k7qw2m" }],
  ["yes k7qw2m …", { decision: "allow-once", code: "k7qw2m" }],
  ["yes k7qw2m always.", { decision: "allow-always", code: "k7qw2m" }],
  ["no k7qw2m.", { decision: "deny", code: "k7qw2m" }],
  ["no k7qw2m later, please.", { decision: "deny", code: "k7qw2m", reason: "later, please" }],
  ["Yes!", { decision: "allow-once" }],
  ["No.", { decision: "deny" }],
])("%s is an answer", (text, means) => {
  expect(answerWords(text)).toEqual(means);
});

test.each(["yes k7qw2m but later.", "yes k7qw2m?", "yes?", "approval k7qw2m.", "yes please do it!", ".", "!!!"])(
  "%s is said to the agent",
  (text) => {
    expect(answerWords(text)).toBeUndefined();
  },
);
