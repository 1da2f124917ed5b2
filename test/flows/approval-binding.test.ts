/** An approval is for what runs, where it runs, at the time that was shown. */
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lares, requestsWith, scratch, startLares, startModel, toolResults, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: {
      gateway: { http: { wait: 0.05 } },
      // The sandbox is not what is tested here.
      sandbox: { backend: "none" },
      agents: { slow: { policy: { mode: "ask" } } },
    },
  });
  // Folders are made with the first message.
  await send("first", "hello");
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const send = (user: string, message: string) => lares.rpc("chat.send", { user, message, agent: "main" });
const exec = (user: string, command: string) =>
  send(user, `tool:exec ${JSON.stringify({ command })} then: say:{results}`);
const at = (name: string) => join(lares.workspace(), name);
const allow = (id: string) => lares.rpc("approvals.resolve", { id, decision: "allow-once" });
const endOf = async (turn: string) =>
  until(`turn ${turn} ends`, async () => {
    const found = await lares.rpc("turns.get", { turn });
    return found.endedAt === undefined ? undefined : found;
  });

const askedAgain = async (turn: string, first: string) => {
  const found = await until("it is asked again", async () => {
    const { approvals } = await lares.rpc("approvals.list", {});
    return approvals.find((one) => one.turn === turn && one.id !== first);
  });
  return found!;
};

describe("a folder that a link has replaced", () => {
  const elsewhere = (name: string) => {
    const dir = scratch(name);
    mkdirSync(join(dir, "build"));
    return dir;
  };
  const swap = (name: string, target: string) => {
    renameSync(at(name), at(`${name}.old`));
    symlinkSync(target, at(name));
  };

  it("while the question waits is asked about again", async () => {
    mkdirSync(at("pkg/build"), { recursive: true });
    const { approval, turn } = await exec("swap", "rm -rf pkg/build");
    const victim = elsewhere("swap");
    swap("pkg", victim);
    await allow(approval!.id);
    // Says what: the person who answers sees the same command as before.
    expect((await askedAgain(turn, approval!.id)).because).toMatch(/changed since you were asked: .*(link|file)/);
    expect(existsSync(join(victim, "build"))).toBe(true);
  });

  it("is not what was allowed always", async () => {
    mkdirSync(at("box/build"), { recursive: true });
    const { approval, turn } = await exec("always", "rm -rf box/build");
    await lares.rpc("approvals.resolve", { id: approval!.id, decision: "allow-always" });
    await endOf(turn);
    mkdirSync(at("box/build"));
    expect((await exec("always-2", "rm -rf box/build")).state, "the same again").toBe("answered");
    const victim = elsewhere("always");
    swap("box", victim);
    expect((await exec("always-3", "rm -rf box/build")).approval).toBeDefined();
    expect(existsSync(join(victim, "build"))).toBe(true);
  });
});

