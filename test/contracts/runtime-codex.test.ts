/**
 * Codex through the contract of runtimes: the fake that replays transcripts of real runs (test/fakes/codex), and each trap of the real one by
 * name. `LARES_REAL_CODEX=PROGRAM` runs the contract against a real one, too.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunRequest } from "../../src/core/contracts/index.ts";
import { ManualClock } from "../../src/core/kit/index.ts";
import { until } from "../support/index.ts";
import { type CodexStage, type CodexStageOptions, openCodexStage } from "./runtime/codex-stage.ts";
import { Follower, makeRequest } from "./runtime/rig.ts";
import { runtimeContract } from "./runtime.ts";

const FAKE = fileURLToPath(new URL("../fakes/codex/codex.mjs", import.meta.url));
const never = new AbortController().signal;
const real = process.env.LARES_REAL_CODEX;

async function openFake(quirks: string[] = [], more: Partial<CodexStageOptions> = {}): Promise<CodexStage> {
  const stage = await openCodexStage({ script: FAKE, variables: `LARES_FAKE_QUIRKS=${quirks.join(",")}`, ...more });
  return { ...stage, heard: () => readFileSync(join(stage.home, "codex", "heard"), "utf8") };
}

runtimeContract({ name: "Codex over its app server", open: () => openFake() });
runtimeContract({ name: "Codex over exec", open: () => openFake(["exec-only"]) });
if (real)
  runtimeContract({
    name: "the real Codex",
    open: () => openCodexStage({ command: real, dir: mkdtempSync(join(tmpdir(), "codex-")) }),
  });

async function open(stage: CodexStage, text: string, more: Partial<RunRequest> = {}) {
  const request = makeRequest(stage, text, more);
  const session = await stage.adapter.open(request, await stage.ports(request.run), never);
  onTestFinished(() => session.close());
  return { request, session, follower: new Follower(session) };
}

async function use(quirks: string[] = [], more: Partial<CodexStageOptions> = {}) {
  const stage = await openFake(quirks, more);
  onTestFinished(() => stage.close());
  return stage;
}

async function play(prompt: string, quirks: string[] = []) {
  const stage = await use(quirks);
  const { follower, request, session } = await open(stage, prompt);
  await follower.ended;
  await session.close();
  expect(await stage.left(request.run)).toEqual([]);
  return follower;
}

describe("a probe", () => {
  test("names what is missing", async () => {
    const { adapter } = await use([], { command: null });
    expect(await adapter.probe(never)).toEqual({
      state: "missing",
      fix: "Codex isn't installed. Install it: lares runtimes install codex",
    });
  });

  test("calls a program broken that prints something else than a version", async () => {
    const { adapter } = await use(["nonsense"]);
    expect(await adapter.probe(never)).toEqual({
      state: "broken",
      fix: "Codex doesn't print its version: what it prints is no version: welcome!",
    });
  });

  test("wants a login only where model calls don't go through Lares", async () => {
    const stage = await use();
    expect(await stage.adapter.probe(never)).toEqual({ state: "ready", version: "0.166.0" });
    const login = join(stage.dir, "login");
    mkdirSync(login);
    const own = await use([], { login });
    expect(await own.adapter.probe(never)).toMatchObject({
      state: "needs-login",
      fix: expect.stringContaining("codex login"),
    });
    writeFileSync(join(login, "auth.json"), "{}");
    expect(await own.adapter.probe(never)).toMatchObject({ state: "ready" });
  });

  test("says of a version without an app server that it can do less", async () => {
    const { adapter } = await use(["exec-only"]);
    const probed = await adapter.probe(never);
    expect(probed).toEqual({ state: "ready", version: "0.166.0 (exec)" });
    expect(adapter.capabilities("0.166.0 (exec)")).toMatchObject({
      approvals: { proof: "absent" },
      steer: { proof: "absent" },
      stream: { value: "block" },
    });
    expect(adapter.capabilities("0.166.0").approvals.proof).toBe("claimed");
  });
});

describe("a trap of Codex", () => {
  test("CODEX-5: tokens that are counted over the thread become what a run added, also in another process", async () => {
    const stage = await use();
    const first = await open(stage, "say: hello there");
    await first.follower.ended;
    const token = first.follower.all("checkpoint").at(-1)!.token;
    const later = await open(stage, "say: I do", { resume: token });
    await later.follower.ended;
    const used = later.follower.all("usage").map(({ usage }) => usage);
    expect(used).toHaveLength(1);
    // The total of the recorded thread was more than twice this much.
    const { inputTokens, cacheReadTokens } = used[0]!;
    expect(inputTokens + cacheReadTokens).toBeLessThan(8000);
    expect(inputTokens + cacheReadTokens).toBeGreaterThan(6000);
  });

  test("CODEX-5: the total that exec prints becomes what a run added", async () => {
    const stage = await use(["exec-only"]);
    const first = await open(stage, "say: hello there");
    await first.follower.ended;
    const token = first.follower.all("checkpoint").at(-1)!.token;
    const later = await open(stage, "say: I do", { resume: token });
    await later.follower.ended;
    const sum = (follower: Follower) => {
      const { inputTokens, cacheReadTokens } = follower.all("usage")[0]!.usage;
      return inputTokens + cacheReadTokens;
    };
    expect(sum(later.follower)).toBeLessThan(sum(first.follower) * 1.5);
  });

  test("CODEX-6: a warning is a notice and never part of the answer", async () => {
    for (const quirks of [[], ["exec-only"]]) {
      const follower = await play("say: hello there", quirks);
      expect(follower.all("notice")[0]!.text).toMatch(/^Model metadata for/);
      expect(follower.text).toBe("hello there");
    }
  });

  test("CODEX-7: an answer that begins again after a lost connection is said once", async () => {
    const follower = await play("cut*1 say: fine");
    expect(follower.all("rate_limit")).toMatchObject([{ failure: "network", attempt: 1 }]);
    expect(follower.text).toBe("fine");
    expect(follower.all("done")).toMatchObject([{ outcome: "finished", text: "fine" }]);
  });

  test("CODEX-9: a wrong key is said at once, though Codex means to try again", async () => {
    const follower = await play("fail:401");
    expect(follower.all("rate_limit")).toEqual([]);
    expect(follower.all("error")).toMatchObject([
      { failure: "auth", hint: "Check the key of its model's provider, then try again." },
    ]);
  });

  test("a rate limit is named as one", async () => {
    const follower = await play("fail:429");
    expect(follower.all("error")).toMatchObject([{ failure: "rate-limit" }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
  });

  test("a server that fails is tried again a few times, each of them an event", async () => {
    const follower = await play("fail:500");
    expect(follower.all("rate_limit").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(follower.all("error")).toMatchObject([{ failure: "server-error" }]);
  });

  test("a declined call goes on, and its result says that it was declined", async () => {
    const stage = await use();
    const { session, follower } = await open(stage, stage.prompts.act("no", "went on"));
    const { ask } = await follower.first("ask");
    await session.answer(ask, { kind: "deny", reason: "no" });
    await follower.ended;
    expect(follower.all("tool_result")).toMatchObject([{ isError: true, text: "It was declined." }]);
    expect(follower.text).toBe("went on");
  });

  test("a change of files asks with the change, an MCP call with its arguments, both by name", async () => {
    const stage = await use();
    const cmd = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\nEOF";
    const patch = await open(stage, `tool: exec_command ${JSON.stringify({ cmd })} then: say: patched`);
    const { about, ask } = await patch.follower.first("ask");
    expect(about).toMatchObject({
      name: "apply_patch",
      input: { changes: [{ path: join(stage.work, "new.txt"), kind: "add", diff: "hello\n" }] },
    });
    await patch.session.answer(ask, { kind: "allow" });
    await patch.follower.ended;
    const mcp = await open(stage, 'tool: mcp__lares.note {"text":"x"} then: say: noted');
    const asked = await mcp.follower.first("ask");
    expect(asked.about).toMatchObject({ name: "mcp__lares__note", input: { text: "x" } });
    await mcp.session.answer(asked.ask, { kind: "allow" });
    await mcp.follower.ended;
    expect(mcp.follower.all("tool_result")).toMatchObject([{ isError: false, text: "kept: x" }]);
  });

  test("words that come too late for a turn become the next one of the same run", async () => {
    const stage = await use();
    const { session, follower } = await open(stage, stage.prompts.act("q", "first"));
    const { ask } = await follower.first("ask");
    expect(await session.say("say: second", "queue")).toBe("next-turn");
    await session.answer(ask, { kind: "allow" });
    await follower.ended;
    expect(follower.text).toBe("first\n\nsecond");
    expect(follower.all("done")).toHaveLength(1);
  });

  test("a turn that ended while nobody listened is told by its thread; one that was cut off isn't", async () => {
    const stage = await use();
    const done = await open(stage, "say: hello there");
    await done.follower.ended;
    await done.session.close();
    const running = done.follower.all("checkpoint").findLast(({ token }) => token.state.turn !== "")!.token;
    const again = { ...done.request, attempt: 2, lastSeq: done.follower.events.at(-1)!.seq };
    const woken = await stage.adapter.reattach(running, again, await stage.ports(again.run), never);
    const rest = new Follower(woken!, again.lastSeq);
    await rest.ended;
    expect(rest.text).toBe("hello there");
    expect(rest.all("done")).toMatchObject([{ outcome: "finished" }]);
    const cut = await open(stage, stage.prompts.act("cut", "never"));
    await cut.follower.first("ask");
    const token = await cut.session.park();
    const gone = { ...cut.request, attempt: 2, lastSeq: 40 };
    expect(await stage.adapter.reattach(token!, gone, await stage.ports(gone.run), never)).toBeNull();
    expect(await stage.left(gone.run)).toEqual([]);
  });

  test("what an earlier run left in the home to loosen the rules is gone before the next (RT-08)", async () => {
    const stage = await use();
    const home = join(stage.home, "codex");
    mkdirSync(join(home, "rules"), { recursive: true });
    writeFileSync(join(home, "config.toml"), 'approval_policy = "never"');
    writeFileSync(join(home, "rules", "default.rules"), 'prefix_rule(pattern=["rm"], decision="allow")');
    const { follower } = await open(stage, "say: hello there");
    await follower.ended;
    expect(existsSync(join(home, "config.toml"))).toBe(false);
    expect(existsSync(join(home, "rules"))).toBe(false);
  });

  test("a thread that is gone isn't started, and the sentence says why", async () => {
    const stage = await use();
    const total = {};
    const resume = { runtime: "codex", form: 1, state: { thread: "gone", turn: "", total } };
    await expect(open(stage, "say: x", { resume })).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringContaining("no rollout found"),
    });
    const older = { ...resume, form: 9 };
    await expect(open(stage, "say: x", { resume: older })).rejects.toThrow("a form that this version");
  });
});

describe("a Codex that misbehaves", () => {
  test("prints garbage besides the protocol: it is passed over", async () => {
    const follower = await play("say: hello there", ["noisy"]);
    expect(follower.text).toBe("hello there");
  });

  test("speaks a newer protocol: what isn't known is passed over or refused, and the run goes on", async () => {
    const follower = await play("say: hello there", ["newer"]);
    expect(follower.all("done")).toMatchObject([{ outcome: "finished" }]);
  });

  test("exits in the middle: the run failed, and nothing is left", async () => {
    const follower = await play("say: hello there", ["dies"]);
    expect(follower.all("error")).toMatchObject([{ text: expect.stringContaining("Codex is gone.") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
  });

  test("floods: the run ends at the bound of a line", async () => {
    const stage = await use(["floods"]);
    const { follower } = await open(stage, "say: x");
    await follower.ended;
    expect(follower.all("error")).toMatchObject([{ text: expect.stringContaining("It sent") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
  });

  test("says nothing for too long: it is ended", async () => {
    const clock = new ManualClock();
    const stage = await use(["silent"], { clock });
    const limits = { deadline: null, quietMs: 5000, toolCalls: null };
    const { session, follower, request } = await open(stage, "say: x", { limits });
    await follower.first("run_started");
    await until("the turn", () => existsSync(join(stage.home, "codex", "heard")));
    clock.advance(5000);
    await follower.ended;
    expect(follower.all("error")).toMatchObject([{ failure: "timeout" }]);
    await session.close();
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("hangs at its start: giving up leaves nothing", async () => {
    const stage = await use(["hang"]);
    const request = makeRequest(stage, "say: x");
    const giveUp = new AbortController();
    const opened = stage.adapter.open(request, await stage.ports(request.run), giveUp.signal);
    const refused = expect(opened).rejects.toMatchObject({ code: "NOT_READY" });
    await until("its start", async () => (await stage.left(request.run)).length > 0);
    giveUp.abort();
    await refused;
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("asks the same question twice: it is asked once, and a yes counts once", async () => {
    const stage = await use(["asks-twice"]);
    const { session, follower } = await open(stage, stage.prompts.act("once", "did it"));
    const { ask } = await follower.first("ask");
    await session.answer(ask, { kind: "allow" });
    await follower.ended;
    expect(follower.all("ask")).toHaveLength(1);
    expect(stage.marks("once")).toBeLessThanOrEqual(1);
  });
});
