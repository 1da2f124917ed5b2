/** Removes the backups that no rule keeps, and then the room they took. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type Backup, type BackupArchive, PackWriter } from "./archive.ts";
import type { KeepRules } from "./config.ts";
import { selectKept } from "./keep.ts";

/** A pack of which less than this share is still needed is written again without the rest. */
const LEAST_USED = 0.5;

/** The ids of those that went. */
export async function pruneBackups(archive: BackupArchive, rules: KeepRules): Promise<string[]> {
  const { backups, broken } = await archive.list();
  const kept = selectKept(
    backups.map(({ madeAt }) => madeAt),
    rules,
  );
  const gone = backups.filter(({ madeAt }) => !kept.has(madeAt));
  for (const { id } of gone) await archive.remove(`${id}.backup`);
  // Nobody knows what a broken one needs, and perhaps it can be repaired.
  if (!broken.length)
    await freeRoom(
      archive,
      backups.filter((one) => !gone.includes(one)),
    );
  return gone.map(({ id }) => id);
}

async function freeRoom(archive: BackupArchive, left: readonly Backup[]): Promise<void> {
  const needed = new Set(
    left.flatMap(({ database, entries }) => [...database, ...entries.flatMap((e) => e.pieces ?? [])]),
  );
  const packs = new Map<string, { all: number; used: [id: string, at: number, length: number][] }>();
  for (const pack of await archive.names(".index")) packs.set(pack, { all: 0, used: [] });
  for (const [id, { pack, at, length }] of await archive.known()) {
    const of = packs.get(pack);
    if (!of) continue;
    of.all += length;
    if (needed.has(id)) of.used.push([id, at, length]);
  }
  for (const [pack, { all, used }] of packs) {
    const usedBytes = used.reduce((sum, [, , length]) => sum + length, 0);
    if (usedBytes >= all * LEAST_USED && usedBytes > 0) continue;
    if (used.length) await rewrite(archive, pack, used);
    // The pack first: an index without one names pieces that are not there, and those are left out when it is read.
    await archive.remove(`${pack}.pack`, `${pack}.index`);
  }
}

/** The pieces as they are, in a new pack that is durable before the old one goes. */
async function rewrite(
  archive: BackupArchive,
  pack: string,
  used: [id: string, at: number, length: number][],
): Promise<void> {
  const from = await open(join(archive.folder, `${pack}.pack`), "r");
  const to = await PackWriter.open(archive, `${pack.replace(/\.\d+$/, "")}.${nextNumber(pack)}`);
  try {
    for (const [id, at, length] of used.sort(([, a], [, b]) => a - b)) {
      const sealed = Buffer.alloc(length);
      await from.read(sealed, 0, length, at);
      await to.addSealed(id, sealed);
    }
    await to.finish();
  } catch (error) {
    await to.drop();
    throw error;
  } finally {
    await from.close();
  }
}

function nextNumber(pack: string): number {
  return Number(/\.(\d+)$/.exec(pack)?.[1] ?? 0) + 1;
}
