import { expect, test } from "vitest";
import { boundParts, whatChanged } from "./approval-hash.ts";

test("a question that is asked again names what changed, each thing once", () => {
  const before = { argv: ["ls"], cwd: "/w", sandbox: { writable: ["/w"] }, files: [], named: [] };
  const changed = (now: Parameters<typeof boundParts>[0]) => whatChanged(boundParts(before), boundParts(now));
  expect(changed({ ...before, sandbox: { writable: ["/w", "/x"] } })).toBe(
    "Something has changed since you were asked: where it runs (the sandbox, the folders it may use or the network). Please look at it again.",
  );
  expect(changed({ ...before, files: ["a"], named: ["a"] })).toContain(": a file it uses.");
  expect(changed({ ...before, element: "Pay" })).toContain(": its element.");
  expect(whatChanged(undefined, boundParts(before))).toBe(
    "Something has changed since you were asked. Please look at it again.",
  );
});
