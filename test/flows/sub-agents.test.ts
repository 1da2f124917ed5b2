/** Sub-agents on the real program: a parent that waits for three, killed in the middle; deadlines, stops, confinement. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelopeOf, type NormalRequest, type Reply, textOf } from "../fakes/model-server/index.ts";
import { heldCommand, Lares, startModel, toolResults, until, userTexts } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
/** Children answer when this is opened. */
let gate: { open: () => void; opened: Promise<void> };
const shut = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  gate = { open, opened };
};

const call = (name: string, input: object) => ({ name, input });
const rare = (name: string, input: object) => call("tool_run", { name, input });
/** What each parent does, call by call; a text ends its turn. */
const plans: Record<string, (ReturnType<typeof call>[] | ((seen: string) => string))[]> = {
  three: [
    ["a", "b", "holds"].map((name) => call("sessions_spawn", { task: `do ${name}` })),
    [rare("wait", { for: "agents" })],
    (seen) => `joined: ${seen}`,
  ],
  impatient: [
    [call("sessions_spawn", { task: "do late" })],
    [rare("wait", { for: "agents", seconds: 0.3 })],
    (seen) => `gave up: ${seen}`,
    (seen) => `later: ${seen}`,
  ],
  stopped: [[call("sessions_spawn", { task: "do stopped" })], [rare("wait", { for: "agents" })], () => "never"],
  tree: [[call("sessions_spawn", { task: "do branch" })], [rare("wait", { for: "agents" })], () => "never"],
  strict: [[call("sessions_spawn", { task: "do loose", agent: "loose" })], () => "asked"],
};
let held: ReturnType<typeof heldCommand>;

async function script(request: NormalRequest): Promise<Reply> {
  const texts = request.messages.filter((m) => m.role === "user").map(textOf);
  const said = request.messages.filter((m) => m.role === "assistant").length;
  const isTask = / · Task from the agent \w+, asked by the owner, \d+ min left\]$/.test(
    request.messages.map(envelopeOf).find(Boolean) ?? "",
  );
  const task = isTask ? /^do (\w+)/.exec(texts[0]!)?.[1] : undefined;
  if (task === "loose" && said === 0) return { toolCalls: [call("exec", { command: "echo loose >> loose.txt" })] };
  if (task === "holds" && said === 0) return { toolCalls: [call("exec", { command: held.command })] };
  if (task === "branch" && said < 2) {
    return { toolCalls: [said ? rare("wait", { for: "agents" }) : call("sessions_spawn", { task: "do leaf" })] };
  }
  if (task !== undefined) {
    await gate.opened;
    return { text: `result of ${task}` };
  }
  const step = plans[texts[0]!]?.[said];
  if (step === undefined) return { text: `echo: ${texts.at(-1)}` };
  const last = request.messages.at(-1)!;
  const came = last.parts.map((part) => (part.type === "tool-result" ? part.text : "")).join("\n");
  return typeof step === "function" ? { text: step(came || texts.at(-1)!) } : { toolCalls: step };
}

const send = (agent: string, plan: string) =>
  lares.rpc("chat.send", { message: plan, user: plan, agent, wait: false, idempotencyKey: plan });
const parked = (turn: string) =>
  until("the parent to wait", async () => (await lares.rpc("turns.get", { turn })).state === "parked");
const answerOf = (turn: string) =>
  until("the answer", async () => {
    const { state, response } = await lares.rpc("turns.wait", { turn });
    return state === "answered" ? response : undefined;
  });
const childRequests = (name: string) =>
  model.requests.filter((request) => userTexts(request)[0]?.endsWith(`do ${name}`)).length;
const countIn = (text: string, part: string) => text.split(part).length - 1;
async function said(session: string): Promise<string> {
  const { messages } = await lares.rpc("chat.history", { session });
  return JSON.stringify(messages.filter((m) => m.role === "user"));
}

