/** The agent's turn: tools in order, garbage, caps, loops, empty answers, failing providers. Each ends visibly (I5). */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  callExec,
  heldCommand,
  type Lares,
  requestsWith,
  startLares,
  startModel,
  toolResults,
  userTexts,
} from "../support/index.ts";
import { pretend } from "../support/pretend.ts";

const LIMITS = { modelCalls: 6, badToolInputs: 2, sameCalls: 2 };

let model: Awaited<ReturnType<typeof startModel>>;
let other: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  [model, other] = await Promise.all([startModel(), startModel()]);
  lares = await startLares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      limits: LIMITS,
      models: {
        default: "anthropic/claude-sonnet-5-5",
        fallbacks: ["spare/spare-1"],
        patienceMs: 1500,
        idleTimeoutMs: 400,
        providers: { spare: { api: "openai-chat", baseUrl: `${other.url}/v1`, keys: ["spare-key"] } },
      },
    },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
  await other?.close();
});

describe("tools", () => {
  it("parallel calls run side by side and their results keep the order of the calls (TURNS-5)", async () => {
    const held = heldCommand(lares.workspace(), "slow", "echo slow");
    const slow = `${callExec(held.command)}`;
    const quick = callExec("touch slow.go; echo quick");
    const { response, state } = await lares.chat(
      "par",
      `#par ${slow} ${quick} ${callExec("echo third")} then: say:done`,
    );
    // The first can end only because the second ran beside it.
    expect({ response, state }).toEqual({ response: "done", state: "answered" });
    const results = toolResults(requestsWith(model, "#par")[1]!);
    expect(results.map((r) => /^\w+/.exec(r.text)?.[0])).toEqual(["slow", "quick", "third"]);
  });

  it("write, read, edit, list and search work in the workspace", async () => {
    const write = (path: string, content: string) => `tool:write ${JSON.stringify({ path, content })}`;
    const { response } = await lares.chat(
      "files",
      `#files ${write("a/notes.txt", "alpha\nbeta\n")} then: tool:edit {"path":"a/notes.txt","old":"beta","new":"gamma"} then: tool:read {"path":"a/notes.txt"} tool:search {"pattern":"gam"} tool:list {"path":"a"} then: say:{results}`,
    );
    expect(response).toContain("gamma");
    expect(response).toContain("notes.txt");
    expect(response).not.toContain("beta");
  });

  it("a tool that does not exist and a path outside are told to the model", async () => {
    const { response } = await lares.chat(
      "wrong",
      `#wrong tool:fly {} tool:read {"path":"../../../../etc/passwd"} then: say:{results}`,
    );
    expect(response).toContain('no tool "fly"');
    expect(response).not.toContain("root:");
    expect(toolResults(requestsWith(model, "#wrong")[1]!).map((r) => r.isError)).toEqual([true, true]);
  });
});

describe("garbage tool input", () => {
  it("goes back to the model, which may do better", async () => {
    const { response, state } = await lares.chat("gar1", `#gar1 garbage then: tool:list {"path":"."} then: say:better`);
    expect({ response, state }).toEqual({ response: "better", state: "answered" });
    const [, second] = requestsWith(model, "#gar1");
    expect(toolResults(second!)[0]!.isError).toBe(true);
  });

  it("at most so many times, then the turn fails visibly", async () => {
    const { state, reason } = await lares.chat(
      "gar2",
      "#gar2 garbage then: garbage then: garbage then: garbage then: say:no",
    );
    expect(state).toBe("failed");
    expect(reason).toMatch(/tool calls in a row/);
    expect(requestsWith(model, "#gar2")).toHaveLength(LIMITS.badToolInputs);
  });
});

