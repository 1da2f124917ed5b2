import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureToken } from "./token.ts";

test("a token is made once; an empty file, as a power cut can leave it, gets a new one", () => {
  const home = mkdtempSync(join(tmpdir(), "lares-token-"));
  try {
    const made = ensureToken(home, undefined);
    expect(made).toMatch(/^lares_\S{32}$/);
    expect(ensureToken(home, undefined)).toBe(made);
    expect(statSync(join(home, "token")).mode & 0o777).toBe(0o600);
    writeFileSync(join(home, "token"), "");
    const again = ensureToken(home, undefined);
    expect(again).not.toBe(made);
    expect(readFileSync(join(home, "token"), "utf8")).toBe(`${again}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
