/** Servers that want a model to write something for them: off by default, agreed to once, limited and paid for. */
import { expect, it } from "vitest";
import { until } from "../support/index.ts";
import { callTool, forecast, type McpScript, searchTools, startMcp } from "../support/mcp.ts";

const ERAS = ["modern", "legacy"] as const;
type Era = (typeof ERAS)[number];
const wants = (more: object = {}) => ({
  method: "sampling/createMessage",
  params: {
    messages: [{ role: "user", content: { type: "text", text: "say:sunny\u{E0041}" } }],
    maxTokens: 5000,
    ...more,
  },
});
const sampling = (era: Era, requests: object = { a: wants() }): McpScript => ({
  tools: [forecast],
  era,
  asks: { forecast: { requests, state: "s" } },
});
const on = { sampling: true, samplingTokens: 300 };
const onlyForecast = { policy: { allow: { mcp: ["sky/forecast"] } } };
const alsoSampling = { policy: { allow: { mcp: ["sky/*", "sky/sampling"] } } };
const call = callTool({ city: "Rome" });
type At = Awaited<ReturnType<typeof startMcp>>;
/** The requests that came from the server and not from a turn. */
const sampled = (at: At) =>
  at.model.requests.filter(({ raw }) => JSON.stringify(raw).includes("asks for a text. Everything below is its words"));
const approvals = (at: At) => at.lares.rpc("approvals.list", { state: "all" });

it("a server that wants text from a model gets none, and the answer names the setting (MC-16)", async () => {
  const at = await startMcp(sampling("modern"));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const { text } = await at.result(call);
  expect(text).toContain("To allow it, set mcp.servers.sky.sampling to true.");
  expect(sampled(at)).toEqual([]);
});

it.each(ERAS)(
  "a person agrees once, and then the model writes for the server: no tools, a limit, and paid for (%s, MC-16, MCP-28)",
  async (era) => {
    const at = await startMcp(sampling(era), on, onlyForecast);
    await at.lares.chat("ana", `${searchTools} then: say:ok`);
    const done = at.lares.chat("ana", `${call} then: say:done`);
    const asked = await until("a question", async () => (await at.lares.rpc("approvals.list", {})).approvals[0]);
    expect(asked.shown).toContain("sky wants your model to write something for it, at your cost:\n> say:sunny");
    expect(sampled(at)).toEqual([]);
    await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "allow-once" });
    await done;
    expect((await at.lares.rpc("usage.summary", {})).total.calls).toBeGreaterThanOrEqual(at.model.requests.length);
    await until("the model's words at the server", () => at.lines().some((line) => line.includes('"text":"sunny"')));
    const [request] = sampled(at);
    const { tools = [], max_tokens } = JSON.parse(request!.raw) as { tools?: unknown[]; max_tokens?: number };
    expect(tools).toEqual([]);
    expect(max_tokens).toBeLessThanOrEqual(300);
    expect(JSON.stringify(request!.raw)).not.toContain("\u{E0041}");
    // Not asked again, over a restart too.
    await at.lares.kill9();
    await at.lares.start();
    await at.lares.chat("ana", `${call} then: say:done`);
    expect(sampled(at)).toHaveLength(2);
    expect((await approvals(at)).approvals).toHaveLength(1);
  },
);

it.each(ERAS)("a no is passed on, and no model is asked (%s, MC-16)", async (era) => {
  const at = await startMcp(sampling(era), on, onlyForecast);
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const done = at.lares.chat("ana", `${call} then: say:done`);
  const asked = await until("a question", async () => (await at.lares.rpc("approvals.list", {})).approvals[0]);
  await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "deny" });
  const { notices } = await done;
  expect(notices.join()).toContain("nobody agreed");
  expect(sampled(at)).toEqual([]);
});

it("where a rule allows it nobody is asked, calls in a turn are limited, and tools are refused (MC-16)", async () => {
  const requests = { a: wants(), b: wants(), c: wants({ tools: [{ name: "exec" }] }) };
  const at = await startMcp(sampling("modern", requests), { ...on, samplingCalls: 1 }, alsoSampling);
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const { text } = await at.result(call);
  expect(text).toContain("sky asked for text from a model more than 1 times in a turn");
  expect(text).toContain("sky asked for a model with tools, which no server gets");
  expect(sampled(at)).toHaveLength(1);
  expect((await approvals(at)).approvals).toEqual([]);
});

it.each(["sky/*", "*", "sky/samp*"])(
  "the rule %s is about tools: for text from a model, a person is asked (MC-16, MCP-28)",
  async (rule) => {
    const at = await startMcp(sampling("modern"), on, { policy: { allow: { mcp: [rule, "sky/forecast"] } } });
    await at.lares.chat("ana", `${searchTools} then: say:ok`);
    const done = at.lares.chat("ana", `${call} then: say:done`);
    const asked = await until("a question", async () => (await at.lares.rpc("approvals.list", {})).approvals[0]);
    expect(asked.shown).toContain("sky wants your model to write something for it");
    expect(sampled(at)).toEqual([]);
    await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "deny" });
    await done;
  },
);
