/** What `lares board` says. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const boardWords = {
  none: (hint: Hint) => hint`No tasks. Add one: lares board add "Fix the login" --check "npm test"`,
  some: (open: number, waiting: number) =>
    `${plural(open, "open task")}${waiting ? `, ${plural(waiting, "thing")} waiting for a person` : ""}.`,
  attempt: (n: number, most: number) => `attempt ${n} of ${most}`,
  anybody: "anybody",
  addedBy: (at: string, by: string) => `${at} by ${by}`,
  needs: "needs",
  onlyOneProof: "Use only one of --check, --file, --schema, --message and --word.",
  notJson: (why: string) => `--schema isn't JSON: ${why}`,
  cancelQuestion: (title: string) => `Cancel "${title}"? This stops the work on it.`,
  waitsFor: (name: string, about: string) => `waits for ${name}: ${about}`,
  evidence: (by: string, why: string) => `${by}: ${why}`,
  word: "a person's word",
  command: (text: string) => `${text} exits with 0`,
  file: (path: string) => `the file ${path} is there`,
  schema: "the result fits a JSON Schema",
  message: "a message was delivered",
};
