/** What people read about runs of ACP agents. */
import type { RpcWords } from "../../../core/kit/index.ts";

export const acpRunWords = {
  otherProtocol: (title: string, version: unknown) =>
    `${title} speaks version ${String(version)} of the Agent Client Protocol, and Lares speaks version 1.`,
  noSession: (title: string) => `${title} didn't say which session it opened.`,
  oldToken: "The conversation was stored in a form that this version of Lares doesn't know.",
  tooManyCalls: (most: number) => `Stopped after ${most} tool calls, the limit of a run.`,
  outOfTime: "Stopped: the time for this run is over.",
  silent: (title: string, ms: number) => `${title} said nothing for ${Math.round(ms / 1000)} seconds and was ended.`,
  died: (title: string, why: string) => `${title} is gone. ${why}`,
  notStarted: (title: string, why: string) => `${title} couldn't be started: ${why}`,
  tryItself: (command: string) => `Start it yourself to see what is wrong: ${command}`,
  missing: (title: string, install: string) => `${title} isn't installed. Install it: ${install}`,
  broken: (title: string, why: string) => `${title} doesn't print its version: ${why}`,
};

/** To the agent, about a message that it sent. */
export const RPC_WORDS: RpcWords = {
  lineTooLong: "This line is too long.",
  notJson: () => "This line isn't JSON.",
  notRpc: "This isn't a JSON-RPC message.",
  unknown: (method) => `Lares doesn't know the method ${method}.`,
  initializeFirst: "",
  idInUse: "A request with this id is already being answered.",
  tooMany: "Too many requests are being answered.",
  cancelled: "Cancelled.",
  bug: (message) => message,
};
