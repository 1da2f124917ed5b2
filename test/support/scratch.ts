/** Where tests put their homes: memory where there is some. What is tested is order and loss, not the speed of a disk. */
import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function scratch(name: string): string {
  return mkdtempSync(join(base(), `lares-${name}-`));
}

function base(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}
