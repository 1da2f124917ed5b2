/** A message that its sender deleted, before a model was asked with it. */
import type { Records, Tx } from "../../../core/contracts/index.ts";
import { markWithdrawn, waitingUnder } from "./store.ts";

/** False when nothing of it is waiting. `record` goes into the same transaction. */
export async function withdraw(records: Records, acceptId: string, record: (tx: Tx) => void): Promise<boolean> {
  if (!(await waitingUnder(records, acceptId))) return false;
  await records.write((tx) => {
    markWithdrawn(tx, acceptId);
    record(tx);
  });
  return true;
}
