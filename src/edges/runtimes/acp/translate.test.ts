/** What ACP agents say, and the events of a run. Each row that names an agent is something that agent was seen to do. */
import { describe, expect, test } from "vitest";
import type { RunEventBody } from "../../../core/contracts/index.ts";
import { readFailure } from "./failure.ts";
import { chooseOption } from "./options.ts";
import { ACP_PROFILES, type AcpProfile, fillEnvironment } from "./profile.ts";
import { type AcpHeard, translate, UNSPOKEN } from "./translate.ts";

const HERMES = ACP_PROFILES.find(({ name }) => name === "hermes")!;
const PLAIN: AcpProfile = { ...ACP_PROFILES[0]!, name: "plain", env: {}, tokens: "turn", money: true, warnings: [] };

function hear(heard: readonly AcpHeard[], more: Partial<AcpProfile> = {}): RunEventBody[] {
  let state = UNSPOKEN;
  return heard.flatMap((one) => {
    const next = translate({ ...PLAIN, ...more }, state, one);
    state = next.state;
    return next.events;
  });
}

const says = (update: object): AcpHeard => ({ kind: "update", update });
const text = (words: string, more: object = {}): AcpHeard =>
  says({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words }, ...more });
const call = (more: object): AcpHeard =>
  says({ sessionUpdate: "tool_call", toolCallId: "c1", kind: "execute", ...more });
const later = (more: object): AcpHeard => says({ sessionUpdate: "tool_call_update", toolCallId: "c1", ...more });
const output = (words: string) => [{ type: "content", content: { type: "text", text: words } }];
const asked = (toolCall: object): AcpHeard => ({ kind: "asked", ask: "a1", request: { toolCall, options: [] } });
const ended = (result: object = {}, isLast = true): AcpHeard => ({
  kind: "ended",
  result: { stopReason: "end_turn", ...result },
  isLast,
});
const types = (events: readonly RunEventBody[]) => events.map(({ type }) => type);

describe("a tool call", () => {
  test("that is announced without its command has the input that comes later (OpenCode) (ACPRUN-2)", () => {
    const events = hear([
      call({ status: "pending", rawInput: { cwd: "/srv" } }),
      later({ status: "in_progress", rawInput: { command: "ls" } }),
      later({ status: "completed", content: output("a.txt") }),
      later({ status: "completed", content: output("again") }),
    ]);
    expect(events).toEqual([
      { type: "tool_call", call: "c1", name: "execute", input: { cwd: "/srv", command: "ls" } },
      { type: "tool_result", call: "c1", isError: false, text: "a.txt" },
    ]);
  });

  test("that is announced only in the request for permission is announced then (Gemini)", () => {
    const events = hear([
      asked({ toolCallId: "c9", title: "touch x", kind: "execute", rawInput: { command: "touch x" } }),
      { kind: "answered", ask: "a1", how: "allow" },
      says({ sessionUpdate: "tool_call_update", toolCallId: "c9", status: "completed", content: [] }),
    ]);
    expect(types(events)).toEqual(["tool_call", "ask", "answered", "tool_result"]);
    expect(events[0]).toMatchObject({ call: "c9", input: { command: "touch x" } });
    expect(events[1]).toMatchObject({ about: { call: "c9", summary: "touch x" }, expires: null });
  });

  test("is found by its command where requests are numbered apart (Hermes)", () => {
    const events = hear([
      call({ status: "in_progress", rawInput: { command: "rm x" } }),
      says({ sessionUpdate: "tool_call", toolCallId: "c2", status: "in_progress", rawInput: { command: "ls" } }),
      asked({ toolCallId: "perm-check-1", title: "rm x", rawInput: { command: "rm x" } }),
    ]);
    expect(types(events)).toEqual(["tool_call", "tool_call", "ask"]);
    expect(events[2]).toMatchObject({ about: { call: "c1" } });
  });

  test("without an announcement, an input or a result has all three in the end", () => {
    expect(types(hear([later({ status: "completed", content: output("done") })]))).toEqual([
      "tool_call",
      "tool_result",
    ]);
    const open = hear([call({ status: "pending" }), ended()]);
    expect(types(open)).toEqual(["tool_call", "tool_result", "done"]);
    expect(open[1]).toMatchObject({ isError: true, text: "The agent reported no result." });
  });

  test.each<[object, string]>([
    [{ name: "bash", title: "ls -la" }, "bash"],
    [{ _meta: { claudeCode: { toolName: "Bash" } }, title: "`ls`" }, "Bash"],
    [{ _meta: { toolName: "run_shell" } }, "run_shell"],
    [{ kind: "other", title: "browser: open" }, "browser"],
    [{ kind: "edit", title: "Write a.txt" }, "edit"],
    [{}, "tool"],
  ])("%j is called %s", (more, name) => {
    const update = { sessionUpdate: "tool_call", toolCallId: "c1", status: "in_progress", ...more };
    expect(hear([says(update)])).toMatchObject([{ type: "tool_call", name }]);
  });

  test("says what it does meanwhile, and what it changed", () => {
    const events = hear([
      call({ status: "in_progress", rawInput: { path: "a" } }),
      later({ status: "in_progress", content: output("half") }),
      later({ status: "completed", content: [{ type: "diff", path: "/a", oldText: "1", newText: "2" }] }),
    ]);
    expect(events.slice(1)).toEqual([
      { type: "tool_progress", call: "c1", text: "half" },
      { type: "tool_result", call: "c1", isError: false, text: "/a\n2" },
    ]);
    expect(hear([later({ status: "failed", rawOutput: { output: "no such file" } })])).toMatchObject([
      {},
      { isError: true, text: "no such file" },
    ]);
  });
});