describe("caps", () => {
  it("the number of model calls", async () => {
    const steps = Array.from({ length: 9 }, (_, i) => callExec(`echo ${i}`)).join(" then: ");
    const { state, reason } = await lares.chat("cap", `#cap ${steps} then: say:never`);
    expect(state).toBe("failed");
    expect(reason).toContain(`${LIMITS.modelCalls} model calls`);
    // And one for a last word, which this model does not use.
    expect(requestsWith(model, "#cap")).toHaveLength(LIMITS.modelCalls + 1);
  });

  it("identical calls with identical results: told, then made to answer without tools, then stopped", async () => {
    const same = `tool:list {"path":"no-such-folder"}`;
    const { state, reason } = await lares.chat("loop", `#loop ${Array(5).fill(same).join(" then: ")}`);
    expect(state).toBe("failed");
    expect(reason).toMatch(/same call/);
    const calls = requestsWith(model, "#loop");
    expect(toolResults(calls[2]!).at(-1)!.text).toContain("same result 2 times in a row");
    expect(userTexts(calls.at(-1)!).at(-1)).toMatch(/Answer now/);
    expect(calls.length).toBeLessThanOrEqual(LIMITS.sameCalls + 2);
  });

  it("a model that repeats itself may still answer when told to", async () => {
    const same = `tool:list {"path":"no-such-folder"}`;
    const { state, response } = await lares.chat(
      "loop2",
      `#loop2 ${Array(3).fill(same).join(" then: ")} then: say:all right`,
    );
    expect({ state, response }).toEqual({ state: "answered", response: "all right" });
  });
});

describe("empty answers", () => {
  it("are asked again; what stays empty fails visibly", async () => {
    const answer = await lares.chat("emp1", "#emp1 say:");
    expect(answer.state).toBe("failed");
    expect(answer.reason).toMatch(/no answer|empty/);
    expect(requestsWith(model, "#emp1").length + requestsWith(other, "#emp1").length).toBeGreaterThan(1);
  });
});

describe("providers", () => {
  it.each([
    ["overload", "fail:overload"],
    ["rate-limit", "fail:rate-limit retry-after:600"],
    ["auth", "fail:auth"],
    ["billing", "fail:billing"],
    ["server", "fail:server"],
    ["stall", "stall"],
    ["cut", "cut"],
  ])("%s: the fallback answers, and the person is told", async (kind, directive) => {
    // Health is kept per process: a fresh one asks the primary first.
    const fresh = await startLares({
      env: model.env,
      config: {
        models: {
          default: "anthropic/claude-sonnet-5-5",
          fallbacks: ["spare/spare-1"],
          idleTimeoutMs: 300,
          providers: { spare: { api: "openai-chat", baseUrl: `${other.url}/v1`, keys: ["spare-key"] } },
        },
      },
    });
    try {
      other.use((request) => ({
        text: `spare here: ${userTexts(pretend({ messages: request.messages }))
          .at(-1)
          ?.slice(0, 9)}`,
      }));
      const answer = await fresh.chat("fb", `#fb-${kind} ${directive} say:half an answer`);
      expect(answer).toMatchObject({ state: "answered", model: "spare/spare-1" });
      expect(answer.response).toMatch(/^spare here/);
      expect(answer.notices.join(" ")).toMatch(/spare/);
      expect(requestsWith(model, `#fb-${kind}`).length).toBeGreaterThan(0);
    } finally {
      await fresh.dispose();
    }
  });

  it("when all fail the turn fails with the reason, and the next one works", async () => {
    other.use(() => ({ fail: { kind: "auth" } }));
    const answer = await lares.chat("dead", "#dead fail:auth");
    expect(answer.state).toBe("failed");
    expect(answer.reason).toBeTruthy();
    expect(answer.status).toBe(200);
    other.use(() => ({ text: "spare is well" }));
    expect((await lares.chat("dead", "say:well again")).state).toBe("answered");
    const { messages } = await lares.rpc("chat.history", { session: answer.session });
    expect(messages.filter((m) => m.role === "user")).toHaveLength(2);
  });

  it("too long a conversation is shortened, the person is told, nothing is deleted", async () => {
    for (let i = 0; i < 4; i++) await lares.chat("long", `long ${i} say:ok`);
    other.use(() => ({ fail: { kind: "context-overflow" } }));
    const answer = await lares.chat("long", "#long fail:context-overflow*1 say:fits now");
    expect(answer.state).toBe("answered");
    expect(answer.notices.join(" ")).toMatch(/too long/);
    const { messages } = await lares.rpc("chat.history", { session: answer.session });
    expect(messages.filter((m) => m.role === "user")).toHaveLength(5);
  });
});
