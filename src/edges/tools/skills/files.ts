/** Skills on disk, through the one path type. */

import { lstat, stat } from "node:fs/promises";
import { AppError } from "../../../core/domain/index.ts";
import { readMarkedSize } from "../../../core/files/index.ts";
import { createAgentFiles, withInside } from "../paths/index.ts";

export function skillFiles() {
  const inside = createAgentFiles();
  return {
    async entries(root: string, most: number) {
      const found = await lstat(root).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (!found) return { entries: [], more: false };
      if (!found.isDirectory()) {
        throw new AppError("FORBIDDEN", { message: "it is a link or a file. Put the folder itself there." });
      }
      const { entries, more } = await withInside({ root, path: "." }, (here) => here.list(most));
      const shown = entries.filter(
        ({ name, kind }) => !name.startsWith(".") && (kind === "directory" || kind === "link"),
      );
      return { entries: shown.map(({ name, kind }) => ({ name, isLink: kind === "link" })), more };
    },
    async stamp(paths: readonly string[]) {
      const each = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
      return each.map((s) => (s ? `${s.ino}:${s.size}:${s.mtimeMs}:${s.ctimeMs}` : "-")).join(" ");
    },
    async read(root: string, path: string, most: number): Promise<{ none: true } | { text: string } | { why: string }> {
      const found = await inside.read(root, path, most);
      if (found.state === "none") return { none: true };
      return found.state === "file" ? { text: found.content.toString("utf8") } : { why: sentence(path, found.why) };
    },
    async names(root: string, most: number) {
      const { files, more } = await inside.manifest(root, most);
      const each = [...files].map(([path, mark]) => ({ path, bytes: readMarkedSize(mark) }));
      return { files: each.sort((a, b) => (a.path < b.path ? -1 : 1)), more };
    },
  };
}

/** The path type speaks of a workspace; here the root is the skill's own folder. */
function sentence(path: string, why: string): string {
  const about = why.replaceAll("the workspace", "the skill's folder");
  return `${about.startsWith('"') ? "" : `${path}: `}${about}`;
}
