/**
 * OpenClaw through the contract of runtimes: the fake that replays transcripts of real runs (test/fakes/openclaw), and each trap of the real one
 * by name.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunRequest, RunToken } from "../../src/core/contracts/index.ts";
import { type ClawQuirk, type FakeGateway, startFakeGateway } from "../fakes/openclaw/gateway.ts";
import { scratch, until } from "../support/index.ts";
import { type ClawStage, type ClawStageOptions, openClawStage } from "./runtime/openclaw-stage.ts";
import { Follower, makeRequest } from "./runtime/rig.ts";
import { faultsIn } from "./runtime/stream.ts";
import { runtimeContract } from "./runtime.ts";

const never = new AbortController().signal;

runtimeContract({
  name: "OpenClaw over its gateway",
  async open() {
    const gateway = await startFakeGateway(scratch("openclaw-work"));
    return { ...openClawStage(gateway), close: () => gateway.close() };
  },
});

async function use(quirks: ClawQuirk[] = [], options: ClawStageOptions = {}) {
  const gateway = await startFakeGateway(scratch("openclaw-work"), quirks);
  onTestFinished(() => gateway.close());
  return { gateway, stage: openClawStage(gateway, options) };
}

async function open(stage: ClawStage, text: string, more: Partial<RunRequest> = {}) {
  const request = makeRequest(stage, text, more);
  const session = await stage.adapter.open(request, await stage.ports(request.run), never);
  onTestFinished(() => session.close());
  return { request, session, follower: new Follower(session, request.lastSeq) };
}

/** As the next Lares does it after this one was killed: nothing was stopped, and what came before is known. */
async function takeUp(stage: ClawStage, request: RunRequest, follower: Follower) {
  const known = follower.bodies;
  const next = { ...request, attempt: 2, lastSeq: follower.events.at(-1)!.seq, known };
  const token = follower.all("checkpoint").at(-1)!.token;
  const session = await stage.adapter.reattach(token, next, await stage.ports(request.run), never);
  onTestFinished(() => session?.close());
  return { next, session, rest: session ? new Follower(session, next.lastSeq) : undefined };
}

const sends = ({ asked }: FakeGateway) =>
  asked.filter(({ method }) => method === "chat.send").map(({ params }) => params);

describe("a probe", () => {
  test("finds the gateway by OpenClaw's own settings, and leaves nothing there or here", async () => {
    const { stage, gateway } = await use();
    expect(await stage.adapter.probe(never)).toEqual({ state: "ready", version: "2026.9.6" });
    expect(gateway.connections()).toBe(0);
    expect(() => statSync(stage.kept)).toThrow("ENOENT");
  });

  test.each<[string, ClawQuirk[], ClawStageOptions, object]>([
    [
      "there are no settings",
      [],
      { settings: null },
      { state: "missing", fix: expect.stringContaining("npm install") },
    ],
    [
      "they can't be read",
      [],
      { settings: "{{" },
      { state: "broken", fix: expect.stringContaining("openclaw doctor") },
    ],
    ["it runs elsewhere", [], { settings: { gateway: { mode: "remote" } } }, { state: "broken" }],
    ["its token is kept elsewhere", [], { settings: { gateway: { auth: { token: "$T" } } } }, { state: "needs-login" }],
    [
      "nothing answers",
      [],
      { settings: { gateway: { port: 9, auth: { token: "t" } } } },
      { state: "broken", fix: expect.stringContaining("openclaw gateway start") },
    ],
    [
      "the token is refused",
      ["bad-token"],
      {},
      { state: "needs-login", fix: expect.stringContaining("gateway restart") },
    ],
    ["it speaks another version", ["newer"], {}, { state: "broken", fix: expect.stringContaining("speaks version 5") }],
  ])("says what to do when %s", async (_what, quirks, options, expected) => {
    const { stage } = await use(quirks, options);
    expect(await stage.adapter.probe(never)).toMatchObject(expected);
  });
});

