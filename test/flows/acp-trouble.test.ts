/** `lares acp` when things go wrong: no gateway, the wrong token, an older gateway, input no editor sends. */
import { spawn } from "node:child_process";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAcp } from "../support/acp-client.ts";
import { type Lares, PROGRAM, scratch, startLares, startModel, until } from "../support/index.ts";

async function start() {
  const model = await startModel();
  const lares = await startLares({ env: model.env });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  return lares;
}

async function open(at: Parameters<typeof openAcp>[0]) {
  const editor = await openAcp(at);
  onTestFinished(async () => void (await editor.close()));
  return { ...editor, begin: (cwd: string) => editor.agent.request("session/new", { cwd, mcpServers: [] }) };
}

describe("a session can't be opened", () => {
  it("without a gateway; once it runs, the same process goes on", async () => {
    const lares = await start();
    await lares.stop();
    const editor = await open({ home: lares.home, token: lares.token });
    await expect(editor.begin(lares.workspace())).rejects.toThrow("gateway run");
    await lares.start();
    const { sessionId } = await editor.begin(lares.workspace());
    expect(await editor.prompt(sessionId, "say:there you are")).toEqual({ stopReason: "end_turn" });
  });

  it("with the wrong token, and the error says where to find the right one", async () => {
    const lares = await start();
    const editor = await open({ home: lares.home, token: "wrong-token-0123456789" });
    const refused = editor.begin(lares.workspace());
    await expect(refused).rejects.toMatchObject({ code: -32_000, message: expect.stringContaining("token") });
    await expect(editor.agent.request("authenticate", { methodId: "any" })).rejects.toMatchObject({ code: -32_000 });
  });

  it("with a token that may not write", async () => {
    const lares = await start();
    const { token } = await lares.rpc("tokens.create", { name: "a reader", scopes: ["read"] });
    const editor = await open({ home: lares.home, token });
    await expect(editor.begin(lares.workspace())).rejects.toThrow('needs the right "write"');
  });

  it("by a gateway that is older, and the error says what to do", async () => {
    const lares = await start();
    const url = await serveOlder(lares);
    const editor = await open({ home: scratch("older"), token: lares.token, args: ["--url", url] });
    await expect(editor.begin(lares.workspace())).rejects.toThrow("Update it and restart it");
  });
});

it("a token that may not answer approvals: the question stays open, and the prompt says so (ACP-3)", async () => {
  const lares = await start();
  const { token } = await lares.rpc("tokens.create", { name: "an editor", scopes: ["read", "write"] });
  const editor = await open({ home: lares.home, token, answer: () => "allow-once" });
  const { sessionId } = await editor.begin(lares.workspace());
  const prompt = 'tool:exec {"command":"touch made"} then: say:done';
  expect(await editor.prompt(sessionId, prompt)).toEqual({ stopReason: "end_turn" });
  expect(editor.text()).toContain("isn't allowed to answer approvals");
  expect((await lares.rpc("approvals.list", {})).approvals).toHaveLength(1);
});

it("a turn that fails is an error with its reason", async () => {
  const lares = await start();
  const editor = await open({ home: lares.home, token: lares.token });
  const { sessionId } = await editor.begin(lares.workspace());
  await expect(editor.prompt(sessionId, "fail:auth")).rejects.toMatchObject({ data: { failure: "auth" } });
  expect(await editor.prompt(sessionId, "say:again")).toEqual({ stopReason: "end_turn" });
});

it("many sessions at once each get their own answer (ACP-2)", async () => {
  const lares = await start();
  const editor = await open({ home: lares.home, token: lares.token });
  const opened = await Promise.all(Array.from({ length: 20 }, () => editor.begin(lares.workspace())));
  expect(new Set(opened.map(({ sessionId }) => sessionId)).size).toBe(20);
  const ends = await Promise.all(opened.map(({ sessionId }, i) => editor.prompt(sessionId, `say:number-${i}.`)));
  expect(ends.every(({ stopReason }) => stopReason === "end_turn")).toBe(true);
  for (let i = 0; i < 20; i++) expect(editor.text().split(`number-${i}.`)).toHaveLength(2);
  const { sessions } = await editor.agent.request("session/list", {});
  expect(sessions).toHaveLength(20);
});

it("input no editor sends is answered line by line, and a line of 100 MB costs no memory (JSONRPC-1, ACP-4)", async () => {
  const lares = await start();
  const child = spawn(process.execPath, [PROGRAM, "acp", "--home", lares.home], {
    env: { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const answers: { id: unknown; error?: { code: number }; result?: unknown }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => answers.push(JSON.parse(line)));
  const send = (line: string) => child.stdin.write(`${line}\n`);
  const ask = (id: number, method: string, params: object = {}) =>
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  ask(1, "session/new", { cwd: lares.workspace(), mcpServers: [] });
  ask(2, "initialize", { protocolVersion: 99 });
  send("{nonsense");
  send("[[[[");
  send('[{"jsonrpc":"2.0","id":1,"method":"initialize"}]');
  ask(3, "nobody/knows");
  ask(4, "session/new", { cwd: 5 });
  ask(5, "session/prompt", { sessionId: "nobody", prompt: [] });
  ask(6, "session/load", { sessionId: "../../etc", cwd: lares.workspace() });
  const piece = Buffer.alloc(1_048_576, "x");
  for (let i = 0; i < 100; i++)
    if (!child.stdin.write(piece)) await new Promise((resolve) => child.stdin.once("drain", resolve));
  send("");
  ask(7, "session/list");
  await until("the last answer", () => answers.some(({ id }) => id === 7));
  const codes = (id: unknown) => answers.filter((one) => one.id === id).map(({ error }) => error?.code);
  expect(codes(1)).toEqual([-32_600]);
  expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: { protocolVersion: 1 } });
  expect(codes(null)).toEqual([-32_700, -32_700, -32_600, -32_600]);
  expect([3, 4, 5, 6].map(codes)).toEqual([[-32_601], [-32_602], [-32_002], [-32_002]]);
  expect(answers.find(({ id }) => id === 7)).toMatchObject({ result: { sessions: [] } });
  child.stdin.end();
  expect(await ended).toBe(0);
});

/** The gateway behind a door that doesn't know the editor's methods, as an older one wouldn't. */
async function serveOlder(lares: Lares): Promise<string> {
  const { hostname, port } = new URL(lares.url);
  const server = createServer((incoming, answer) => {
    if (incoming.url?.startsWith("/rpc/editor.")) {
      answer.writeHead(404, { "content-type": "application/json" });
      answer.end(JSON.stringify({ error: { code: "UNKNOWN_METHOD", message: "There is no such method." } }));
      return;
    }
    const headers = { ...incoming.headers, host: `${hostname}:${port}` };
    const onward = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 500, got.headers);
      got.pipe(answer);
    });
    incoming.pipe(onward);
  });
  server.on("upgrade", (incoming, socket, head) => {
    const onward = connect(Number(port), hostname, () => {
      const rows = Object.entries({ ...incoming.headers, host: `${hostname}:${port}` }).map(([k, v]) => `${k}: ${v}`);
      onward.write(`GET ${incoming.url} HTTP/1.1\r\n${rows.join("\r\n")}\r\n\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}
