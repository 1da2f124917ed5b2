/** MCP servers that a code editor brings to one session: asked about with the exact command, and gone with the session. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type AcpClient, type AcpOptions, openAcp } from "../support/acp-client.ts";
import { type Lares, startLares, startModel, toolResults, until } from "../support/index.ts";
import { callTool, forecast, MCP_SERVER, searchTools } from "../support/mcp.ts";
import { processesNaming } from "../support/processes.ts";

interface House {
  lares: Lares;
  /** As an editor sends it. */
  sky: { name: string; command: string; args: string[]; env: { name: string; value: string }[] };
  /** What the server noted. */
  lines(): string[];
  running(): number[];
  /** The newest result of a tool, as the model read it. */
  result(): string;
}

async function start(): Promise<House> {
  const model = await startModel();
  const lares = await startLares({ env: model.env });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  // Where its program starts it may write, also in the sandbox.
  const [file, log] = [join(lares.workspace(), "sky.json"), join(lares.workspace(), "sky.log")];
  writeFileSync(file, JSON.stringify({ tools: [forecast], log }));
  return {
    lares,
    sky: { name: "sky", command: process.execPath, args: [MCP_SERVER, file], env: [] },
    lines: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean) : []),
    running: () => processesNaming(file),
    result: () => toolResults(model.requests.at(-1)!).at(-1)!.text,
  };
}

async function open({ lares }: House, more: Partial<AcpOptions> = {}): Promise<AcpClient> {
  const editor = await openAcp({
    home: lares.home,
    token: lares.token,
    answer: ({ options }) => options[0]!.optionId,
    ...more,
  });
  onTestFinished(async () => void (await editor.close()));
  return editor;
}

async function begin(editor: AcpClient, house: House, servers: object[]): Promise<string> {
  const params = { cwd: house.lares.workspace(), mcpServers: servers };
  return (await editor.agent.request<{ sessionId: string }>("session/new", params)).sessionId;
}

/** The name that the model calls the tool by. */
async function findTool(editor: AcpClient, sessionId: string, house: House): Promise<string> {
  await editor.prompt(sessionId, `${searchTools} then: say:found`);
  const name = /sky-[0-9a-f]{8}__forecast/.exec(house.result())?.[0];
  if (name === undefined) throw new Error(`not offered: ${house.result()}`);
  return name;
}

/** Folders that servers of sessions have. */
function folders({ lares }: House): string[] {
  const folder = join(lares.home, "mcp", ".conversations");
  return existsSync(folder) ? readdirSync(folder) : [];
}

