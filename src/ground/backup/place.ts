/**
 * Puts a restored home in the place of what is there. It is unpacked inside the home first, so that only names change at the end, and
 * a home may be a mount.
 *
 * PLACE-1: after a crash at any moment the home is the old one, or the next start finishes the change; never a mixture.
 * PLACE-2: nothing that was there is deleted: it is moved to a folder `before-restore-…` in the home.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Crash, replaceFile, syncFolder } from "../../core/kit/index.ts";
import { ASIDE, KEY_FILES } from "./home-files.ts";

const STAGE = "restoring";
const MARK = "restore.json";
/** The lock that is held while it is restored, what a backup leaves out because it is the same for every home, and the backups. */
const STAYS: ReadonlySet<string> = new Set([
  STAGE,
  MARK,
  "lares.lock",
  "lares.lock-journal",
  "lares.pid",
  "logs",
  "packages",
  "tools",
  "backups",
]);

const markSchema = z.object({ phase: z.enum(["aside", "in"]), aside: z.string().regex(/^before-restore-[\w-]+$/) });
type MoveMark = z.output<typeof markSchema>;

/** A restore began to move things and didn't end. */
export function isCutOff(home: string): boolean {
  return existsSync(join(home, MARK));
}

/** Where a backup is unpacked. */
export function stageIn(home: string): string {
  return join(home, STAGE);
}

/** The caller holds the home's lock. `name`: tells this restore from others. The folder with what was there. */
export async function placeRestored(home: string, name: string, crash: Crash): Promise<string> {
  const aside = `${ASIDE}${name}`;
  await mark(home, { phase: "aside", aside });
  crash.at("restore.staged");
  await move(home, { phase: "aside", aside }, crash);
  return join(home, aside);
}

/** Finishes what a crash cut off. The caller holds the home's lock. */
export async function finishRestore(home: string, crash: Crash): Promise<void> {
  const text = await readFile(join(home, MARK), "utf8").catch(() => undefined);
  if (text === undefined) return;
  await move(home, markSchema.parse(JSON.parse(text)), crash);
}

async function move(home: string, { phase, aside }: MoveMark, crash: Crash): Promise<void> {
  const stage = stageIn(home);
  if (phase === "aside") {
    const coming = new Set(await readdir(stage));
    // The key that opens the secrets stays where the backup has none.
    const stays = (name: string) =>
      STAYS.has(name) || name.startsWith(ASIDE) || (KEY_FILES.includes(name) && !coming.has(name));
    const going = (await readdir(home)).filter((name) => !stays(name));
    if (going.length) await mkdir(join(home, aside), { recursive: true, mode: 0o700 });
    for (const name of going) await rename(join(home, name), join(home, aside, name));
    await syncFolder(join(home, aside));
    await syncFolder(home);
    await mark(home, { phase: "in", aside });
    crash.at("restore.aside");
  }
  for (const name of await readdir(stage)) await rename(join(stage, name), join(home, name));
  await syncFolder(home);
  await rm(join(home, MARK), { force: true });
  await rm(stage, { recursive: true, force: true });
  await syncFolder(home);
}

async function mark(home: string, value: MoveMark): Promise<void> {
  await replaceFile(join(home, MARK), `${JSON.stringify(value)}\n`);
}
