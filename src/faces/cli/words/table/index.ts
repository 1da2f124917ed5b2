/** All commands in the order in which they are shown. */
import { answer } from "./answer.ts";
import type { CommandEntry, Flag, Group } from "./entry.ts";
import { look } from "./look.ts";
import { run } from "./run.ts";
import { setUp } from "./set-up.ts";
import { talk } from "./talk.ts";

export type { CommandEntry, Flag };

export const GROUPS: readonly Group[] = [talk, answer, look, run, setUp];
export const COMMANDS: readonly CommandEntry[] = GROUPS.flatMap((group) => group.commands);

/** Flags of every command. */
export const EVERYWHERE: readonly Flag[] = [
  { flag: "--home <dir>", about: "the home (LARES_HOME, else ~/.lares)" },
  { flag: "--url <url>", about: "connect to another Lares; needs --token" },
  { flag: "--token <token>", about: "the token for --url; this home's token is only sent to its own Lares" },
  { flag: "--json", about: "JSON: one document, or a line for each item" },
  { flag: "-q, --quiet", about: "print only data" },
  { flag: "--no-input", about: "never ask" },
  { flag: "-y, --yes", about: "answer yes to every question" },
];

/** Every flag by its long name. */
export const FLAGS: readonly string[] = [
  ...new Set([
    ...[...EVERYWHERE, ...COMMANDS.flatMap((command) => command.flags ?? [])].map(
      ({ flag }) => /--[a-z-]+/.exec(flag)![0],
    ),
    "--help",
    "--version",
  ]),
];
