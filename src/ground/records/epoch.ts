import type { Reads } from "../../core/contracts/index.ts";

/** Which life of this home it is: one more each time the records are opened. */
export async function readEpoch(db: Reads): Promise<number> {
  const row = await db.get<{ epoch: number }>("SELECT CAST(value AS INTEGER) AS epoch FROM meta WHERE key = 'epoch'");
  return row?.epoch ?? 0;
}
