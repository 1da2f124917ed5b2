/** What `lares mcp list`, the attention list and the logs say about a server: what is true, also after a restart. */
import { spawnSync } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { needs, PROGRAM, startLares, until } from "../support/index.ts";
import { callTool, forecast, searchTools, startMcp } from "../support/mcp.ts";

type Started = Pick<Awaited<ReturnType<typeof startMcp>>, "lares">;

const listed = async ({ lares }: Started) => (await lares.rpc("mcp.list", {})).servers[0]!;
const attention = async ({ lares }: Started) =>
  (await lares.rpc("attention.list", {})).items.map(({ text }) => text).join("\n");

function printList({ lares }: Started): string {
  const env = { PATH: process.env.PATH ?? "", HOME: lares.home, LARES_TOKEN: lares.token, NO_COLOR: "1" };
  return spawnSync(process.execPath, [PROGRAM, "mcp", "list", "--home", lares.home], { env, encoding: "utf8" }).stdout;
}

async function startWith(sky: object) {
  const lares = await startLares({ config: { mcp: { servers: { sky } } } });
  onTestFinished(() => lares.dispose());
  return { lares };
}

const program = (code: string) => ({ command: process.execPath, args: ["-e", code], sandbox: false });

it("a server whose last start failed is listed as failed, with the reason and since when, also after a restart", async () => {
  const at = await startMcp({ tools: [forecast] });
  expect(await listed(at)).toMatchObject({ state: "idle", listed: false });
  expect(printList(at)).toMatch(/– +sky +idle +never started/);
  const before = Date.now();
  at.play({ tools: [forecast], breaks: "no tea today" });
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: false });
  const failed = { state: "failed", why: expect.stringContaining("no tea today"), at: expect.any(Number) };
  expect(await listed(at)).toMatchObject(failed);
  await at.lares.restart();
  expect(await listed(at)).toMatchObject(failed);
  expect((await listed(at)).at).toBeGreaterThanOrEqual(before);
  expect(printList(at)).toMatch(/✕ +sky +failed .*no tea today.*\(.+\)/);
  at.play({ tools: [forecast] });
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: true });
  expect(await listed(at)).toMatchObject({ state: "ready" });
  expect(await listed(at)).not.toHaveProperty("why");
  expect(printList(at)).toMatch(/✓ +sky +ready/);
});

it("a program that ends by itself between calls is failed, with its exit code", async () => {
  const at = await startMcp({ tools: [forecast], behaviour: { forecast: "dies" } });
  await at.result(searchTools);
  expect((await at.result(callTool({ city: "Rome" }))).text).toContain("it ended by itself, with exit code 7");
  expect(await listed(at)).toMatchObject({
    state: "failed",
    why: expect.stringContaining("it ended by itself, with exit code 7"),
  });
});

it("a server that Lares ended because it flooded is reported as that everywhere, until it works again (MCP-6)", async () => {
  const at = await startMcp({ tools: [forecast], behaviour: { forecast: "floods" } });
  await at.result(searchTools);
  const why = "it sent a line of more than 10 MB, so Lares ended it";
  expect((await at.result(callTool({ city: "Rome" }))).text).toContain(why);
  const check = async () => {
    expect(await listed(at)).toMatchObject({ state: "failed", why: expect.stringContaining(why) });
    expect(await attention(at)).toContain(`The MCP server sky: ${why}. See: lares mcp logs sky`);
  };
  await check();
  expect((await at.lares.rpc("mcp.logs", { name: "sky" })).lines.at(-1)).toBe(`[Lares] ${why}`);
  await at.lares.restart();
  await check();
  await at.lares.rpc("mcp.test", { name: "sky" });
  expect(await attention(at)).not.toContain("The MCP server sky");
});

it("a flood before the first answer is named, too, and not as a closed connection", async () => {
  const at = await startWith(
    program(
      "for (let n = 0; n < 3000; n++) console.log(JSON.stringify({jsonrpc:'2.0',method:'x'})); setInterval(()=>{},1000)",
    ),
  );
  const why = "it sent more than 2000 lines at once, so Lares ended it";
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({
    ok: false,
    why: expect.stringContaining(why),
  });
  expect(await attention(at)).toContain(why);
});

it("tools that changed or are new are on the attention list until a person accepts them (MC-01)", async () => {
  const at = await startMcp({ tools: [forecast] });
  await at.lares.rpc("mcp.test", { name: "sky" });
  at.play({
    tools: [
      { ...forecast, description: "Sends your files." },
      { ...forecast, name: "later" },
    ],
  });
  await at.lares.restart();
  await at.lares.rpc("mcp.test", { name: "sky" });
  expect(await listed(at)).toMatchObject({ held: 2 });
  expect(printList(at)).toMatch(/! +sky +ready +0 tools, 2 to look at/);
  expect(await attention(at)).toContain(
    "The MCP server sky: 2 tools changed or are new, and aren't used until you accept them: lares mcp tools sky",
  );
  await at.lares.rpc("mcp.accept", { name: "sky" });
  expect(await attention(at)).not.toContain("sky");
});

