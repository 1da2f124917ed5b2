/** Checks of the machine: Node, clock, room, and the programs Lares can use. */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bytes, duration } from "../format.ts";
import { doctorWords as words } from "../words/doctor.ts";
import { bad, type Check, off, ok, warn } from "./check.ts";

/** package.json `engines`. */
const OLDEST_NODE = [20, 19] as const;
/** This was written then, so no honest clock is before it. */
const WRITTEN = Date.UTC(2026, 10, 1);
/** Clocks of file systems and of the machine differ a little. */
const SLACK_MS = 60_000;
/** A database, its journal and a day of logs. */
const LEAST_FREE = 200 * 1_048_576;

export const node: Check = {
  id: "node",
  what: "Node",
  async run({ machine }) {
    const [major = 0, minor = 0] = machine.nodeVersion.replace(/^v/, "").split(".").map(Number);
    const [least, leastMinor] = OLDEST_NODE;
    if (major > least || (major === least && minor >= leastMinor)) return ok(words.nodeFine(machine.nodeVersion));
    return bad(words.nodeOld(machine.nodeVersion), words.nodeHint(least, leastMinor));
  },
};

export const clock: Check = {
  id: "clock",
  what: "clock",
  async run({ home, machine }) {
    const { now } = machine;
    const fix = words.setClock;
    const today = new Date(now).toISOString().slice(0, 10);
    if (now < WRITTEN) return bad(words.clockBeforeRelease(today), fix);
    const times = await Promise.all(
      ["lares.db", "lares.db-wal"].map((name) =>
        stat(join(home, name)).then(
          (found) => found.mtimeMs,
          () => 0,
        ),
      ),
    );
    const behind = Math.max(...times) - now;
    if (behind > SLACK_MS) return bad(words.clockBehind(duration(behind)), fix);
    return ok(words.clockFine(new Date(now).toISOString().slice(0, 16).replace("T", " ")));
  },
};

export const disk: Check = {
  id: "disk",
  what: "disk",
  async run({ home, machine }) {
    const free = (await machine.freeBytes(home)) ?? (await machine.freeBytes(dirname(home)));
    if (free === undefined) return warn(words.diskUnknown, words.diskUnknownHint(home));
    if (free < LEAST_FREE) return bad(words.diskFull(bytes(free), home), words.diskFullHint(bytes(LEAST_FREE), home));
    return ok(words.diskFine(bytes(free)));
  },
};

export const sandbox: Check = {
  id: "sandbox",
  what: "sandbox",
  async run({ examined, machine }) {
    const { name, ok: holds, why, byHand } = (await examined()).sandbox;
    if (holds) return ok(words.sandboxFine(name));
    const because = why ? ` (${why})` : "";
    if (name !== "none") return bad(words.sandboxBroken(name, because), words.sandboxBrokenHint);
    const text = words.noSandbox(because);
    if (byHand) return off(text, words.turnSandboxOn);
    if (machine.platform !== "linux") return off(text, words.keepAsking);
    if (machine.program("bwrap")) return warn(text, words.allowNamespaces);
    return off(text, words.installBubblewrap);
  },
};

export const browser: Check = {
  id: "browser",
  what: "browser",
  async run({ machine }) {
    const found = machine.program("chromium", "google-chrome", "google-chrome-stable", "chromium-browser");
    if (found) return ok(words.browserAt(found));
    return off(words.noBrowser, words.installBrowser);
  },
};
