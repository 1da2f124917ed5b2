/** Agents that speak ACP, through the contract of runtimes: a fake with the quirks of several real ones (test/fakes/acp-agent). */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { RunPorts, RunRequest } from "../../src/core/contracts/index.ts";
import { ManualClock, systemClock } from "../../src/core/kit/index.ts";
import { ACP_PROFILES, type AcpProfile, makeAcpAdapter } from "../../src/edges/runtimes/index.ts";
import { endRun } from "../../src/edges/tools/exec/processes.ts";
import { scratch, until } from "../support/index.ts";
import { processesTagged } from "../support/processes.ts";
import { Follower, makeRequest, type RuntimeStage, unconfined } from "./runtime/rig.ts";
import { faultsIn } from "./runtime/stream.ts";
import { runtimeContract } from "./runtime.ts";

const AGENT = fileURLToPath(new URL("../fakes/acp-agent/agent.mjs", import.meta.url));
const TAG = "LARES_RUN";
const never = new AbortController().signal;

function openStage(more: Partial<AcpProfile>, quirks: string[], clock = systemClock): RuntimeStage {
  const dir = scratch("acp-run");
  const home = join(dir, "home");
  mkdirSync(home);
  const profile: AcpProfile = {
    ...ACP_PROFILES[0]!,
    env: {},
    args: [AGENT],
    version: [AGENT, "--version"],
    name: "fake",
    title: "The fake",
    command: process.execPath,
    ...more,
  };
  const searchPath = () => [dirname(process.execPath), "/usr/bin", "/bin"];
  const prompt = (deed: object) => JSON.stringify(deed);
  return {
    adapter: makeAcpAdapter(profile, { clock, searchPath, tag: TAG, endRun: (run) => endRun(run) }),
    prompts: {
      say: (words) => prompt({ do: "say", words }),
      think: (thought, words) => prompt({ do: "say", thought, words }),
      act: (mark, words) => prompt({ do: "act", mark, words }),
      forever: (words) => prompt({ do: "forever", words }),
      fail: () => prompt({ do: "fail" }),
    },
    ports: (run): RunPorts => ({
      models: null,
      mcp: [],
      home,
      tmp: dir,
      env: {
        PATH: searchPath().join(":"),
        [TAG]: run,
        LARES_FAKE_HOME: home,
        LARES_FAKE_QUIRKS: quirks.join(","),
      },
      confine: unconfined,
    }),
    workspace: { path: dir, boundary: "none", writable: true },
    marks: (mark) => readLines(join(home, "marks")).filter((line) => line === `${mark} yes`).length,
    left: (run) => processesTagged(TAG, run).map((pid) => `the process ${pid}`),
    heard: () => readFileSync(join(home, "heard"), "utf8"),
    close: async () => {},
  };
}

function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

const rig = (name: string, more: Partial<AcpProfile>, quirks: string[]) => ({
  name,
  open: async () => openStage(more, quirks),
});

runtimeContract(rig("like OpenCode", { denied: "ends-turn", resume: "load" }, ["denial-ends", "noisy"]));
runtimeContract(rig("like Gemini", { denied: "goes-on", resume: "none", auth: "key" }, ["unannounced"]));
runtimeContract(
  rig("like Qwen", { denied: "ends-turn", endsWithInput: false, mode: "default" }, [
    ...["denial-ends", "never-ends", "own-mode", "asks-host"],
  ]),
);
runtimeContract(rig("like Hermes", { denied: "goes-on" }, ["numbered-apart"]));

