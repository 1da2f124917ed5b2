/** Standing goals on the real program: judged after each turn, bounded, parked on what is at work, over kills. And what will wake. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelopeOf, type NormalRequest, type Reply, textOf } from "../fakes/model-server/index.ts";
import { Lares, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
/** What the judge says of each goal after each turn; the last is repeated. */
const verdicts: Record<string, (object | string)[]> = {};
const judged: string[] = [];
const worked: string[] = [];
let holdJudge: Promise<void> | undefined;

const call = (name: string, input: object) => ({ name, input });

async function script(request: NormalRequest): Promise<Reply> {
  const texts = request.messages.filter((m) => m.role === "user").map(textOf);
  const last = texts.at(-1)!;
  if (request.system.startsWith("You judge whether")) {
    const name = /^Goal: (\w+)/.exec(last)![1]!;
    judged.push(last);
    await holdJudge;
    const turn = Number(/^Turn (\d+) of/m.exec(last)![1]);
    const next = verdicts[name]![turn - 1] ?? verdicts[name]!.at(-1)!;
    return typeof next === "string" ? { text: next } : { toolCalls: [call("verdict", next)] };
  }
  const round = /Goal, turn (\d+) of \d+\]/.exec(request.messages.map(envelopeOf).findLast(Boolean) ?? "")?.[1];
  if (request.messages.at(-1)!.role === "tool") return { text: "it is at work" };
  if (round) {
    worked.push(`${/Outcome: (\w+)/.exec(last)![1]} ${round}`);
    if (last.includes("Outcome: waits")) {
      const command = "until [ -e go ]; do sleep 0.02; done; echo green";
      return { toolCalls: [call("exec", { command, background: true })] };
    }
    return { text: `worked ${round}` };
  }
  return { text: `heard: ${last.slice(0, 200)}` };
}
const goOn = { verdict: "go on", why: "Not yet.", next: "Try again." };
const done = { verdict: "done", why: "The proof is there." };

const goalIs = (id: string, state: string) =>
  until(
    `the goal to be ${state}`,
    async () => {
      const goal = await lares.rpc("goals.get", { id });
      return goal.state === state ? goal : undefined;
    },
    { instead: () => lares.rpc("goals.get", { id }) },
  );

beforeAll(async () => {
  model = await startModel();
  model.use(script);
  lares = new Lares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      hooks: { ci: { scheme: "github", secret: "a-secret-of-sixteen-signs" } },
      schedules: [{ name: "tea", every: "2 hours", prompt: "Make tea." }],
    },
  });
  await lares.start();
}, 30_000);
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

describe("a goal", () => {
  it("goes on turn by turn until the judge says done, over a kill while it is judged, each turn once (GOALS-1, GOALS-2)", async () => {
    verdicts.build = [goOn, goOn, done];
    let release = () => {};
    holdJudge = new Promise((resolve) => {
      release = resolve;
    });
    const { id, session } = await lares.rpc("goals.add", { outcome: "build is green", proof: "the test ends with 0" });
    await until("the first judgement", () => judged.length > 0);
    await lares.restart();
    await until("the judgement again", () => judged.length > 1);
    release();
    holdJudge = undefined;
    const goal = await goalIs(id, "done");
    expect(goal).toMatchObject({ round: 3, why: "The proof is there.", mostTurns: 10 });
    expect(goal.tokens).toBeGreaterThan(0);
    expect(worked.filter((one) => one.startsWith("build"))).toEqual(["build 1", "build 2", "build 3"]);
    expect(judged[0]).toContain("Proof: the test ends with 0");
    expect(judged[0]).toContain("> assistant: worked 1");
    expect((await lares.rpc("turns.list", { session })).turns).toHaveLength(3);
  }, 30_000);

  it("ends at its limit of turns and gets as much again when a person says so", async () => {
    verdicts.never = [goOn];
    const { id } = await lares.rpc("goals.add", { outcome: "never reached", turns: 2 });
    expect(await goalIs(id, "limit")).toMatchObject({ round: 2, why: "After 2 turns it isn't reached: Not yet." });
    verdicts.never = [done];
    await lares.rpc("goals.resume", { id });
    expect(await goalIs(id, "done")).toMatchObject({ round: 3 });
  });

  it("ends at its limit of tokens without asking the judge (GOALS-3)", async () => {
    verdicts.dear = [goOn];
    const { id } = await lares.rpc("goals.add", { outcome: "dear one", tokens: 1 });
    expect((await goalIs(id, "limit")).why).toMatch(/of 1 tokens/);
    expect(judged.some((text) => text.startsWith("Goal: dear"))).toBe(false);
  });

  it("is blocked when the judge says so, or says nothing that can be read", async () => {
    verdicts.stuck = [{ verdict: "blocked", why: "It needs a key." }];
    verdicts.odd = ["I think it is fine."];
    const [stuck, odd] = await Promise.all(
      ["stuck here", "odd judge"].map((outcome) => lares.rpc("goals.add", { outcome })),
    );
    expect((await goalIs(stuck!.id, "blocked")).why).toBe("It needs a key.");
    expect((await goalIs(odd!.id, "blocked")).why).toMatch(/verdict couldn't be read/);
  });

  it("waits without a judgement while a process of its session is at work (GOALS-4)", async () => {
    verdicts.waits = ['{"verdict": "done", "why": "It is green."}'];
    const { id } = await lares.rpc("goals.add", { outcome: "waits for the build" });
    await until("it to wait", async () => (await lares.rpc("goals.get", { id })).waiting);
    const { wakes } = await lares.rpc("wakes.list", {});
    expect(wakes.map((one) => one.kind).sort()).toEqual(["goal", "hook", "process", "schedule"]);
    expect(wakes[0]).toMatchObject({ kind: "schedule", name: "tea" });
    expect(wakes.find((one) => one.kind === "hook")).toMatchObject({ name: "ci", about: "POST /hooks/ci (github)" });
    expect(judged.some((text) => text.startsWith("Goal: waits"))).toBe(false);
    writeFileSync(join(lares.workspace(), "go"), "");
    expect((await goalIs(id, "done")).why).toBe("It is green.");
  });

  it("is given, shown and cancelled in a chat", async () => {
    verdicts.chatted = [goOn];
    expect((await lares.chat("me", "/goal")).response).toMatch(/no goal here/);
    let release = () => {};
    holdJudge = new Promise((resolve) => {
      release = resolve;
    });
    expect((await lares.chat("me", "/goal chatted about")).response).toMatch(/^chatted about: active, turn 1 of 10/);
    expect((await lares.chat("me", "/goal cancel")).response).toMatch(/cancelled/);
    const { goals } = await lares.rpc("goals.list", {});
    expect(goals.find((goal) => goal.outcome === "chatted about")?.state).toBe("cancelled");
    release();
  });
});
