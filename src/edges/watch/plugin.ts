/** What a plugin finds: `watch/look` with what to look at and the cursor of the last look. Its words are text from outside. */
import { z } from "zod";
import { AppError, type Json } from "../../core/domain/index.ts";
import { withoutHidden } from "../../core/kit/index.ts";
import type { Watched } from "./config.ts";
import type { Look, LookParts } from "./look.ts";

const MOST_ITEMS = 50;
const MOST_BODY = 10_000;
/** Stored with every look; a plugin that needs more has a data folder. */
const MOST_CURSOR = 64 * 1024;

const found = z.object({
  items: z
    .array(z.object({ id: z.string().min(1).max(256), body: z.string().max(200_000) }))
    .max(MOST_ITEMS)
    .default([]),
  cursor: z.unknown().optional(),
});

export async function lookByPlugin(
  { askPlugin }: LookParts,
  { plugin, about }: Extract<Watched, { kind: "plugin" }>,
  cursor: Json | null,
  signal: AbortSignal,
): Promise<Look> {
  if (!askPlugin) throw new AppError("NOT_READY", { message: "Plugins can't be asked here.", retry: "later" });
  const read = found.safeParse(await askPlugin({ plugin, right: "watch" }, "watch/look", { about, cursor }, signal));
  const next = read.success ? (read.data.cursor ?? {}) : null;
  if (!read.success || JSON.stringify(next).length > MOST_CURSOR) {
    throw new AppError("BAD_REQUEST", { message: `The plugin ${plugin} answered a look with something else.` });
  }
  // What is there at the first look counts as known, as for everything that is watched.
  const items = cursor === null ? [] : read.data.items;
  return {
    items: items.map(({ id, body }) => ({
      id,
      label: `The plugin ${plugin} found something`,
      body: withoutHidden(body.slice(0, MOST_BODY)),
    })),
    cursor: next as Json,
  };
}
