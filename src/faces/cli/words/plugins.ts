/** What `lares plugins` says. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const pluginWords = {
  none: "No plugins yet.",
  addOne: (hint: Hint) => hint`Install one: lares plugins install SOURCE`,
  some: (n: number) => `${plural(n, "plugin")}.`,
  state: { on: "on", off: "off", failed: "switched off by Lares", broken: "can't be used" },
  offersNothing: "nothing",
  title: (name: string, version: string, files: number) =>
    `${name} ${version}`.trim().concat(`, ${plural(files, "file")}`),
  digest: (digest: string) => `Digest: ${digest}`,
  exactly: (what: string) => `Taken: ${what}`,
  update: (before: string, after: string) => `Update from ${before || "no version"} to ${after || "no version"}.`,
  same: "Nothing has changed.",
  asks: "It asks to:",
  asksNothing: "It asks for no rights and runs no code.",
  asksNew: "It newly asks to:",
  gives: "It no longer asks to:",
  confined: (how: string) => `Its programs run ${how}.`,
  skills: (names: string) => `Skills: ${names}`,
  found: "The scan found:",
  leftOut: "Left out:",
  files: "Files:",
  more: (n: number) => `  and ${n} more`,
  installQuestion: (name: string) => `Install ${name} with these rights?`,
  updateQuestion: (name: string) => `Update ${name}?`,
  otherDigest: (given: string) => `It doesn't have the digest ${given}.`,
  otherDigestHint: "Look at it again without --digest.",
  sayYes: (hint: Hint, what: string, digest: string) =>
    hint`Say yes to exactly this: lares plugins ${what} --digest ${digest}`,
  installed: (name: string) => `Installed ${name}. It's on.`,
  updated: (name: string) => `Updated ${name}.`,
  notUsed: (name: string, why: string) => `${name} is installed and can't be used yet: ${why}`,
  removeQuestion: (name: string, withData: boolean) =>
    withData ? `Remove the plugin ${name} and what it stored?` : `Remove the plugin ${name}?`,
  removed: (name: string) => `Removed ${name}.`,
  dataKept: (hint: Hint, home: string, name: string) =>
    hint`What it stored, if anything, is still in ${home}/plugins/data/${name}.`,
  enabled: (name: string) => `${name} is on.`,
  disabled: (name: string) => `${name} is off.`,
  fine: (name: string) => `${name}: fine.`,
  wrong: (name: string, problem: string) => `${name}: ${problem}`,
};
