/** Proof that a file is there: its digest and size. */
import { createHash } from "node:crypto";
import { readBelow } from "../../core/files/index.ts";

/** A larger file proves nothing that its name doesn't. */
const MOST_BYTES = 256 * 1024 * 1024;

/** Nothing where there is no plain file below the root. */
export async function fileReceipt(root: string, path: string): Promise<{ sha256: string; bytes: number } | undefined> {
  const found = await readBelow({ root, path, most: MOST_BYTES });
  if (found.state !== "file") return undefined;
  return { sha256: createHash("sha256").update(found.content).digest("hex"), bytes: found.content.length };
}
