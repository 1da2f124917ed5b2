import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { cleanName, inboxName } from "./name.ts";

test.each([
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ann\\report.pdf", "report.pdf"],
  ["a\u202Egnp.exe", "agnp.exe"],
  ["[b]<c>.txt", "bc.txt"],
  ["...", "file"],
  ["", "file"],
  [`${"n".repeat(300)}.pdf`, `${"n".repeat(115)}….pdf`],
])("%j is shown as %j", (raw, shown) => expect(cleanName(raw)).toBe(shown));

test("as a file of the workspace a name is never a path, hidden, long or read otherwise by a shell", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 99 }), (raw, n) => {
      const name = inboxName(cleanName(raw), n);
      expect(name).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u);
      expect([...name].length).toBeLessThanOrEqual(48);
      expect(name.includes("..")).toBe(name.includes("..") && cleanName(raw).includes(".."));
    }),
  );
  expect([inboxName("a b.PDF"), inboxName("a b.PDF", 2), inboxName("-rf")]).toEqual(["a_b.pdf", "a_b-2.pdf", "rf"]);
});