beforeAll(async () => {
  shut();
  model = await startModel();
  model.use(script);
  lares = new Lares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      gateway: { http: { wait: 0.05 } },
      agents: { strict: { policy: { mode: "ask" } }, loose: { policy: { mode: "ignore" } } },
    },
  });
  held = heldCommand(lares.workspace(), "held");
  await lares.start();
}, 30_000);
afterAll(async () => {
  gate.open();
  await lares?.dispose();
  await model?.close();
});

describe("a parent that waits", () => {
  it("is killed with three children at work, one inside a command: every result arrives once, and the command goes on", async () => {
    const { turn, session } = await send("main", "three");
    await parked(turn);
    await until("the children to work", () => childRequests("a") > 0 && childRequests("b") > 0);
    await held.begun();
    await lares.restart();
    await lares.restart();
    gate.open();
    held.release();
    const response = await answerOf(turn);
    expect(response).toMatch(/^joined: /);
    for (const name of ["a", "b", "holds"]) {
      expect(countIn(response, `result of ${name}`)).toBe(1);
      expect(countIn(response, `Task: do ${name}`)).toBe(1);
    }
    expect(countIn(response, "is not known")).toBe(0);
    const readBy = model.requests.filter((request) =>
      toolResults(request).some(({ text }) => text.includes("released")),
    );
    expect(readBy, "requests that read how the command ended").toHaveLength(1);
    // Nothing of it comes a second time, in this life or the next.
    await lares.restart();
    expect((await lares.rpc("turns.list", { session })).turns).toHaveLength(1);
    // It stands in the place of the call that waited, and is no message.
    expect(countIn(await said(session), "result of a")).toBe(0);
  }, 30_000);

  it("goes on at its deadline, stays usable meanwhile, and the late result comes as a message, once", async () => {
    shut();
    const { turn, session } = await send("main", "impatient");
    const response = await answerOf(turn);
    expect(response).toMatch(/gave up: [\s\S]*1 did not end in time/);
    gate.open();
    await until("the late result", async () => (await said(session)).includes("result of late"));
    expect(countIn(await said(session), "result of late")).toBe(1);
  });

  it("and is stopped stops its children", async () => {
    shut();
    const { turn, session } = await send("main", "stopped");
    await parked(turn);
    await until("the child to work", () => childRequests("stopped") > 0);
    await lares.rpc("chat.abort", { turn });
    await until("the child to stop", async () => (await said(session)).includes("Result of the sub-agent"));
    expect(await said(session)).toContain("you asked for: stopped");
    gate.open();
  });

  it("and is stopped stops the children of its children; it hears of each once, and none of them works again", async () => {
    shut();
    const { turn, session } = await send("main", "tree");
    await parked(turn);
    await until("the leaf to work", () => childRequests("leaf") > 0);
    await until("the branch to wait", () => childRequests("branch") === 2);
    await lares.rpc("chat.abort", { turn });
    await until("both to be told", async () => countIn(await said(session), "> Task: do ") === 2);
    gate.open();
    const text = await said(session);
    expect(text).toContain("Result of the sub-agent you asked for: stopped");
    expect(text).toContain("Result of a sub-agent below one you asked for: stopped");
    const { turns } = await lares.rpc("turns.list", { limit: 50 });
    const below = turns.filter((one) => one.session.startsWith("sub:") && one.session.includes(session));
    expect(below.map((one) => one.state)).toEqual(["stopped", "stopped"]);
    expect([childRequests("branch"), childRequests("leaf")]).toEqual([2, 1]);
  });
});

describe("confinement", () => {
  it("a child of another agent may not do what its parent may not", async () => {
    shut();
    gate.open();
    const { turn } = await send("strict", "strict");
    await lares.rpc("turns.wait", { turn });
    const { approvals } = await until("the question", async () => {
      const list = await lares.rpc("approvals.list", {});
      return list.approvals.length ? list : undefined;
    });
    expect(approvals).toMatchObject([{ agent: "loose", tool: "exec" }]);
    expect(existsSync(join(lares.workspace("loose"), "loose.txt"))).toBe(false);
  });
});
