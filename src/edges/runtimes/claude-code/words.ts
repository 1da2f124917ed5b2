/** What people read about runs of Claude Code. */
export const claudeWords = {
  tooOld: (version: string, least: string) =>
    `Claude Code ${version} is too old for Lares, which needs ${least} or newer. Update it: claude update`,
  noModels: "Claude Code has no way to a model: Lares lends it one, and none was lent for this run.",
  noModelsHint: "Set ANTHROPIC_API_KEY for Lares, then try again.",
  hangs: (ms: number) => `It said nothing that Lares understands for ${Math.round(ms / 1000)} seconds.`,
  cancelled: "It was cancelled.",
  garbage: "It prints something that isn't its protocol.",
  noResult: "Claude Code reported no result.",
  serverFailed: (name: string, why: string) => `Claude Code couldn't reach the tools of ${name}: ${why}`,
  checkKey: "Check the key of this provider, then try again.",
  failed: "Claude Code failed without saying why.",
  over: "The run is over.",
};

/** What the model, or the program, reads. */
export const CLAUDE_READS = {
  denied: "Not allowed.",
  unknownRequest: (subtype: string) => `Lares doesn't answer requests of the kind ${subtype}.`,
};
