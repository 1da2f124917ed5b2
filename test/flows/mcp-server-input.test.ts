/** Bad input for Lares as an MCP server: each is refused in the protocol's words, and everybody else is served as before. */
import { expect, it, onTestFinished } from "vitest";
import type { Scope } from "../../src/core/protocol/index.ts";
import { startLares, startModel } from "../support/index.ts";
import { openMcp } from "../support/mcp-client.ts";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
const HELLO = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
};

async function start() {
  const model = await startModel();
  const lares = await startLares({ env: model.env, config: { gateway: { http: { maxBodyBytes: 1_000_000 } } } });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${lares.url}/mcp`, {
      method: "POST",
      headers: { ...HEADERS, authorization: `Bearer ${lares.token}`, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: answer.status, text: await answer.text(), session: answer.headers.get("mcp-session-id") };
  };
  const session = async (scopes: Scope[]) => {
    const { token } = await lares.rpc("tokens.create", { name: "other", scopes });
    const authorization = `Bearer ${token}`;
    const { session: id } = await post(HELLO, { authorization });
    const subscribe = (uri: string, n = 2) =>
      post(
        { jsonrpc: "2.0", id: n, method: "resources/subscribe", params: { uri } },
        { authorization, "mcp-session-id": id!, "mcp-protocol-version": "2025-11-25" },
      );
    return { token, subscribe };
  };
  return { lares, post, session };
}

it("bodies, headers and sessions that make no sense are refused with a JSON-RPC error, and the next request is served", async () => {
  const { lares, post } = await start();
  const huge = { ...LIST, params: { cursor: "x".repeat(1_100_000) } };
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`;
  const cases: [string, unknown, Record<string, string>, number][] = [
    ["a huge body", huge, {}, 413],
    ["no JSON", "{", {}, 400],
    ["nested 5,000 deep", deep, {}, 400],
    ["a batch", [LIST, LIST], {}, 400],
    ["nothing", "null", {}, 400],
    ["a text", '"tools/list"', {}, 400],
    ["an Accept without the answer's types", LIST, { accept: "text/html" }, 406],
    ["another content type", JSON.stringify(LIST), { "content-type": "text/plain" }, 415],
    ["a session nobody opened", LIST, { "mcp-session-id": "mcp_00000000-0000-4000-8000-000000000000" }, 404],
    ["a session's id as long as a page", LIST, { "mcp-session-id": "x".repeat(8000) }, 404],
    ["a revision nobody knows", LIST, { "mcp-protocol-version": "1999-01-01" }, 400],
    ["a token of another program", LIST, { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJhdWQiOiJ4In0." }, 401],
    ["a page elsewhere", LIST, { origin: "https://evil.example" }, 403],
  ];
  const seen: [string, number][] = [];
  for (const [what, body, headers] of cases) {
    const { status, text } = await post(body, headers);
    seen.push([what, status]);
    expect(JSON.parse(text), what).toMatchObject({ jsonrpc: "2.0", error: { message: expect.any(String) } });
  }
  expect(seen).toEqual(cases.map(([what, , , status]) => [what, status]));
  const good = await openMcp(lares.url, lares.token, "modern");
  expect((await good.call("ask", { message: "say:still here" })).text).toBe("still here");
  await good.close();
});

it("a session follows only approvals, only with the right to read them, and only so many (MCPSERVER-7)", async () => {
  const { lares, session } = await start();
  const writer = await session(["write"]);
  expect((await writer.subscribe("lares://approvals")).text).toContain("error");
  const reader = await session(["read"]);
  expect((await reader.subscribe("lares://approvals")).text).toContain('"result":{}');
  expect((await reader.subscribe("file:///etc/passwd")).text).toContain("error");
  expect((await reader.subscribe(`lares://approvals/${"x".repeat(100_000)}`)).text).toContain("error");
  const answers: string[] = [];
  for (let n = 0; n < 1000; n++) answers.push((await reader.subscribe(`lares://approvals/ap_${n}`, n + 10)).text);
  expect(answers.filter((text) => text.includes('"result":{}'))).toHaveLength(255);
  expect(answers.at(-1)).toContain("at most 256");
  const good = await openMcp(lares.url, lares.token, "legacy");
  expect(await good.read("lares://approvals")).toEqual({ approvals: [] });
  await good.close();
});

it("a client that asks for a hundred streams gets 32 of them, and others are served meanwhile", async () => {
  const { lares } = await start();
  const { token } = await lares.rpc("tokens.create", { name: "greedy", scopes: ["read"] });
  const greedy = await openMcp(lares.url, token, "modern");
  const opened = await Promise.allSettled(
    Array.from({ length: 100 }, () => greedy.client.listen({ resourceSubscriptions: ["lares://approvals"] })),
  );
  expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(32);
  const good = await openMcp(lares.url, lares.token, "modern");
  for (let n = 0; n < 5; n++)
    await good.call("ask", { message: `tool:exec {"command":"touch f${n}"}`, conversation: `c${n}`, wait: 0 });
  expect((await good.call("ask", { message: "say:still here" })).text).toBe("still here");
  await good.close();
  await greedy.close();
});
