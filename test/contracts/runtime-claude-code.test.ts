/**
 * Claude Code through the contract of runtimes, with a fake that repeats recorded runs of the real one (test/fakes/claude-code), and each of
 * its traps by name.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunRequest } from "../../src/core/contracts/index.ts";
import { ManualClock } from "../../src/core/kit/index.ts";
import { until } from "../support/index.ts";
import { type ClaudeOptions, type ClaudeStage, openClaude, REAL_CLAUDE } from "./runtime/claude-code.ts";
import { startNotes } from "./runtime/notes-server.ts";
import { Follower, makeRequest } from "./runtime/rig.ts";
import { faultsIn } from "./runtime/stream.ts";
import { runtimeContract } from "./runtime.ts";

const never = new AbortController().signal;

runtimeContract({ name: "Claude Code", open: () => openClaude() });

async function setUp(options: ClaudeOptions = {}): Promise<ClaudeStage> {
  const stage = await openClaude(options);
  onTestFinished(() => stage.close());
  return stage;
}

async function open(stage: ClaudeStage, text: string, more: Partial<RunRequest> = {}) {
  const request = makeRequest(stage, text, more);
  const session = await stage.adapter.open(request, await stage.ports(request.run), never);
  onTestFinished(() => session.close());
  return { request, session, follower: new Follower(session, request.lastSeq) };
}

/** A whole run that asks nothing. */
async function run(stage: ClaudeStage, text: string, more: Partial<RunRequest> = {}) {
  const { request, session, follower } = await open(stage, text, more);
  await follower.ended;
  await session.close();
  expect(faultsIn(follower.events, request)).toEqual([]);
  expect(await stage.left(request.run)).toEqual([]);
  return follower;
}

