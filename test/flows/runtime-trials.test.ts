/** Runtimes on this machine: what is here, installed on request, and tried out. The program is a fake agent with a model behind it. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Lares, startLares } from "../support/index.ts";
import { describeModelled, packModelled } from "../support/modelled-agent.ts";
import { processesIn } from "../support/processes.ts";

const BARE = { sandbox: { backend: "none" }, agents: { main: { runtime: "mine" } } };

async function start(runtime: object, more: object = {}): Promise<Lares> {
  const lares = await startLares({ config: { ...BARE, runtimes: { mine: runtime }, ...more } });
  onTestFinished(() => lares.dispose());
  return lares;
}

async function look(lares: Lares) {
  const { runtimes } = await lares.rpc("runtimes.list", {});
  const found = runtimes.find(({ name }) => name === "mine")!;
  const proofs = Object.fromEntries(found.skills.map(({ skill, proof }) => [skill, proof]));
  return { ...found, proofs };
}

describe("a trial", () => {
  test("what was seen to work is proven, and a runtime that was seen to ask needs no sandbox (TRIAL-1, PLAN-2)", async () => {
    const lares = await start(describeModelled());
    const before = await look(lares);
    expect(before).toMatchObject({ state: "ready", version: process.version.slice(1), agents: ["main"] });
    expect(before.refused).toContain("Lares hasn't seen it do so here");
    expect((await lares.chat("ana", "hello")).reason).toContain("Lares hasn't seen it do so here");
    const { seen, runtime } = await lares.rpc("runtimes.probe", { name: "mine" });
    expect(seen.filter(({ worked }) => !worked)).toEqual([]);
    expect(runtime.refused).toBeUndefined();
    const after = await look(lares);
    const proven = ["approvals", "home", "interrupt", "proxy", "resume", "steer", "stream"];
    expect(Object.keys(after.proofs).filter((skill) => after.proofs[skill] === "proven")).toEqual(
      expect.arrayContaining(proven),
    );
    // Not tried, so not proven.
    expect(after.proofs).toMatchObject({ mcp: "claimed", boundary: "claimed", ownChannels: "absent" });
    expect(after.triedAt).toBeGreaterThan(0);
    expect(await lares.chat("ana", "hello")).toMatchObject({
      state: "answered",
      response: expect.stringContaining("practice model"),
    });
    await lares.restart();
    expect((await look(lares)).proofs).toEqual(after.proofs);
    // Described in another way it is another program, of which nothing was seen.
    lares.configure({ ...BARE, runtimes: { mine: describeModelled("deaf") } });
    await lares.restart();
    expect((await look(lares)).proofs.approvals).toBe("claimed");
  });

  test("leaves nothing: no folder, no process, no line in the ledger (TRIAL-2)", async () => {
    const lares = await start(describeModelled());
    await lares.rpc("runtimes.probe", { name: "mine" });
    expect(existsSync(join(lares.home, "runtimes", "trials", "mine"))).toBe(false);
    expect(readdirSync(join(lares.home, "runtimes", "tmp"))).toEqual([]);
    expect((await lares.rpc("usage.summary", {})).models).toEqual([]);
    expect(processesIn(join(lares.home, "runtimes"))).toEqual([]);
  });

  test.each([
    ["never-asks", "approvals", "It acted without asking.|It did what was denied."],
    ["ignores-no", "approvals", "It did what was denied."],
    ["reads-unasked", "approvals", "It asked before some of its actions, not before all of them."],
    ["forgets", "resume", "In a new process it didn't know what was said before."],
  ])("a runtime that %s is seen to, and that claim counts as absent", async (quirk, skill, note) => {
    const lares = await start(describeModelled(quirk));
    const { seen, runtime } = await lares.rpc("runtimes.probe", { name: "mine" });
    const failed = seen.find((one) => one.skill === skill)!;
    expect([failed.worked, note.split("|")]).toEqual([false, expect.arrayContaining([failed.note])]);
    expect((await look(lares)).proofs[skill]).toBe("absent");
    expect(runtime.refused !== undefined).toBe(skill === "approvals");
  });

  test("that shows nothing at all records nothing, and says why", async () => {
    const lares = await start(describeModelled("offline"));
    await expect(lares.rpc("runtimes.probe", { name: "mine" })).rejects.toThrow(/didn't call its model through Lares/);
    expect((await look(lares)).triedAt).toBeUndefined();
    await expect(lares.rpc("runtimes.probe", { name: "no-such" })).rejects.toThrow('There is no runtime "no-such"');
  });
});

describe("an installation", () => {
  const installed = (version: string, more: object = {}) =>
    describeModelled("", { command: "modelled", args: [], package: packModelled(version), ...more });

  test("puts the package into the home, where its runtime is found, and what was seen counts for that version only (RUNTOOL-1)", async () => {
    const lares = await start(installed("1.0.0"));
    expect(await look(lares)).toMatchObject({
      state: "missing",
      fix: expect.stringContaining("lares runtimes install mine"),
    });
    const done = await lares.rpc("runtimes.install", { name: "mine" });
    expect(done).toEqual({ version: "1.0.0", program: join(lares.home, "tools/mine/node_modules/.bin/modelled") });
    expect(await look(lares)).toMatchObject({ state: "ready", version: "1.0.0", ours: true });
    await lares.rpc("runtimes.probe", { name: "mine" });
    expect((await look(lares)).proofs.approvals).toBe("proven");
    lares.configure({ ...BARE, runtimes: { mine: installed("1.1.0") } });
    await lares.restart();
    await lares.rpc("runtimes.install", { name: "mine" });
    expect(await look(lares)).toMatchObject({ version: "1.1.0", proofs: { approvals: "claimed" } });
    expect(readdirSync(join(lares.home, "tools")).sort()).toEqual([expect.stringMatching(/^\.mine-/), "mine"]);
  });

  test("that doesn't work leaves the one from before", async () => {
    const lares = await start(installed("1.0.0"));
    await lares.rpc("runtimes.install", { name: "mine" });
    lares.configure({ ...BARE, runtimes: { mine: installed("2.0.0", { package: packModelled("2.0.0", "other") }) } });
    await lares.restart();
    await expect(lares.rpc("runtimes.install", { name: "mine" })).rejects.toThrow("has no program called modelled");
    expect(await look(lares)).toMatchObject({ state: "ready", version: "1.0.0" });
    expect(readdirSync(join(lares.home, "tools"))).toHaveLength(2);
    await expect(lares.rpc("runtimes.install", { name: "goose" })).rejects.toThrow("doesn't know a package of Goose");
  });
});

test("what a person reads: a list, what is wrong and the fix, and whether a login is needed", async () => {
  const lares = await start(describeModelled());
  const doctor = await lares.rpc("runtimes.doctor", {});
  expect(doctor.runtimes).toEqual([
    { name: "mine", title: "The agent", problems: [expect.stringContaining("Install bubblewrap")] },
  ]);
  const missing = await lares.rpc("runtimes.doctor", { name: "goose" });
  expect(missing.runtimes[0]!.problems[0]).toContain("Goose isn't installed");
  expect(await lares.rpc("runtimes.login", { name: "mine" })).toMatchObject({
    needed: false,
    text: expect.stringContaining("needs no login"),
  });
  lares.configure({ ...BARE, runtimes: { mine: describeModelled("", { apis: [], login: ["log in"] }) } });
  await lares.restart();
  expect(await lares.rpc("runtimes.login", { name: "mine" })).toMatchObject({
    needed: true,
    command: expect.stringMatching(/^HOME=\S+runtimes\/homes\/main\/mine \S+ 'log in'$/),
  });
});
