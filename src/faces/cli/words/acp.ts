/** What an editor shows of `lares acp`. */
import type { Hint } from "../output.ts";

export const acpWords = {
  lineTooLong: "This line is longer than 32 MB and was not read.",
  notJson: (problem: string | undefined) => `This line isn't JSON: ${problem ?? "it is nested too deeply"}.`,
  notRpc: "This isn't a JSON-RPC message.",
  unknown: (method: string) => `Lares doesn't know the method ${method}.`,
  idInUse: "A request with this id is already being answered.",
  tooMany: "Too many requests are being answered.",
  cancelled: "Cancelled.",
  bug: (message: string) => `Something went wrong in lares acp: ${message}`,
  initializeFirst: "Send initialize first.",
  missing: (field: string, method: string) => `${method} needs "${field}".`,
  noSession: (session: string) => `The session "${session}" isn't open here. Load or resume it first.`,
  tooManySessions: (most: number) => `${most} sessions are open here. Close one first.`,
  noText: "The prompt is empty.",
  noAudio: "Lares doesn't take audio here.",
  notBase64: (name: string) => `The content of ${name} isn't valid base64.`,
  tooManyFiles: (most: number) => `A prompt can bring up to ${most} pictures and files.`,
  promptTooLong: (most: number) => `A prompt can have up to ${most.toLocaleString("en-US")} characters of text.`,
  away: (hint: Hint, turn: string | undefined) =>
    turn === undefined
      ? hint`Lares can't be reached. Start it: lares gateway run`
      : hint`Lares stopped while working on this. Your message is safe, and Lares continues when it starts again: lares gateway run. Then see the result: lares turns get ${turn}`,
  older: "The running Lares is older than this program and can't be used from an editor. Update it and restart it.",
  startsOver: {
    discarded: "\n\n_(The model was cut off; the answer starts over.)_\n\n",
    different: "\n\n_(Part of the answer was missed; here it is in full.)_\n\n",
  },
  waits: (hint: Hint, code: string, tool: string) =>
    hint`Waiting for approval ${code} (${tool}). The result follows here once somebody answers: in this editor's next question, on the web page, in a chat, or with lares approvals allow ${code}`,
  asksForm: (hint: Hint, code: string) =>
    hint`This needs more than a yes or no. Answer it: lares approvals get ${code}`,
  mayNotAnswer: "This token isn't allowed to answer approvals.",
  denied: (by: string, state: string) =>
    state === "expired" ? "Nobody answered in time, so it was denied." : `Denied (${by}).`,
  noResult: "It did not run, or its result isn't known.",
  allowOnce: "Allow once",
  allowAlways: "Always allow",
  deny: "Deny",
  modes: {
    ask: { name: "Ask", description: "Lares asks before commands, changes and new web addresses." },
    record: { name: "Record", description: "Commands and changes run at once and are recorded." },
    ignore: { name: "Trust", description: "Commands and changes run without asking." },
  },
  model: "Model",
  ownModel: (model: string) => `The agent's own (${model})`,
  agentsModel: "The agent's own",
  whatFor: "what for",
  useSkill: (name: string, rest: string) => `Use the skill "${name}".${rest ? `\n\n${rest}` : ""}`,
  skill: (description: string) => `Skill: ${description}`,
  link: (name: string, uri: string) => `[${name}](${uri})`,
  earlierLeftOut: (n: number) => `(Earlier messages aren't shown here; these are the newest ${n}.)`,
  startServer: (name: string) => `Use the editor's MCP server "${name}"`,
  aboutServer: (gets: readonly string[]) =>
    `${gets.length > 0 ? `It gets ${gets.join(", ")}. ` : ""}Lares starts it when the agent needs it, for this session only. Its calls are judged like all others.`,
  useServer: "Use it in this session",
  leaveServer: "Don't use it",
  serverLeft: (name: string) => `The MCP server "${name}" is not used in this session.`,
  serverRefused: (name: string, why: string) => `The editor's MCP server "${name}" can't be used: ${why}.`,
  serverFailed: (name: string, why: string) => `The editor's MCP server "${name}" doesn't work: ${why}`,
  serversNotUsed: (names: string, why: string) => `The editor's MCP servers (${names}) are not used. ${why}`,
  mayNotBring: 'This token isn\'t allowed to add servers: that needs the right "admin".',
  noFolders: "Lares works in one folder per session; the additional directories are not used.",
};
