/**
 * Errors that lead on: a model that does nothing but follow what a failure says gets there. It knows no tool by heart; the next
 * call is made of the words of the last result.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { NormalRequest, Reply, ScriptedCall } from "../fakes/model-server/index.ts";
import { type Lares, requestsWith, startLares, startModel, toolResults } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;

beforeAll(async () => {
  model = await startModel();
  model.use(follow);
  lares = await startLares({
    env: model.env,
    config: { policy: { mode: "record" }, sandbox: { network: false }, limits: { sameCalls: 3 } },
  });
  const at = lares.workspace();
  mkdirSync(join(at, "docs"));
  writeFileSync(join(at, "docs/report.md"), "The Answer is 42.\n");
  writeFileSync(join(at, "code.py"), "def f():\n\tif x:\n\t\treturn 1\n\tif y:\n\t\treturn 12\n");
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

/** The first call stands in the message; every other one is what the last result says to do. */
function follow(request: NormalRequest): Reply {
  const parts = request.messages.flatMap((message) => message.parts);
  const asked = parts.findLast((part) => part.type === "text" && part.text.startsWith("#"));
  const since = parts.slice(parts.indexOf(asked!));
  const last = since.findLast((part) => part.type === "tool-result");
  const call = since.findLast((part) => part.type === "tool-call");
  if (last?.type !== "tool-result" || call?.type !== "tool-call") {
    const [, name, json] = /^#\S+ (\S+) (.*)$/s.exec((asked as { text: string }).text)!;
    return { toolCalls: [{ name: name!, ...(isJson(json!) ? { input: JSON.parse(json!) } : { raw: json! }) }] };
  }
  const next = nextCall(last.text, { name: call.name, input: call.input as Record<string, unknown> });
  return next ? { toolCalls: [next] } : { text: `told: ${last.text}` };
}

function nextCall(
  said: string,
  { name, input }: { name: string; input: Record<string, unknown> },
): ScriptedCall | undefined {
  const meant = /Did you mean "([^"]+)"/.exec(said)?.[1];
  if (meant) return { name, input: { ...input, path: meant } };
  const direct = /\b(?:go on with|To see more of it:) (\w+) (\{[^}]*\})/.exec(said);
  if (direct) return { name: direct[1]!, input: JSON.parse(direct[2]!) };
  const through = /tool_run \{"name":"(\w+)"/.exec(said)?.[1];
  if (through) return { name: "tool_run", input: { name: through, input } };
  const instead = /Use (\w+), which takes/.exec(said)?.[1];
  if (instead) return { name: instead, input };
  if (said.includes("with ignore_case: true")) return { name, input: { ...input, ignore_case: true } };
  if (said.includes("background: true")) return { name, input: { command: input.command, background: true } };
  if (said.includes("Send one JSON object with fields of exec: command"))
    return { name, input: { command: "echo mended" } };
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function told(user: string, call: string): Promise<{ response: string; results: string[] }> {
  const { response, state } = await lares.chat(user, `#${user} ${call}`);
  expect(state, response).toBe("answered");
  const results = toolResults(requestsWith(model, `#${user} `).at(-1)!).map((one) => one.text);
  return { response: response!, results };
}

it("a mistyped file name leads to the file", async () => {
  expect((await told("near", 'read {"path":"docs/reprot.md"}')).response).toBe("told: The Answer is 42.");
});

it("a tool by the name another agent has for it leads to ours", async () => {
  expect((await told("bash", 'bash {"command":"echo hello"}')).response).toMatch(/^told: hello\n\[exit 0/);
  expect((await told("grep", 'grep {"pattern":"Answer"}')).response).toBe("told: docs/report.md:1: The Answer is 42.");
});

it("a tool that is only found by search leads to tool_run", async () => {
  expect((await told("hidden", "schedule_list {}")).response).not.toContain("There is no tool");
});

it("a search in the wrong case leads to the right one", async () => {
  const { response, results } = await told("case", 'search {"pattern":"THE ANSWER"}');
  expect(results[0]).toMatch(
    /^\[No line matches in \d+ files; with ignore_case: true 1 would, the first at docs\/report\.md:1\.\]$/,
  );
  expect(response).toBe("told: docs/report.md:1: The Answer is 42.");
});

it("an edit that does not fit leads to the lines to copy", async () => {
  const { response, results } = await told(
    "edit",
    'edit {"path":"code.py","old":"    if z:\\n        return 12","new":"x"}',
  );
  expect(results[0]).toMatch(/nothing was changed\. The nearest lines are:\n\d: →/);
  expect(response).toContain("\tif y:\n\t\treturn 12");
});

it("arguments that are no JSON lead to arguments that are; no internal field is named", async () => {
  const { response, results } = await told("garbage", 'exec {"command": "ls');
  expect(results[0]).toMatch(
    /^exec: Nothing was done, because the arguments are not valid JSON: it ends after 15 characters, where the closing quotation mark should follow\./,
  );
  expect(results[0]).toContain('They began: {"command": "ls. Send one JSON object');
  expect(results[0]).not.toMatch(/_raw|unreadable|problem/);
  expect(results[0]).not.toContain("apart");
  expect(response).toMatch(/^told: mended/);
});

it("a timeout leads to the background", async () => {
  const { response, results } = await told("slow", 'exec {"command":"echo begun; sleep 30","timeout_s":1}');
  expect(results[0]).toMatch(
    /^begun\n(?:Terminated\n)?\[timed out and was ended.*\n\[It was stopped after 1 s\. Anything it had already done remains/,
  );
  expect(response).toMatch(/^told: Started in the background as /);
});

it("output that was cut leads to the rest, by a path in the workspace", async () => {
  const { results } = await told("cut", 'exec {"command":"seq 1 20000"}');
  expect(results[0]).not.toContain(lares.home);
  expect(results[1]!.split("\n")[0]).toMatch(/^\d+$/);
  expect(Number(results[1]!.split("\n")[0])).toBeLessThan(3000);
});

it("what is refused is final, says what to do instead, and is not tried again", async () => {
  const { response, results } = await told("denied", 'write {"path":"/etc/motd","content":"x"}');
  expect(response).toMatch(/This is final, and the same call will be refused again.*Write to the workspace instead/);
  expect(results).toHaveLength(1);
});

it("the same call with the same result is noticed the third time", async () => {
  model.use((request) => {
    const seen = toolResults(request).map((one) => one.text);
    return seen.at(-1)?.includes("times in a row")
      ? { text: `told: ${seen.length}` }
      : { toolCalls: [{ name: "list", input: { path: "docs" } }] };
  });
  const { response } = await lares.chat("again", "#again");
  model.use(follow);
  expect(response).toBe("told: 3");
});
