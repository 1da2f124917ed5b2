/**
 * From a path a model wrote to the root it belongs to: the workspace, or one of the folders the agent was given besides it.
 * By its words only: a link in one of them that leads elsewhere stays refused by the path type.
 */
import { isAbsolute, join, relative, resolve } from "node:path";
import type { ToolPlace } from "../../../core/contracts/index.ts";

type Where = Pick<ToolPlace, "workspace" | "roots" | "userHome" | "folder">;

/** For the path type. Relative paths start in the workspace, or in the folder that the conversation is about. */
export function rooted(place: Where, path: string): { root: string; path: string } {
  const at = spelledOut(place, path);
  const root = (place.roots ?? []).find((one) => isBelow(at, one));
  if (root !== undefined) return { root, path: at };
  return { root: place.workspace, path: place.folder === undefined ? path : at };
}

/**
 * The same for reading, which can be allowed anywhere: what lies in no root is looked for from the machine's own. What is shown of it
 * is a path that the next call can use: relative only in the folder that relative paths start from.
 */
export function rootedForReading(place: Where, path: string): { root: string; path: string; isShownWhole: boolean } {
  const at = isBeyond(place, path) ? { root: "/", path: spelledOut(place, path) } : rooted(place, path);
  return { ...at, isShownWhole: at.root !== (place.folder ?? place.workspace) };
}

/** A path in the workspace as a call has to write it: relative paths may start elsewhere. */
export function asRead({ workspace, folder }: Pick<Where, "workspace" | "folder">, path: string): string {
  return folder === undefined ? relative(workspace, path) : path;
}

/** Whether the path names, by its words, something in none of the agent's folders. */
export function isBeyond(place: Where, path: string): boolean {
  const at = spelledOut(place, path);
  return isAbsolute(at) && ![place.workspace, ...(place.roots ?? [])].some((root) => isBelow(at, root));
}

/** Absolute and normal; a URL stays what it is. */
function spelledOut({ workspace, userHome, folder }: Where, path: string): string {
  if (userHome && (path === "~" || path.startsWith("~/"))) return join(userHome, path.slice(1));
  if (path.startsWith("~") || path.includes("://")) return path;
  return resolve(folder ?? workspace, path);
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
