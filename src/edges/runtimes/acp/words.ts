/** What people read about runs of ACP agents, besides what is said of every run. */
import type { RpcWords } from "../../../core/kit/index.ts";

export const acpRunWords = {
  otherProtocol: (title: string, version: unknown) =>
    `${title} speaks version ${String(version)} of the Agent Client Protocol, and Lares speaks version 1.`,
  noSession: (title: string) => `${title} didn't say which session it opened.`,
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
