/** Addresses in one spelling: the same caller must not look like many. Only the real socket counts, no header (WS-07). */

/** IPv4 as it is, also when it came as `::ffff:1.2.3.4`; IPv6 as its /64, which is what one household or machine gets. */
export function canonicalAddress(address: string | undefined): string {
  if (!address) return "unknown";
  const plain = address
    .toLowerCase()
    .split("%")[0]!
    .replace(/^\[|\]$/g, "");
  if (!plain.includes(":")) return plain;
  const groups = expand(plain);
  if (!groups) return "unknown";
  const isMapped = groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xffff;
  if (isMapped) return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join(".");
  if (groups.slice(0, 7).every((g) => g === 0) && groups[7] === 1) return "::1";
  return `${groups
    .slice(0, 4)
    .map((g) => g.toString(16))
    .join(":")}::/64`;
}

/** The eight groups, or nothing when it is no IPv6 address. */
function expand(text: string): number[] | undefined {
  let given = text;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [a, b, c, d] = dotted.slice(2).map(Number) as [number, number, number, number];
    given = `${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const halves = given.split("::");
  if (halves.length > 2) return undefined;
  const read = (half: string | undefined) => (half ? half.split(":").map((g) => Number.parseInt(g, 16)) : []);
  const head = read(halves[0]);
  const tail = read(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = halves.length === 1 ? head : [...head, ...new Array<number>(missing).fill(0), ...tail];
  return groups.every((g) => Number.isInteger(g) && g >= 0 && g <= 0xffff) ? groups : undefined;
}