describe("an agent that speaks ACP", () => {
  async function open(stage: RuntimeStage, text: string, more: Partial<RunRequest> = {}) {
    const request = makeRequest(stage, text, more);
    const session = await stage.adapter.open(request, await stage.ports(request.run), never);
    onTestFinished(() => session.close());
    return { request, session, follower: new Follower(session) };
  }

  test("that isn't installed is missing, and says how to get it", async () => {
    const { adapter } = openStage({ command: "no-such-agent", install: "npm install -g it" }, []);
    expect(await adapter.probe(never)).toEqual({
      state: "missing",
      fix: "The fake isn't installed. Install it: npm install -g it",
    });
  });

  test("that speaks a newer protocol isn't started, and nothing is left", async () => {
    const stage = openStage({}, ["newer"]);
    const request = makeRequest(stage, stage.prompts.say("hi"));
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toThrow("speaks version 2 of the Agent Client Protocol");
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("that says nothing at its start: giving up leaves nothing", async () => {
    const stage = openStage({}, ["silent"]);
    const request = makeRequest(stage, stage.prompts.say("hi"));
    const patience = new AbortController();
    const opened = stage.adapter.open(request, await stage.ports(request.run), patience.signal);
    opened.catch(() => {});
    await until("its process", async () => (await stage.left(request.run)).length > 0);
    patience.abort();
    await expect(opened).rejects.toMatchObject({ code: "NOT_READY" });
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("that asks twice about one call is answered twice, and a person is asked once", async () => {
    const stage = openStage({}, ["asks-twice"]);
    const { request, session, follower } = await open(stage, stage.prompts.act("twice", "did it"));
    const { ask } = await follower.first("ask");
    expect(await session.answer(ask, { kind: "allow" })).toBe("taken");
    await follower.ended;
    expect(faultsIn(follower.events, request)).toEqual([]);
    expect([follower.all("ask").length, stage.marks("twice"), follower.text]).toEqual([1, 1, "did it"]);
  });

  test("that dies before it has a session says why", async () => {
    const stage = openStage({ command: "/bin/false" }, []);
    const request = makeRequest(stage, "");
    const opened = stage.adapter.open(request, await stage.ports(request.run), never);
    await expect(opened).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringContaining("It ended by itself"),
    });
  });

  test("that dies in the middle ends its run as failed, with nothing open", async () => {
    const stage = openStage({}, []);
    const { request, follower } = await open(stage, JSON.stringify({ do: "die" }));
    await follower.ended;
    expect(follower.all("error")).toMatchObject([{ text: expect.stringContaining("The fake is gone.") }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "failed" }]);
    expect(await stage.left(request.run)).toEqual([]);
  });

  test("that says nothing for too long is ended; while a person is asked, it may be silent", async () => {
    const clock = new ManualClock();
    const stage = openStage({}, [], clock);
    const limits = { deadline: null, quietMs: 5000, toolCalls: null };
    const { session, follower } = await open(stage, stage.prompts.act("slow", "done"), { limits });
    const ask = await follower.first("ask");
    clock.advance(60_000);
    expect(follower.all("done")).toEqual([]);
    await session.answer(ask.ask, { kind: "deny", reason: "no" });
    await follower.ended;
    const silent = await open(stage, JSON.stringify({ do: "hang" }), { limits });
    await silent.follower.first("run_started");
    clock.advance(5000);
    await silent.follower.ended;
    expect(silent.follower.all("error")).toMatchObject([
      { failure: "timeout", text: "The fake said nothing for 5 seconds and was ended." },
    ]);
    expect(silent.follower.all("done")).toMatchObject([{ outcome: "failed" }]);
    await silent.session.close();
    expect(await stage.left(silent.request.run)).toEqual([]);
  });

  test("is stopped after as many tool calls as the run may make", async () => {
    const stage = openStage({}, []);
    const limits = { deadline: null, quietMs: 60_000, toolCalls: 0 };
    const { follower } = await open(stage, stage.prompts.act("one", "done"), { limits });
    await follower.ended;
    expect(follower.all("notice")).toMatchObject([{ text: "Stopped after 0 tool calls, the limit of a run." }]);
    expect(follower.all("done")).toMatchObject([{ outcome: "stopped" }]);
    expect(stage.marks("one")).toBe(0);
  });

  test("finds its settings as the profile has them in every run, also after it changed them", async () => {
    const stage = openStage({ files: { "config.yaml": '{"home":"{home}","key":"{token}"}' } }, []);
    const { home } = await stage.ports("");
    const models = { baseUrl: "http://127.0.0.1:9", token: 'a "token"' };
    for (const words of ["one", "two"]) {
      const request = makeRequest(stage, stage.prompts.say(words));
      const session = await stage.adapter.open(request, { ...(await stage.ports(request.run)), models }, never);
      await new Follower(session).ended;
      await session.close();
      const file = join(home!, "config.yaml");
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ home, key: models.token });
      writeFileSync(file, "approvals: off");
    }
  });

  test("is never allowed anything for good", async () => {
    const stage = openStage({ neverChoose: ["yes"] }, []);
    const { session, follower } = await open(stage, stage.prompts.act("kept", "done"));
    const ask = await follower.first("ask");
    await session.answer(ask.ask, { kind: "allow" });
    await follower.ended;
    await until("the end", () => follower.all("done").length === 1);
    expect(stage.marks("kept")).toBe(0);
  });
});