describe("a trap of OpenClaw", () => {
  test("CLAW-1: the device is one and the same in every run, and its key is nobody else's to read", async () => {
    const { stage } = await use();
    for (const words of ["one", "two"]) await (await open(stage, `say:${words}`)).follower.ended;
    const file = join(stage.kept, "openclaw-device.pem");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file, "utf8");
    await (await open(stage, "say:three")).follower.ended;
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  test("a device that a person has to approve doesn't start, and says how", async () => {
    const { stage } = await use(["unpaired"]);
    const request = makeRequest(stage, "say:hi");
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringContaining("openclaw devices approve req-1"),
    });
  });

  test("CLAW-2: a second answer under one number is nobody's, and what is no JSON is no message", async () => {
    const { stage } = await use(["twice", "garbage"]);
    const { follower } = await open(stage, "say:once");
    await follower.ended;
    expect(follower.text).toBe("once");
    expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
  });

  test("CLAW-3, CLAW-6: pieces that come twice are said once, and a message is counted once, with its price", async () => {
    const { stage } = await use();
    const { follower } = await open(stage, "say:hello there");
    await follower.ended;
    expect(follower.text).toBe("hello there");
    expect(follower.all("usage")).toMatchObject([{ basis: "priced", model: "test/scripted" }]);
    expect(follower.all("usage")[0]!.usage.cost).toBeGreaterThan(0);
  });

  test("CLAW-4: words steered into a run are read there, and their own empty end isn't the run's", async () => {
    const { stage, gateway } = await use();
    const { follower, session, request } = await open(stage, stage.prompts.act("steer", "as you like"));
    const ask = await follower.first("ask");
    expect(await session.say("mind the gap", "steer")).toBe("mid-turn");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(follower.all("done")).toEqual([]);
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(follower.text).toBe("as you like");
    expect(faultsIn(follower.events, request)).toEqual([]);
    expect(sends(gateway)).toMatchObject([{}, { message: "mind the gap", queueMode: "steer" }]);
  });

  test("CLAW-4: a run whose steered words never end is over all the same", async () => {
    const { stage } = await use(["silent-steer"]);
    const { follower, session } = await open(stage, stage.prompts.act("quiet", "as you like"));
    const ask = await follower.first("ask");
    await session.say("mind the gap", "steer");
    await session.answer(ask.ask, { kind: "allow" });
    await until("the end", () => follower.all("done").length > 0, { withinMs: 15_000 });
    expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
  }, 20_000);

  test("what waits is a message of its own, after the run's", async () => {
    const { stage, gateway } = await use();
    const { follower, session } = await open(stage, stage.prompts.act("queue", "first"));
    const ask = await follower.first("ask");
    expect(await session.say("say:second", "queue")).toBe("next-turn");
    expect(sends(gateway)).toHaveLength(1);
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(follower.text).toBe("first\n\nsecond");
    expect(sends(gateway).at(-1)).not.toHaveProperty("queueMode");
  });

  test("CLAW-5: killed while it asks, the run is taken up as it is: asked again, answered, finished, done once", async () => {
    const { stage, gateway } = await use();
    const { follower, request } = await open(stage, stage.prompts.act("outlived", "still here"));
    const ask = await follower.first("ask");
    gateway.drop();
    const { session, rest, next } = await takeUp(stage, request, follower);
    expect((await rest!.first("ask")).ask).toBe(ask.ask);
    expect(await session!.answer(ask.ask, { kind: "allow" })).toBe("taken");
    await rest!.ended;
    expect(rest!.text).toBe("still here");
    // The call was announced by the attempt before.
    expect(rest!.all("tool_call")).toEqual([]);
    expect(rest!.all("tool_result")).toMatchObject([{ isError: false }]);
    expect(rest!.events[0]).toMatchObject({ attempt: 2, seq: next.lastSeq + 1, body: { type: "run_started" } });
    expect(stage.marks("outlived")).toBe(1);
    expect(sends(gateway)).toHaveLength(1);
  });

  test("CLAW-6: a run that ended meanwhile is taken up with what nobody recorded, and counted once", async () => {
    const { stage } = await use();
    const { follower, request } = await open(stage, "say:hello there");
    await follower.ended;
    const half = follower.events.findIndex(({ body }) => body.type === "text");
    follower.events.splice(half);
    const { rest } = await takeUp(stage, request, follower);
    await rest!.ended;
    expect(rest!.text).toBe("hello there");
    expect(rest!.all("usage")).toHaveLength(1);
    expect(rest!.all("done")).toMatchObject([{ outcome: "finished", text: "hello there" }]);
  });

  test("a run that the gateway doesn't know is not taken up, and one in another form is refused", async () => {
    const { stage } = await use();
    const request = makeRequest(stage, "", { attempt: 2, lastSeq: 3 });
    const token: RunToken = { runtime: "openclaw", form: 1, state: { key: "agent:main:lares-x", run: "r.1.1" } };
    const ports = await stage.ports(request.run);
    expect(await stage.adapter.reattach(token, request, ports, never)).toBeNull();
    await expect(stage.adapter.reattach({ ...token, form: 9 }, request, ports, never)).rejects.toThrow("doesn't know");
  });

  test("CLAW-8: what an attempt that was given up left at work is stopped before anything is said", async () => {
    const { stage, gateway } = await use();
    const { follower } = await open(stage, stage.prompts.act("given-up", "never"));
    await follower.first("ask");
    const resume = follower.all("checkpoint").at(-1)!.token;
    const later = await open(stage, "say:back again", { attempt: 2, resume });
    await later.follower.ended;
    expect(later.follower.text).toBe("back again");
    const order = gateway.asked.map(({ method }) => method);
    expect(order.indexOf("chat.abort")).toBeLessThan(order.lastIndexOf("chat.send"));
    expect(stage.marks("given-up")).toBe(0);
  });

  test("CLAW-9: a connection that is lost in the middle of an answer is opened again, and nothing is missing or said twice", async () => {
    const { stage, gateway } = await use(["drops"]);
    const { follower, request } = await open(stage, "say:hello there");
    await until("the end", () => follower.all("done").length > 0, { withinMs: 15_000 });
    expect(follower.text).toBe("hello there");
    expect(faultsIn(follower.events, request)).toEqual([]);
    expect(sends(gateway)).toHaveLength(1);
  }, 20_000);

  test("a run that the gateway forgot with the connection fails, and says so", async () => {
    const { stage } = await use(["forgets"]);
    const { follower } = await open(stage, "say:hello there");
    await until("the end", () => follower.all("done").length > 0, { withinMs: 15_000 });
    expect(follower.all("error")).toMatchObject([{ text: expect.stringContaining("no longer knows this run") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
  }, 20_000);

  test("CLAW-10: every conversation is a guarded one", async () => {
    const { stage, gateway } = await use();
    await (await open(stage, "say:hi")).follower.ended;
    expect(gateway.asked[0]).toMatchObject({ method: "sessions.create", params: { permissionMode: "guarded" } });
  });

  test("CLAW-11: a gateway that is still starting is waited for", async () => {
    const { stage } = await use(["starting"]);
    const { follower } = await open(stage, "say:in a moment");
    await follower.ended;
    expect(follower.text).toBe("in a moment");
  });

  test("is never allowed anything for good", async () => {
    const { stage, gateway } = await use();
    const { follower, session } = await open(stage, stage.prompts.act("once", "done"));
    await session.answer((await follower.first("ask")).ask, { kind: "allow" });
    await follower.ended;
    const decisions = gateway.asked.filter(({ method }) => method === "exec.approval.resolve");
    expect(decisions).toMatchObject([{ params: { decision: "allow-once" } }]);
  });

  test.each<[ClawQuirk, string]>([
    ["answered-elsewhere", "allow"],
    ["expires", "withdrawn"],
  ])("a question that is %s is closed, and our answer comes too late", async (quirk, how) => {
    const { stage } = await use([quirk]);
    const { follower, session } = await open(stage, stage.prompts.act("other", "went on"));
    const ask = await follower.first("ask");
    expect(ask.expires).toBeGreaterThan(0);
    await follower.ended;
    expect(follower.all("answered")).toMatchObject([{ how }]);
    expect(await session.answer(ask.ask, { kind: "allow" })).toBe("late");
  });

  test("a warning in place of an answer is no answer", async () => {
    const { stage } = await use(["warns"]);
    const { follower } = await open(stage, "say:hello there");
    await follower.ended;
    expect(follower.text).toBe("hello there");
    expect(follower.all("notice")).toMatchObject([{ text: expect.stringContaining("nearly full") }]);
  });

  test("CLAW-7: a rate limit is reported with the time of the next try, and the words of a failed try are not repeated", async () => {
    const { stage } = await use();
    const { follower } = await open(stage, "fail:rate-limit*2 retry-after:1 say:after all then:");
    await follower.ended;
    expect(follower.all("rate_limit")[0]).toMatchObject({ failure: "rate-limit", attempt: 2 });
    expect(follower.all("rate_limit")[0]!.retryAt).toBeGreaterThan(0);
    expect(follower.text).toBe("after all");
    expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
  });

  test("a wrong key of its own is said with the fix", async () => {
    const { stage } = await use();
    const { follower } = await open(stage, stage.prompts.fail());
    await follower.ended;
    expect(follower.all("error")).toMatchObject([
      { failure: "auth", hint: "OpenClaw calls its model with its own key. Check it: openclaw models status" },
    ]);
  });
});
