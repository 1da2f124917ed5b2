/** The buttons under a question. What each of them means is kept here; the platform sees only its id. */
import type { Button, Tx } from "../../core/contracts/index.ts";
import type { ApprovalDecision } from "../../core/domain/index.ts";
import type { IdMaker } from "../../core/kit/index.ts";
import { insertButton } from "./store.ts";

export function makeButtons(
  tx: Tx,
  { approval, once }: { approval: string; once?: true },
  { ids, now }: { ids: IdMaker; now: number },
): Button[] {
  const choices: [ApprovalDecision, string, Button["kind"]][] = [
    ["allow-once", "Allow once", "yes"],
    ...(once ? [] : [["allow-always", "Always allow", "plain"] as [ApprovalDecision, string, Button["kind"]]]),
    ["deny", "Deny", "no"],
  ];
  return choices.map(([decision, label, kind]) => {
    // The end of an id is its random part: short enough for any platform, too long to guess.
    const id = ids.next("b").slice(-16);
    insertButton(tx, { id, approval, decision }, now);
    return { id, label, kind };
  });
}
