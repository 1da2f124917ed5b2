/**
 * Nothing of an account is left: positions, people, codes, counts, and which messages it had seen, so that one that is added again
 * takes what the platform still has as new. Conversations stay; they go on under the same key.
 */
import type { Records } from "../../core/contracts/index.ts";
import { type AccountKey, acceptIds } from "../../core/domain/index.ts";
import { deleteAccount } from "./store.ts";

type IdRange = ReturnType<typeof acceptIds.allMessages>;

export interface ForgetParts {
  records: Pick<Records, "write">;
  /** Forgets some of the messages with these ids; 0 when none is left. */
  forgetAdmitted: (ids: IdRange) => Promise<number>;
  /** The engine takes these ids as new. */
  forgetIds: (ids: IdRange) => Promise<unknown>;
}

export async function forgetAccount(parts: ForgetParts, at: AccountKey): Promise<void> {
  await parts.records.write((tx) => deleteAccount(tx, at));
  const ids = acceptIds.allMessages(at);
  while (await parts.forgetAdmitted(ids));
  await parts.forgetIds(ids);
}
