import { expect, test } from "vitest";
import { isZone } from "./zone.ts";

test.each([
  ["Europe/Lisbon", true],
  ["UTC", true],
  ["Mars/Base", false],
  ["", false],
])("%j is a time zone: %s", (name, is) => expect(isZone(name)).toBe(is));
