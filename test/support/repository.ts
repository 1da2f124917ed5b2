/** The repository's own files, for tests that read what is written in them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Paths from the root, with `/`, of these files and of everything in these folders whose name fits; what is built or installed is not. */
export function repositoryFiles(places: readonly string[], name: RegExp): string[] {
  const walk = (path: string): string[] => {
    if (!statSync(ROOT + path).isDirectory()) return name.test(path) ? [path] : [];
    return readdirSync(ROOT + path, { withFileTypes: true })
      .filter((one) => one.name !== "node_modules" && one.name !== "dist" && (one.isDirectory() || name.test(one.name)))
      .flatMap((one) => walk(posix.join(path, one.name)));
  };
  return places.flatMap(walk).sort();
}

export function repositoryText(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}