describe("a run's end", () => {
  const denied: AcpHeard[] = [
    call({ status: "pending", rawInput: { command: "rm" } }),
    asked({ toolCallId: "c1" }),
    { kind: "answered", ask: "a1", how: "deny" },
    later({ status: "failed", content: output("rejected") }),
  ];

  test("right after a denial is its consequence (OpenCode, Qwen, Copilot) (ACPRUN-4)", () => {
    expect(hear([...denied, ended()]).at(-1)).toMatchObject({ type: "done", outcome: "rejected" });
  });

  test("after something else was said or called is an ordinary one (Gemini, Claude)", () => {
    expect(hear([...denied, text("Then not."), ended()]).at(-1)).toMatchObject({
      outcome: "finished",
      text: "Then not.",
    });
    const other = says({ sessionUpdate: "tool_call", toolCallId: "c2", status: "completed", rawInput: { a: 1 } });
    expect(hear([...denied, other, ended()]).at(-1)).toMatchObject({ outcome: "finished" });
  });

  test("with a failure in place of an answer, and no tokens, is a failure (Hermes) (ACPRUN-5)", () => {
    const failures = ["HTTP 4"];
    const said = [text("HTTP 401: rejected its key"), ended()];
    expect(hear(said, { failures }).slice(1)).toMatchObject([
      { type: "error", failure: "auth" },
      { type: "done", outcome: "failed" },
    ]);
    const usage = { inputTokens: 5, outputTokens: 4 };
    expect(hear([said[0]!, ended({ usage })], { failures }).at(-1)).toMatchObject({ outcome: "finished" });
    expect(hear(said).at(-1)).toMatchObject({ outcome: "finished" });
    const unreached = [text("API call failed after 3 retries: Connection error."), ended()];
    expect(hear(unreached, HERMES).at(-1)).toMatchObject({ outcome: "failed" });
  });

  test.each([
    ["end_turn", "finished"],
    ["max_tokens", "out-of-room"],
    ["max_turn_requests", "out-of-room"],
    ["refusal", "refused"],
    ["cancelled", "stopped"],
    ["a_new_word", "finished"],
  ])("%s is %s", (stopReason, outcome) => {
    expect(hear([ended({ stopReason })])).toMatchObject([{ type: "done", outcome }]);
  });

  test("leaves no question open, and comes once for several prompts", () => {
    expect(types(hear([asked({ toolCallId: "c1", rawInput: { a: 1 } }), ended()]))).toEqual([
      "tool_call",
      "ask",
      "answered",
      "tool_result",
      "done",
    ]);
    const two = hear([text("one"), ended({}, false), text("two"), ended()]);
    expect(types(two)).toEqual(["text", "text", "text", "done"]);
    expect(two.at(-1)).toMatchObject({ text: "one\n\ntwo" });
  });

  test.each([
    [-32_603, "401 Unauthorized", "auth"],
    [-32_000, "Please do this first", "auth"],
    [-32_603, "You exceeded your rate limit", "rate-limit"],
    [-32_603, "HTTP 529 overloaded_error", "overload"],
    [-32_603, "prompt is too long: 300000 tokens", "context-overflow"],
    [-32_603, "fetch failed: ECONNREFUSED 127.0.0.1", "network"],
    [-32_603, "502 Bad Gateway", "server-error"],
    [-32_603, "something else", "unknown"],
  ])("with an error %d %s fails as %s", (code, message, failure) => {
    expect(readFailure(code, message).failure).toBe(failure);
    expect(hear([{ kind: "failed", code, message }])).toMatchObject([
      { type: "error", failure, text: message },
      { type: "done", outcome: "failed" },
    ]);
  });
});

