/** Checklist of what a request must tell, lines 47 to 60: results and errors that lead on, and small windows. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envelopes, needs, toolResults, userTexts } from "../support/index.ts";
import { env, PROTOCOLS, type Rig, startRig, TOKEN } from "./rig.ts";
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
  for (const n of [1, 2, 3, 4, 5]) put(`near/notes-${n}.md`, "x");
  expect((await result("read", { path: "near/notes-9.md" })).match(/"near\/notes-\d\.md"/g)).toHaveLength(4);
});

test("48: a failed edit shows the nearest lines with numbers, then on a line of its own what to do; tabs are visible", async () => {
  const said = await result("edit", { path: "code.ts", old: "function b() {\n    return 2;\n}", new: "x" });
  expect(said).toMatch(/\n\s*\d+[:|] /);
  expect(said).toMatch(/→|\\t|⇥/);
  const lines = said.split("\n");
  expect(lines.findLastIndex((line) => /^\s*>?\s*\d+[:|]/.test(line))).toBeLessThan(lines.length - 1);
  // Where the tab is one place of two, nothing is guessed, and the reason is the indentation.
  const drift = await result("edit", { path: "twice.ts", old: "    go();\n}", new: "    stop();\n}" });
  expect(drift).toMatch(/indentation|white space/);
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
  expect(said).toMatch(/already done remains/);
});

test("51: a run of a job, whose final text ends it, is not sent to the background", async () => {
  const call = `tool:exec ${JSON.stringify({ command: "sleep 30", timeout_s: 1 })} then: say:done`;
  const { id } = await rig.rpc("schedule.add", { name: "slow", prompt: call, in: "1 hour" });
  const { turn } = await rig.rpc("schedule.run", { id });
  await rig.rpc("turns.wait", { turn });
  const said = toolResults(rig.last()).at(-1)!.text;
  expect(said).toMatch(/give it longer with timeout_s \(up to 600\), or do it in smaller steps/);
  expect(said).not.toMatch(/background/);
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
])("55: a call of %s is answered with %s, and how", async (name, meant) => {
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

test("31: the numbers in the descriptions are those in force", async () => {
  put("long.txt", `${Array.from({ length: 3000 }, (_, i) => `L${i + 1}`).join("\n")}\n`);
  const read = await result("read", { path: "long.txt" });
  expect(read).toContain("L2000");
  expect(read).not.toContain("L2001\n");
  for (let i = 0; i < 520; i++) put(`many/${i}.txt`, "needle\n");
  expect(await result("list", { path: "many" })).toMatch(/cut at 500/);
  expect((await result("search", { pattern: "needle", path: "many" })).match(/needle/g)!.length).toBeLessThanOrEqual(
    101,
  );
  expect(await result("exec", { command: "true", timeout_s: 601 })).toMatch(/600/);
  expect((await result("exec", { command: "head -c 90000 /dev/zero | tr '\\0' x" })).length).toBeLessThan(31_500);
  const tools = JSON.stringify(rig.last().body.tools);
  const numbers = [
    ...[
      "2000 lines or 64 KB",
      "at most 500",
      "default 100, max 1000",
      "default 120, max 600",
      "up to 30,000 characters",
    ],
    ...["up to 8 files", "files over 2 MB", "up to 5 MB"],
  ];
  for (const words of numbers) {
    expect(tools).toContain(words);
  }
});

test.skipIf(!needs("bwrap", "a command without network in the sandbox"))(
  "52: a name that cannot be looked up says that commands here have no network",
  async () => {
    const said = await result("exec", { command: "getent hosts tides.example || curl -sS https://tides.example" });
    expect(said).toMatch(/Commands have no network here/);
  },
);

describe("58: a picture in the workspace", () => {
  const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

  test.each(PROTOCOLS)("is shown to a model that sees, over %s", async (protocol) => {
    const other = await startRig({ protocol, config: { policy: { mode: "ignore" } } });
    const path = join(other.home, "agents/main/workspace/dot.png");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(PNG, "base64"));
    await other.chat("ana", 'tool:read {"path":"dot.png"} then: say:seen');
    expect(other.last().raw).toContain(PNG.slice(0, 40));
    expect(toolResults(other.last()).at(-1)!.text).toContain("dot.png");
    await other.stop();
  });

  test("is one line for a model that does not", async () => {
    const blind = await startRig({
      config: { policy: { mode: "ignore" } },
      sees: false,
    });
    const path = join(blind.home, "agents/main/workspace/dot.png");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(PNG, "base64"));
    await blind.chat("ana", 'tool:read {"path":"dot.png"} then: say:seen');
    expect(blind.last().raw).not.toContain(PNG.slice(0, 40));
    const [about, ...rest] = toolResults(blind.last()).at(-1)!.text.split("\n");
    expect(about).toContain("image/png");
    expect(rest.join()).toMatch(/^$|see|shown/);
    expect(rest.length).toBeLessThanOrEqual(1);
    await blind.stop();
  });
});

test("59: an attached sheet of a megabyte is a file with a path; its text is at most 64 KB and says where the rest is", async () => {
  const rows = `${Array.from({ length: 50_000 }, (_, i) => `${i},row ${i},x`).join("\n")}\n`;
  const bytes = Buffer.from(rows.repeat(2).slice(0, 1_000_000));
  const answer = await fetch(`${rig.url}/attachments`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "text/csv", "x-lares-name": "sheet.csv" },
    body: bytes,
  });
  const { id: attachment } = (await answer.json()) as { id: string };
  await rig.rpc("chat.send", { user: "sheet", message: "sum it up", attachments: [attachment] });
  const request = rig.last();
  expect(envelopes(request).at(-1)).toContain("1 file: inbox/sheet.csv");
  expect(readFileSync(join(rig.home, "agents/main/workspace/inbox/sheet.csv")).equals(bytes)).toBe(true);
  const text = userTexts(request).join("\n");
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024 + 500);
  expect(text).toContain("inbox/sheet.csv");
});

test("60: a program with its own instructions gets no line, no Place, and its instructions unchanged", async () => {
  const instructions = "Answer in rhyme.\n[13:09] Keep  this   spacing.";
  await rig.post("/v1/chat/completions", {
    model: "lares/main",
    messages: [
      { role: "system", content: instructions },
      { role: "user", content: "hello" },
    ],
  });
  const request = rig.last();
  expect(request.system).toContain(instructions);
  expect(request.system).not.toContain("# Place");
  expect(env(request)).toBe("");
  expect(request.messages).toHaveLength(1);
});
