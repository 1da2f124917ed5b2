/** Checks of the home: there, closed to others, readable. */
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { CONFIG_FILE, getFromFile } from "../../../ground/config/index.ts";
import { bad, type Check, type Finding, ok, warn } from "./check.ts";

/** What a SQLite file begins with. */
const HEADER = "SQLite format 3\u0000";

export const home: Check = {
  id: "home",
  what: "home",
  async run({ home: dir }) {
    const found = await stat(dir).catch(() => undefined);
    if (!found) return bad(`There is no ${dir} yet.`, "Begin: lares onboard, or name another with --home");
    if (!found.isDirectory()) return bad(`${dir} is not a folder.`, "Name another with --home or LARES_HOME");
    const mode = found.mode & 0o777;
    if (mode & 0o077) return bad(`Others can look into ${dir} (${octal(mode)}).`, `chmod 700 ${dir}`);
    if ((mode & 0o700) !== 0o700) return bad(`Lares cannot write to ${dir} (${octal(mode)}).`, `chmod 700 ${dir}`);
    return ok(`${dir} is there and closed to others.`);
  },
};

/** Files nobody else may read. */
const PRIVATE = ["token", "lares.db", "lares.db-wal", "gateway.json", "chat-history"];

export const files: Check = {
  id: "files",
  what: "files",
  async run({ home: dir }) {
    if (!(await stat(dir).catch(() => undefined))) return ok("There is nothing yet that others could read.");
    const open: Finding[] = [];
    for (const name of PRIVATE) open.push(...(await openToOthers(join(dir, name))));
    if (await holdsKeys(dir)) open.push(...(await openToOthers(join(dir, CONFIG_FILE))));
    return open.length ? open : ok("What is secret can be read by you alone.");
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
  async run({ home: dir }) {
    const file = join(dir, "lares.db");
    const found = await stat(file).catch(() => undefined);
    if (!found) return ok("There is no database yet; the first start makes it.");
    let head = "";
    try {
      head = await beginning(file, HEADER.length);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return bad(`${file} cannot be read (${code ?? "unknown reason"}).`, "Check who owns it and its permissions");
    }
    if (found.size === 0)
      return warn(`${file} is empty.`, "If there was something in it, restore a copy before the next start");
    if (head !== HEADER)
      return bad(`${file} is not a database.`, "Move it away and restore a copy; the next start makes a new one");
    return ok(`${file} is a database of ${Math.max(Math.round(found.size / 1024), 1)} kB.`);
  },
};

async function beginning(file: string, length: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead).toString("latin1");
  } finally {
    await handle.close();
  }
}

export const owner: Check = {
  id: "lock",
  what: "process",
  async run({ home: dir, machine, status }) {
    const text = await readFile(join(dir, "lares.pid"), "utf8").catch(() => undefined);
    const pid = Number(/^\d+/.exec(text ?? "")?.[0]);
    if (status) return ok(`Lares runs here (process ${status.pid}).`);
    if (!pid) return ok("Nothing else runs on this home.");
    if (!machine.isAlive(pid)) return ok(`Process ${pid} was killed; the next start takes over.`);
    return bad(
      `Process ${pid} holds this home, but no Lares answers.`,
      `See what it is: ps -p ${pid}; then stop it: kill ${pid}`,
    );
  },
};

function octal(mode: number): string {
  return mode.toString(8).padStart(3, "0");
}
