/** The folder a command runs in, held open from the check to the start, so a swapped link cannot move the command elsewhere. */
import { realpath } from "node:fs/promises";
import type { ToolPlace } from "../../../core/contracts/index.ts";
import { openInside, orNear, rooted } from "../paths/index.ts";

export interface Held {
  /** Real path, for people. */
  path: string;
  /** Device and inode: what the approval is bound to. */
  identity: string;
  /** What the child changes into: the open directory itself. */
  use: string;
  /** Real path of the workspace. */
  home: string;
  /** The folder of the agent's it lies in: the workspace, or one besides it. */
  root: string;
  roots: readonly string[];
}

export async function inDirectory<T>(place: ToolPlace, cwd: string, act: (held: Held) => Promise<T>): Promise<T> {
  const at = rooted(place, cwd);
  const inside = await openInside(at.root, at.path);
  try {
    const dir = await orNear(place, cwd, async () => inside.directory());
    const [identity, use, home] = await Promise.all([dir.identity(), dir.self(), realpath(place.workspace)]);
    return await act({ path: inside.absolute, identity, use, home, root: inside.root, roots: place.roots ?? [] });
  } finally {
    await inside.close();
  }
}
