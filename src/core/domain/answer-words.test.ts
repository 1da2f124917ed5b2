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
  ["No K7QW2M, thanks", { decision: "deny", code: "k7qw2m" }],
  ["no thanks, k7qw2m", { decision: "deny", code: "k7qw2m" }],
  ["no `k7qw2m` because it is wrong", { decision: "deny", code: "k7qw2m", reason: "because it is wrong" }],
  ["yes k7qw2m please", { decision: "allow-once", code: "k7qw2m" }],
  ["Yes please, k7qw2m. Thank you!", { decision: "allow-once", code: "k7qw2m" }],
  ["yes (k7qw2m)", { decision: "allow-once", code: "k7qw2m" }],
  ['yes "k7qw2m"', { decision: "allow-once", code: "k7qw2m" }],
  ["yes `k7qw2m`.", { decision: "allow-once", code: "k7qw2m" }],
  ["yes always k7qw2m", { decision: "allow-always", code: "k7qw2m" }],
  ["ok k7qw2m", { decision: "allow-once", code: "k7qw2m" }],
  ["Yes!", { decision: "allow-once" }],
  ["No.", { decision: "deny" }],
])("%s is an answer", (text, means) => {
  expect(answerWords(text)).toEqual(means);
});

test.each([
  ...[
    "yes k7qw2m but later.",
    "yes k7qw2m?",
    "yes?",
    "approval k7qw2m.",
    "yes please do it!",
    ".",
    "!!!",
    "ok",
    "Okay.",
  ],
  ...["yes k7qw2m if it is safe", "yes but not k7qw2m", "yes not k7qw2m", "ok k7qw2m no", "yes k7qw2m always always"],
  ...["yes k7qw2m a1b2c3", "yes please", "no thanks", "yes, never k7qw2m", "ok k7qw2m, is it safe?", "yes (k7qw2m?)"],
])("%s is said to the agent", (text) => {
  expect(answerWords(text)).toBeUndefined();
});
