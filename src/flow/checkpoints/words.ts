/** What people read about an undo: why a file isn't restored, and what a command of the turn may have changed besides. */

export const COPY_DELETED = "the copy of its old content has been deleted";
export const CHANGED_IN_BETWEEN = "somebody else changed it in the middle of the turn";
export const RESULT_UNKNOWN = "what the turn left there isn't known";
export const NO_COPY = "a command changed it, and there is no copy";
export const FOLDER_NOT_COPIED = "Lares keeps no copies of folders with this name";
export const GONE_SINCE = "it has been deleted since";
export const THERE_AGAIN = "a file with this name has been created since";
export const CHANGED_SINCE = "it has been changed since";
export const COMMAND_INTERRUPTED = "it was interrupted; what it changed isn't known";
export const MAY_HAVE_CHANGED = "the command was interrupted; it may have changed this file";

/** Of a file that was larger than what is copied before a command. */
export function notCopied(did: "changed" | "deleted", bytes: number): string {
  return `a command ${did === "changed" ? did : "deleted or moved"} it, and there is no copy: ${tooLarge(bytes)}`;
}

export function tooLarge(bytes: number): string {
  return `it had more than ${bytes} bytes`;
}

export function systemRefused(code: string): string {
  return `the operating system refused it (${code})`;
}

export function aboutCommand(note: string): string {
  return `A command of the turn: ${note}.`;
}

export function notAllListed(files: number): string {
  return `there are more than ${files} files; other changes aren't known`;
}

/** `paths`: some of the files, for a person to look at. */
export function permissionsStay(paths: readonly string[], count: number): string {
  const more = count > paths.length ? ` and ${count - paths.length} more` : "";
  return `it changed the permissions of ${paths.join(", ")}${more}, which undo doesn't restore`;
}

export function hardLinkGone(path: string, other: string): string {
  return `${path} was a hard link to the same file as ${other}; what is restored is a separate file`;
}
