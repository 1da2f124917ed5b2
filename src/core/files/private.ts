/** What of a home others on the machine may see. `doctor` and `security audit` judge by the same rule. */

/** Files nobody but their owner may read, below the home. */
export const PRIVATE_FILES: readonly string[] = [
  "token",
  "lares.db",
  "lares.db-wal",
  "gateway.json",
  "chat-history",
  "logs/lares.log",
];

/** What a mode lets others do; undefined: nothing. Anyone who may change a folder can put files in it. */
export function openToOthers(mode: number): "look" | "change" | undefined {
  if (mode & 0o022) return "change";
  return mode & 0o077 ? "look" : undefined;
}
