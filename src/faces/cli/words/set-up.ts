/** What `lares config`, `models`, `tokens`, `secrets`, `skills` and `import` say. */

import { asSentence } from "../../../core/kit/index.ts";
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const configWords = {
  isDefault: "(default; not set in the file)",
  applies: {
    live: "Lares is using it now.",
    session: "It applies to new conversations, and to open ones after /reload.",
    restart: "It applies after the gateway restarts.",
  },
  butNotYet: "It doesn't work as things are:",
  butLess: "It does less than it seems to:",
  giveValue: "Give a value, or --unset to remove the key.",
  giveValueHint: (key: string) => `For example: lares config set ${key} VALUE`,
  changed: (unset: boolean, key: string, file: string) => `${unset ? "Removed" : "Set"} ${key} in ${file}.`,
  nextStart: "Lares isn't running. It applies at the next start.",
  stillUsing: (section: string, why: string) =>
    `Lares is still using the last valid values of ${section}: ${asSentence(why)}`,
  notReloaded: (message: string) =>
    `Lares hasn't reloaded the file: ${message} It does so within seconds, or at the next start.`,
  validButNotAll: (file: string) => `${file} is valid, but some of it won't work:`,
  valid: (file: string) => `${file} is valid.`,
  noFile: (file: string) => `There is no ${file}, so Lares uses the defaults.`,
  notSet: (key: string, problems: string) => `${key} was not set: ${asSentence(problems)}`,
  notSetHint: (key: string) => `The file is unchanged. See allowed values: lares config explain ${key}`,
  setCommand: (key: string, value: string) => `lares config set ${key} ${value}`,
  setTogether: (command: string) => `The file is unchanged. Set them together, with your own values: ${command}`,
  setFirst: (key: string, command: string) => `The file is unchanged. Set ${key} first: ${command}`,
  unset: (key: string) => ({
    message: `${key} isn't set and has no default.`,
    hint: `See what it does: lares config explain ${key}`,
  }),
  unknownKey: (key: string) => `There is no config key "${key}".`,
  seeKeys: (n: number) => `See ${plural(n, "key")}: lares config explain`,
};

export const importWords = {
  counts: (n: number, fresh: number, dryRun: boolean, known: number, left: number, failed: number) =>
    `${plural(n, "item")}: ${fresh} ${dryRun ? "would be imported" : "imported"}, ${known} already there, ${left} left out${failed ? `, ${failed} failed` : ""}.`,
  dryRun: "Nothing was changed. Run it without --dry-run to import.",
  files: (n: number) => plural(n, "proposed file"),
  plainFacts: (n: number) => plural(n, "fact"),
  waiting: (hint: Hint, what: string, n: number) =>
    hint`${what} ${n === 1 ? "is" : "are"} waiting for you: lares import proposals`,
  facts: (hint: Hint, n: number) =>
    hint`${plural(n, "imported fact")} to confirm: lares memory pending. Accept all: lares import accept facts`,
  accept: (hint: Hint, id: string) =>
    hint`Proposed for ${id}. Use it: lares import accept ${id}. Drop it: lares import reject ${id}`,
  noProposals: "No proposals.",
  acceptedFacts: (n: number) => `Accepted ${plural(n, "fact")}.`,
  replaced: (id: string) => `Replaced ${id} with the proposal.`,
  deletedFacts: (n: number) => `Deleted ${plural(n, "fact")}.`,
  deleted: (id: string) => `Deleted the proposal for ${id}.`,
};

export const modelWords = {
  none: "No model is connected, so Lares uses the practice model: rules, not a language model.",
  some: (primary: string, n: number) => `Using ${primary}; ${plural(n, "model")} available.`,
  window: (contextWindow: string) => `${contextWindow} tokens`,
  price: (input: number, output: number) => `$${input} in, $${output} out per 1M`,
};

export const secretWords = {
  forAgents: (agents: string) => `for ${agents}`,
  forNoAgent: "for no agent",
  some: (n: number) => `${plural(n, "secret")} in the vault.`,
  set: (ago: string) => `set ${ago}`,
  notInVault: "granted, but not in the vault",
  noValue: "No value was given.",
  noValueHint: (name: string) => `Type it when asked, or: lares secrets set ${name} < FILE`,
  stored: (name: string, replaced: boolean) => `${name} ${replaced ? "has a new value" : "is now in the vault"}.`,
  toGrant: (hint: Hint, name: string) => hint`To let an agent's commands use it: lares secrets grant ${name} AGENT`,
  removeQuestion: (name: string) => `Remove ${name} from the vault? Its value can't be recovered.`,
  noLongerGet: (agents: string, n: number) => ` ${agents} no longer ${n === 1 ? "gets" : "get"} it.`,
  removed: (name: string, from: string) => `Removed ${name}.${from}`,
  wasNotThere: (name: string, from: string) => `${name} wasn't in the vault.${from}`,
  granted: (agents: string, name: string) =>
    `Commands run by ${agents} get ${name} as a variable. Its value is hidden in their output.`,
  stillGranted: (agents: string) => `Still granted to: ${agents}.`,
  noneLeft: "No agent gets it now.",
  revoked: (agent: string, name: string, others: string) => `Commands run by ${agent} no longer get ${name}. ${others}`,
  onOrOff: (state: string) => `"${state}" is neither on nor off.`,
  ask: (name: string) => `${name} (not shown):`,
};

export const skillWords = {
  outside: "treated as outside text until you add its name to skills.trusted",
  some: (n: number, agent: string, others: number) =>
    `${agent} has ${plural(n, "skill")}${others ? `; ${plural(others, "other isn't", "others aren't")} used` : ""}.`,
  yours: "treated as yours",
  source: (of: "agent" | "home" | "plugin", imported: string | undefined) => {
    if (of === "plugin") return `all agents, from ${imported}`;
    return `${of === "agent" ? "its own" : "all agents"}${imported ? `, imported from ${imported}` : ""}`;
  },
  none: (home: string, agent: string) =>
    `No skills yet. Add a folder with a SKILL.md to ${home}/agents/${agent}/skills.`,
};

export const tokenWords = {
  noneYet: (home: string) => `There is no token in ${home} yet.`,
  noneYetHint: "It's created at the first start: lares gateway run",
  neverUsed: "never used",
  used: (ago: string) => `used ${ago}`,
  some: (n: number, logins: number) =>
    `${plural(n, "token")} and ${plural(logins, "browser login")} can sign in, besides the owner's token.`,
  revokeOne: (hint: Hint) => hint`Revoke one: lares tokens revoke ID`,
  created: (name: string, scopes: string) => `Created ${name} with these rights: ${scopes}. It won't be shown again.`,
  revokeIt: (hint: Hint, id: string) => hint`Revoke it: lares tokens revoke ${id}`,
  list: "lares tokens list",
  revoked: (name: string) => `Revoked ${name}. Programs that use it lose access now.`,
  alreadyRevoked: (name: string) => `${name} was already revoked.`,
};
