/** What `lares sessions`, `agents` and `context` say. */

import { asSentence } from "../../../core/kit/index.ts";
import type { Hint } from "../output.ts";
import { listed, plural } from "./plural.ts";

export const agentWords = {
  none: (hint: Hint) => hint`No agents yet. Create one: lares agents create NAME`,
  defaultModel: "the default model",
  policy: (policy: string) => `policy ${policy}`,
  defaultMark: "● marks the default agent.",
  one: (agent: string, isDefault: boolean, n: number) =>
    `${agent}${isDefault ? ", the default agent" : ""}: ${plural(n, "conversation")}.`,
  files: (home: string, agent: string) => `Its files are in ${home}/agents/${agent}.`,
  created: (hint: Hint, agent: string) => hint`Created ${agent}. Talk to it: lares chat --agent ${agent}`,
  theDefault: "the default",
};

export const contextWords = {
  cache: {
    marks: "Lares tells the provider what to cache",
    automatic: "the provider caches prompt prefixes automatically",
    none: "no cache",
  },
  request: (tokens: string, bytes: number, n: number, model: string, api: string) =>
    `About ${tokens} tokens (${bytes} bytes) in ${plural(n, "part")} to ${model} over ${api}.`,
  share: (percent: number, cache: string) => `${percent}% of it was in the last request; ${cache}.`,
  tooLong: "Too long: older messages are compacted before sending.",
  message: (index: number) => `message ${index + 1}, `,
  cacheMark: ", cache mark here",
  sentNotCached: "sent before, not cached",
  newThenCached: "new, then cached",
  how: {
    summary: "by a model",
    mixed: "partly by rules",
    extract: "by rules",
  },
  notBoth: "Use --compact or --undo, not both.",
  inFullAgain: (n: number) => `The model sees ${plural(n, "message")} in full again.`,
  counted: "counted by the provider",
  ledger: (tokens: string, window: string, share: number, by: string, model: string) =>
    `${tokens} of ${window} tokens (${share}%), ${by}; model ${model}.`,
  messages: (n: number, older: string, threshold: string) =>
    `${plural(n, "message")} in full, ${older} older; compaction starts at ${threshold} tokens.`,
  tokens: (tokens: string) => `${tokens} tokens`,
  compactedAt: (ago: string, how: string, n: number, before: string, after: string, state: string) =>
    `Compacted ${ago} ${how}: ${plural(n, "message")}, ${before} → ${after} tokens${state}.`,
  carriedOver: "Carried over",
  nothingYet: "Nothing to compact yet.",
  inBackground: (hint: Hint, session: string) => hint`Continuing in the background. See: lares context "${session}"`,
  compacted: (hint: Hint, how: string, n: number, before: string, after: string, session: string) =>
    hint`Compacted ${how}: ${plural(n, "message")}, ${before} → ${after} tokens. Undo: lares context "${session}" --undo`,
};

export const sessionWords = {
  written: (n: number, file: string) => `Wrote ${plural(n, "message")} to ${file}.`,
  emptyHint: "Create one: lares sessions export SESSION -o FILE",
  alreadyHere: (n: number) => `; ${n} already there`,
  imported: (n: number, session: string, again: string) => `Imported ${plural(n, "message")} into ${session}${again}.`,
  notJson: (i: number, from: string) => `Line ${i + 1} of ${from} isn't valid JSON.`,
  notJsonHint: "An export has one JSON object per line.",
  empty: (from: string) => `${from} is empty.`,
  noMatch: (search: string) => `No conversations match "${search}".`,
  none: (hint: Hint) => hint`No conversations yet. Start one: lares chat`,
  some: (total: number, shown: number) => listed(`${plural(total, "conversation")}, newest last`, shown, total),
  one: (title: string, n: number) => `${title || "(no title)"}: ${plural(n, "message")}.`,
  earlier: (hint: Hint) => hint`  … earlier messages: lares sessions export`,
  forgottenMark: "(forgotten: models don't read this) ",
  cleared: "Context cleared. You can still read the earlier messages.",
  deleteQuestion: (session: string, n: number) =>
    `Delete ${session} with ${plural(n, "message")}? This can't be undone.`,
  deleted: (session: string, n: number) => `Deleted ${session} with ${plural(n, "message")}.`,
  wouldDelete: (n: number) => `${plural(n, "conversation")} would be deleted.`,
  nothingThatOld: "No conversations are that old.",
  deleteManyQuestion: (n: number) => `Delete ${plural(n, "conversation")}? This can't be undone.`,
  deletedMany: (n: number) => `Deleted ${plural(n, "conversation")}.`,
  unknown: (session: string) => `There is no conversation "${session}".`,
  seeThem: "See them: lares sessions list",
};

