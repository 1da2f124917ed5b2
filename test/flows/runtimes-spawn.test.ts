/** Sub-agents that another runtime carries out: our own loop asks for them, a fake ACP agent (test/fakes/acp-agent) does the work. */
import { describe, expect, onTestFinished, test } from "vitest";
import { type Lares, modelEnv, startLares, startModel, until } from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { describeFake, orders, readMarks } from "../support/run-crashes.ts";

async function start(config: object = {}): Promise<Lares> {
  const model = await startModel();
  onTestFinished(() => model.close());
  const lares = await startLares({
    env: modelEnv(model.url),
    config: { gateway: { http: { wait: 3 } }, runtimes: { fake: describeFake() }, ...config },
  });
  onTestFinished(() => lares.dispose());
  return lares;
}

const spawn = (input: object) => `tool:sessions_spawn ${JSON.stringify(input)} then: say:asked`;
const history = async (lares: Lares, session: string) =>
  JSON.stringify((await lares.rpc("chat.history", { session })).messages);

describe.skipIf(!needs("bwrap", "sub-agents in another runtime"))("a sub-agent in another runtime", () => {
  test("is asked about, does its work there, and its result comes back as any sub-agent's (SUB-AGENTS-7)", async () => {
    const lares = await start();
    const task = { task: orders.say("made elsewhere"), runtime: "fake" };
    const parked = await lares.chat("owner", spawn(task));
    expect(parked).toMatchObject({ state: "parked", approval: { tool: "sessions_spawn" } });
    expect(parked.approval!.shown).toContain("fake");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({ response: "asked" });
    await until("its result", async () => (await history(lares, parked.session)).includes("Result of the sub-agent"));
    expect(await history(lares, parked.session)).toContain("made elsewhere");
    const { sessions } = await lares.rpc("sessions.list", {});
    const child = sessions.find(({ session }) => session.startsWith("sub:"))!;
    const { turns } = await lares.rpc("turns.list", { session: child.session });
    expect(turns[0]).toMatchObject({ state: "answered" });
    // Its conversation stays there, although its agent's own body is another.
    const more = { session: child.session, text: orders.say("and this too") };
    await lares.chat("owner", `tool:tool_run ${JSON.stringify({ name: "sessions_send", input: more })} then: say:sent`);
    await until("its second answer", async () => (await history(lares, parked.session)).includes("and this too"));
  });

  test("killed with Lares while it works there, it goes on there, and its result comes once", async () => {
    const lares = await start({ policy: { allow: { sessions_spawn: ["fake"] } } });
    const act = { task: orders.act("there", "made elsewhere"), runtime: "fake" };
    const { session } = await lares.chat("owner", spawn(act));
    const asks = async () => (await lares.rpc("approvals.list", { state: "pending" })).approvals[0];
    const ask = await until("its question", asks);
    await lares.restart();
    await lares.rpc("approvals.resolve", { id: ask.id, decision: "allow-once" });
    await until("its result", async () => (await history(lares, session)).includes("Result of the sub-agent"));
    // By the fake, which is nobody's own body here: the run knows its runtime by itself.
    expect(readMarks(lares, "main")).toEqual(["there yes"]);
    const { messages } = await lares.rpc("chat.history", { session });
    const results = messages.filter((one) => one.role === "user" && JSON.stringify(one).includes("Result of the sub"));
    expect(results).toHaveLength(1);
  });

  test("isn't asked about where a rule allows it; a name nobody knows is refused with those that are", async () => {
    const lares = await start({ policy: { allow: { sessions_spawn: ["fake"] } } });
    const done = await lares.chat("owner", spawn({ task: orders.say("quick"), runtime: "acp:fake" }));
    expect(done).toMatchObject({ state: "answered", response: "asked" });
    await until("its result", async () => (await history(lares, done.session)).includes("quick"));
    const wrong = await lares.chat("owner", spawn({ task: "x", runtime: "no-such" }));
    expect(wrong.state).toBe("answered");
    expect(await history(lares, wrong.session)).toContain("There is no runtime");
  });
});