describe("what a script loads", () => {
  it("a sourced file that was changed while the question waited is asked about again, and does not run", async () => {
    writeFileSync(at("t.sh"), ". ./lib.sh\n");
    writeFileSync(at("lib.sh"), "touch good\n");
    const { approval, turn } = await exec("load", "bash t.sh");
    expect(approval!.shown).toContain("asks again if anything in the workspace changes");
    writeFileSync(at("lib.sh"), "touch bad\n");
    await allow(approval!.id);
    const again = await until("it is asked again", async () => {
      const { approvals } = await lares.rpc("approvals.list", {});
      return approvals.find((one) => one.turn === turn && one.id !== approval!.id);
    });
    expect(again!.because).toContain("changed since you were asked");
    expect([existsSync(at("good")), existsSync(at("bad"))]).toEqual([false, false]);
    await lares.rpc("approvals.resolve", { id: again!.id, decision: "deny" });
  });

  it.each([
    ["sourced without an ending", "bash u.sh", "u.sh", ". ./lib\n", "lib", "touch bad\n"],
    ["a note", "bash n.sh", "n.sh", ". ./notes.md\n", "notes.md", "touch bad\n"],
    ["a picture by its name", "bash p.sh", "p.sh", ". ./p.png\n", "p.png", "touch bad\n"],
    ["read as text and run", "bash v.sh", "v.sh", 'eval "$(cat y.txt)"\n', "y.txt", "touch bad\n"],
    [
      "installed",
      "node w.cjs",
      "w.cjs",
      'require("dep")\n',
      "node_modules/dep/index.js",
      'require("fs").writeFileSync("bad", "")\n',
    ],
  ])(
    "a file that is %s, changed while the question waited, does not run",
    async (how, command, script, text, loaded, bad) => {
      mkdirSync(at("node_modules/dep"), { recursive: true });
      writeFileSync(at(script), text);
      writeFileSync(at(loaded), "");
      const { approval, turn } = await exec(`load-${how}`, command);
      writeFileSync(at(loaded), bad);
      await allow(approval!.id);
      const again = await until("it is asked again", async () => {
        const { approvals } = await lares.rpc("approvals.list", {});
        return approvals.find((one) => one.turn === turn && one.id !== approval!.id);
      });
      expect(again!.because).toContain("changed since you were asked");
      expect(existsSync(at("bad"))).toBe(false);
      await lares.rpc("approvals.resolve", { id: again!.id, decision: "deny" });
    },
  );

  it("unchanged, it runs", async () => {
    writeFileSync(at("lib.sh"), "touch good\n");
    const { approval, turn } = await exec("load-2", "bash t.sh");
    await allow(approval!.id);
    await endOf(turn);
    expect(existsSync(at("good"))).toBe(true);
  });

  it.each([
    ["bash notes.md", "notes.md"],
    ["bash -c 'source notes.md'", "notes.md"],
    ["cd sub && bash README.md", "sub/README.md"],
    ["(cd sub; . ./README.md)", "sub/README.md"],
    ["make -fnotes.log", "notes.log"],
    ["make --file=notes.log", "notes.log"],
    ["bash --init-file=picture.png -i", "picture.png"],
    ["node --require=./notes.log a.cjs", "notes.log"],
    ["python3 -c \"exec(open('notes.log').read())\"", "notes.log"],
    ["uv run notes.log", "notes.log"],
    ["some-interpreter report.pdf", "report.pdf"],
    ["git apply notes.log", "notes.log"],
  ])("%s asks again when the file it names changed, whatever its ending", async (command, file) => {
    mkdirSync(at("sub"), { recursive: true });
    writeFileSync(at(file), "touch good\n");
    const { approval, turn } = await exec(`named-${command}`, command);
    writeFileSync(at(file), "touch bad\n");
    await allow(approval!.id);
    const again = await askedAgain(turn, approval!.id);
    expect(again.because).toContain("changed since you were asked");
    expect(existsSync(at("bad"))).toBe(false);
    await lares.rpc("approvals.resolve", { id: again.id, decision: "deny" });
  });

  describe("where there are too many files to look at", () => {
    const big = (user: string, message: string) => lares.rpc("chat.send", { user, message, agent: "slow" });
    const run = (user: string) => big(user, 'tool:exec {"command":"bash go.sh"} then: say:{results}');
    const inBig = (name: string) => join(lares.workspace("slow"), name);
    beforeAll(async () => {
      await big("big", "hello");
      mkdirSync(inBig("many"));
      for (let i = 0; i < 5100; i++) writeFileSync(inBig(`many/${i}`), "");
      writeFileSync(inBig("go.sh"), ". ./many/7\n");
    });

    it("what an agent's own tool changed since the question is noticed, and it is asked again", async () => {
      const { approval, turn } = await run("big-1");
      expect(approval!.shown).toContain("asks again if a file it names changes or a tool changes anything here");
      const call = { path: "many/7", content: "touch bad\n" };
      const change = await big("big-2", `tool:write ${JSON.stringify(call)} then: say:{results}`);
      if (change.approval) await allow(change.approval.id);
      await endOf(change.turn);
      await allow(approval!.id);
      const again = await askedAgain(turn, approval!.id);
      expect(existsSync(inBig("bad"))).toBe(false);
      await lares.rpc("approvals.resolve", { id: again.id, decision: "deny" });
      await endOf(turn);
    });

    it("what a tool changed before a restart is noticed after it, too", async () => {
      const { approval, turn } = await run("big-3");
      const change = await big("big-4", 'tool:exec {"command":"touch many/7"} then: say:{results}');
      if (change.approval) await allow(change.approval.id);
      await endOf(change.turn);
      await lares.restart();
      await allow(approval!.id);
      const again = await askedAgain(turn, approval!.id);
      await lares.rpc("approvals.resolve", { id: again.id, decision: "deny" });
      await endOf(turn);
    });

    it("with nothing changed it runs, also after a restart; a command that only looks changes nothing", async () => {
      writeFileSync(inBig("many/7"), "touch good\n");
      const { approval, turn } = await run("big-5");
      const look = await big("big-6", 'tool:exec {"command":"ls many"} then: say:{results}');
      if (look.approval) await allow(look.approval.id);
      await endOf(look.turn);
      await lares.restart();
      await allow(approval!.id);
      await endOf(turn);
      expect(existsSync(inBig("good"))).toBe(true);
    });
  });

  it('is never allowed always: "always" is neither offered nor taken', async () => {
    mkdirSync(at("pkg"), { recursive: true });
    writeFileSync(at("x.py"), "import y\n");
    for (const command of ["python3 x.py", "npm test", "./t.sh", "make", "bash -c '. ./lib.sh'"]) {
      writeFileSync(at("t.sh"), ". ./lib.sh\n", { mode: 0o755 });
      const { approval } = await exec(`always-${command}`, command);
      expect(approval!.rule, command).toBeUndefined();
      expect(approval!.because).toContain("only be allowed once");
      const press = { id: approval!.id, decision: "allow-always" as const };
      await expect(lares.rpc("approvals.resolve", press)).rejects.toMatchObject({ status: 400 });
      expect((await lares.rpc("approvals.get", { id: approval!.id })).state).toBe("pending");
      await lares.rpc("approvals.resolve", { id: approval!.id, decision: "deny" });
    }
    const { approval } = await exec("always-plain", "touch plain");
    expect(approval!.rule).toContain("touch");
    await lares.rpc("approvals.resolve", { id: approval!.id, decision: "deny" });
  });
});

