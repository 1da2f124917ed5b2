/** Looking for programs. */
import { accessSync, constants } from "node:fs";

/** Whether there is something at this path that may be run. Never throws. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
