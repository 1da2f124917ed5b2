/** Checks of the machine: Node, clock, room, and the programs Lares can use. */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bytes, duration } from "../format.ts";
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
    if (major > least || (major === least && minor >= leastMinor))
      return ok(`Node ${machine.nodeVersion} is new enough.`);
    return bad(`Node ${machine.nodeVersion} is too old.`, `Install Node ${least}.${leastMinor} or newer`);
  },
};

export const clock: Check = {
  id: "clock",
  what: "clock",
  async run({ home, machine }) {
    const { now } = machine;
    const fix = "Set the clock: timedatectl set-ntp true";
    const today = new Date(now).toISOString().slice(0, 10);
    if (now < WRITTEN) return bad(`The clock says ${today}, which is before this version was released.`, fix);
    const times = await Promise.all(
      ["lares.db", "lares.db-wal"].map((name) =>
        stat(join(home, name)).then(
          (found) => found.mtimeMs,
          () => 0,
        ),
      ),
    );
    const behind = Math.max(...times) - now;
    if (behind > SLACK_MS) return bad(`The clock is ${duration(behind)} behind the newest record.`, fix);
    return ok(`The clock says ${new Date(now).toISOString().slice(0, 16).replace("T", " ")} UTC.`);
  },
};

export const disk: Check = {
  id: "disk",
  what: "disk",
  async run({ home, machine }) {
    const free = (await machine.freeBytes(home)) ?? (await machine.freeBytes(dirname(home)));
    if (free === undefined) return warn("Can't tell how much disk space is left.", `See: df ${home}`);
    if (free < LEAST_FREE)
      return bad(`Only ${bytes(free)} left on the disk.`, `Free some space: Lares needs ${bytes(LEAST_FREE)}`);
    return ok(`${bytes(free)} free.`);
  },
};

export const sandbox: Check = {
  id: "sandbox",
  what: "sandbox",
  async run({ examined, machine }) {
    const { name, ok: holds, why } = (await examined()).sandbox;
    if (holds) return ok(`A command ran in the sandbox (${name}).`);
    const because = why ? ` (${why})` : "";
    if (name !== "none")
      return bad(
        `The sandbox you chose (${name}) doesn't work, so commands won't run${because}.`,
        "Repair it, or choose another: lares config set sandbox.backend auto",
      );
    const text = `No sandbox: commands run with your rights${because}.`;
    if (machine.platform !== "linux") return off(text, "Keep commands asking first (policy.mode: ask)");
    if (machine.program("bwrap"))
      return warn(
        text,
        "Allow unprivileged user namespaces on this machine, or use docker, podman or ssh as sandbox.backend",
      );
    return off(text, "Debian: apt install bubblewrap");
  },
};

export const browser: Check = {
  id: "browser",
  what: "browser",
  async run({ machine }) {
    const found = machine.program("chromium", "google-chrome", "google-chrome-stable", "chromium-browser");
    if (found) return ok(`Chromium is at ${found}.`);
    return off("Chromium isn't installed; pages are read without it.", "Debian: apt install chromium");
  },
};
