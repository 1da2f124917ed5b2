/**
 * Looks at a home's database without changing it: whose it is, whether this Lares knows its schema, and whether its pages hold
 * together. The pages are read by a separate process, because SQLite can't be interrupted from outside and a large file
 * takes minutes.
 */
import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { AppError } from "../../core/domain/index.ts";
import { truthy } from "../../core/kit/index.ts";
import { damaged } from "./damage.ts";
import { hasBuiltInSqlite } from "./driver.ts";
import { inspect } from "./open.ts";

/**
 * `unchecked`: it opens, but there was no time to read all of it. `refused`: it is another program's, or a newer Lares wrote
 * it.
 */
export interface DatabaseExamined {
  file: string;
  state: "missing" | "empty" | "whole" | "unchecked" | "refused" | "damaged";
  bytes: number;
  /** Why it is refused or damaged, as a sentence, and the way out. */
  message?: string;
  hint?: string;
  /** What SQLite itself says about the damage. */
  detail?: string;
}

/** Enough for about a gigabyte on a laptop; somebody is waiting for the answer. */
const CHECK_MS = 10_000;

export async function examineDatabase(file: string, withinMs = CHECK_MS): Promise<DatabaseExamined> {
  let bytes: number;
  try {
    bytes = statSync(file).size;
  } catch (error) {
    const { code = "unknown reason" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { file, state: "missing", bytes: 0 };
    const hint =
      code === "ENOTDIR"
        ? "The home isn't a folder. Move it away, or choose another home with --home or LARES_HOME."
        : "Check who owns the home and its permissions.";
    return { file, state: "refused", bytes: 0, message: `${file} cannot be read (${code}).`, hint };
  }
  // An empty file is what a full disk leaves behind. The next start would fill it as if it were new.
  if (bytes === 0) return { file, state: "empty", bytes };
  try {
    await inspect(file);
  } catch (error) {
    // Only our own judgement is a finding. Anything else is a fault of the check.
    if (!(error instanceof AppError)) throw error;
    const detail = error.details?.sqlite;
    const more = truthy({ hint: error.hint, detail: typeof detail === "string" ? detail : undefined });
    return { file, state: "refused", bytes, message: error.message, ...more };
  }
  const complaint = await checkPages(file, withinMs);
  if (complaint === undefined) return { file, state: "unchecked", bytes };
  if (complaint === "") return { file, state: "whole", bytes };
  const { message, hint = "" } = damaged(file, complaint);
  return { file, state: "damaged", bytes, message, hint, detail: complaint };
}

/** Each row of quick_check is a complaint; the first one says enough. */
const SOURCE = `
const [driver, file, url] = process.argv.slice(1);
const { DatabaseSync } = require(driver);
const open = () => {
  try {
    if (url) return new DatabaseSync(url, { readOnly: true });
  } catch {}
  return new DatabaseSync(file, { readOnly: true });
};
let said = "";
try {
  const db = open();
  const rows = db.prepare("PRAGMA quick_check(1)").all();
  said = rows.map((row) => Object.values(row).join(" ")).join("; ");
} catch (error) {
  said = error.message;
}
process.stdout.write(said === "ok" ? "" : said.replace(/\\s+/g, " ").slice(0, 300));
`;

/** The complaint, "" when there is none, undefined when the time was not enough. */
function checkPages(file: string, withinMs: number): Promise<string | undefined> {
  const driver = hasBuiltInSqlite() ? "node:sqlite" : createRequire(import.meta.url).resolve("@photostructure/sqlite");
  // Read-only or not, SQLite makes its files beside a database with a write-ahead log; where root looks, they'd be root's and
  // the next start would fail. Without a log nobody has it open, and it can be read as a file that doesn't change.
  const still = existsSync(`${file}-wal`) ? "" : `${pathToFileURL(file).href}?immutable=1`;
  const args = ["--no-warnings", "-e", SOURCE, driver, file, still];
  return new Promise((resolve) => {
    // Without our environment, because NODE_OPTIONS could change how it runs. SIGKILL, because a process inside SQLite doesn't
    // handle other signals in time.
    execFile(process.execPath, args, { env: {}, timeout: withinMs, killSignal: "SIGKILL" }, (error, said) => {
      resolve(error ? undefined : said);
    });
  });
}