export const a2aWords = {
  none: "No agents of others yet.",
  addOne: (hint: Hint) => hint`Let yours ask one: lares a2a add NAME ADDRESS --token-stdin`,
  letOne: (hint: Hint) => hint`Let one ask yours: lares a2a token NAME`,
  askable: (n: number) => `Yours may ask ${plural(n, "agent")}.`,
  asking: (n: number) => `${plural(n, "token")} for agents that may ask yours.`,
  off: "off",
  ready: "accepted",
  notAccepted: "not accepted yet",
  changed: "card has changed",
  open: (n: number) => plural(n, "open task"),
  noToken: "No token was given.",
  noTokenHint: (name: string) => `For example: lares a2a add ${name} ADDRESS --token-stdin < FILE`,
  added: (name: string) => `Added ${name}. Its card says:`,
  rule: (hint: Hint, name: string) =>
    hint`Asking it needs your approval each time. To allow it for good: lares config set policy.allow.peer_ask '["${name}"]'`,
  fails: (name: string, why: string) => `${name} can't be reached: ${why}`,
  asAccepted: (name: string) => `${name} is as you accepted it.`,
  newToken: (hint: Hint, name: string) =>
    hint`To give it another token: lares a2a add ${name} ADDRESS --replace --token-stdin`,
  isNew: (name: string) => `Nobody has accepted the card of ${name} yet. It says:`,
  isChanged: (name: string) => `The card of ${name} has changed, so it isn't asked for now.`,
  before: "before:",
  now: "now:",
  acceptIt: (hint: Hint, name: string) => hint`Accept it as it is now: lares a2a test ${name} --accept`,
  accepted: (name: string) => `Accepted the card of ${name}.`,
  changedAgain: (name: string) => `The card of ${name} changed again just now. Look at it once more.`,
  removeQuestion: (name: string) => `Remove the agent ${name}?`,
  removed: (name: string) => `Removed ${name}.`,
  ruleRemoved: (name: string) => `The rule that let your agents ask ${name} without approval is gone too.`,
  notThere: (name: string) => `There is no agent called ${name}.`,
  tokenMade: (name: string) => `${name} can now ask your agents, as a guest. It opens nothing else.`,
  cardAt: (url: string) => `Its owner enters this token and the address ${url}`,
  revokeIt: (hint: Hint, id: string) => hint`To revoke it: lares tokens revoke ${id}`,
};

export const runtimeWords = {
  some: (ready: number, all: number) => `${ready} of ${plural(all, "runtime")} ready.`,
  states: { ready: "ready", "needs-login": "needs a login", missing: "not installed", broken: "broken" },
  tried: "tried here",
  notTried: "not tried here",
  bodyOf: (agents: readonly string[]) => `body of ${agents.join(", ")}`,
  tryOne: (hint: Hint, name: string) => hint`See what it really can do here: lares runtimes probe ${name}`,
  trying: (name: string) => `Trying out ${name} on a scripted model …`,
  seen: (title: string, version: string, worked: number, all: number) =>
    `${title} ${version}: ${worked} of ${all} things that were tried worked.`,
  claimed: "claimed",
  absent: "no",
  lacks: "A run here:",
  installing: (name: string) => `Installing ${name} by npm …`,
  installed: (title: string, version: string) => `Installed ${title}: ${version}`,
  ranScript: (script: string) =>
    `Its package's script ${script} ran: without it, the program doesn't start. No other script did.`,
  noScript: "No script of the package ran.",
  at: (program: string) => `It is ${program}`,
  fine: (title: string) => `${title} works here.`,
  wrong: (title: string, why: string) => `${title}: ${why}`,
  noneUsed: "No agent has another program as its body, so there is nothing to check.",
  checkOne: (hint: Hint) => hint`Check one by its name: lares runtimes doctor NAME`,
};

