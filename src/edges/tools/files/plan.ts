/**
 * Plans of the file tools: canonical target, what a person reads, what an approval is bound to. A path that is not inside
 * the workspace still gets a plan, marked `outside`, so that the gate decides and records; `run` refuses it in any case.
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { ActionPlan, ToolPlace } from "../../../core/contracts/index.ts";
import { AppError, type JsonObject } from "../../../core/domain/index.ts";
import { visibleLine } from "../escape.ts";
import {
  type Inside,
  isBeyond,
  type OpenOptions,
  orNear,
  rooted,
  rootedForReading,
  withInside,
} from "../paths/index.ts";

/** A file above this is bound by identity, size and time instead of its hash: planning must stay quick. */
const HASHED_UP_TO = 64 * 1024 * 1024;

/** A link may be pointed elsewhere after it was judged, so only the path itself can be allowed. */
const READ_DIRECTLY = "To read what a link leads to, give that path itself: policy.allow.read decides about it.";

export interface FilePlan {
  tool: string;
  risk: "read" | "write";
  place: ToolPlace;
  path: string;
  parents?: OpenOptions["parents"];
  /** What follows the tool's name and path in `shown`; the whole of it. */
  details: string;
  /** What the approval is bound to beside the path. */
  binding: JsonObject;
}

/** `look` adds what only the file itself can say, and the hash it will leave; it is not called for a path outside. */
export async function planFile(
  plan: FilePlan,
  look: (inside: Inside) => Promise<{ details?: string; binding?: JsonObject; leaves?: string }> = async () => ({}),
): Promise<ActionPlan> {
  const { tool, risk, place, path } = plan;
  const shown = (where: string, more = "") => `${tool} ${visibleLine(where)}${more}${plan.details}`;
  try {
    const opened = { ...rooted(place, path), parents: plan.parents };
    const made = () =>
      withInside(opened, async (inside): Promise<ActionPlan> => {
        const seen = await look(inside);
        return {
          tool,
          risk,
          targets: [inside.absolute],
          shown: shown(inside.absolute, seen.details),
          binding: { path: inside.absolute, ...plan.binding, ...seen.binding },
          ...(seen.leaves === undefined ? {} : { leaves: [{ path: inside.absolute, sha256: seen.leaves }] }),
        };
      });
    return await orNear(place, path, made);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "PATH_OUTSIDE") throw error;
    if (risk === "read" && isBeyond(place, path)) return planBeyond(plan, shown);
    const isNoPath = path.startsWith("~") || path.includes("://");
    const target = isNoPath ? path : resolve(place.folder ?? place.workspace, path);
    return {
      tool,
      risk,
      targets: [target],
      shown: shown(target),
      binding: { path: target, ...plan.binding },
      outside: risk === "read" && !isNoPath ? `${error.message} ${READ_DIRECTLY}` : error.message,
    };
  }
}

/** What lies elsewhere, by its real path, there or not: the gate asks, or a rule for reading covers it. */
async function planBeyond(
  { tool, place, path, binding }: FilePlan,
  shown: (where: string) => string,
): Promise<ActionPlan> {
  const at = await withInside(
    { ...rootedForReading(place, path), parents: "imagine" },
    async (inside) => inside.absolute,
  );
  return { tool, risk: "read", targets: [at], shown: shown(at), binding: { path: at, ...binding }, beyond: true };
}

export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** What stands in the file now, as something an approval can be bound to; null when there is no file. */
export async function fingerprint(inside: Inside): Promise<string | null> {
  const stats = inside.stat();
  if (!stats || inside.kind !== "file") return null;
  if (stats.size > HASHED_UP_TO) return `stat:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}`;
  const file = await inside.open();
  try {
    const hash = createHash("sha256");
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}