describe("traps of Claude Code", () => {
  test("CLAUDE-1: a result that is a success by its subtype and an error by is_error has failed", async () => {
    const follower = await run(await setUp(), "fail:auth");
    expect(follower.all("error")).toMatchObject([{ failure: "auth", hint: expect.stringContaining("Check the key") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed", text: "" }]);
  });

  test("CLAUDE-2: totals of the session are told as what was added, also in a new process", async () => {
    const stage = await setUp();
    const first = await run(stage, "say:count me");
    const [before] = first.all("usage");
    const token = first.all("checkpoint").at(-1)!.token;
    const [after] = (await run(stage, "say:count again", { resume: token })).all("usage");
    // Each call reads about as much as the one before; a total would be twice that.
    expect(before).toMatchObject({ basis: "priced", model: "claude-sonnet-4-5" });
    expect(after!.usage.inputTokens).toBeGreaterThan(0);
    expect(after!.usage.inputTokens).toBeLessThan(before!.usage.inputTokens * 1.5);
    expect(after!.usage.cost).toBeLessThan(before!.usage.cost! * 1.5);
    const fresh = (
      await run(stage, "say:count again", { resume: { ...token, state: { session: token.state.session! } } })
    ).all("usage");
    expect(fresh[0]!.usage.inputTokens).toBeGreaterThan(before!.usage.inputTokens * 1.5);
  });

  test("CLAUDE-3: a stream that broke and began again is told once", async () => {
    const follower = await run(await setUp(), "cut*1 say:half of a story that is whole in the end");
    expect(follower.text).toBe("half of a story that is whole in the end");
    expect(follower.all("rate_limit")).toMatchObject([{ failure: "network", attempt: 1 }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "finished", text: follower.text }]);
  });

  test("text before and after a tool are two paragraphs", async () => {
    const stage = await setUp();
    const { session, follower } = await open(
      stage,
      'say:let me tool:Bash {"command":"echo twice >> marks"} then: say:done',
    );
    const ask = await follower.first("ask");
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(follower.text).toBe("let me\n\ndone");
  });

  test("401 ends the run at once where the program would try again for minutes", async () => {
    const stage = await setUp({ isDirect: true });
    const started = Date.now();
    const follower = await run(stage, "fail:401");
    expect(follower.all("error")).toMatchObject([{ failure: "auth" }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
    expect(follower.all("rate_limit")).toEqual([]);
    // Its own repetitions take five seconds and more.
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  test("429 is reported with the time of the next try, and the answer comes after it", async () => {
    const follower = await run(await setUp(), "fail:rate-limit*2 retry-after:1 say:after all");
    const [wait] = follower.all("rate_limit");
    expect(wait).toMatchObject({ failure: "rate-limit", attempt: 1 });
    const at = follower.events.find(({ body }) => body === wait)!.at;
    expect(wait!.retryAt! - at).toBeGreaterThan(500);
    expect(follower.text).toBe("after all");
  });

  test("a prompt that is too long, an answer without room and a refusal are told apart", async () => {
    const stage = await setUp();
    const long = await run(stage, "fail:context-overflow");
    expect([long.all("error"), long.all("done")]).toMatchObject([
      [{ failure: "context-overflow" }],
      [{ outcome: "failed" }],
    ]);
    const cut = await run(stage, "answer:too-long");
    expect(cut.all("done")).toMatchObject([{ outcome: "out-of-room" }]);
    const refused = await run(stage, "answer:refused");
    expect(refused.all("done")).toMatchObject([{ outcome: "refused" }]);
    expect(refused.all("error")).toEqual([]);
  });

  test("words said while the answer is written are answered in the same run, which is done once", async () => {
    const stage = await setUp();
    const { request, session, follower } = await open(stage, "gap:100 say:one two three four five six seven");
    await until("the first words", () => follower.text.includes("one"));
    expect(await session.say("say:and eight", "steer")).toBe("next-turn");
    await follower.ended;
    expect(faultsIn(follower.events, request)).toEqual([]);
    expect(follower.text).toBe("one two three four five six seven\n\nand eight");
    expect(follower.all("done")).toMatchObject([{ outcome: "finished", text: follower.text }]);
  });

  test("words for later are said after the turn", async () => {
    const stage = await setUp();
    const { session, follower } = await open(stage, 'tool:Bash {"command":"echo queued >> marks"} then: say:first');
    const ask = await follower.first("ask");
    expect(await session.say("say:second", "queue")).toBe("next-turn");
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(follower.text).toBe("first\n\nsecond");
    expect(follower.all("done")).toHaveLength(1);
  });

  test("an allowed call can be changed, and is done as changed", async () => {
    const stage = await setUp();
    const { session, follower } = await open(stage, 'tool:Bash {"command":"echo asked >> marks"} then: say:done');
    const ask = await follower.first("ask");
    expect(ask.about).toMatchObject({ kind: "tool", name: "Bash", editable: true, summary: "echo asked >> marks" });
    await session.answer(ask.ask, { kind: "allow", input: { command: "echo changed >> marks" } });
    await follower.ended;
    expect([stage.marks("asked"), stage.marks("changed")]).toEqual([0, 1]);
  });

  test("a question of its own comes as a question, and the answer reaches it", async () => {
    const stage = await setUp();
    const options = [
      { label: "Red", description: "r" },
      { label: "Blue", description: "b" },
    ];
    const questions = [{ question: "Which colour?", header: "Colour", options, multiSelect: false }];
    const text = `tool:AskUserQuestion ${JSON.stringify({ questions })} then: say:as you said`;
    const { session, follower } = await open(stage, text);
    const ask = await follower.first("ask");
    expect(ask.about).toMatchObject({ kind: "question", text: "Which colour?" });
    expect(await session.answer(ask.ask, { kind: "allow" })).toBe("unknown");
    expect(await session.answer(ask.ask, { kind: "said", value: "Blue" })).toBe("taken");
    await follower.ended;
    expect(follower.all("tool_result")).toMatchObject([{ isError: false, text: expect.stringContaining('"Blue"') }]);
  });

  test("tools that it is lent are called without asking twice, and a server that isn't there is named", async () => {
    const notes = await startNotes();
    onTestFinished(() => notes.close());
    const mcp = [
      { name: "lares", url: notes.url, token: notes.token },
      { name: "gone", url: "http://127.0.0.1:1/mcp", token: "other-token" },
    ];
    const follower = await run(await setUp({ mcp }), 'tool:mcp__lares__note {"text":"x1"} then: say:noted');
    expect(follower.all("ask")).toEqual([]);
    expect(follower.all("tool_result")).toMatchObject([{ text: "kept: x1", isError: false }]);
    expect(follower.all("notice")).toMatchObject([
      { text: expect.stringContaining("the tools of gone: ECONNREFUSED") },
    ]);
    if (REAL_CLAUDE !== undefined) expect(notes.kept).toEqual(["x1"]);
  });

  test("a conversation that isn't there is said before anything is asked of a model", async () => {
    const stage = await setUp();
    const state = { session: "00000000-0000-4000-8000-000000000000" };
    const request = makeRequest(stage, "say:hi", { resume: { runtime: "claude-code", form: 1, state } });
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringContaining("No conversation found with session ID"),
    });
    expect(await stage.left(request.run)).toEqual([]);
  });

  test.each([
    ["of another runtime", { runtime: "codex", form: 1, state: { session: "00000000-0000-4000-8000-000000000000" } }],
    [
      "of a newer form",
      { runtime: "claude-code", form: 2, state: { session: "00000000-0000-4000-8000-000000000000" } },
    ],
    [
      "that would be an option",
      { runtime: "claude-code", form: 1, state: { session: "--dangerously-skip-permissions" } },
    ],
  ])("a token %s is refused", async (_what, resume) => {
    const stage = await setUp();
    const request = makeRequest(stage, "say:hi", { resume });
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toThrow("stored in a form that this version of Lares doesn't know");
  });

  test("a message that begins with a slash reaches the model", async () => {
    const stage = await setUp();
    const follower = await run(stage, "/context say:not a command");
    expect(follower.text).toBe("not a command");
    expect(stage.heard!()).toContain("/context say:not a command");
  });
});

describe.skipIf(REAL_CLAUDE !== undefined)("a program that misbehaves", () => {
  const quirky = (quirks: string, clock?: ManualClock) =>
    setUp({ env: { LARES_FAKE_QUIRKS: quirks }, ...(clock ? { clock } : {}) });

  test("that says the end of a turn twice is done once", async () => {
    const follower = await run(await quirky("twice"), "say:hello there");
    expect(follower.all("done")).toHaveLength(1);
    expect(follower.all("usage")).toHaveLength(1);
  });

  test("CLAUDE-5: that tells the past when it is taken up again adds nothing to the answer", async () => {
    const stage = await quirky("replays");
    const token = (await run(stage, "say:remember this")).all("checkpoint").at(-1)!.token;
    const follower = await run(stage, "say:I do", { resume: token });
    expect(follower.text).toBe("I do");
  });

  test("that asks twice about one call is answered twice, and a person is asked once", async () => {
    const stage = await quirky("asks-twice");
    const { request, session, follower } = await open(stage, stage.prompts.act("allowed", "did it"));
    const ask = await follower.first("ask");
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(faultsIn(follower.events, request)).toEqual([]);
    expect([follower.all("ask").length, stage.marks("allowed")]).toEqual([1, 1]);
  });

  test("that asks for something new is told that nobody knows it, and goes on", async () => {
    const stage = await quirky("asks-newer");
    const { session, follower } = await open(stage, stage.prompts.act("allowed", "did it"));
    const ask = await follower.first("ask");
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
  });

  test("that prints other lines beside its protocol is understood", async () => {
    const follower = await run(await quirky("noisy"), "say:hello there");
    expect(follower.text).toBe("hello there");
  });

  test.each([
    ["floods", "It prints something that isn't its protocol."],
    ["long-line", "It sent a line of more than 10 MB."],
  ])("that %s isn't started, and nothing is left", async (quirk, why) => {
    const stage = await quirky(quirk);
    const request = makeRequest(stage, "say:hi");
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toThrow(`Claude Code couldn't be started: ${why}`);
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("that hangs at its start is ended after a minute, and at once when nobody waits", async () => {
    const clock = new ManualClock();
    const stage = await quirky("hangs", clock);
    const request = makeRequest(stage, "say:hi");
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    const refused = expect(opened).rejects.toThrow("It said nothing that Lares understands for 60 seconds.");
    await until("the program", async () => (await stage.left(request.run)).length > 0);
    clock.advance(60_000);
    await refused;
    expect(await stage.left(request.run)).toEqual([]);
    const gone = new AbortController();
    const other = makeRequest(stage, "say:hi");
    const cancelled = expect(stage.adapter.open(other, await stage.ports(other.run), gone.signal)).rejects.toThrow(
      "cancelled",
    );
    await until("the program", async () => (await stage.left(other.run)).length > 0);
    gone.abort();
    await cancelled;
    expect(await stage.left(other.run)).toEqual([]);
  });

  test("that dies in the middle ends its run as failed; while it acts, as unknown", async () => {
    const follower = await run(await quirky("dies"), "say:hello there");
    expect(follower.all("error")).toMatchObject([{ text: expect.stringContaining("Claude Code is gone.") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
    const stage = await quirky("dies-acting");
    const acting = await open(stage, stage.prompts.act("allowed", "did it"));
    const ask = await acting.follower.first("ask");
    await acting.session.answer(ask.ask, { kind: "allow" });
    await acting.follower.ended;
    expect(acting.follower.all("done")).toMatchObject([{ outcome: "unknown" }]);
  });

  test("that is silent for too long is ended; while a person is asked, it may be silent", async () => {
    const clock = new ManualClock();
    const stage = await quirky("", clock);
    const limits = { deadline: null, quietMs: 5000, toolCalls: null };
    const asking = await open(stage, stage.prompts.act("denied", "went on"), { limits });
    const ask = await asking.follower.first("ask");
    clock.advance(60_000);
    expect(asking.follower.all("done")).toEqual([]);
    await asking.session.answer(ask.ask, { kind: "deny", reason: "no" });
    await asking.follower.ended;
    const silent = await open(stage, stage.prompts.forever("still here"), { limits });
    await until("the first words", () => silent.follower.text.includes("still here"));
    clock.advance(5000);
    await silent.follower.ended;
    expect(silent.follower.all("error")).toMatchObject([
      { failure: "timeout", text: "Claude Code said nothing for 5 seconds and was ended." },
    ]);
    expect(silent.follower.all("done")).toMatchObject([{ outcome: "failed" }]);
  });

  test("is stopped after as many tool calls as the run may make", async () => {
    const stage = await quirky("");
    const limits = { deadline: null, quietMs: 60_000, toolCalls: 0 };
    const { follower } = await open(stage, stage.prompts.act("stopped", "never said"), { limits });
    await follower.ended;
    expect(follower.all("done")).toMatchObject([{ outcome: "stopped" }]);
    expect(stage.marks("stopped")).toBe(0);
  });

  test.each([
    ["1.0.44 (Claude Code)", { state: "broken", version: "1.0.44", fix: expect.stringContaining("claude update") }],
    ["2.1.325 (Claude Code)", { state: "ready", version: "2.1.325" }],
  ])("of version %s is seen as what it is", async (version, seen) => {
    const stage = await setUp();
    // A probe has no environment of a run: the version stands in the program itself.
    const { adapter } = version.startsWith("2") ? stage : await openClaude({ version });
    expect(await adapter.probe(never)).toEqual(seen);
  });

  test("that isn't installed is missing, and says how to get it; one that can't run is broken", async () => {
    const missing = await openClaude({ program: null });
    expect(await missing.adapter.probe(never)).toMatchObject({
      state: "missing",
      fix: expect.stringContaining("lares runtimes install claude-code"),
    });
    const broken = await openClaude({ program: ["/bin/false"] });
    expect(await broken.adapter.probe(never)).toMatchObject({ state: "broken" });
  });

  test("without a model that is lent to it, it isn't started", async () => {
    const stage = await quirky("");
    const request = makeRequest(stage, "say:hi");
    const ports = { ...(await stage.ports(request.run)), models: null };
    await expect(stage.adapter.open(request, ports, never)).rejects.toMatchObject({
      code: "NOT_READY",
      hint: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
  });
});