it("a server starts after a yes to its exact command, works in its session alone, and ends with it (AC-03, ACP-5, MCP-22, MCP-23)", async () => {
  const house = await start();
  const editor = await open(house);
  const sessionId = await begin(editor, house, [house.sky]);
  await until("the question", () => editor.asked.length === 1);
  const { toolCall, options } = editor.asked[0]!;
  expect(JSON.stringify(toolCall.content)).toContain([house.sky.command, ...house.sky.args].join(" "));
  expect(options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
  expect(house.lines()).toEqual([]);

  const name = await findTool(editor, sessionId, house);
  expect(house.lines()).toEqual([expect.stringContaining("started")]);
  await editor.prompt(sessionId, `${callTool({ city: "Oslo" }, name)} then: say:called`);
  expect(house.result()).toContain("Oslo");
  // The call is judged like any other, and there is nothing that "always" could mean.
  expect(editor.asked).toHaveLength(2);
  expect(editor.asked[1]!.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);

  const other = await begin(editor, house, []);
  await editor.prompt(other, `${searchTools} then: say:none`);
  expect(house.result()).not.toContain("forecast");
  await editor.prompt(other, `${callTool({ city: "Rome" }, name)} then: say:no`);
  expect(house.result()).toContain("belongs to another conversation");
  expect((await house.lares.rpc("mcp.list", {})).servers).toEqual([]);

  expect(house.running()).not.toEqual([]);
  expect(folders(house)).toHaveLength(1);
  await editor.agent.request("session/close", { sessionId });
  expect(house.running()).toEqual([]);
  expect(folders(house)).toEqual([]);
  const again = { sessionId, cwd: house.lares.workspace(), mcpServers: [house.sky] };
  await editor.agent.request("session/resume", again);
  await until("the same question", () => editor.asked.length === 3);
});

it("a no starts nothing, and a definition that can't be used is named with the reason", async () => {
  const house = await start();
  const capabilities = { session: { notices: {} } };
  const editor = await open(house, { capabilities, answer: () => "leave" });
  const old = { type: "sse", name: "old", url: "http://127.0.0.1:9/sse", headers: [] };
  const sessionId = await begin(editor, house, [house.sky, old]);
  // The prompt waits for the answer.
  await editor.prompt(sessionId, `${searchTools} then: say:none`);
  expect(editor.asked).toHaveLength(1);
  expect(house.result()).not.toContain("forecast");
  expect(editor.call(editor.asked[0]!.toolCall.toolCallId)).toMatchObject({ status: "failed" });
  expect(house.lines()).toEqual([]);
  expect(editor.updates.find((one) => one.sessionUpdate === "notice")).toMatchObject({
    title: expect.stringContaining('"old" can\'t be used: it uses the old SSE transport'),
  });
});

it("a server that can't be started is named with the reason", async () => {
  const house = await start();
  const editor = await open(house);
  const sessionId = await begin(editor, house, [{ ...house.sky, command: "no-such-program-here" }]);
  await editor.prompt(sessionId, `${searchTools} then: say:none`);
  expect(editor.text()).toContain('MCP server "sky" doesn\'t work: There is no program "no-such-program-here"');
});

it("a token without the right brings no servers: nobody is asked, and the session works", async () => {
  const house = await start();
  const scopes = ["read", "write", "approvals"] as const;
  const { token } = await house.lares.rpc("tokens.create", { name: "editor", scopes: [...scopes] });
  const editor = await open(house, { token });
  const sessionId = await begin(editor, house, [house.sky]);
  await editor.prompt(sessionId, `${searchTools} then: say:none`);
  expect(editor.text()).toContain(
    "The editor's MCP servers (sky) are not used. This token isn't allowed to add servers",
  );
  expect(editor.asked).toEqual([]);
  expect(house.result()).not.toContain("forecast");
  expect(house.lines()).toEqual([]);
});

it("a definition is taken literally: a reference to the vault in it is only text (MCP-24)", async () => {
  const house = await start();
  await house.lares.rpc("secrets.set", { name: "TOP_KEY", value: "the-owners-own-secret" });
  const editor = await open(house);
  const server = {
    ...house.sky,
    args: [...house.sky.args, "--key=vault:TOP_KEY"],
    env: [{ name: "SKY_KEY", value: "vault:TOP_KEY" }],
  };
  const sessionId = await begin(editor, house, [server]);
  await findTool(editor, sessionId, house);
  expect(house.lines()).toContain("key vault:TOP_KEY --key=vault:TOP_KEY");
  expect(JSON.stringify(editor.asked[0]!.toolCall.content)).toContain("It gets SKY_KEY.");
});

it("after a kill of Lares the server is there again without a new question, and nothing of the old one is left", async () => {
  const house = await start();
  const editor = await open(house);
  const sessionId = await begin(editor, house, [house.sky]);
  const name = await findTool(editor, sessionId, house);
  const [before] = house.running();
  await house.lares.restart();
  await until("the old server to end", () => !house.running().includes(before!));
  await until("the server to be back", async () => (await findTool(editor, sessionId, house).catch(() => "")) === name);
  expect(editor.asked).toHaveLength(1);
  expect(await editor.close()).toBe(0);
  expect(house.running()).toEqual([]);
  expect(folders(house)).toEqual([]);
});
