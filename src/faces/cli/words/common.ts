/** What more than one command says, and what is said about a command that can't be meant. */
import type { Hint } from "../output.ts";

export const commonWords = {
  practiceModel: "practice model",
  didYouMean: (near: string) => `Did you mean "${near}"?`,
  moreOfTheId: (ids: string) => `Give more characters of the id: ${ids}.`,
  ifUnanswered: "if unanswered",
  nothingChanged: "Nothing was changed.",
  nothingToChange: "Nothing to change.",
  noAnswerWithin: (ms: number) => `Lares didn't answer within ${ms / 1000} s.`,
  restarted: "── Lares restarted ──",
  reconnected: "── reconnected ──",
  priceUnknown: "price unknown",
  inTime: (time: string) => `in ${time}`,
  notWritten: (file: string, code: string) => `Couldn't write ${file} (${code}).`,
  notWrittenHint: "Choose another file with -o.",
  unknownReason: "unknown reason",
  thePracticeModel: "the practice model",
  noTerminal: "This needs your confirmation, and there is no terminal to ask in.",
  addYes: "Add --yes to confirm.",
  notAnAddress: (given: string) => `"${given}" isn't an http or https address.`,
  turnFailed: "The turn failed.",
  whatItDid: (hint: Hint, reason: string, turn: string) =>
    hint`${reason} To see what it was doing: lares turns get ${turn}`,
  question: (mark: string, agent: string, tool: string) => `${mark} Allow ${agent} to do this? (${tool})`,
  asksYou: (mark: string, server: string | undefined) =>
    `${mark} ${server === undefined ? "A program" : `The MCP server ${server}`} asks you something.`,
  getsAnswer: "It gets what you answer, so don't enter passwords or keys.",
  cancelled: (label: string, time: string) => `  ${label}  cancelled in ${time}`,
  denied: (label: string, time: string) => `  ${label}  denied in ${time}`,
  howToFillIn: (hint: Hint, id: string, how: string) =>
    hint`Answer: lares answer ${id} "${how}"   Decline: lares deny ${id}`,
  howToAnswer: (hint: Hint, id: string) => hint`Allow: lares approve ${id}   Deny: lares deny ${id}`,
  notRunning: "Lares is not running.",
  matches: (typed: string, n: number, noun: string) => `"${typed}" matches ${n} ${noun}s.`,
  unknown: (noun: string, typed: string) => `There is no ${noun} "${typed}".`,
  seeThem: (list: string) => `See them: ${list}`,
  pipe: (file: string) => `${file} is a pipe. Waiting for data; press Ctrl-C to stop.`,
  noFile: (file: string) => `There is no file ${file}.`,
  noFileHint: "Use - to read from stdin.",
  notRead: (file: string, code: string) => `Couldn't read ${file} (${code}).`,
};

export const programWords = {
  outputBroken: (code: string) =>
    `Couldn't write all of the output${code === "ENOSPC" ? ": no space is left" : ""} (${code}).`,
  version: "the version",
  help: "this page",
  example: (example: string) => `\nFor example: ${example}\n`,
  tooMany: (word: string, command: string) => `Unexpected argument "${word}" after "${command}".`,
  noCommand: (command: string, word: string) => `There is no command "${`${command} ${word}`}".`,
  didYouMean: (command: string, near: string) => `Did you mean "${command} ${near}"?`,
  known: (known: string) => `Available: ${known}.`,
  seeHelp: (command: string) => `See: ${command} --help`,
  notAFlag: (word: string) => `${word} isn't a flag of this command.`,
  addHelp: "Add --help to see what it takes.",
  noFlag: (word: string) => `There is no flag ${word}.`,
  didYouMeanFlag: (near: string) => `Did you mean ${near}?`,
  missing: (word: string) => `No ${word} given.`,
  needsValue: (word: string) => `${word} needs a value.`,
  required: (word: string) => `${word} is required.`,
  see: {
    session: "See them: lares sessions list",
    turn: "See them: lares turns list",
    agent: "See them: lares agents list",
  },
};
