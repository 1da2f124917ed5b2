import { expect, test } from "vitest";
import { writeReply } from "./replies.ts";
import { type CodexHeard, type CodexState, startState, translateCodex } from "./translate.ts";

const note = (method: string, params: Record<string, unknown>): CodexHeard => ({ kind: "notified", method, params });

function play(heard: CodexHeard[], from: CodexState = startState("t")) {
  let state = from;
  const events = heard.flatMap((one) => {
    const next = translateCodex(state, one);
    state = next.state;
    return next.events;
  });
  return { state, events };
}

const item = (more: object) => ({ threadId: "t", item: { id: "m1", type: "agentMessage", text: "", ...more } });

test("CODEX-7: a message that came without pieces is said whole, and one with a piece missing to its end", () => {
  const whole = play([note("item/completed", item({ text: "hello" }))]);
  expect(whole.events).toEqual([{ type: "text", text: "hello" }]);
  const rest = play([
    note("item/agentMessage/delta", { threadId: "t", itemId: "m1", delta: "hel" }),
    note("item/completed", item({ text: "hello" })),
  ]);
  expect(rest.events.map((one) => "text" in one && one.text)).toEqual(["hel", "lo"]);
});

test("CODEX-7: cut off and begun again under another id, only what is new is said; another answer is a paragraph of its own", () => {
  const delta = (itemId: string, text: string) =>
    note("item/agentMessage/delta", { threadId: "t", itemId, delta: text });
  const begun = [note("item/started", item({})), delta("m1", "one two")];
  const same = play([
    ...begun,
    note("item/started", item({ id: "m2" })),
    delta("m2", "one"),
    delta("m2", " two three"),
  ]);
  expect(same.state.text).toBe("one two three");
  const other = play([...begun, note("item/started", item({ id: "m2" })), delta("m2", "ten")]);
  expect(other.state.text).toBe("one two\n\nten");
});

test("CODEX-8: an id that the model uses again is another call", () => {
  const call = { id: "c", type: "commandExecution", command: "ls", cwd: "/" };
  const once = [
    note("item/started", { threadId: "t", item: { ...call, status: "inProgress" } }),
    note("item/completed", { threadId: "t", item: { ...call, status: "completed", aggregatedOutput: "a" } }),
  ];
  const { events } = play([...once, ...once]);
  expect(events.map((one) => "call" in one && one.call)).toEqual(["c", "c", "c-again-1", "c-again-1"]);
});

test("another thread in the same process isn't this run", () => {
  expect(play([note("item/completed", { ...item({ text: "x" }), threadId: "other" })]).events).toEqual([]);
});

test("a request for permission tells why it is made: an allowed command may leave the sandbox", () => {
  const method = "item/commandExecution/requestApproval";
  const params = { threadId: "t", itemId: "c", command: "touch /x", cwd: "/", reason: "need it" };
  const { events } = play([{ kind: "asked", ask: "ask-1", method, params }]);
  expect(events).toMatchObject([
    { type: "tool_call", call: "c", name: "exec_command" },
    { type: "ask", about: { call: "c", input: { command: "touch /x", reason: "need it" } } },
  ]);
});

test("a server's own question is a question; words answer it, and a yes doesn't", () => {
  const method = "mcpServer/elicitation/request";
  const params = {
    threadId: "t",
    serverName: "s",
    mode: "form",
    message: "Which one?",
    requestedSchema: { type: "object" },
  };
  const { events } = play([{ kind: "asked", ask: "ask-1", method, params }]);
  expect(events).toMatchObject([{ type: "ask", about: { kind: "question", text: "Which one?" } }]);
  expect(writeReply(method, params, { kind: "allow" })).toBeUndefined();
  expect(writeReply(method, params, { kind: "said", value: { one: "a" } })).toMatchObject({
    action: "accept",
    content: { one: "a" },
  });
  expect(writeReply(method, params, { kind: "deny", reason: "" })).toMatchObject({ action: "decline" });
});

test("a yes is for once, never for the session or for good", () => {
  const method = "item/commandExecution/requestApproval";
  expect(writeReply(method, {}, { kind: "allow" })).toEqual({ decision: "accept" });
  expect(writeReply(method, {}, { kind: "deny", reason: "no" })).toEqual({ decision: "decline" });
  expect(writeReply(method, {}, { kind: "said", value: "yes" })).toBeUndefined();
});

test("a plan, a lost server and a folder's own settings are told in our words", () => {
  const { events } = play([
    note("turn/plan/updated", { threadId: "t", plan: [{ step: "look", status: "inProgress" }] }),
    note("mcpServer/startupStatus/updated", { name: "lares", status: "failed", error: "refused" }),
    note("configWarning", { summary: "Project-local config, hooks, and exec policies are disabled" }),
  ]);
  expect(events).toMatchObject([
    { type: "plan", steps: [{ text: "look", state: "doing" }] },
    { type: "notice", text: "Codex couldn't reach the tools of lares: refused" },
    { type: "notice", text: expect.stringContaining("The folder has settings for Codex") },
  ]);
});

test("a turn that ends after a denial, with nothing said since, ended because of it", () => {
  const asked: CodexHeard = {
    kind: "asked",
    ask: "a",
    method: "item/fileChange/requestApproval",
    params: { threadId: "t", itemId: "c" },
  };
  const end: CodexHeard = { kind: "ended", turn: { status: "interrupted" }, isStopped: false, isLast: true };
  const { events } = play([asked, { kind: "answered", ask: "a", how: "deny" }, end]);
  expect(events.at(-1)).toMatchObject({ type: "done", outcome: "rejected" });
});

test("a change of one file names it, as the rules for files want; several, or a move, don't", () => {
  const change = (path: string, kind: object) => ({ path, kind, diff: "" });
  const input = (changes: object[]) => {
    const item = { id: "p", type: "fileChange", changes, status: "inProgress" };
    const [event] = play([note("item/started", { threadId: "t", item })]).events;
    return event?.type === "tool_call" ? event.input : undefined;
  };
  expect(input([change("/a", { type: "add" })])).toMatchObject({ path: "/a" });
  expect(input([change("/a", { type: "add" }), change("/b", { type: "add" })])).not.toHaveProperty("path");
  expect(input([change("/a", { type: "update", move_path: "/b" })])).not.toHaveProperty("path");
});
