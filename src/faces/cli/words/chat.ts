/** What `lares chat` says. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const chatWords = {
  empty: "The message is empty.",
  emptyHint: "Write something: lares chat -m TEXT",
  needsTerminal: "A conversation needs a terminal.",
  needsTerminalHint: "To send one message: lares chat -m TEXT",
  keyNeedsMessage: "--idempotency-key only works with -m.",
  linesAbove: (n: number) => `(${plural(n, "line")} above) `,
  tooLong: (most: string) => `Messages are limited to ${most} characters; the rest was left out.`,
  yourAgent: "your agent",
  youTalkTo: (agent: string, session: string | undefined) =>
    `You are talking to ${agent}${session ? ` in ${session}` : ""}.`,
  model: (model: string) => `Model: ${model}.`,
  decided: { "allow-once": "✓ allowed once", "allow-always": "✓ always allowed", deny: "– denied" },
  passedOn: { yes: "✓ answer sent", no: "– declined" },
  answeredBy: (state: string, by: string) => `– ${state} by ${by}`,
  whatItDid: (hint: Hint, turn: string) => hint`To see what it was doing: lares turns get ${turn}`,
  ctrlCAgain: "Press Ctrl-C again to quit.",
  noConnection: (since: string, wait: string, why: string) =>
    `No connection since ${since}, next try in ${wait}.${why} Your messages will wait.`,
  stopping: "● stopping · Ctrl-C again to quit",
  moreAfter: (n: number) => ` · ${n} more after it`,
  answersAfterTyping: "what you're typing is sent as a message; then answer",
  answers: "yes, no or always, then Enter",
  yesOrNo: "yes or no, then Enter",
  fillIn: (how: string) => `answer ${how} · or no`,
  waiting: (how: string, more: string) => `◐ waiting for you · ${how}${more}`,
  continues: (hint: Hint, turn: string) =>
    hint`The turn continues without you. See the result: lares turns get ${turn}`,
  comeBack: (hint: Hint, session: string) => hint`To come back: lares chat --session ${session}`,
  stoppingNow: "Stopping. Press Ctrl-C again to quit now.",
  seeResult: (hint: Hint, turn: string) => hint`See the result: lares turns get ${turn}`,
  thenGetAnswer: (hint: Hint, turn: string) => hint`  Then get the answer: lares turns get ${turn}`,
  practiceAnswered: "(The practice model answered: rules, not a language model.)",
  waitsForApproval: (id: string, shown: string) => `This is waiting for your approval (${id}): ${shown}`,
  stoppedWhileWorking:
    "Lares stopped while working on this. Your message is safe, and Lares continues when it starts again.",
  startThenGet: (turn: string | undefined) => `Start it: lares gateway run. Then: lares turns get ${turn ?? "TURN"}`,
  readFiles: (n: number) => `read ${n} files`,
  doing: (line: string, took: string, others: number) => `${line}, ${took}${others ? `, and ${others} more` : ""}`,
  startsOver: {
    discarded: "↻ the model was cut off; the answer starts over",
    different: "↻ part of the answer was missed; here it is in full:",
  },
  moreLines: (n: number) => `… ${plural(n, "more line")}`,
  footer: (who: string) => `${who} · Enter sends · Ctrl-C stops, twice quits · /help`,
};
