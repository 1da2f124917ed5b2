/**
 * How often tools may have changed something in a folder. Where an approval cannot be bound to every file a command may load,
 * because there are too many, it is bound to this number: what an agent writes between the question and the start is noticed,
 * also over a restart.
 *
 * Counted with a call's result. A call that still runs needs no count: nobody else has its files meanwhile, and an approved call is
 * compared once more when it has them.
 */
import type { ActionPlan, Reads, Tx } from "../../core/contracts/index.ts";
import { countChange, readChanges } from "./store.ts";

export class FileChanges {
  private readonly counts: Map<string, number>;
  private readonly onlyLooks: (plan: ActionPlan) => boolean;

  private constructor(counts: Map<string, number>, onlyLooks: (plan: ActionPlan) => boolean) {
    this.counts = counts;
    this.onlyLooks = onlyLooks;
  }

  static async open(db: Reads, onlyLooks: (plan: ActionPlan) => boolean): Promise<FileChanges> {
    return new FileChanges(await readChanges(db), onlyLooks);
  }

  /** In the transaction that records a call's outcome. Without a plan nobody knows what it did. */
  made(tx: Tx, folders: readonly string[], plan: ActionPlan | undefined): void {
    if (plan && (plan.risk === "read" || plan.risk === "state" || this.onlyLooks(plan))) return;
    for (const folder of folders) {
      this.counts.set(folder, (this.counts.get(folder) ?? 0) + 1);
      countChange(tx, folder);
    }
  }

  /** Another number when something may have changed in one of the folders, above or below them. */
  of(folders: readonly string[]): number {
    let count = 0;
    for (const [folder, times] of this.counts)
      if (folders.some((one) => isInside(one, folder) || isInside(folder, one))) count += times;
    return count;
  }
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
