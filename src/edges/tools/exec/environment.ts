/**
 * The environment of every command: built from nothing, by an allowlist. What the daemon was started with (keys, tokens,
 * BASH_ENV, LD_PRELOAD, NODE_OPTIONS) is not even looked at.
 *
 * EXEC-1: a variable that is not named here does not reach a command.
 */
import { existsSync } from "node:fs";

/** Directories only root writes to. */
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const MAC_PATH = `/opt/homebrew/bin:${SYSTEM_PATH}`;

/** The variable that marks every process of one run, so that none of them is lost by changing its parent or group. */
export const RUN_TAG = "LARES_RUN";

export interface Locale {
  /** e.g. `C.UTF-8`. */
  lang?: string;
  /** e.g. `Europe/Berlin`. */
  timeZone?: string;
}

/** Everything but the run's tag, which is added when the run has a key. */
export function cleanEnvironment(home: string, locale: Locale = {}): Record<string, string> {
  const isMac = process.platform === "darwin";
  const lang = locale.lang ?? (isMac ? "en_US.UTF-8" : "C.UTF-8");
  return {
    PATH: isMac ? MAC_PATH : SYSTEM_PATH,
    HOME: home,
    LANG: lang,
    LC_ALL: lang,
    TERM: "dumb",
    TZ: locale.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

/** Known shells in system directories only; never `$SHELL`. */
export function systemShell(): string {
  return existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh";
}
