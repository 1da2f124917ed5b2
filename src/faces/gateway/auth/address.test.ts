import { expect, test } from "vitest";
import { canonicalAddress } from "./address.ts";

test.each([
  ["1.2.3.4", "1.2.3.4"],
  ["::ffff:1.2.3.4", "1.2.3.4"],
  ["::FFFF:102:304", "1.2.3.4"],
  ["::1", "::1"],
  ["0:0:0:0:0:0:0:1", "::1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["1::2::3", "unknown"],
  ["12345::1", "unknown"],
  [undefined, "unknown"],
])("%s is counted as %s: one caller does not look like many", (given, shown) => {
  expect(canonicalAddress(given)).toBe(shown);
});
