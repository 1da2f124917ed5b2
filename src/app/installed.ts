import { createRequire } from "node:module";

const here = createRequire(import.meta.url);

/** Whether an optional package is there; `name` or `name@version`. Looks it up, loads nothing. */
export function isInstalled(name: string): boolean {
  try {
    here.resolve(name.replace(/(?<=.)@[^/]*$/, ""));
    return true;
  } catch (error) {
    // A package without an entry for `require` is there all the same.
    return (error as { code?: string }).code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
  }
}
