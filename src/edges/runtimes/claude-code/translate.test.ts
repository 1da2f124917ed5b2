/** From the lines of Claude Code to events: what recorded runs don't show. */
import { describe, expect, test } from "vitest";
import { beginTranscript, type ClaudeHeard, isActing, translate } from "./translate.ts";
import { addedSince, readTotals, writeTotals } from "./usage.ts";

const line = (line: Record<string, unknown>): ClaudeHeard => ({ kind: "line", line, at: 1000 });
const stream = (event: Record<string, unknown>, more = {}) => line({ type: "stream_event", event, ...more });
const start = (id: string) => stream({ type: "message_start", message: { id } });
const block = stream({ type: "content_block_start", content_block: { type: "text" } });
const word = (text: string) => stream({ type: "content_block_delta", delta: { type: "text_delta", text } });
const whole = stream({ type: "message_delta", delta: { stop_reason: "end_turn" } });
const call = (id: string) =>
  line({ type: "assistant", message: { id: "m", content: [{ type: "tool_use", id, name: "Bash", input: {} }] } });
const ask = (id: string): ClaudeHeard => ({
  kind: "asked",
  ask: `ask-${id}`,
  request: { tool_use_id: id, tool_name: "Bash" },
});
const answer = (id: string, how: "allow" | "deny"): ClaudeHeard => ({ kind: "answered", ask: `ask-${id}`, how });
const result = (more: Record<string, unknown> = {}, isLast = true): ClaudeHeard => ({
  kind: "result",
  line: { type: "result", subtype: "success", is_error: false, modelUsage: {}, ...more },
  isLast,
  isStopped: false,
});

function tellAll(...heard: ClaudeHeard[]) {
  let state = beginTranscript({});
  const events = heard.flatMap((one) => {
    const told = translate(state, one);
    state = told.state;
    return told.events;
  });
  const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
  return { state, events, text, done: events.find((event) => event.type === "done") };
}

describe("CLAUDE-3: a stream that broke", () => {
  test.each([
    ["is repeated", ["one two three"], "one two three"],
    ["is repeated in other pieces", ["o", "ne two", " three", " four"], "one two three four"],
    ["goes another way", ["one, ", "but shorter"], "one two three\n\none, but shorter"],
    ["breaks again, earlier", ["one"], "one two three"],
  ])("and %s is told without saying anything twice", (_how, pieces, text) => {
    const first = [start("m1"), block, word("one two three"), start("m2"), block, ...pieces.map(word)];
    expect(tellAll(...first).text).toBe(text);
    expect(tellAll(...first, start("m3"), block, word("one two three"), word(" and so on")).text).toMatch(
      / and so on$/,
    );
  });

  test("isn't one that ended: the same words in the next message are said again", () => {
    expect(tellAll(start("m1"), block, word("yes"), whole, start("m2"), block, word("yes"), whole).text).toBe(
      "yes\n\nyes",
    );
  });
});

test("an answer that wasn't streamed is told from the whole message, and only once", () => {
  const message = (id: string) =>
    line({ type: "assistant", message: { id, model: "m", content: [{ type: "text", text: "hi" }] } });
  expect(tellAll(message("m1")).text).toBe("hi");
  expect(tellAll(start("m1"), block, word("hi"), message("m1"), whole).text).toBe("hi");
});

describe("CLAUDE-4: a denial", () => {
  test("with nothing after it ended the turn", () => {
    const { done } = tellAll(call("c"), ask("c"), answer("c", "deny"), result());
    expect(done).toMatchObject({ outcome: "rejected" });
    const aborted = result({ is_error: true, subtype: "error_during_execution", terminal_reason: "aborted_tools" });
    expect(tellAll(call("c"), ask("c"), answer("c", "deny"), aborted).done).toMatchObject({ outcome: "rejected" });
  });

  test("after which it went on is no end", () => {
    const { done } = tellAll(
      call("c"),
      ask("c"),
      answer("c", "deny"),
      start("m"),
      block,
      word("well"),
      whole,
      result(),
    );
    expect(done).toMatchObject({ outcome: "finished" });
  });
});

