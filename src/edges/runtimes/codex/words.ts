/** What people read about Codex, besides what is said of every run. */
import type { RpcWords } from "../../../core/kit/index.ts";

export const TITLE = "Codex";
export const INSTALL = "lares runtimes install codex";

export const codexWords = {
  garbled: (said: string) => `what it prints is no version: ${said}`,
  login: "Codex isn't logged in. Run: codex login",
  noThread: "It didn't say which thread it opened.",
  homeInTemp: (home: string) =>
    `Codex doesn't work with a home inside the temporary folder (${home}). Move Lares' home, or set TMPDIR to another folder.`,
  ownSettings: "The folder has settings for Codex. They aren't used: a run takes its settings from Lares alone.",
  toolsUnreachable: (server: string, why: string) => `Codex couldn't reach the tools of ${server}: ${why}`,
  declined: "It was declined.",
  noResult: "Codex reported no result.",
  rerouted: (from: string, to: string) => `The provider answered with ${to} instead of ${from}.`,
};

/** To Codex, about a message that it sent. */
export const CODEX_RPC_WORDS: RpcWords = {
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
