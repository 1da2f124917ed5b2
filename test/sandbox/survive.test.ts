/** `kill -9` of Lares around a command in the foreground: the next life knows what became of it. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/core/domain/index.ts";
import { CommandRuns, createExec } from "../../src/edges/tools/index.ts";
import { claim, readPid, superviseHere } from "../../src/edges/tools/process/supervisor.ts";
import { createBubblewrap } from "../../src/edges/tools/sandbox/index.ts";
import { needs, until } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { alive, confinement, never, newKey, type World, world } from "./support.ts";

const { ok: works } = await createBubblewrap().available();
const canConfine = needs("bwrap", "commands in bubblewrap that outlive Lares", works);
const DRIVER = fileURLToPath(new URL("./driver.ts", import.meta.url));

interface Life {
  at: World;
  key: string;
  input: JsonObject;
  backend: "bubblewrap" | "none";
  lares: ChildProcess;
}

/** A Lares that runs this command. */
function live(
  input: JsonObject,
  backend: Life["backend"] = "none",
  { at = world(), limits }: { at?: World; limits?: JsonObject } = {},
): Life {
  const key = newKey();
  const given = JSON.stringify({ at, input, key, backend, limits });
  const lares = spawn(process.execPath, ["--import", "tsx", DRIVER, "exec", at.home, given], {
    env: { PATH: process.env.PATH ?? "" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  onTestFinished(() => {
    lares.kill("SIGKILL");
    for (const pid of alive(key)) process.kill(pid, "SIGKILL");
  });
  return { at, key, input, backend, lares };
}

const has = ({ at }: Life, file: string) => existsSync(join(at.workspace, file));

async function killedOnce(life: Life, file: string): Promise<void> {
  await until(file, () => has(life, file));
  life.lares.kill("SIGKILL");
  await until("Lares to be gone", () => life.lares.signalCode !== null);
}

function nextLife({ at, backend }: Pick<Life, "at" | "backend">) {
  const runs = new CommandRuns(join(at.home, "runs"));
  return { runs, exec: createExec({ runs, sandbox: confinement(at, { backend }) }) };
}

function probe(life: Life, { sameBoot = true, signal = never } = {}) {
  return nextLife(life).exec.probe!(life.input, life.at, life.key, { sameBoot, signal });
}

const ok = (text: RegExp) => ({ ok: expect.objectContaining({ text: expect.stringMatching(text) }) });
const WAITS = "echo one; touch begun; until [ -e go ]; do sleep 0.02; done; echo two; touch done; exit 3";
const RESTARTED = "; Lares was restarted while it ran\\]$";

for (const backend of ["bubblewrap", "none"] as const) {
  const here = test.skipIf(backend === "bubblewrap" && !canConfine);
  describe(backend === "none" ? "without a sandbox" : "in a sandbox", () => {
    here("a command that ended while Lares was dead has its exit code and all of its output", async () => {
      const life = live({ command: `${WAITS.replace("echo two", "seq 1 4000")}` }, backend);
      await killedOnce(life, "begun");
      writeFileSync(join(life.at.workspace, "go"), "");
      await until("its end", () => has(life, "done") && alive(life.key).length === 0);
      expect(await probe(life)).toEqual(ok(new RegExp(`^one\n1\n2\n.*\n4000\n\\[exit 3, [\\d.]+ s${RESTARTED}`, "s")));
    });

    // Only Linux says how much memory the processes of a run use.
    const onLinux = process.platform === "linux" ? here : test.skip;
    onLinux("a command that takes too much after a restart is ended for it", async () => {
      const hold = "(head -c 120000000 /dev/zero | tail | sleep 60)";
      const command = `touch begun; until [ -e go ]; do sleep 0.02; done; ${hold} & ${hold} & ${hold} & wait`;
      const life = live({ command }, backend, { limits: { memoryMb: 200 } });
      await killedOnce(life, "begun");
      const found = probe(life);
      writeFileSync(join(life.at.workspace, "go"), "");
      expect(await found).toEqual(
        ok(
          new RegExp(
            `ended with all its processes: it used \\d+ MB, and sandbox.limits.memoryMb allows 200; .*${RESTARTED}`,
          ),
        ),
      );
      expect(alive(life.key)).toEqual([]);
    });

    here("a command that still runs is waited for", async () => {
      const life = live({ command: WAITS }, backend);
      await killedOnce(life, "begun");
      const found = probe(life);
      expect(alive(life.key).length).toBeGreaterThan(0);
      writeFileSync(join(life.at.workspace, "go"), "");
      expect(await found).toEqual(ok(new RegExp(`^one\ntwo\n\\[exit 3, [\\d.]+ s${RESTARTED}`)));
    });

    here("a stop ends it with all its processes, and so does its time limit", async () => {
      const stopped = live({ command: "sleep 300 & touch begun; sleep 300" }, backend);
      const late = live({ command: "touch begun; sleep 300", timeout_s: 1 }, backend);
      await Promise.all([killedOnce(stopped, "begun"), killedOnce(late, "begun")]);
      expect(await probe(stopped, { signal: AbortSignal.abort() })).toEqual(ok(/\[stopped by request/));
      expect(await probe(late)).toEqual(ok(/\[timed out and was ended/));
      expect([...alive(stopped.key), ...alive(late.key)]).toEqual([]);
    });

    here("what it left in the background is ended", async () => {
      const life = live({ command: "touch begun; sleep 1; setsid -f sleep 300 >/dev/null 2>&1; echo bye" }, backend);
      await killedOnce(life, "begun");
      expect(await probe(life)).toEqual(ok(/^bye\n\[exit 0/));
      expect(alive(life.key)).toEqual([]);
    });
  });
}

test("errors that are kept apart are found, too", async () => {
  const life = live({ command: "echo out; echo bad >&2; touch begun; sleep 0.5; exit 4", apart: true });
  await killedOnce(life, "begun");
  expect(await probe(life)).toEqual(ok(/^out\n\nbad\n\[exit 4/));
});

test("a terminal hangs up with Lares: how the command ended is known, with what it said until then", async () => {
  const life = live({ command: "echo hello; touch begun; sleep 300", pty: true });
  await killedOnce(life, "begun");
  expect(await probe(life)).toEqual(
    ok(/^(hello\n)?\[exit 129 \(SIGHUP\).*; Lares was restarted while it ran, and its terminal ended with Lares\]/),
  );
  expect(alive(life.key)).toEqual([]);
});

test("a call that did not start is known as such, and a supervisor that comes late starts nothing (PROCESS-6)", async () => {
  const at = world();
  const life: Life = { at, key: newKey(), input: { command: "touch ran" }, backend: "none", lares: pretend(undefined) };
  expect(await probe(life)).toEqual({ never: true });
  const dir = nextLife(life).runs.make(life.key);
  expect(await probe(life)).toEqual({ never: true });
  const late = superviseHere({ dir, id: life.key, argv: ["/usr/bin/touch", "ran"], env: {}, cwd: at.workspace });
  await until("it to give up", () => late.exitCode !== null);
  expect(existsSync(join(at.workspace, "ran"))).toBe(false);
  // The same call again, in a folder of its own.
  expect((await nextLife(life).exec.run(life.input, at, life.key, never)).text).toMatch(/^\[exit 0/);
  expect(await probe(life)).toEqual(ok(/^\[exit 0/));
});

test("of two that want the folder exactly one gets it", async () => {
  const at = world();
  for (let i = 0; i < 10; i++) {
    const dir = join(at.home, `runs/${i}`);
    mkdirSync(dir, { recursive: true });
    const argv = ["/bin/sh", "-c", `echo ran >> count${i}`] as const;
    const child = superviseHere({ dir, id: newKey(), argv, env: { PATH: "/usr/bin:/bin" }, cwd: at.workspace });
    const said = await claim(dir);
    await until("the supervisor to end", () => child.exitCode !== null);
    expect(existsSync(join(at.workspace, `count${i}`))).toBe(said === "begun");
  }
});

test("after a restart of the machine, or without its supervisor, nobody claims to know; what is left is ended", async () => {
  const life = live({ command: "touch begun; sleep 300" });
  await killedOnce(life, "begun");
  expect(await probe(life, { sameBoot: false })).toBeUndefined();
  expect(alive(life.key)).toEqual([]);

  const other = live({ command: "touch begun; sleep 300" });
  await killedOnce(other, "begun");
  const [name] = readdirSync(join(other.at.home, "runs"));
  process.kill(-(await readPid(join(other.at.home, "runs", name!)))!, "SIGKILL");
  expect(await probe(other)).toBeUndefined();
  expect(alive(other.key)).toEqual([]);
});

test("at a start what no turn wants is ended and cleared away; what one wants stays", async () => {
  const wanted = live({ command: "touch begun; sleep 300" });
  const orphan = live({ command: "touch orphan; sleep 300" }, "none", { at: wanted.at });
  await Promise.all([killedOnce(wanted, "begun"), killedOnce(orphan, "orphan")]);
  await nextLife(wanted).runs.sweep([wanted.key]);
  expect(alive(orphan.key)).toEqual([]);
  expect(alive(wanted.key).length).toBeGreaterThan(0);
  const left = readdirSync(join(wanted.at.home, "runs"));
  expect(left).toEqual([expect.stringContaining(wanted.key)]);
  expect(readFileSync(join(wanted.at.home, "runs", left[0]!, "pid"), "utf8")).toMatch(/^\d+\n$/);
});

test("the folder goes when the outcome is durable, and not before", async () => {
  const at = world();
  const { exec } = nextLife({ at, backend: "none" });
  const key = newKey();
  await exec.run({ command: "true" }, at, key, never);
  expect(readdirSync(join(at.home, "runs"))).toHaveLength(1);
  exec.settled!({ command: "true" }, key);
  await until("it to be gone", () => readdirSync(join(at.home, "runs")).length === 0);
});