test("while a conversation is loaded, its history is no event (ACPRUN-1)", () => {
  const history = [
    text("old"),
    call({ status: "completed", rawInput: { a: 1 } }),
    says({ sessionUpdate: "plan", entries: [] }),
  ];
  const events = hear([{ kind: "loading" }, ...history, { kind: "loaded" }, text("new"), ended()]);
  expect(events).toEqual([
    { type: "text", text: "new" },
    { type: "done", outcome: "finished", text: "new" },
  ]);
});

describe("what a run used (ACPRUN-3)", () => {
  const cost = (amount: number): AcpHeard =>
    says({ sessionUpdate: "usage_update", used: 1, size: 2, cost: { amount, currency: "USD" } });
  const used = (events: RunEventBody[]) => events.flatMap((one) => (one.type === "usage" ? [one.usage] : []));

  test("money is added up by the agent, and counted again after its process was replaced", () => {
    const sums = used(hear([cost(0.25), cost(0.25), cost(0.75), cost(0.125)])).map((one) => one.cost);
    expect(sums).toEqual([0.25, 0.5, 0.125]);
    expect(used(hear([cost(1)], { money: false }))).toEqual([]);
  });

  test.each<[AcpProfile["tokens"], AcpHeard[], [number, number][]]>([
    [
      "turn",
      [
        ended({ usage: { inputTokens: 10, outputTokens: 5 } }, false),
        ended({ usage: { inputTokens: 20, outputTokens: 1 } }),
      ],
      [
        [10, 5],
        [20, 1],
      ],
    ],
    [
      "total",
      [
        ended({ usage: { inputTokens: 10, outputTokens: 5 } }, false),
        ended({ usage: { inputTokens: 30, outputTokens: 6 } }),
      ],
      [
        [10, 5],
        [20, 1],
      ],
    ],
    ["gemini", [ended({ _meta: { quota: { token_count: { input_tokens: 7, output_tokens: 2 } } } })], [[7, 2]]],
    ["qwen", [text("", { _meta: { usage: { inputTokens: 4, outputTokens: 3 } } }), ended()], [[4, 3]]],
    ["none", [ended({ usage: { inputTokens: 10, outputTokens: 5 } })], []],
  ])("tokens as %s", (tokens, heard, expected) => {
    expect(used(hear(heard, { tokens })).map((one) => [one.inputTokens, one.outputTokens])).toEqual(expected);
  });
});

test("warnings that come as messages aren't part of the answer (Codex)", () => {
  const events = hear([text("Model metadata not found for m"), text("Hello"), ended()], {
    warnings: ["Model metadata not found"],
  });
  expect(events).toEqual([
    { type: "notice", text: "Model metadata not found for m" },
    { type: "text", text: "Hello" },
    { type: "done", outcome: "finished", text: "Hello" },
  ]);
});

test.each<unknown>([
  undefined,
  null,
  7,
  "x",
  [],
  {},
  { sessionUpdate: "toString" },
  { sessionUpdate: "tool_call" },
  { sessionUpdate: "plan" },
])("nonsense is no event: %j", (update) => {
  expect(hear([{ kind: "update", update }])).toEqual([]);
});

describe("a profile", () => {
  test("has its places filled in once, as they are; what needs a missing one is left out", () => {
    const env = { A: "{home}/x", B: "{url}/v1", C: '{"key":"{token}","home":"{home}"}', D: "plain" };
    const places = { home: "/h/{token}", token: 'a"b' };
    expect(fillEnvironment({ env }, places)).toEqual({
      A: "/h/{token}/x",
      C: '{"key":"a\\"b","home":"/h/{token}"}',
      D: "plain",
    });
  });

  test("of each agent is complete, with a name of its own", () => {
    expect(ACP_PROFILES.map(({ name }) => name)).toEqual(["opencode", "hermes", "gemini", "qwen", "copilot", "goose"]);
    const all = { home: "/h", tmp: "/t", url: "http://u", token: "k", model: "m" };
    for (const profile of ACP_PROFILES)
      expect(JSON.stringify(fillEnvironment(profile, all))).not.toMatch(/\{(home|tmp|url|token|model)\}/);
  });

  test("decides which answers are never chosen; without another one the answer is no", () => {
    const [once, always, no] = [
      { optionId: "allow_once", kind: "allow_once" },
      { optionId: "allow_always", kind: "allow_always" },
      { optionId: "deny", kind: "reject_once" },
    ];
    const hermes = ACP_PROFILES[1]!;
    expect(chooseOption(hermes, [always!, once!, no!], "allow")).toEqual({
      outcome: "selected",
      optionId: "allow_once",
    });
    expect(chooseOption(hermes, [always!, no!], "allow")).toEqual({ outcome: "cancelled" });
    expect(chooseOption(hermes, [always!, no!], "deny")).toEqual({ outcome: "selected", optionId: "deny" });
  });
});
