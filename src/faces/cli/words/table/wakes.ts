/** Commands about what wakes an agent besides people, and what it works towards by itself. */
import { amount, type CommandEntry, whole } from "./entry.ts";

const goals = () => import("../../commands/goals.ts");
const wakes = () => import("../../commands/wakes.ts");

const attention = () => import("../../commands/attention.ts");

export const wakeCommands: readonly CommandEntry[] = [
  {
    name: "attention",
    about: "list what needs you: questions, failures, unknown outcomes, channels that are down",
    flags: [{ flag: "--limit <n>", about: "show at most this many", parse: whole(1, 500) }],
    example: "lares attention",
    load: async () => (await attention()).list,
  },
  {
    name: "attention dismiss",
    takes: "[ids...]",
    about: "remove failures from that list",
    flags: [{ flag: "--all", about: "everything that can be dismissed" }],
    example: "lares attention dismiss --all",
    load: async () => (await attention()).dismiss,
  },
  {
    name: "wakes",
    about: "list what will wake an agent, the next one last",
    example: "lares wakes",
    load: async () => (await wakes()).list,
  },
  {
    name: "watch resume",
    takes: "<name>",
    about: "resume a watch that was paused because it crashed Lares twice",
    example: "lares watch resume releases",
    load: async () => (await wakes()).resume,
  },
  {
    name: "goals list",
    about: "list goals",
    example: "lares goals list",
    load: async () => (await goals()).list,
  },
  {
    name: "goals add",
    takes: "<outcome>",
    about: "add a goal; after each turn a judge says done, continue or blocked",
    flags: [
      { flag: "--proof <text>", about: "what proves that it is reached" },
      { flag: "--stop <text>", about: "when to give up" },
      { flag: "--turns <n>", about: "limit the number of turns (goals.turns)", parse: whole(1, 200) },
      { flag: "--dollars <n>", about: "limit the cost", parse: amount },
      { flag: "--tokens <n>", about: "limit the tokens", parse: whole(1, 1_000_000_000) },
      { flag: "--agent <a>", about: "the agent that works on it" },
      { flag: "--session <s>", about: "in this conversation (default: a new one)" },
      { flag: "--deliver <to>", about: "where its answers go: channel/account/chat" },
      { flag: "--thread <t>", about: "the thread there" },
    ],
    example: 'lares goals add "The build is green" --proof "npm test exits with 0"',
    load: async () => (await goals()).add,
  },
  {
    name: "goals show",
    takes: "<id>",
    about: "show one goal: its progress and cost",
    example: "lares goals show 3f9a2c",
    load: async () => (await goals()).show,
  },
  {
    name: "goals pause",
    takes: "<id>",
    about: "stop working on a goal until you resume it",
    example: "lares goals pause 3f9a2c",
    load: async () => (await goals()).pause,
  },
  {
    name: "goals resume",
    takes: "<id>",
    about: "continue a goal; a goal at its limit gets the same limit again",
    example: "lares goals resume 3f9a2c",
    load: async () => (await goals()).resume,
  },
  {
    name: "goals cancel",
    takes: "<id>",
    about: "cancel a goal and stop its turn; asks first",
    example: "lares goals cancel 3f9a2c --yes",
    exits: "7 you answered no",
    load: async () => (await goals()).cancel,
  },
  {
    name: "wake",
    takes: "<session> <text>",
    about: "send an event to a conversation; main is an agent's main one",
    flags: [
      { flag: "--agent <a>", about: "whose main conversation" },
      { flag: "--deliver <to>", about: "where the answer goes: channel/account/chat" },
      { flag: "--thread <t>", about: "the thread there" },
      { flag: "--idempotency-key <k>", about: "the same key is the same event" },
    ],
    example: 'lares wake main "The build is green"',
    load: async () => (await wakes()).wake,
  },
];
