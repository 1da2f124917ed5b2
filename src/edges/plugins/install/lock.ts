/**
 * `plugins/lock.json` in the home: the one truth about which plugins there are. It is replaced in one step, so at any moment a plugin is
 * installed or it isn't; folders that it doesn't name are leftovers and are removed at the next start.
 *
 * PLUGINS-5: the home after a kill is as before or as after an install, an update or a removal.
 */

import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../../core/domain/index.ts";
import { readBelow } from "../../../core/files/index.ts";
import { parseJson, replaceFile } from "../../../core/kit/index.ts";
import { pluginName } from "../format/manifest.ts";
import { pluginRights } from "../format/own-part.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const locked = z.strictObject({
  digest,
  version: z.string(),
  /** As the person gave it; `exactly`: the commit or version that was taken. */
  source: z.strictObject({ from: z.string(), exactly: z.string().optional() }),
  /** What a person said yes to. */
  rights: pluginRights,
  files: z.record(z.string(), z.string()),
  installedAt: z.number(),
  enabled: z.boolean(),
  /** Lares switched it off. */
  off: z.strictObject({ why: z.string(), at: z.number() }).optional(),
});
const lockFile = z.strictObject({
  version: z.literal(1),
  plugins: z.record(pluginName, locked),
  /** Removed, and what is left of them still has to go. */
  leaving: z.array(z.strictObject({ name: pluginName, deletesData: z.boolean() })),
});

export type LockedPlugin = z.output<typeof locked>;
export type PluginLock = z.output<typeof lockFile>;

const MOST_LOCK = 32 * 1024 * 1024;
const NAME = "lock.json";

export async function readLock(dir: string): Promise<PluginLock> {
  const found = await readBelow({ root: dir, path: NAME, most: MOST_LOCK });
  if (found.state === "none") return { version: 1, plugins: {}, leaving: [] };
  const read = found.state === "file" ? lockFile.safeParse(safely(found.content)) : undefined;
  if (read?.success) return read.data;
  // Never guessed and never overwritten: it says what a person allowed.
  throw new AppError("CONFIG_INVALID", {
    message: `${join(dir, NAME)} can't be read, so no plugin is used.`,
    hint: "Restore it from a backup, or move it away and install the plugins again.",
    retry: "after-change",
  });
}

export async function writeLock(dir: string, lock: PluginLock): Promise<void> {
  await replaceFile(join(dir, NAME), `${JSON.stringify(lock, null, 2)}\n`);
}

function safely(content: Buffer): unknown {
  try {
    return parseJson(content.toString("utf8"));
  } catch {
    return undefined;
  }
}
