import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureHome } from "./home.ts";

test("a home is made with the folders above it, closed to others", () => {
  const dir = mkdtempSync(join(tmpdir(), "lares-home-"));
  const home = join(dir, "a/b/c");
  ensureHome(home);
  ensureHome(home);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  rmSync(dir, { recursive: true });
});

test.skipIf(!existsSync("/proc/self"))("where no folder can be made, that is said at once", () => {
  // Node's own way to make folders never comes back here.
  for (const home of ["/proc/lares-none", "/proc/lares-none/deeper"])
    expect(() => ensureHome(home)).toThrow(/^\/proc\/lares-none.* can't be made: /);
});
