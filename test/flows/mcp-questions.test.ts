/** Servers that ask a person something in the middle of a call: the turn waits for the answer like for any approval. */
import { expect, it } from "vitest";
import { until } from "../support/index.ts";
import { callTool, forecast, type McpScript, searchTools, startMcp } from "../support/mcp.ts";

const form = (properties: object, required: string[], message = "Which unit?") => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties, required } },
});
const unit = form({ unit: { type: "string", enum: ["c", "f"] }, days: { type: "integer", default: 3 } }, ["unit"]);
const asking = (era: "modern" | "legacy", requests: object): McpScript => ({
  ...{ tools: [forecast], era, asks: { forecast: { requests, state: "opaque ünchanged" } } },
});

const question = (at: Awaited<ReturnType<typeof startMcp>>) =>
  until("a question", async () => (await at.lares.rpc("approvals.list", {})).approvals[0]);

/** Its code, as the chat shows it. */
const codeOf = ({ id }: { id: string }) => id.slice(-6);

it("a server's question parks the turn; over a kill and restart, an answer typed in the chat completes the call (MC-06)", async () => {
  const at = await startMcp(asking("modern", { a: unit }));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" }).catch(() => {});
  const asked = await question(at);
  expect(asked.shown).toBe("sky asks:\n> Which unit?\n- unit: c, f\n- days: a whole number; optional; default 3");
  expect(asked.form?.fields.map(({ name }) => name)).toEqual(["unit", "days"]);
  // Nothing of the call is held: the program may end meanwhile, and Lares may die.
  await at.lares.kill9();
  await at.lares.start();
  const wrong = await at.lares.chat("ana", `answer ${codeOf(asked)} unit: kelvin`);
  expect(wrong.response).toContain('"unit" must be one of c, f');
  expect((await at.lares.chat("ana", `answer ${codeOf(asked)} unit: c`)).response).toContain("passed on your answer");
  await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" });
  expect(at.lines().filter((line) => !line.startsWith("started"))).toEqual([
    'called forecast {"city":"Rome"}',
    'went on forecast {"a":{"action":"accept","content":{"unit":"c","days":3}}} opaque ünchanged',
  ]);
  const results = JSON.stringify(at.model.requests.at(-1)!.raw);
  expect(results).toContain("Answer of sky/forecast");
});

it("killed while the answer is on its way: the outcome is unknown and the call isn't sent a second time (MC-06, I4)", async () => {
  const at = await startMcp(asking("modern", { a: unit }));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" }).catch(() => {});
  const asked = await question(at);
  at.play({ ...asking("modern", { a: unit }), behaviour: { forecast: "hangs" } });
  await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "allow-once", answers: { unit: "f" } });
  await until("the second part of the call", () => at.lines().some((line) => line.startsWith("went on")));
  await at.lares.kill9();
  at.play(asking("modern", { a: unit }));
  await at.lares.start();
  const { notices } = await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" });
  expect(notices.join()).toContain("isn't known");
  expect(at.lines().filter((line) => line.startsWith("went on"))).toHaveLength(1);
});

it("a no is passed on as such, and several questions come one after the other", async () => {
  const second = form({ sure: { type: "boolean" } }, ["sure"], "Sure?");
  const at = await startMcp(asking("modern", { a: unit, b: second, c: { method: "roots/list" } }));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const done = at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
  const one = await question(at);
  await at.lares.rpc("approvals.resolve", { id: one.id, decision: "deny" });
  const two = await until("the second question", async () =>
    (await at.lares.rpc("approvals.list", {})).approvals.find(({ id }) => id !== one.id),
  );
  expect(two.shown).toContain("> Sure?");
  await at.lares.rpc("approvals.resolve", { id: two.id, decision: "allow-once", answers: "yes" });
  await done;
  const went = at.lines().find((line) => line.startsWith("went on"))!;
  expect(went).toContain('"a":{"action":"decline"},"b":{"action":"accept","content":{"sure":true}}');
  // Only the agents' workspaces are told.
  expect(went).toMatch(/"c":\{"roots":\[\{"uri":"file:\/\/[^"]+\/agents\/main\/workspace","name":"workspace"\}\]\}/);
});

it("a form that asks for a secret is declined, and nobody is asked (MC-06)", async () => {
  const at = await startMcp(
    asking("modern", { a: form({ api_key: { type: "string" } }, ["api_key"], "Please log in") }),
  );
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const { text } = await at.result(callTool({ city: "Rome" }));
  expect(text).toMatch(/^\[sky asked for a secret \("api_key"\) by form. It was declined.\]/);
  expect((await at.lares.rpc("approvals.list", { state: "all" })).approvals).toEqual([]);
  expect(at.lines().at(-1)).toContain('{"a":{"action":"decline"}}');
});

it("a server of the older era is kept waiting for an answer", async () => {
  const at = await startMcp(asking("legacy", { a: unit }));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const done = at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
  const asked = await question(at);
  await at.lares.chat("ana", `answer ${codeOf(asked)} unit: f; days: 1`);
  await done;
  expect(at.lines().at(-1)).toBe('was told {"action":"accept","content":{"unit":"f","days":1}}');
});

it("an older server's question that nobody answers in time is cancelled with a notice, and the call comes to its end (MC-07, MCP-14)", async () => {
  const at = await startMcp(asking("legacy", { a: unit }), { askSeconds: 1 });
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const { notices } = await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
  expect(notices.join()).toContain("sky asked something and nobody answered in time");
  expect(at.lines().at(-1)).toBe('was told {"action":"cancel"}');
  expect((await at.lares.rpc("approvals.list", { state: "all" })).approvals).toMatchObject([{ state: "expired" }]);
});

it("an older server that waits when Lares dies leaves an outcome that nobody knows (MC-07)", async () => {
  const at = await startMcp(asking("legacy", { a: unit }));
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" }).catch(() => {});
  const asked = await question(at);
  await at.lares.kill9();
  await at.lares.start();
  await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "allow-once", answers: "unit: c" });
  const { notices } = await at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`, { key: "k" });
  expect(notices.join()).toContain("isn't known");
  expect(at.lines().filter((line) => line.startsWith("called"))).toHaveLength(1);
});
