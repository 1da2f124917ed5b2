/** Lares' own tools in another runtime: the built program lends them to a fake ACP agent (test/fakes/acp-agent) over MCP. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Lares, startLares, until } from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { processesTagged } from "../support/processes.ts";
import { describeFake, orders } from "../support/run-crashes.ts";

async function start(config: object = {}): Promise<Lares> {
  const lares = await startLares({
    config: {
      gateway: { http: { wait: 3 } },
      agents: { main: { runtime: "fake" } },
      runtimes: { fake: describeFake() },
      ...config,
    },
  });
  onTestFinished(() => lares.dispose());
  return lares;
}

const readFake = (lares: Lares, name: string) =>
  JSON.parse(readFileSync(join(lares.home, "runtimes", "homes", "main", "fake", "fake", name), "utf8"));
const FACT = "The harbour master is called Brigitte.";

describe.skipIf(!needs("bwrap", "Lares' own tools in another runtime"))("Lares' own tools in another runtime", () => {
  test("are offered over MCP, and what it saves is what Lares remembers (RUNTOOLS-1)", async () => {
    const lares = await start();
    const saved = await lares.chat("owner", orders.use("memory_save", { text: FACT }));
    expect(saved).toMatchObject({ state: "answered", response: expect.stringMatching(/^ok: /) });
    expect(readFake(lares, "tools").sort()).toEqual([
      ...["board_comment", "board_create", "board_get", "board_hand_in", "board_list"],
      ...["memory_save", "memory_search", "message", "schedule_add", "sessions_spawn"],
    ]);
    const { results } = await lares.rpc("memory.search", { query: "harbour master" });
    expect(results.map(({ text }) => text)).toContain(FACT);
    const found = await lares.chat("owner", orders.use("memory_search", { query: "harbour master" }));
    expect(found.response).toContain("Brigitte");
  });

  test("a task that it adds to the board is asked about as from our own loop, and there once (TURNS-18)", async () => {
    const lares = await start();
    const painted = { title: "Paint the boat", person: "ana" };
    const parked = await lares.chat("owner", orders.use("board_create", painted));
    expect(parked).toMatchObject({ state: "parked", approval: { tool: "board_create" } });
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    expect((await lares.rpc("chat.wait", { turn: parked.turn })).response).toMatch(/^ok: /);
    expect((await lares.rpc("board.list", {})).tasks.map(({ title }) => title)).toEqual(["Paint the boat"]);
    expect((await lares.chat("owner", orders.use("board_list", {}))).response).toContain("Paint the boat");
    const commented = await lares.chat("owner", orders.use("board_comment", { task: "1", text: "blue" }));
    expect(commented.response).toMatch(/^ok: .*#1/);
  });

  test("a member of a team writes in its room, and only there (TURNS-18)", async () => {
    const lares = new Lares({
      config: { agents: { ada: { runtime: "fake" } }, runtimes: { fake: describeFake() } },
    });
    onTestFinished(() => lares.dispose());
    mkdirSync(join(lares.home, "teams", "pair"), { recursive: true });
    const team = { title: "Pair", lead: "ada", members: [{ agent: "ada" }] };
    writeFileSync(join(lares.home, "teams", "pair", "team.yaml"), JSON.stringify(team));
    await lares.start();
    const order = orders.use("room_post", { text: "from inside" });
    await lares.rpc("teams.post", { id: "pair", text: order });
    const said = async () => (await lares.rpc("teams.posts", { id: "pair" })).posts.map(({ text }) => text);
    await until("the post", async () => (await said()).includes("from inside"), { instead: said });
    expect((await lares.chat("owner", order, { agent: "ada" })).response).toMatch(/^failed: /);
  });

  test("the token is worth nothing after the run, and never opens the door to models (PROXY-5, MCPSERVER-11)", async () => {
    const lares = await start();
    await lares.chat("owner", orders.use("memory_search", { query: "x" }));
    const pry = async (own: boolean) => (await lares.chat("owner", JSON.stringify({ do: "pry", own }))).response;
    // The port inside its sandbox is always the same: a conversation that was stored with the address goes on.
    expect(await pry(false)).toBe("tools 401, models 401, at 7719");
    expect(await pry(true)).toMatch(/^tools (?!401)\d+, models 401, at 7719$/);
  });

  test("what needs a person is asked wherever they are, and the runtime gets the outcome; tools that nobody lent aren't there (RUNTOOLS-2, TURNS-18)", async () => {
    const lares = await start();
    const wish = { text: "look at the harbour", at: "2031-01-01T09:00" };
    const parked = await lares.chat("owner", orders.use("schedule_add", wish, { quiet: true }));
    expect(parked).toMatchObject({ state: "parked", approval: { tool: "schedule_add" } });
    expect((await lares.rpc("schedule.list", {})).jobs).toEqual([]);
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    const done = await lares.rpc("chat.wait", { turn: parked.turn });
    expect(done).toMatchObject({ state: "answered", response: expect.stringMatching(/^ok: /) });
    expect((await lares.rpc("schedule.list", {})).jobs).toHaveLength(1);
    const no = await lares.chat("owner", orders.use("schedule_add", wish, { quiet: true }));
    await lares.rpc("approvals.resolve", { id: no.approval!.id, decision: "deny", reason: "not now" });
    const denied = await lares.rpc("chat.wait", { turn: no.turn });
    expect(denied.response).toMatch(/^failed: .*not now/);
    expect((await lares.chat("owner", orders.use("exec", { command: "id" }))).response).toMatch(/^failed: /);
  });

  test("an approval outlives a restart: it is done once, and the next attempt learns of it (TURNS-19)", async () => {
    const lares = await start();
    const wish = { text: "look at the harbour", at: "2031-01-01T09:00" };
    const parked = await lares.chat("owner", orders.use("schedule_add", wish, { quiet: true, once: true }));
    expect(parked.state).toBe("parked");
    await lares.restart();
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    const done = await lares.rpc("chat.wait", { turn: parked.turn });
    expect(done).toMatchObject({ state: "answered", response: expect.stringMatching(/^told: .*schedule_add/s) });
    expect((await lares.rpc("schedule.list", {})).jobs).toHaveLength(1);
  });

  // Before the call is known, while it is done, and after.
  test.each([
    ["effect.acted", /^ok: /],
    ["tool.running", /^told: .*memory_save/s],
    ["effect.acted:2", /^told: .*memory_save/s],
  ])("killed at %s, a call is done once and the next attempt learns of it (TURNS-19)", async (point, said) => {
    const lares = await start();
    const order = orders.use("memory_save", { text: FACT }, { once: true });
    await lares.stop();
    await lares.start({ LARES_CRASH_AT: point });
    const died = lares.gone;
    await lares.chat("owner", order, { key: "k" }).catch(() => undefined);
    expect(await died).toMatchObject({ signal: "SIGKILL" });
    await lares.start({ LARES_CRASH_AT: "" });
    const done = await lares.chat("owner", order, { key: "k" });
    const settled = await lares.rpc("chat.wait", { turn: done.turn });
    expect(settled).toMatchObject({ state: "answered", response: expect.stringMatching(said) });
    const { results } = await lares.rpc("memory.search", { query: "harbour master" });
    expect(results.filter(({ text }) => text === FACT)).toHaveLength(1);
    expect(processesTagged("LARES_RUN", done.turn)).toEqual([]);
  });
});
