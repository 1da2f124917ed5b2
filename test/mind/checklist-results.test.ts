/** Checklist of what a request must tell, lines 47 to 60: results and errors that lead on, and small windows. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toolResults } from "../support/index.ts";
import { type Rig, startRig } from "./rig.ts";
import { EVE, startTelegramRig } from "./telegram.ts";

let rig: Rig;
const put = (path: string, text: string) => {
  const file = join(rig.home, "agents/main/workspace", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};
let user = 0;
/** The result of one call, as the model reads it. */
async function result(tool: string, input: object): Promise<string> {
  await rig.chat(`u${user++}`, `tool:${tool} ${JSON.stringify(input)} then: say:done`);
  return toolResults(rig.last()).at(-1)!.text;
}

beforeAll(async () => {
  rig = await startRig({ config: { policy: { mode: "ignore" } } });
  put("report.md", "the report\n");
  put("docs/summary.md", "the summary\n");
  put("code.ts", "function a() {\n\treturn 1;\n}\n");
  put("twice.ts", "if (x) {\n\tgo();\n}\nif (y) {\n\t\tgo();\n}\n");
  put("big.txt", "line\n".repeat(20_000));
});
afterAll(() => rig?.stop());

test("47: a missing file names what is near, in another folder too, at most three", async () => {
  expect(await result("read", { path: "reprot.md" })).toContain("report.md");
  const said = await result("read", { path: "summary.md" });
  expect(said).toContain("docs/summary.md");
});

test("48: a failed edit shows the nearest lines with numbers, then on a line of its own what to do; tabs are visible", async () => {
  const said = await result("edit", { path: "code.ts", old: "function b() {\n    return 2;\n}", new: "x" });
  expect(said).toMatch(/\n\s*\d+[:|] /);
  expect(said).toMatch(/→|\\t|⇥/);
  const lines = said.split("\n");
  expect(lines.findLastIndex((line) => /^\s*>?\s*\d+[:|]/.test(line))).toBeLessThan(lines.length - 1);
});

test("49: an edit that differs in indentation only, once, is made and says so; twice, it is not", async () => {
  put("drift.ts", "function a() {\n\treturn 1;\n}\n");
  expect(await result("edit", { path: "drift.ts", old: "    return 1;", new: "    return 2;" })).toMatch(
    /indent|white space/i,
  );
  put("two.ts", "if (x) {\n\tgo();\n}\nif (y) {\n\t\tgo();\n}\n");
  expect(await result("edit", { path: "two.ts", old: "    go();", new: "    stop();" })).not.toMatch(
    /^Edited|^Changed/,
  );
});

test("50: a good edit and a good patch show the changed lines, at most 12", async () => {
  put("good.txt", `${Array.from({ length: 40 }, (_, i) => `row ${i}`).join("\n")}\n`);
  const said = await result("edit", { path: "good.txt", old: "row 7\n", new: "ROW SEVEN\n" });
  expect(said).toContain("ROW SEVEN");
  expect(said.split("\n").filter((line) => /row|ROW/.test(line)).length).toBeLessThanOrEqual(12);
  const patch = "*** Begin Patch\n*** Update File: good.txt\n@@\n row 8\n-row 9\n+ROW NINE\n*** End Patch";
  expect(await result("apply_patch", { patch })).toContain("ROW NINE");
});

test("51: a timeout names timeout_s with its maximum, background, and that effects may have happened", async () => {
  const said = await result("exec", { command: "touch begun; sleep 30", timeout_s: 1 });
  expect(said).toMatch(/timeout_s/);
  expect(said).toMatch(/600/);
  expect(said).toMatch(/background/);
  expect(said).toMatch(/what it did stays done/);
});

test("53: cut output names a relative path and search, and read can read it", async () => {
  const said = await result("exec", { command: "seq 1 20000" });
  expect(said).not.toContain(rig.home);
  expect(said).toMatch(/search/);
  const [, path] = /([\w./-]+\.(?:txt|log|out))/.exec(said)!;
  expect(await result("read", { path: path!, limit: 3 })).toMatch(/1/);
});

test("54: a search without hits says whether another case would match; glob alone lists names; ignore_case works", async () => {
  expect(await result("search", { pattern: "THE REPORT" })).toMatch(/case/i);
  expect(await result("search", { pattern: "no such thing anywhere" })).toMatch(/node_modules|skipped|not looked/i);
  expect(await result("search", { glob: "*.md" })).toContain("report.md");
  expect(await result("search", { pattern: "THE REPORT", ignore_case: true })).toContain("report.md");
});

test.each([
  ["bash", "exec"],
  ["grep", "search"],
  ["cat", "read"],
  ["browser", "tool_run"],
])("55: a call of %s is told to use %s, and how", async (name, meant) => {
  const said = await result(name, {});
  expect(said).toContain(meant);
  expect(said).toMatch(/takes|input has/);
});

describe("53: a stranger's results", () => {
  test("have no path of the home in them", async () => {
    const telegram = await startTelegramRig({ config: { policy: { mode: "ignore" } } });
    try {
      for (const call of [
        'tool:list {"path":"."}',
        'tool:read {"path":"/etc/passwd"}',
        'tool:exec {"command":"pwd; seq 1 20000"}',
      ]) {
        const request = await telegram.say(EVE.id, EVE, `${call} then: say:done`);
        expect(request).toBeDefined();
        expect(telegram.last().raw).not.toContain(telegram.home);
      }
    } finally {
      await telegram.stopAll();
    }
  });
});