test("CLAUDE-5: what its own children say, and what it says to itself, isn't part of the answer", () => {
  const { events } = tellAll(
    stream(
      { type: "content_block_delta", delta: { type: "text_delta", text: "a child" } },
      { parent_tool_use_id: "t" },
    ),
    line({ type: "user", message: { content: [{ type: "text", text: "Resume directly" }] }, isSynthetic: true }),
    line({
      type: "user",
      message: { content: [{ type: "tool_result", tool_use_id: "old", content: "x" }] },
      isReplay: true,
    }),
  );
  expect(events).toEqual([]);
});

test("an ask about a call that nobody announced announces it (RUNTIME-5)", () => {
  expect(tellAll(ask("c")).events.map(({ type }) => type)).toEqual(["tool_call", "ask"]);
  expect(tellAll(call("c"), ask("c")).events.map(({ type }) => type)).toEqual(["tool_call", "ask"]);
});

test("what waits for an answer isn't under way; what was allowed is, until its result", () => {
  const done = line({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "c", content: "ok" }] } });
  expect(isActing(tellAll(call("c"), ask("c")).state)).toBe(false);
  expect(isActing(tellAll(call("c"), ask("c"), answer("c", "allow")).state)).toBe(true);
  expect(isActing(tellAll(call("c"), ask("c"), answer("c", "allow"), done).state)).toBe(false);
});

test("nothing is left open at the end of a turn", () => {
  expect(tellAll(call("c"), ask("c"), result({ is_error: true, result: "gone" })).events.slice(2)).toMatchObject([
    { type: "answered", how: "withdrawn" },
    { type: "tool_result", call: "c", isError: true },
    { type: "error" },
    { type: "done", outcome: "failed" },
  ]);
});

test.each([
  [401, "auth"],
  [402, "billing"],
  [403, "auth"],
  [404, "not-found"],
  [429, "rate-limit"],
  [500, "server-error"],
  [529, "overload"],
])("the status %i is %s", (status, failure) => {
  const { events } = tellAll(result({ is_error: true, api_error_status: status, result: "API Error" }));
  expect(events[0]).toMatchObject({ type: "error", failure });
});

describe("lines that aren't what they say", () => {
  test.each([
    ["a stream without an event", { type: "stream_event" }],
    ["a message without content", { type: "assistant", message: null }],
    ["content that is a number", { type: "assistant", message: { id: 1, content: 7 } }],
    ["a result of no call", { type: "user", message: { content: [{ type: "tool_result" }] } }],
    ["a call without a name for it", { type: "assistant", message: { content: [{ type: "tool_use" }] } }],
    ["a kind that nobody knows", { type: "hologram", message: {} }],
    ["a system line of another kind", { type: "system", subtype: "__proto__" }],
  ])("%s says nothing", (_what, given) => {
    expect(tellAll(line(given)).events).toEqual([]);
  });
});

describe("CLAUDE-2: usage", () => {
  const use = (inputTokens: number, costUSD: number) => ({ modelUsage: { m: { inputTokens, costUSD } } });

  test("of a total that grew is what was added; of one that fell, all of it", () => {
    const first = addedSince({}, use(100, 1));
    expect(first.added).toMatchObject([{ model: "m", usage: { inputTokens: 100, cost: 1 } }]);
    const kept = readTotals(JSON.parse(JSON.stringify(writeTotals(first.total))));
    expect(addedSince(kept, use(150, 1.5)).added).toMatchObject([{ usage: { inputTokens: 50, cost: 0.5 } }]);
    expect(addedSince(kept, use(100, 1)).added).toEqual([]);
    expect(addedSince(kept, use(30, 0.3)).added).toMatchObject([{ usage: { inputTokens: 30, cost: 0.3 } }]);
  });

  test("without models is of this result alone, and nobody knows its price", () => {
    const said = { usage: { input_tokens: 5, output_tokens: 2 } };
    expect(addedSince({}, said).added).toMatchObject([
      { model: null, usage: { inputTokens: 5, outputTokens: 2, cost: null } },
    ]);
  });

  test.each([
    ["nothing", undefined],
    ["text", { modelUsage: { m: { inputTokens: "many", costUSD: -5 } } }],
    ["a prototype", JSON.parse('{"modelUsage":{"__proto__":{"inputTokens":5}}}')],
  ])("of %s is none, or no harm", (_what, said) => {
    for (const { usage } of addedSince(readTotals(said), said ?? {}).added)
      for (const value of Object.values(usage)) expect(value).toBeGreaterThanOrEqual(0);
  });
});
