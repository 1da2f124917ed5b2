/** Checks of the home: there, closed to others, readable. */

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { assertNever } from "../../../core/domain/index.ts";
import { CONFIG_FILE, getFromFile, homeProblem } from "../../../ground/config/index.ts";
import { bytes } from "../format.ts";
import { bad, type Check, type Finding, ok, warn } from "./check.ts";

export const home: Check = {
  id: "home",
  what: "home",
  async run({ home: dir }) {
    const problem = homeProblem(dir);
    if (problem) return bad(problem.message, problem.hint ?? "Choose another folder with --home");
    const found = await stat(dir).catch(() => undefined);
    if (!found)
      return bad(`There is no ${dir} yet.`, "Start with: lares onboard, or choose another folder with --home");
    const mode = found.mode & 0o777;
    if (mode & 0o077) return bad(`Others can read ${dir} (${octal(mode)}).`, `chmod 700 ${dir}`);
    if ((mode & 0o700) !== 0o700) return bad(`Lares can't write to ${dir} (${octal(mode)}).`, `chmod 700 ${dir}`);
    return ok(`${dir} exists, and others can't read it.`);
  },
};

/** Files nobody else may read. */
const PRIVATE = ["token", "lares.db", "lares.db-wal", "gateway.json", "chat-history", "logs/lares.log"];

export const files: Check = {
  id: "files",
  what: "files",
  async run({ home: dir }) {
    if (!(await stat(dir).catch(() => undefined))) return ok("There is nothing for others to read yet.");
    const open: Finding[] = [];
    for (const name of PRIVATE) open.push(...(await openToOthers(join(dir, name))));
    if (await holdsKeys(dir)) open.push(...(await openToOthers(join(dir, CONFIG_FILE))));
    return open.length ? open : ok("Only you can read the secrets.");
  },
};

async function openToOthers(file: string): Promise<Finding[]> {
  const found = await stat(file).catch(() => undefined);
  if (!found || (found.mode & 0o077) === 0) return [];
  return [bad(`Others can read ${file} (${octal(found.mode & 0o777)}).`, `chmod 600 ${file}`)];
}

/** True when a key itself stands in the file, not only a reference to a variable. */
async function holdsKeys(dir: string): Promise<boolean> {
  const text = await readFile(join(dir, CONFIG_FILE), "utf8").catch(() => "");
  const providers = await getFromFile(text, "models.providers").catch(() => undefined);
  const literal = (value: unknown) => typeof value === "string" && !/^\$\{\w+\}$/.test(value);
  return Object.values(
    (providers ?? {}) as Record<string, { keys?: unknown[]; profiles?: { key?: unknown }[] } | null>,
  ).some((provider) => provider?.keys?.some(literal) || provider?.profiles?.some((profile) => literal(profile?.key)));
}

export const database: Check = {
  id: "database",
  what: "database",
  async run({ examined }) {
    const { file, state, bytes: size, message, hint } = (await examined()).database;
    switch (state) {
      case "missing":
        return ok("There is no database yet. The first start creates it.");
      case "empty":
        return warn(`${file} is empty.`, "If it had data, restore a backup before the next start");
      case "whole":
        return ok(`${file} opens and passes its check (${bytes(size)}).`);
      case "unchecked":
        return ok(`${file} opens (${bytes(size)}). It's too large to check fully.`);
      case "refused":
      case "damaged":
        return bad(message ?? `${file} can't be used.`, hint ?? "Restore a backup");
      default:
        return assertNever(state);
    }
  },
};

export const owner: Check = {
  id: "lock",
  what: "process",
  async run({ home: dir, machine, status }) {
    const text = await readFile(join(dir, "lares.pid"), "utf8").catch(() => undefined);
    const pid = Number(/^\d+/.exec(text ?? "")?.[0]);
    if (status) return ok(`Lares is running here (process ${status.pid}).`);
    if (!pid) return ok("Nothing else is using this home.");
    if (!machine.isAlive(pid)) return ok(`Process ${pid} was killed; the next start takes over.`);
    return bad(
      `Process ${pid} is using this home, but Lares doesn't answer.`,
      `See what it is: ps -p ${pid}; then stop it: kill ${pid}`,
    );
  },
};

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}
