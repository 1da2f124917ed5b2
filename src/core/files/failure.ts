/**
 * File system failures in our words. The path in a message is the one the model gave, made visible; never a path behind
 * a symbolic link, so that a refusal does not tell what lies outside.
 */
import { AppError } from "../domain/errors.ts";
import type { Origin } from "../domain/message.ts";
import { truthy } from "../kit/defined.ts";
import { visibleLine } from "../kit/visible.ts";

/** The path leads out of the workspace. */
export function outside(path: string, why: string): AppError {
  return new AppError("PATH_OUTSIDE", {
    message: `"${visibleLine(path)}" ${why}.`,
    hint: "File tools work inside the workspace only: give a path relative to it.",
    retry: "after-change",
    origin: "own",
  });
}

/** What the model asked for makes no sense with the file that is there. */
export function wrongInput(message: string, hint?: string, origin?: Origin): AppError {
  const more = truthy({ hint, origin });
  return new AppError("TOOL_INPUT", { message, ...more, retry: "after-change" });
}

export function notFound(path: string): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no "${visibleLine(path)}" in the workspace.`,
    hint: "See what is there with list.",
    retry: "after-change",
    origin: "own",
  });
}

/** Translates an errno of Node into ours; leaves ours and bugs as they are. */
export function translate(error: unknown, path: string): unknown {
  const code = errno(error);
  const name = `"${visibleLine(path)}"`;
  switch (code) {
    case undefined:
      return error;
    case "ENOENT":
      return notFound(path);
    case "ELOOP":
      return outside(path, "is a symbolic link, or became one while it was opened");
    case "ENOTDIR":
      return wrongInput(`A part of ${name} is not a directory.`, "See what is there with list.", "own");
    case "EISDIR":
      return wrongInput(`${name} is a directory.`, "See what is in it with list.", "own");
    case "ENAMETOOLONG":
      return wrongInput(`${name} is longer than the file system allows.`, "Use a shorter name.", "own");
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new AppError("FORBIDDEN", {
        message: `The operating system refused access to ${name} (${code}).`,
        hint: "Use another path, or ask the owner to change its permissions.",
        retry: "after-change",
        origin: "own",
        cause: error,
      });
    case "ENOSPC":
    case "EDQUOT":
      return new AppError("STORAGE_FULL", {
        message: `The disk is full: ${name} was not written, and what was there before is unchanged.`,
        hint: "Free some space, then try again.",
        retry: "after-change",
        origin: "own",
        cause: error,
      });
    default:
      return new AppError("STORAGE_FAILED", {
        message: `${name}: ${code}.`,
        retry: "later",
        origin: "own",
        cause: error,
      });
  }
}

export function errno(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && "syscall" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
