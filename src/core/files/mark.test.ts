import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { markFile, readMarkedSize } from "./mark.ts";

test("a mark says the size, and differs when anything about the file does", () => {
  const file = fc.record({ size: fc.nat(), mtimeMs: fc.nat(), ctimeMs: fc.nat(), ino: fc.nat() });
  fc.assert(
    fc.property(file, file, (one, other) => {
      expect(readMarkedSize(markFile(one))).toBe(one.size);
      const isSame = Object.entries(one).every(([key, value]) => other[key as keyof typeof other] === value);
      expect(markFile(one) === markFile(other)).toBe(isSame);
    }),
  );
});
