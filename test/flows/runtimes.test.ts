/** An agent whose body is another runtime: the built program drives a fake ACP agent (test/fakes/acp-agent) as it drives its own loop. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Lares, scratch, startLares, until } from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { processesNaming, processesTagged } from "../support/processes.ts";
import { describeFake, orders, readMarks } from "../support/run-crashes.ts";

async function start(config: object = {}, quirks = "", more: object = {}): Promise<Lares> {
  const lares = await startLares({
    config: {
      gateway: { http: { wait: 3 } },
      agents: { main: { runtime: "fake" } },
      runtimes: { fake: describeFake(quirks, more) },
      ...config,
    },
  });
  onTestFinished(() => lares.dispose());
  return lares;
}

const marks = (lares: Lares) => readMarks(lares, "main");
const fakeHome = (lares: Lares) => join(lares.home, "runtimes", "homes", "main", "fake", "fake");
const sessions = (lares: Lares) => readdirSync(fakeHome(lares)).filter((name) => name.endsWith(".json"));
const left = (turn: string) => processesTagged("LARES_RUN", turn);

describe.skipIf(!needs("bwrap", "agents whose body is another runtime"))(
  "an agent whose body is another runtime",
  () => {
    test("answers in a chat, what it said is in the conversation, and nothing of it is left (HOST-2)", async () => {
      const lares = await start();
      const answer = await lares.chat("ana", orders.say("Good morning from elsewhere"));
      expect(answer).toMatchObject({ state: "answered", response: "Good morning from elsewhere" });
      const { messages } = await lares.rpc("chat.history", { session: answer.session });
      expect(JSON.stringify(messages.at(-1))).toContain("Good morning from elsewhere");
      expect(left(answer.turn)).toEqual([]);
      expect(readdirSync(join(lares.home, "runtimes", "tmp"))).toEqual([]);
    });

    test("goes on with its own conversation in the next turn, and with a new one after a reset", async () => {
      const lares = await start();
      const { session } = await lares.chat("ana", orders.say("one"));
      expect((await lares.chat("ana", orders.say("two"))).response).toBe("two");
      expect(sessions(lares)).toHaveLength(1);
      await lares.restart();
      expect((await lares.chat("ana", orders.say("three"))).response).toBe("three");
      expect(sessions(lares)).toHaveLength(1);
      await lares.rpc("sessions.reset", { session });
      expect((await lares.chat("ana", orders.say("four"))).response).toBe("four");
      expect(sessions(lares)).toHaveLength(2);
    });

    test("asks before it acts, by the same gate and the same approvals (I9, TURNS-17)", async () => {
      const lares = await start();
      const parked = await lares.chat("ana", orders.act("first", "done"));
      expect(parked).toMatchObject({ state: "parked", approval: { tool: "exec" } });
      expect(parked.approval!.shown).toContain("mark first");
      expect(parked.approval!.shown).toContain("asked by The fake");
      expect(marks(lares)).toEqual([]);
      await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
      expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({
        state: "answered",
        response: "done",
      });
      expect(marks(lares)).toEqual(["first yes"]);
      const denied = await lares.chat("ana", orders.act("second", "then not"));
      await lares.rpc("approvals.resolve", { id: denied.approval!.id, decision: "deny", reason: "no" });
      expect(await lares.rpc("chat.wait", { turn: denied.turn })).toMatchObject({ response: "then not" });
      expect(marks(lares)).toEqual(["first yes"]);
      expect(left(parked.turn)).toEqual([]);
    });

    test("does at once what a rule allows, and not at all what a rule denies", async () => {
      const lares = await start({ policy: { deny: { exec: ["mark bad"] }, mode: "record" } });
      expect(await lares.chat("ana", orders.act("good", "done"))).toMatchObject({
        state: "answered",
        response: "done",
      });
      expect(await lares.chat("ana", orders.act("bad", "not done"))).toMatchObject({ response: "not done" });
      expect(marks(lares)).toEqual(["good yes"]);
    });

    test("shows what it did as steps of the turn, during a turn's life and after a restart", async () => {
      const lares = await start({ policy: { mode: "record" } });
      const { turn } = await lares.chat("ana", orders.act("seen", "done"));
      const { steps, session } = await lares.rpc("turns.get", { turn });
      const tool = steps.find(({ does }) => does.kind === "tool")!;
      expect(tool).toMatchObject({ outcome: "ok", endedAt: expect.any(Number) });
      const calls = steps.filter(({ does }) => does.kind === "model");
      // The fake counts nothing: what it wrote after the deed was a call.
      expect(calls).toMatchObject([{ outcome: "ok" }]);
      expect(calls[0]!.at).toBeGreaterThanOrEqual(tool.endedAt!);
      // The page finds the call's input in the conversation by the same id.
      const { messages } = await lares.rpc("chat.history", { session });
      expect(tool.does.kind === "tool" && JSON.stringify(messages)).toContain(
        `"${(tool.does as { call: string }).call}"`,
      );
      const places = steps.map(({ segment, index }) => `${segment}.${index}`);
      expect(new Set(places).size).toBe(places.length);
      await lares.restart();
      expect((await lares.rpc("turns.get", { turn })).steps).toEqual(steps);
    });

    test("keeps its question over a restart of Lares, and the yes holds for the same action of the next attempt", async () => {
      const lares = await start();
      const parked = await lares.chat("ana", orders.act("kept", "done"));
      expect(parked.state).toBe("parked");
      await lares.restart();
      expect(left(parked.turn)).toEqual([]);
      await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
      expect(await lares.rpc("chat.wait", { turn: parked.turn })).toMatchObject({
        state: "answered",
        response: "done",
      });
      expect(marks(lares)).toEqual(["kept yes"]);
      expect(sessions(lares)).toHaveLength(1);
    });

    test("is stopped where it is, and while it waits for an answer", async () => {
      const lares = await start();
      const running = lares.chat("ana", orders.forever("on and on"));
      const { turns } = await until("the turn", async () => {
        const found = await lares.rpc("turns.list", {});
        return found.turns[0]?.state === "running" ? found : undefined;
      });
      await until("its process", () => left(turns[0]!.turn).length > 0);
      await lares.rpc("chat.abort", { session: turns[0]!.session });
      expect(await running).toMatchObject({ state: "stopped" });
      expect(left(turns[0]!.turn)).toEqual([]);
      const parked = await lares.chat("ana", orders.act("never", "done"));
      await lares.rpc("chat.abort", { session: parked.session });
      const ended = await until("the end", async () => {
        const turn = await lares.rpc("turns.get", { turn: parked.turn });
        return turn.state === "stopped" ? turn : undefined;
      });
      expect(ended.state).toBe("stopped");
      await until("its process to be gone", () => left(parked.turn).length === 0);
      expect(marks(lares)).toEqual([]);
      expect((await lares.chat("ana", orders.say("still here"))).response).toBe("still here");
    });

    test("killed with Lares while a child of it has detached, all of it is ended before the next attempt (RUNS-1)", async () => {
      const lares = await start();
      const detached = () => processesNaming("// the-detached");
      lares.chat("ana", orders.detach("the-detached", "on and on"), { key: "k" }).catch(() => {});
      await until("its detached child", () => detached().length === 1);
      const [before] = detached();
      await lares.kill9();
      await lares.start();
      await until("the next attempt", () => detached().length === 1 && detached()[0] !== before, { withinMs: 20_000 });
      const { turns } = await lares.rpc("turns.list", {});
      // One attempt: one program and one child.
      expect(detached()).toHaveLength(1);
      await lares.rpc("chat.abort", { session: turns[0]!.session });
      await until("nothing to be left", () => left(turns[0]!.turn).length + detached().length === 0, {
        withinMs: 20_000,
      });
    });

    test("reads in the same run what is said while it works", async () => {
      const lares = await start({}, "slow");
      const first = lares.chat("ana", orders.say("one"));
      await until("the run", () => existsSync(join(fakeHome(lares), "heard")));
      const second = await lares.chat("ana", orders.say("two"));
      expect(await first).toMatchObject({ state: "answered", response: "one\n\ntwo" });
      expect(second.response).toBe("one\n\ntwo");
      const { turns } = await lares.rpc("turns.list", {});
      expect(turns.map(({ state }) => state).sort()).toEqual(["answered", "joined"]);
      expect(readFileSync(join(fakeHome(lares), "heard"), "utf8")).toContain("two");
    });

    test("has no network and no sight of Lares' own files in its sandbox, and isn't started without one (RUNROOM-1, HOST-1)", async () => {
      const lares = await start();
      const order = (host: string, port: number, path: string) => JSON.stringify({ do: "look", host, port, path });
      const { hostname, port } = new URL(lares.url);
      const looked = await lares.chat("ana", order(hostname, Number(port), join(lares.home, "lares.yaml")));
      expect(looked.response).toBe("unreachable, unreadable");
      lares.configure({
        agents: { main: { runtime: "fake" } },
        runtimes: { fake: describeFake() },
        sandbox: { backend: "none" },
      });
      await lares.restart();
      const refused = await lares.chat("ana", orders.say("never"));
      expect(refused).toMatchObject({ state: "failed", reason: expect.stringContaining("no sandbox to run it in") });
    });

    test("may be a link to a package that is installed in the folder where Lares' home is", async () => {
      const folder = scratch("installed");
      const program = join(folder, "node_modules", "fake", "run.mjs");
      mkdirSync(dirname(program), { recursive: true });
      writeFileSync(
        program,
        '#!/usr/bin/env node\nif (process.argv[2] === "--version") console.log("1.0.0");\nelse await import(process.argv[2]);\n',
        { mode: 0o755 },
      );
      const command = join(folder, "fake");
      symlinkSync(program, command);
      const config = { agents: { main: { runtime: "fake" } }, runtimes: { fake: describeFake("", { command }) } };
      const lares = await startLares({ home: join(folder, "home"), config });
      onTestFinished(() => lares.dispose());
      expect(await lares.chat("ana", orders.say("found"))).toMatchObject({ state: "answered", response: "found" });
    });

    test("says why it can't work: not described, not installed, its key rejected", async () => {
      const lares = await start({ agents: { main: { runtime: "no-such" }, gone: { runtime: "acp:gone" } } });
      lares.configure({
        agents: { main: { runtime: "no-such" }, gone: { runtime: "acp:gone" }, bad: { runtime: "fake" } },
        runtimes: { fake: describeFake(), gone: { command: "no-such-program" } },
      });
      await lares.restart();
      const unknown = await lares.chat("ana", "hello");
      expect(unknown).toMatchObject({ state: "failed" });
      expect(unknown.reason).toContain('There is no runtime "no-such". Known are native,');
      const gone = await lares.chat("ana", "hello", { agent: "gone" });
      expect(gone.reason).toContain("gone isn't installed");
      const bad = await lares.chat("ana", JSON.stringify({ do: "fail" }), { agent: "bad" });
      expect(bad).toMatchObject({ state: "failed", failure: "auth" });
      const { problems } = await lares.rpc("config.check", {});
      expect(problems.map(({ path }) => path)).toContain("agents.main.runtime");
    });

    test("that dies in the middle, or speaks another protocol, is said, and nothing is left", async () => {
      const lares = await start();
      const died = await lares.chat("ana", JSON.stringify({ do: "die" }));
      expect(died).toMatchObject({ state: "failed", reason: expect.stringContaining("The fake is gone.") });
      expect(left(died.turn)).toEqual([]);
      const other = await start({}, "newer");
      expect((await other.chat("ana", "hello")).reason).toContain("speaks version 2");
    });
  },
);
