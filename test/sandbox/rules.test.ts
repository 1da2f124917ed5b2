import { describe, expect, test } from "vitest";
import { type Deed, permits, type Rules, within } from "../../src/edges/tools/sandbox/index.ts";
import fc from "../support/property.ts";

const segment = fc.constantFrom("a", "b", "c");
const path = fc.array(segment, { minLength: 0, maxLength: 4 }).map((parts) => `/${parts.join("/")}`);
const paths = fc.array(path, { maxLength: 4 });
const rules: fc.Arbitrary<Rules> = fc.record({
  writable: paths,
  readable: paths,
  hidden: paths,
  network: fc.boolean(),
});
const deed = fc.constantFrom<Deed>("read", "write");

describe("a child is never less confined than its parent (SANDBOX-3)", () => {
  test("what its rules permit is exactly what both permit, for every path and deed", () => {
    fc.assert(
      fc.property(rules, rules, path, deed, (parent, child, at, what) => {
        const both = permits(parent, what, at) && permits(child, what, at);
        expect(permits(within(parent, child), what, at)).toBe(both);
        expect(within(parent, child).network).toBe(parent.network && child.network);
      }),
      { numRuns: 5000 },
    );
  });

  test("a grandchild is inside its grandparent", () => {
    fc.assert(
      fc.property(rules, rules, rules, path, deed, (a, b, c, at, what) => {
        if (permits(within(within(a, b), c), what, at)) expect(permits(a, what, at)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

test("the deepest word on a path holds, the stricter of two on the same", () => {
  const own: Rules = { writable: ["/h/ws"], readable: ["/h/ws/ro"], hidden: ["/h", "/h/ws/.env"], network: false };
  const may = (at: string) => [permits(own, "read", at), permits(own, "write", at)];
  expect(may("/h/ws/x")).toEqual([true, true]);
  expect(may("/h/ws/ro/x")).toEqual([true, false]);
  expect(may("/h/ws/.env")).toEqual([false, false]);
  expect(may("/h/lares.db")).toEqual([false, false]);
  expect(may("/elsewhere")).toEqual([false, false]);
  expect(permits({ ...own, hidden: ["/h/ws"] }, "read", "/h/ws")).toBe(false);
});
