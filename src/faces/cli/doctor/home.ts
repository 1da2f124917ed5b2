/** Checks of the home: there, closed to others, readable. */

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { assertNever } from "../../../core/domain/index.ts";
import { openToOthers, PRIVATE_FILES } from "../../../core/files/index.ts";
import { CONFIG_FILE, getFromFile, homeProblem } from "../../../ground/config/index.ts";
import { bytes } from "../format.ts";
import { doctorWords as words } from "../words/doctor.ts";
import { bad, type Check, type Finding, ok, warn } from "./check.ts";

export const home: Check = {
  id: "home",
  what: "home",
  async run({ home: dir }) {
    const problem = homeProblem(dir);
    if (problem) return bad(problem.message, problem.hint ?? words.otherHome);
    const found = await stat(dir).catch(() => undefined);
    if (!found) return bad(words.noHome(dir), words.noHomeHint);
    const mode = found.mode & 0o777;
    const others = openToOthers(mode);
    if (others === "change") return bad(words.changeable(dir, octal(mode)), `chmod 700 ${dir}`);
    if (others === "look") return warn(words.enterable(dir, octal(mode)), `chmod 700 ${dir}`);
    if ((mode & 0o700) !== 0o700) return bad(words.notWritable(dir, octal(mode)), `chmod 700 ${dir}`);
    return ok(words.homeFine(dir));
  },
};

export const files: Check = {
  id: "files",
  what: "files",
  needsHome: true,
  async run({ home: dir }) {
    if (!(await stat(dir).catch(() => undefined))) return ok(words.nothingToRead);
    const open: Finding[] = [];
    for (const name of PRIVATE_FILES) open.push(...(await readableByOthers(join(dir, name))));
    if (await holdsKeys(dir)) open.push(...(await readableByOthers(join(dir, CONFIG_FILE))));
    return open.length ? open : ok(words.secretsFine);
  },
};

async function readableByOthers(file: string): Promise<Finding[]> {
  const found = await stat(file).catch(() => undefined);
  if (!found || !openToOthers(found.mode)) return [];
  return [bad(words.readable(file, octal(found.mode & 0o777)), `chmod 600 ${file}`)];
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
  needsHome: true,
  async run({ examined }) {
    const { file, state, bytes: size, message, hint, detail } = (await examined()).database;
    switch (state) {
      case "missing":
        return ok(words.noDatabase);
      case "empty":
        return warn(words.databaseEmpty(file), words.databaseEmptyHint);
      case "whole":
        return ok(words.databaseFine(file, bytes(size)));
      case "unchecked":
        return ok(words.databaseUnchecked(file, bytes(size)));
      case "refused":
      case "damaged":
        return {
          ...bad(message ?? words.databaseBad(file), hint ?? words.restoreBackup),
          ...(detail ? { more: [words.sqliteSays(detail)] } : {}),
        };
      default:
        return assertNever(state);
    }
  },
};

export const log: Check = {
  id: "log",
  what: "log",
  needsHome: true,
  async run({ home: dir, examined }) {
    const problem = (await examined()).log;
    return problem ? warn(problem.message, problem.hint) : ok(words.logFine(join(dir, "logs")));
  },
};

export const owner: Check = {
  id: "lock",
  what: "process",
  needsHome: true,
  async run({ home: dir, machine, status, answersAt }) {
    const text = await readFile(join(dir, "lares.pid"), "utf8").catch(() => undefined);
    const pid = Number(/^\d+/.exec(text ?? "")?.[0]);
    if (status) return ok(words.runningHere(status.pid));
    if (!pid) return ok(words.nobodyElse);
    if (!machine.isAlive(pid)) return ok(words.wasKilled(pid));
    if (answersAt !== undefined) return ok(words.runningHere(pid));
    return bad(words.usedBy(pid), words.stopIt(pid));
  },
};

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}
