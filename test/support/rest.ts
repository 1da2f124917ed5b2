import type { Records } from "../../src/core/contracts/index.ts";

/**
 * Lets what was set off come to an end: work that goes from one turn of the event loop to the next, and waits for commits in between.
 * An empty write resolves when everything before it is on the disk, however slow the disk is.
 */
export async function comeToRest(records: Pick<Records, "write">, steps = 30): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    // Rejected by a database that is closed: then nothing goes on either.
    await records.write(() => {}).catch(() => {});
  }
}
