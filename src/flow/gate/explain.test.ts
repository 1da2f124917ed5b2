import { expect, test } from "vitest";
import { explain, explainText } from "./explain.ts";
import { execPlan, makePolicy } from "./testing.ts";

test("says the verdict, how it would start, each command and each judged part", () => {
  const found = explain(makePolicy({ allow: { exec: ["ls *"] } }), execPlan("ls -la && make all"));
  expect(found).toMatchObject({ verdict: "ask", form: "rendered", mode: "ask" });
  expect(found.commands.map(({ words }) => words[0])).toEqual(["ls", "make"]);
  const text = explainText(found);
  expect(text).toMatch(/^ASK: /);
  expect(text).toMatch(/^ {2}ls -la → \/usr\/bin\/ls$/m);
  expect(text).toMatch(/^ {2}allow ls -la: /m);
});

test("what would hide is spelt out by the caller's function", () => {
  const found = explain(makePolicy(), execPlan("echo \u202eabc"));
  expect(explainText(found, (text) => text.replaceAll("\u202e", "<U+202E>"))).not.toContain("\u202e");
});
