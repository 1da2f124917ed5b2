import { expect, test } from "vitest";
import { afterRearranging, mayMove, movesBehind } from "./rearranges.ts";
import { execPlan, plainShell } from "./testing.ts";
import { afterMoving } from "./words.ts";

const blamed = (text: string) => [...afterRearranging(plainShell(text)).values()].map(({ name }) => name);

test.each([
  ["mv a b && cat x", ["mv"]],
  ["git restore . && cat x", ["git"]],
  ["ls && cat x", []],
  ["cat x && mv a b", []],
  ["mv a b && echo", []],
  ["cat x | tar xf y", ["tar"]],
  ["cat x | xxd", []],
  ["cat x | od -c", []],
  ["tar -tzf y | grep x", []],
])("in %s, what comes behind a command that may move things: %j (GATE-8)", (text, movers) =>
  expect(blamed(text)).toEqual(movers),
);

test.each([
  ["ls -la", false],
  ["git status", false],
  ["cp -i a b", false],
  ["cp -a a b", true],
  ["mv a b", true],
  ["git checkout x", true],
])("whether %s may move things: %s", (text, moves) => expect(mayMove(plainShell(text))).toBe(moves));

test("in the background neither movers nor late readers run without a person", () => {
  const behind = (text: string) => movesBehind(execPlan(text, { binding: { background: true } }));
  expect(behind("mv a b")).toMatch(/mv may move or link files/);
  expect(behind("sleep 60 && cat x")).toMatch(/cat opens its files later/);
  expect(behind("cat x")).toBeUndefined();
  expect(movesBehind(execPlan("mv a b"))).toBeUndefined();
});

test("what runs beside a command is said to run beside it, not before it", () => {
  const [mover] = afterRearranging(plainShell("cat x | tar xf y")).values();
  expect(afterMoving(mover!.name, "cat", mover!.isBeside)).toMatch(
    /^tar runs at the same time .* call cat separately\.$/,
  );
});
