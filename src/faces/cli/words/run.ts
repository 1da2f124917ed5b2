/** What `lares gateway run`, `lares dashboard` and `lares backup` say. */
import type { Hint } from "../output.ts";
import { plural } from "./plural.ts";

export const gatewayWords = {
  openLink: (until: string) => `Open it in a browser. It works once, until ${until}.`,
  stopping: "Stopping. Running work continues at the next start. Press Ctrl-C again to quit now.",
  stopped: "Stopped.",
  running: (mark: string) => `${mark} Lares is running.`,
  chat: (hint: Hint) => hint`lares chat`,
  model: (practice: boolean, id: string, because: string) => `${practice ? "the practice model" : id} (${because})`,
};

export const backupWords = {
  made: (id: string, files: number, size: string) =>
    `Backup ${id}: ${plural(files, "file")} and the database, ${size}.`,
  stored: (added: string, folder: string, isEncrypted: boolean) =>
    `${added} were new. It is in ${folder}${isEncrypted ? ", encrypted" : ""}.`,
  withoutKeys:
    "It isn't encrypted, so the key to your secrets and the token aren't in it. For a new computer, set backup.passphrase and keep that passphrase elsewhere.",
  unreadable: (paths: string, n: number) =>
    `${plural(n, "file")} couldn't be read and ${n === 1 ? "is" : "are"} not in it: ${paths}`,
  removed: (n: number) => `Removed ${plural(n, "older backup")} by the rules of backup.keep.`,
  some: (n: number, folder: string, isEncrypted: boolean) =>
    `${plural(n, isEncrypted ? "encrypted backup" : "backup")} in ${folder}`,
  files: (n: number) => plural(n, "file"),
  broken: (id: string) => `${id} is damaged`,
  verified: (id: string) => `${id} is whole: it was restored and Lares started on it.`,
  bad: (id: string, why: string) => `${id}: ${why}`,
  willReplace: (home: string) =>
    `What is in ${home} is moved to a folder inside it. Turns, approvals and deliveries that were open when the backup was made are closed, and nothing is sent again.`,
  question: "Restore?",
  restored: (id: string, home: string) => `Restored ${id} to ${home}.`,
  aside: (folder: string) => `What was there before is in ${folder}. Delete it when you don't need it.`,
  noKeys: "The backup has no key to your secrets. If this home had none either, set them again: lares secrets set NAME",
  tokens: (hint: Hint) =>
    hint`Tokens are as they were then: lares tokens list shows them, in case you revoked one since.`,
  whatIsOpen: (hint: Hint) => hint`Start Lares, then see what was open: lares attention`,
  passphrase: "Passphrase:",
};
