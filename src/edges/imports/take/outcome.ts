/** The outcome for one item, and the few words the takers share. */
import { createHash } from "node:crypto";
import { truthy } from "../../../core/kit/index.ts";
import type { ImportItem } from "../items.ts";
import type { ImportPorts } from "../ports.ts";

export interface Outcome {
  /** Where it is, or would be. */
  becomes: string;
  state: "new" | "there already" | "left out" | "failed";
  why?: string;
}

/** One import: what it is made with, and what the caller asked for. */
export interface ImportRun extends ImportPorts {
  from: string;
  dryRun: boolean;
  secrets: boolean;
}

export type ItemOf<What extends ImportItem["what"]> = ImportItem & { what: What };

export function reportExisting(becomes: string): Outcome {
  return { becomes, state: "there already" };
}

export function reportSkipped(why: string, becomes = ""): Outcome {
  return { becomes, state: "left out", why };
}

/** Makes it, unless the caller only wants to know what would be made. */
export async function makeUnlessDryRun(
  { dryRun }: ImportRun,
  becomes: string,
  make: () => Promise<unknown>,
  why?: string,
): Promise<Outcome> {
  if (!dryRun) await make();
  return { becomes, state: "new", ...truthy({ why }) };
}

export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}
