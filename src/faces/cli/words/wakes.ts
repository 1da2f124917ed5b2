/** Words about what wakes an agent besides people, and what it works towards by itself. */
import { amount, type Word, whole } from "./word.ts";

const goals = () => import("../commands/goals.ts");
const wakes = () => import("../commands/wakes.ts");

const attention = () => import("../commands/attention.ts");

export const wakeWords: readonly Word[] = [
  {
    name: "attention",
    about: "what needs you: questions, failures, unknown outcomes, channels that are down",
    flags: [{ flag: "--limit <n>", about: "at most so many", parse: whole(1, 500) }],
    example: "lares attention",
    load: async () => (await attention()).list,
  },
  {
    name: "attention dismiss",
    takes: "[ids...]",
    about: "take failures off that list, for good",
    flags: [{ flag: "--all", about: "everything that can be dismissed" }],
    example: "lares attention dismiss --all",
    load: async () => (await attention()).dismiss,
  },
  {
    name: "wakes",
    about: "what will wake an agent, the next one last",
    example: "lares wakes",
    load: async () => (await wakes()).list,
  },
  {
    name: "watch resume",
    takes: "<name>",
    about: "look again at something that was paused because it stopped Lares twice",
    example: "lares watch resume news",
    load: async () => (await wakes()).resume,
  },
  {
    name: "goals list",
    about: "what is worked towards, turn by turn",
    example: "lares goals list",
    load: async () => (await goals()).list,
  },
  {
    name: "goals add",
    takes: "<outcome>",
    about: "give a goal; after each turn a judge says done, go on or blocked",
    flags: [
      { flag: "--proof <text>", about: "what shows that it is reached" },
      { flag: "--stop <text>", about: "when to stop although it is not" },
      { flag: "--turns <n>", about: "at most so many turns (goals.turns)", parse: whole(1, 200) },
      { flag: "--dollars <n>", about: "at most so much money", parse: amount },
      { flag: "--tokens <n>", about: "at most so many tokens", parse: whole(1, 1_000_000_000) },
      { flag: "--agent <a>", about: "who works on it" },
      { flag: "--session <s>", about: "in this conversation; without it in one of its own" },
      { flag: "--deliver <to>", about: "where its answers go: channel/account/chat" },
      { flag: "--thread <t>", about: "the thread there" },
    ],
    example: 'lares goals add "The build is green" --proof "npm test ends with 0"',
    load: async () => (await goals()).add,
  },
  {
    name: "goals show",
    takes: "<id>",
    about: "one goal: how far it is, what it used",
    example: "lares goals show 3f9a2c",
    load: async () => (await goals()).show,
  },
  {
    name: "goals pause",
    takes: "<id>",
    about: "begin no further turn of it",
    example: "lares goals pause 3f9a2c",
    load: async () => (await goals()).pause,
  },
  {
    name: "goals resume",
    takes: "<id>",
    about: "go on with it; one at its limit gets as much again",
    example: "lares goals resume 3f9a2c",
    load: async () => (await goals()).resume,
  },
  {
    name: "goals cancel",
    takes: "<id>",
    about: "end it and stop its turn; asks first",
    example: "lares goals cancel 3f9a2c --yes",
    exits: "7 the question was answered with no",
    load: async () => (await goals()).cancel,
  },
  {
    name: "wake",
    takes: "<session> <text>",
    about: "tell a session that something happened; main is an agent's main one",
    flags: [
      { flag: "--agent <a>", about: "whose main session" },
      { flag: "--deliver <to>", about: "where the answer goes: channel/account/chat" },
      { flag: "--thread <t>", about: "the thread there" },
      { flag: "--idempotency-key <k>", about: "the same key is the same event" },
    ],
    example: 'lares wake main "The build is green"',
    load: async () => (await wakes()).wake,
  },
];
