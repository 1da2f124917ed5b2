import { expect, test } from "vitest";
import type { ShellReason } from "../../core/contracts/index.ts";
import { judgeShell } from "./exec.ts";
import { PLACE, plainShell } from "./testing.ts";

const rules = {
  exec: ["awk *", "find *", "basename *"],
  read: [],
  write: [],
  keepOutput: { says: "unruled" } as const,
};
const verdicts = (text: string, reasons: ShellReason[], isSettled = false) =>
  judgeShell(plainShell(text, { reasons }), rules, PLACE, isSettled).map(({ verdict }) => verdict);

test("code that was read and does nothing is allowed by the reason's fields, whatever its sentence says", () => {
  const runs = { what: "code", program: "awk" } as const;
  expect(verdicts("awk {print} a.txt", [{ kind: "inline-code", text: "It is so.", runs }])).toEqual(["allow"]);
  expect(verdicts("awk {print} a.txt", [{ kind: "inline-code", text: "awk runs code given to it." }])).toEqual([
    "allow",
    "ask",
  ]);
});

test("what find runs on what it finds is judged with it, by the reason's fields (GATE-1)", () => {
  const found = (runs?: ShellReason["runs"]): ShellReason[] => [
    { kind: "wrapper", text: "find runs basename (-exec).", ...(runs ? { runs } : {}) },
  ];
  const find = plainShell("find . -type f -exec basename {} +");
  const run = { ...plainShell("basename {}").commands[0]!, within: ["find -exec"] };
  const plan = { ...find, commands: [find.commands[0]!, run] };
  const judged = (reasons: ShellReason[]) =>
    judgeShell({ ...plan, reasons }, rules, PLACE, true).map(({ verdict }) => verdict);
  expect(judged(found({ what: "program", program: "find" }))).toEqual(["allow", "allow"]);
  expect(judged(found())).toEqual(["allow", "allow", "ask"]);
  // What other wrappers start was not looked at.
  expect(judged(found({ what: "program", program: "nice" }))).toEqual(["allow", "allow", "ask"]);
});