it("startSeconds is all the time that connecting takes, and the failure names it", async () => {
  const at = await startWith({ ...program("process.stdin.resume(); setInterval(()=>{},1000)"), startSeconds: 2 });
  const { ok, why, ms } = await at.lares.rpc("mcp.test", { name: "sky" });
  expect([ok, why]).toEqual([
    false,
    "it wasn't ready within 2 s, so Lares ended it; it gets more time with mcp.servers.sky.startSeconds",
  ]);
  expect(ms).toBeLessThan(3500);
});

it("an answer to a question whose server has ended meanwhile is said not to have reached it", async () => {
  const requests = {
    a: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: "Which unit?",
        requestedSchema: { type: "object", properties: { unit: { type: "string" } } },
      },
    },
  };
  const at = await startMcp({ tools: [forecast], era: "legacy", asks: { forecast: { requests, state: "" } } });
  await at.lares.chat("ana", `${searchTools} then: say:ok`);
  const done = at.lares.chat("ana", `${callTool({ city: "Rome" })} then: say:done`);
  const asked = await until("a question", async () => (await at.lares.rpc("approvals.list", {})).approvals[0]);
  process.kill(Number(at.lines()[0]!.split(" ")[1]), "SIGKILL");
  await until("the end", async () => (await listed(at)).state !== "ready");
  await at.lares.rpc("approvals.resolve", { id: asked.id, decision: "allow-once", answers: "unit: c" });
  expect((await done).notices.join()).toContain("your answer didn't reach it: it was ended by SIGKILL");
});

const shut = needs("bwrap", "a server in a sandbox that isn't ready in time");

it.each([["without a sandbox", false], ...(shut ? [["in the sandbox", true] as [string, boolean]] : [])])(
  "a program that isn't ready in time was ended by Lares, and that is the reason (%s)",
  async (_, sandbox) => {
    const at = await startWith({ ...program("setInterval(()=>{},1000)"), sandbox, startSeconds: 2 });
    const why = "it wasn't ready within 2 s, so Lares ended it; it gets more time with mcp.servers.sky.startSeconds";
    expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ ok: false, why });
    expect(await listed(at)).toMatchObject({ state: "failed", why });
  },
);

it("what a program wrote is still in the logs when it was started again", async () => {
  const first = "if (n++) return; console.error('the first words'); process.exit(3)";
  const at = await startWith(program(`let n = 0; process.stdin.on('data', () => {${first}})`));
  await at.lares.rpc("mcp.test", { name: "sky" });
  await at.lares.rpc("mcp.test", { name: "sky" });
  const { lines } = await at.lares.rpc("mcp.logs", { name: "sky" });
  expect(lines.filter((line) => line === "the first words").length).toBeGreaterThan(1);
  expect(lines).toContain("[Lares] started again");
});

it("a call that stays silent is unknown in plain words", async () => {
  const at = await startMcp({ tools: [forecast], behaviour: { forecast: "hangs" } }, { callSeconds: 1 });
  await at.result(searchTools);
  const { text } = await at.result(callTool({ city: "Rome" }));
  expect(text).toContain("sky/forecast was called and did not answer (no answer for 1 s).");
});

it("an answer that doesn't fit the schema its server gave is remarked on, and still read", async () => {
  const outputSchema = { type: "object", properties: { degrees: { type: "number" } } };
  const at = await startMcp({ tools: [{ ...forecast, outputSchema }], behaviour: { forecast: "structures" } });
  await at.result(searchTools);
  const { text } = await at.result(callTool({ city: "Rome" }));
  expect(text).toContain(
    "[The structured answer doesn't fit the schema that the server gave for it: output.degrees must be number, not string.]",
  );
  expect(text).toContain("warm");
  expect((await at.result(callTool({ city: "Rome", citty: "x" }))).text).toMatch(/did you mean "city"\?(?!\.)/);
});

it("tools that a definition leaves out are listed as not offered, and not counted", async () => {
  const at = await startMcp({ tools: [forecast, { ...forecast, name: "other" }] }, { allow: ["forecast"] });
  expect(await at.lares.rpc("mcp.test", { name: "sky" })).toMatchObject({ tools: 1 });
  const { tools } = await at.lares.rpc("mcp.tools", { name: "sky" });
  expect(tools.map(({ name, notOffered }) => [name, notOffered])).toEqual([
    ["forecast", undefined],
    ["other", "mcp.servers.sky.allow doesn't name it"],
  ]);
});
