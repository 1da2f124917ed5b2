/** What people read about any run of another program. */
export const runWords = {
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

/** Why a runtime can't do something. */
export const absentWords = {
  notInProtocol: "The protocol that Lares speaks with it has no word for this.",
  startsAlone: "It works only when Lares starts it.",
  childrenLeftOut: "Lares leaves out its tools for starting more agents.",
  noResume: "It doesn't find a conversation again in a new process.",
  neverAsks: "It never asks.",
  noUsage: "It doesn't report what it uses.",
  ownAddress: "Its model calls can't be sent to another address.",
  execOnly: "codex exec takes nothing in while it runs. A version with an app server does.",
  noToolsPerRun: "It takes no tools for a single run.",
  ownModels: "It calls its models itself, with its own keys.",
  ownHome: "It has its own home, which Lares leaves alone.",
};

export function unknownRuntime(name: string, known: readonly string[]): string {
  return `There is no runtime "${name}". Known are ${known.join(", ")}, and what you describe under runtimes in lares.yaml.`;
}

export function runtimeNameTaken(name: string): string {
  return `"${name}" is the name of a runtime that Lares drives in its own way. Choose another name under runtimes.`;
}