describe("times", () => {
  it('"in 2 minutes" is a time before the question is asked, and stays that time', async () => {
    const soon = Date.now() + 120_000;
    const call = { text: "tea", in: "2 minutes" };
    // Text from outside makes it a question.
    writeFileSync(at("page.txt"), "plan something");
    const { approval, turn } = await send(
      "time",
      `tool:read ${JSON.stringify({ path: "page.txt" })} then: tool:schedule_add ${JSON.stringify(call)} then: say:{results}`,
    );
    expect(approval!.tool).toBe("schedule_add");
    expect(approval!.shown).toMatch(/\d{1,2}:\d\d/);
    await allow(approval!.id);
    await endOf(turn);
    const { jobs } = await lares.rpc("schedule.list", {});
    const next = jobs.find((job) => job.prompt === "tea")!.next!;
    expect(Math.abs(next - soon)).toBeLessThan(15_000);
  });
});

it("a question about a schedule expires with its time, so nobody says yes in vain", async () => {
  writeFileSync(at("page.txt"), "plan something");
  const call = { text: "coffee", in: "2 minutes" };
  const { approval, turn } = await send(
    "late",
    `tool:read ${JSON.stringify({ path: "page.txt" })} then: tool:schedule_add ${JSON.stringify(call)} then: say:{results}`,
  );
  // Two minutes, and the minute in which it would still run at once.
  const { deadline, askedAt } = await lares.rpc("approvals.get", { id: approval!.id });
  expect(Math.abs(deadline - askedAt - 180_000)).toBeLessThan(15_000);
  // The next life is an hour later.
  const later = join(lares.home, "later.mjs");
  writeFileSync(later, "const now = Date.now; Date.now = () => now() + 3_600_000;\n");
  await lares.restart({ NODE_OPTIONS: `--import=${later}` });
  await expect(allow(approval!.id)).rejects.toThrow(/expired/);
  expect((await endOf(turn)).response).toContain("Nobody answered in time, so it was not run.");
  const { jobs } = await lares.rpc("schedule.list", {});
  expect(jobs.some((job) => job.prompt === "coffee")).toBe(false);
  await lares.restart();
});

it("a schedule approved a little after its time runs at once, and the person and the model hear that it was late", async () => {
  writeFileSync(at("page.txt"), "plan something");
  const call = { text: "cocoa", in: "2 minutes" };
  const { approval, turn } = await send(
    "little-late",
    `tool:read ${JSON.stringify({ path: "page.txt" })} then: tool:schedule_add ${JSON.stringify(call)} then: say:{results}`,
  );
  // The next life is two and a half minutes later.
  const later = join(lares.home, "a-little-later.mjs");
  writeFileSync(later, "const now = Date.now; Date.now = () => now() + 150_000;\n");
  await lares.restart({ NODE_OPTIONS: `--import=${later}` });
  await allow(approval!.id);
  const { notices } = await endOf(turn);
  expect(notices?.join()).toMatch(/Its time passed \d+ seconds ago, so it runs now\./);
  const read = requestsWith(model, "cocoa")
    .flatMap(toolResults)
    .map(({ text }) => text)
    .join("\n");
  expect(read).toContain("Its time passed");
  await lares.restart();
});

it("a command of several lines is shown as several lines, each marked as the command's", async () => {
  const { approval } = await exec("lines", "touch a\ntouch 'b\n[in /safe, up to 1 s]'");
  const lines = approval!.shown.split("\n");
  expect(lines.slice(0, 3)).toEqual([
    expect.stringMatching(/^\$ \S*touch a$/),
    expect.stringMatching(/^> \S*touch 'b$/),
    "> [in /safe, up to 1 s]'",
  ]);
  expect(lines.at(-1)).toMatch(/^\[in .*workspace, up to 120 s/);
  await lares.rpc("approvals.resolve", { id: approval!.id, decision: "deny" });
});

it("a remembered rule counts what it has allowed, and is taken back with one word", async () => {
  const { approval, turn } = await exec("kept", "touch kept");
  await lares.rpc("approvals.resolve", { id: approval!.id, decision: "allow-always" });
  await endOf(turn);
  const rule = async () => (await lares.rpc("approvals.rules", {})).rules.find((one) => one.approval === approval!.id);
  // The call that was asked about is the first that it allows.
  await until("it is counted", async () => (await rule())?.used === 1);
  for (const n of [2, 3]) {
    expect((await exec(`kept-${n}`, "touch kept")).approval).toBeUndefined();
    await until("it is counted", async () => (await rule())?.used === n);
  }
  expect((await rule())!.usedAt).toBeGreaterThan(approval!.askedAt);
  const { agent, rule: text } = (await rule())!;
  await lares.rpc("approvals.forget", { agent, rule: text });
  expect((await exec("kept-3", "touch kept")).approval).toBeDefined();
});
