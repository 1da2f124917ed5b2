/** What a turn did to files is kept, and taken back on request; over kills, once, and never somebody else's work. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callExec, Lares, startLares, startModel, until } from "../support/index.ts";

const CONFIG = { policy: { mode: "record" }, gateway: { http: { wait: 0.05 } } };

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: CONFIG });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const file = (name: string, at = lares) => join(at.workspace(), name);
const text = (name: string, at = lares) => (existsSync(file(name, at)) ? readFileSync(file(name, at), "utf8") : null);
const call = (tool: string, input: object) => `tool:${tool} ${JSON.stringify(input)}`;
const write = (path: string, content: string) => call("write", { path, content });

async function turn(user: string, calls: string, at = lares): Promise<string> {
  const answer = await at.chat(user, `#${user} ${calls} then: say:done`);
  expect(answer).toMatchObject({ status: 200, response: "done" });
  return answer.turn;
}
const resultsOf = (undone: { files: { path: string; result: string }[] }) =>
  Object.fromEntries(undone.files.map((one) => [one.path, one.result]));

describe("undo.turn", () => {
  it.each([
    ["a folder", "rm -rf gone-1"],
    ["a pattern", "rm -rf gone-*"],
    ["a script", "bash clean.sh"],
    ["find", "find gone-1 -type f -delete"],
    ["another folder's name", "cd gone-1 && rm -r deep a.txt empty"],
  ])("puts back what a command deleted: %s", async (what, command) => {
    mkdirSync(file("gone-1/deep/er"), { recursive: true });
    writeFileSync(file("gone-1/a.txt"), "a\n");
    writeFileSync(file("gone-1/empty"), "");
    writeFileSync(file("gone-1/deep/er/b.bin"), Buffer.from([0, 1, 2, 255]));
    writeFileSync(file("clean.sh"), "rm -r gone-1\n");
    const id = await turn(`deleted-${what}`, callExec(command));
    expect(existsSync(file("gone-1/a.txt"))).toBe(false);
    const undone = await lares.rpc("undo.turn", { turn: id });
    expect(new Set(Object.values(resultsOf(undone)))).toEqual(new Set(["restored"]));
    expect([text("gone-1/a.txt"), text("gone-1/empty")]).toEqual(["a\n", ""]);
    expect([...readFileSync(file("gone-1/deep/er/b.bin"))]).toEqual([0, 1, 2, 255]);
  });

  it.each([
    ["a folder", "rm -rf tree"],
    ["a script", "bash clean-tree.sh"],
  ])("puts back links as links, empty folders and modes: %s (CHECKPOINTS-8)", async (what, command) => {
    const outside = join(lares.home, "outside.txt");
    writeFileSync(outside, "secret\n");
    mkdirSync(file("tree/hollow"), { recursive: true });
    writeFileSync(file("tree/run.sh"), "echo hi\n");
    chmodSync(file("tree/run.sh"), 0o750);
    symlinkSync("run.sh", file("tree/inside"));
    symlinkSync(outside, file("tree/out"));
    symlinkSync("nowhere", file("tree/dangling"));
    writeFileSync(file("clean-tree.sh"), "rm -r tree\n");
    const id = await turn(`tree-${what}`, callExec(command));
    expect(existsSync(file("tree"))).toBe(false);
    const undone = await lares.rpc("undo.turn", { turn: id });
    expect(resultsOf(undone)).toMatchObject({ "tree/out": "restored", "tree/hollow": "restored" });
    expect(new Set(Object.values(resultsOf(undone)))).toEqual(new Set(["restored"]));
    const links = ["tree/inside", "tree/out", "tree/dangling"].map((name) => readlinkSync(file(name)));
    expect(links).toEqual(["run.sh", outside, "nowhere"]);
    expect(lstatSync(file("tree/hollow")).isDirectory()).toBe(true);
    expect(lstatSync(file("tree/run.sh")).mode & 0o777).toBe(0o750);
    expect(readFileSync(outside, "utf8")).toBe("secret\n");
    // And taken back once more.
    await lares.rpc("undo.turn", { turn: undone.undo! });
    for (const name of ["inside", "out", "dangling", "hollow", "run.sh"])
      expect(lstatSync(file(`tree/${name}`), { throwIfNoEntry: false })).toBe(undefined);
    expect(readFileSync(outside, "utf8")).toBe("secret\n");
  });

  it("a file that became a link, and a link that became a file or points elsewhere, come back; nothing behind them changes", async () => {
    for (const name of ["plain", "target", "other"]) writeFileSync(file(`${name}.swap`), `${name}\n`);
    symlinkSync("target.swap", file("link.swap"));
    symlinkSync("target.swap", file("moved.swap"));
    symlinkSync("target.swap", file("through.swap"));
    const id = await turn(
      "swap",
      callExec(
        "rm plain.swap link.swap; ln -s other.swap plain.swap; echo new > link.swap; ln -sfn other.swap moved.swap; ln -s target.swap made.swap",
      ),
    );
    expect(readlinkSync(file("plain.swap"))).toBe("other.swap");
    await lares.rpc("undo.turn", { turn: id });
    expect(lstatSync(file("plain.swap")).isFile()).toBe(true);
    expect(text("plain.swap")).toBe("plain\n");
    expect([readlinkSync(file("link.swap")), readlinkSync(file("moved.swap"))]).toEqual(["target.swap", "target.swap"]);
    expect(lstatSync(file("made.swap"), { throwIfNoEntry: false })).toBe(undefined);
    expect([text("target.swap"), text("other.swap")]).toEqual(["target\n", "other\n"]);
    const written = await turn("swap-through", callExec("echo changed > through.swap"));
    expect(text("target.swap")).toBe("changed\n");
    await lares.rpc("undo.turn", { turn: written });
    expect(text("target.swap")).toBe("target\n");
    expect(readlinkSync(file("through.swap"))).toBe("target.swap");
  });

  it("takes back what write, edit, apply_patch and a command did, and can be taken back itself", async () => {
    for (const name of ["a1", "b1", "c1", "d1"]) writeFileSync(file(name), `old ${name}\n`);
    const id = await turn(
      "u1",
      [
        write("a1", "new a1\n"),
        call("edit", { path: "b1", old: "old", new: "new" }),
        call("apply_patch", {
          patch: "*** Begin Patch\n*** Delete File: c1\n*** Add File: sub/e1\n+made\n*** End Patch",
        }),
        callExec("echo more >> d1; echo made > f1"),
      ].join(" "),
    );
    expect([text("a1"), text("b1"), text("c1"), text("sub/e1"), text("d1"), text("f1")]).toEqual([
      ...["new a1\n", "new b1\n", null, "made\n", "old d1\nmore\n", "made\n"],
    ]);
    const { turns } = await lares.rpc("undo.list", { limit: 1 });
    expect(turns[0]!.turn).toBe(id);
    expect(turns[0]!.files.map((one) => `${one.change} ${one.path}`).sort()).toEqual([
      ...["changed a1", "changed b1", "changed d1", "created f1", "created sub/e1", "deleted c1"],
    ]);
    const before = ["a1", "b1", "c1", "sub/e1", "d1", "f1"].map((name) => text(name));
    const dry = await lares.rpc("undo.turn", { turn: id, dryRun: true });
    expect(["a1", "b1", "c1", "sub/e1", "d1", "f1"].map((name) => text(name))).toEqual(before);
    const undone = await lares.rpc("undo.turn", { turn: id });
    expect(resultsOf(undone)).toEqual(resultsOf(dry));
    expect(new Set(Object.values(resultsOf(undone)))).toEqual(new Set(["restored", "removed"]));
    expect([text("a1"), text("b1"), text("c1"), text("sub/e1"), text("d1"), text("f1")]).toEqual([
      ...["old a1\n", "old b1\n", "old c1\n", null, "old d1\n", null],
    ]);
    await lares.rpc("undo.turn", { turn: undone.undo! });
    expect(["a1", "b1", "c1", "sub/e1", "d1", "f1"].map((name) => text(name))).toEqual(before);
  });

  it("leaves what was changed since, says so, and is known over a restart", async () => {
    writeFileSync(file("a2"), "old");
    const id = await turn("u2", `${write("a2", "new")} ${write("b2", "made")}`);
    writeFileSync(file("b2"), "my own work");
    await lares.restart();
    const undone = await lares.rpc("undo.turn", { turn: id });
    expect(resultsOf(undone)).toEqual({ a2: "restored", b2: "conflict" });
    expect(undone.files.find((one) => one.path === "b2")!.reason).toBeTruthy();
    expect([text("a2"), text("b2")]).toEqual(["old", "my own work"]);
  });

  it("with the same key is the same undo; of an unknown turn it is 404", async () => {
    writeFileSync(file("a3"), "old");
    const id = await turn("u3", write("a3", "new"));
    const first = await lares.rpc("undo.turn", { turn: id, idempotencyKey: "k3" });
    await lares.rpc("undo.turn", { turn: first.undo! });
    expect(await lares.rpc("undo.turn", { turn: id, idempotencyKey: "k3" })).toEqual(first);
    expect(text("a3")).toBe("new");
    await expect(lares.rpc("undo.turn", { turn: "t_nothing" })).rejects.toMatchObject({ status: 404 });
  });

  it("of a turn that still works is refused", async () => {
    writeFileSync(file("a4"), "old");
    const sent = await lares.rpc("chat.send", {
      user: "u4",
      message: `${write("a4", "new")} then: delay:3000 say:done`,
      wait: false,
    });
    await until("the write", () => text("a4") === "new");
    await expect(lares.rpc("undo.turn", { turn: sent.turn })).rejects.toMatchObject({ status: 409 });
    expect(text("a4")).toBe("new");
    await lares.rpc("chat.abort", { turn: sent.turn });
  });
});

const EDIT = `${call("edit", { path: "a", old: "old", new: "new" })} then: say:done`;
const PATCH = `${call("apply_patch", {
  patch: "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** Add File: b\n+x\n*** End Patch",
})} then: say:{results}`;

describe("killed", () => {
  async function dies(point: string, act: (at: Lares) => Promise<unknown>, then: (at: Lares) => Promise<void>) {
    const own = new Lares({ env: model.env, config: CONFIG });
    try {
      await own.start({ LARES_CRASH_AT: point });
      let gone = false;
      void own.gone.then(() => {
        gone = true;
      });
      await act(own).catch(() => {});
      await until(`it to die at ${point}`, () => gone);
      await own.start({ LARES_CRASH_AT: "" });
      await then(own);
    } finally {
      await own.dispose();
    }
  }

  it("in the middle of an undo: the rest is done at the next start, and asking again says so", () =>
    dies(
      "undo.file:2",
      async (at) => {
        for (const name of ["a", "b", "c"]) writeFileSync(file(name, at), `old ${name}`);
        const id = await turn("k1", ["a", "b", "c"].map((name) => write(name, `new ${name}`)).join(" "), at);
        await at.rpc("undo.turn", { turn: id });
      },
      async (at) => {
        expect(["a", "b", "c"].map((name) => text(name, at))).toEqual(["old a", "old b", "old c"]);
        const [undo, changed] = (await at.rpc("undo.list", {})).turns;
        expect(undo!.undoes).toBe(changed!.turn);
        const again = await at.rpc("undo.turn", { turn: changed!.turn });
        expect(new Set(Object.values(resultsOf(again)))).toEqual(new Set(["already"]));
        await at.rpc("undo.turn", { turn: undo!.turn });
        expect(["a", "b", "c"].map((name) => text(name, at))).toEqual(["new a", "new b", "new c"]);
      },
    ));

  it("after an edit and before its result was recorded: the edit is found again, done once, and can be undone (CHECKPOINTS-1)", () =>
    dies(
      "effect.acted",
      async (at) => {
        writeFileSync(file("a", at), "old text");
        await at.chat("k2", EDIT, { key: "k2" });
      },
      async (at) => {
        const answer = await at.chat("k2", EDIT, { key: "k2" });
        expect(answer).toMatchObject({ state: "answered", response: "done" });
        expect(text("a", at)).toBe("new text");
        expect(resultsOf(await at.rpc("undo.turn", { turn: answer.turn }))).toEqual({ a: "restored" });
        expect(text("a", at)).toBe("old text");
      },
    ));

  it("before a patch began: it is applied in the next life, once, and can be undone", () =>
    dies(
      "effect.intended",
      async (at) => {
        writeFileSync(file("a", at), "one\n");
        await at.chat("k3", PATCH, { key: "k3" });
      },
      async (at) => {
        const answer = await at.chat("k3", PATCH, { key: "k3" });
        expect(answer.response).toMatch(/updated a/);
        expect([text("a", at), text("b", at)]).toEqual(["two\n", "x\n"]);
        await at.rpc("undo.turn", { turn: answer.turn });
        expect([text("a", at), text("b", at)]).toEqual(["one\n", null]);
      },
    ));
});