export const mcpWords = {
  none: "No MCP servers yet.",
  addOne: (hint: Hint) => hint`Add one: lares mcp add NAME --command "PROGRAM ARGUMENTS"`,
  some: (n: number) => `${plural(n, "MCP server")}.`,
  tools: (n: number) => plural(n, "tool"),
  neverListed: "never started",
  held: (n: number) => `${n} to look at`,
  unusable: (n: number) => `${n} unusable`,
  lookAt: (hint: Hint, name: string) => hint`Look at what changed: lares mcp tools ${name}`,
  oneSource: "Give the server as one of --command, --address and --json-file.",
  oneSourceHint: "--json-file - reads JSON from stdin, as the server's README prints it.",
  needsName: "A server needs a name.",
  needsNameHint: 'lares mcp add NAME --command "PROGRAM ARGUMENTS"',
  added: (name: string, target: string) => `Added ${name}: ${target}`,
  notAdded: (name: string, reason: string) => `Not added: ${name}: ${reason}.`,
  askSecret: (name: string, about: string) =>
    `${name}${about === "" ? "" : `, ${about}`} (goes into the vault, not shown; empty leaves it out):`,
  nothingToImport: "Found no MCP servers to import.",
  importPlaces:
    "Lares looks at the settings of Claude Desktop, Claude Code, Cursor, VS Code, OpenClaw and Hermes, and in the agents' workspaces.",
  importable: { new: "+", changed: "!", "there already": "=", "left out": "-" },
  isImportedAs: { new: "", changed: "other definition", "there already": "already added", "left out": "left out" },
  importGets: (names: string) => `gets ${names}`,
  importQuestion: (n: number) => `Add ${plural(n, "server")}? Nothing is started now.`,
  notOffered: (why: string) => `Not offered: ${why}.`,
  importReplaces: (hint: Hint, n: number, file: string) =>
    hint`${plural(n, "server")} of the same name ${n === 1 ? "has" : "have"} another definition. Replace: lares mcp import${file} --replace`,
  nothingNew: "Nothing to add.",
  tryIt: (hint: Hint, name: string) => hint`Try it: lares mcp test ${name}`,
  stillConnecting: (name: string, seconds: number, wrote: string) =>
    `Connecting to ${name}, ${seconds} s so far.${wrote === "" ? "" : ` It wrote: ${wrote}`}`,
  works: (name: string, tools: number, ms: number) => `${name} works: ${plural(tools, "tool")}, ${ms} ms.`,
  fails: (name: string, why: string) => `${name} can't be reached: ${why}`,
  itSaid: "It wrote:",
  isPinned: "new conversations get it directly",
  notPinned: (name: string, why: string) => `${name}: ${why}.`,
  isNew: (name: string) => `New, not used until you accept it: ${name}`,
  isChanged: (name: string) => `Changed, not used until you accept it: ${name}`,
  before: "before:",
  now: "now:",
  cannotUse: (name: string, reason: string) => `Can't be used: ${name}: ${reason}`,
  accepted: (n: number) => `Accepted ${plural(n, "tool")} as they are now.`,
  acceptThem: (hint: Hint, name: string) => hint`Accept them as they are now: lares mcp tools ${name} --accept`,
  noTools: (hint: Hint, name: string) => hint`No tools are known yet. Ask the server: lares mcp tools ${name} --fresh`,
  lastFailure: (why: string) => `It isn't running: ${asSentence(why)}`,
  silent: (name: string) => `${name} has written nothing since Lares started.`,
  openThis: "Open this page and log in:",
  thenPaste: (hint: Hint, name: string) =>
    hint`If your browser runs on another machine, it ends at an address that it can't open. Copy that: lares mcp login ${name} --ended ADDRESS`,
  waitingForBrowser: "Waiting for the browser. Ctrl-C stops waiting; the login stays open for half an hour.",
  stoppedWaiting: (hint: Hint, name: string) =>
    hint`Stopped waiting. You can still finish the login in the browser. Start over with: lares mcp login ${name}`,
  notLoggedIn: (hint: Hint, name: string) => hint`You aren't logged in to ${name}. Try again: lares mcp login ${name}`,
  loggedIn: (name: string) => `Logged in to ${name}.`,
  removeQuestion: (name: string) => `Remove the MCP server ${name}, with the secrets stored for it alone?`,
  removedSecrets: (names: string) => `Removed from the vault: ${names}.`,
  removed: (name: string) => `Removed ${name}.`,
  notThere: (name: string) => `There is no MCP server ${name}.`,
};

/** Read by the program that started `lares mcp serve`. */
export const bridgeWords = {
  notJson: (problem: string | undefined) => `This line isn't JSON: ${problem ?? "it is nested too deeply"}.`,
  unreachable: (why: string) => `Lares can't be reached: ${why}`,
};
