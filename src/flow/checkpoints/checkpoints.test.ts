import { existsSync } from "node:fs";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ActionPlan } from "../../core/contracts/index.ts";
import { asId, type TurnId } from "../../core/domain/index.ts";
import { type Crash, ManualClock, noCrash, randomIds, silentLog } from "../../core/kit/index.ts";
import { createEdit, createExec, createRootedFiles, createWrite } from "../../edges/tools/index.ts";
import { openRecords } from "../../ground/records/index.ts";
import { Checkpoints } from "./index.ts";

const never = new AbortController().signal;

async function world(config = { megabytes: 200, days: 14 }, { hasProject = false } = {}) {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "lares-checkpoints-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const workspace = join(dir, "workspace");
  await mkdir(workspace);
  // A folder that the agent was given besides its workspace (`agents.<id>.roots`).
  const project = join(dir, "project");
  if (hasProject) await mkdir(project);
  const roots = hasProject ? [project] : [];
  const clock = new ManualClock();
  const records = await openRecords(join(dir, "db"), (error) => {
    throw error;
  });
  onTestFinished(() => records.close());
  const busy = new Set<string>();
  const make = (crash: Crash = noCrash) =>
    new Checkpoints({
      records,
      clock,
      crash,
      log: silentLog,
      folder: join(dir, "checkpoints"),
      files: createRootedFiles(() => roots),
      findRoot: (agent) => (agent === "main" ? workspace : undefined),
      alone: (_who, work) => work(),
      isBusy: async (turn) => busy.has(turn),
      config: () => config,
      ids: randomIds(),
    });
  const checkpoints = make();
  const place = {
    agentDir: dir,
    workspace,
    roots,
    spillDir: join(workspace, ".lares/out"),
    caller: { agent: "main", session: "s", turn: "t", route: { channel: "http", account: "a", chat: "c" } },
  };
  let calls = 0;
  const run = async (turn: string, tool: ReturnType<typeof createWrite>, input: Record<string, string | number>) => {
    const plan = await tool.plan(input, place);
    const call = `c${++calls}`;
    return checkpoints.around(around(turn, call, tool.spec.name, plan), () => tool.run(input, place, call, never));
  };
  const around = (turn: string, call: string, tool: string, plan: ActionPlan) => ({
    turn: asId<TurnId>(turn),
    call,
    tool,
    plan,
    workspace,
    folders: [workspace, ...roots],
    session: asId<never>("s"),
    agent: asId<never>("main"),
  });
  const at = (path: string) => join(workspace, path);
  return {
    dir,
    workspace,
    project,
    clock,
    records,
    checkpoints,
    make,
    around,
    at,
    busy,
    config,
    place,
    write: (turn: string, path: string, content: string) => run(turn, createWrite(), { path, content }),
    edit: (turn: string, path: string, old: string, fresh: string) =>
      run(turn, createEdit(), { path, old, new: fresh }),
    exec: (turn: string, command: string) => run(turn, createExec(), { command }),
    undo: (turn: string, dryRun = false) => checkpoints.undo(turn, { by: "me", dryRun }),
    now: (path: string) => (existsSync(at(path)) ? readFile(at(path), "utf8") : null),
    blobs: async () =>
      (await readdir(join(dir, "checkpoints"), { recursive: true })).filter((name) => name.includes("/")),
  };
}

const results = (undone: { files: { path: string; result: string }[] }) =>
  Object.fromEntries(undone.files.map((file) => [file.path, file.result]));

/** Every file below the folder with its content, every link with what it says, every folder. */
async function tree(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(folder.length + 1);
    if (name.startsWith(".lares")) continue;
    if (entry.isSymbolicLink()) found[name] = `link to ${await readlink(path)}`;
    else found[name] = entry.isDirectory() ? "folder" : await readFile(path, "utf8");
  }
  return found;
}

describe("undo of a command that puts one kind of thing in the place of another", () => {
  test.each([
    "mv d dd; ln -s dd d",
    "cp a d/e/f; mv d dx; ln -s dx d",
    "rm -rf empty; ln -s d empty",
    "rm -rf empty; echo x > empty",
    "rm -rf d; echo f > d",
    "rm -rf d; ln -s empty d",
    "rm a; mkdir a; echo x > a/inside",
    "rm l; mkdir l",
    "rm l; echo x > l",
    "rm l; ln -s d l",
    "mv d/e e; ln -s ../e d/e; rm a",
    "rm -rf empty; ln -s d empty; rm a; echo new > b",
  ])("%s", async (command) => {
    const { workspace, at, exec, undo, make } = await world();
    await mkdir(at("d/e"), { recursive: true });
    await mkdir(at("empty"));
    await writeFile(at("a"), "one");
    await writeFile(at("b"), "two");
    await writeFile(at("d/e/f"), "deep");
    await symlink("a", at("l"));
    const before = await tree(workspace);
    await exec("t", command);
    expect(await tree(workspace)).not.toEqual(before);
    const undone = await undo("t");
    expect(undone.files.filter(({ result }) => result === "lost" || result === "conflict")).toEqual([]);
    expect(await tree(workspace)).toEqual(before);
    // Killed at each file, the next life does the rest.
    await exec("t2", command);
    let left = 100;
    for (let dies = 0; dies < left; dies++) {
      let files = 0;
      const crash: Crash = {
        ...noCrash,
        at: (point) => {
          if (point === "undo.file" && files++ === 0) throw new Error("killed");
        },
      };
      left = await make(crash)
        .undo("t2", { by: "me", dryRun: false })
        .then(
          () => 0,
          (error: Error) => {
            expect(error.message).toBe("killed");
            return 100;
          },
        );
    }
    expect(await tree(workspace)).toEqual(before);
  });
});

test.each([
  (project: string) => `rm -rf ${project}/d`,
  (project: string) => `cd ${project} && rm a`,
  (project: string) => `rm ${project}/*`,
  (project: string) => `rm -rf ${project}/d ${project}/a`,
  (project: string) => `mv ${project}/d ${project}/d2`,
  (project: string) => `find ${project} -name f -delete`,
  (project: string) => `bash clean.sh ${project.slice(0, 0)}`,
  (project: string) => `rm w; rm ${project}/a`,
])("undo covers another folder of the agent's for a command in the workspace (%#)", async (makeCommand) => {
  const { workspace, project, at, exec, undo } = await world(undefined, { hasProject: true });
  await mkdir(join(project, "d/e"), { recursive: true });
  await writeFile(join(project, "a"), "one");
  await writeFile(join(project, "d/e/f"), "deep");
  await writeFile(at("w"), "work");
  await writeFile(at("clean.sh"), `rm -r ${project}/d ${project}/a\n`);
  const before = [await tree(workspace), await tree(project)];
  await exec("t", makeCommand(project));
  expect(await tree(project)).not.toEqual(before[1]);
  const undone = await undo("t");
  expect(undone.files.filter(({ result }) => result === "lost" || result === "conflict")).toEqual([]);
  expect([await tree(workspace), await tree(project)]).toEqual(before);
});

describe("undo", () => {
  test("a file the turn changed is restored, with its mode; one it made is removed", async () => {
    const { at, write, undo, now } = await world();
    await writeFile(at("a"), "old");
    await chmod(at("a"), 0o755);
    await write("t1", "a", "new");
    await write("t1", "sub/b", "made");
    const undone = await undo("t1");
    expect(results(undone)).toEqual({ a: "restored", "sub/b": "removed" });
    expect([await now("a"), await now("sub/b")]).toEqual(["old", null]);
    expect((await stat(at("a"))).mode & 0o777).toBe(0o755);
  });

  test("several changes of one file go back to what it was before the turn", async () => {
    const { at, write, edit, undo, now } = await world();
    await writeFile(at("a"), "one");
    await Promise.all([edit("t1", "a", "one", "two"), write("t2", "b", "x")]);
    await edit("t1", "a", "two", "three");
    expect(results(await undo("t1"))).toEqual({ a: "restored" });
    expect([await now("a"), await now("b")]).toEqual(["one", "x"]);
  });

  test("edits the model made together are done one after another and undone together", async () => {
    const { at, edit, undo, now } = await world();
    await writeFile(at("a"), "one two three");
    await Promise.all([edit("t", "a", "one", "1"), edit("t", "a", "two", "2"), edit("t", "a", "three", "3")]);
    expect(await now("a")).toBe("1 2 3");
    expect(results(await undo("t"))).toEqual({ a: "restored" });
    expect(await now("a")).toBe("one two three");
  });

  test("a file that was changed since is a conflict and stays; the others are restored (CHECKPOINTS-5)", async () => {
    const { at, write, undo, now } = await world();
    await writeFile(at("a"), "old a");
    await writeFile(at("b"), "old b");
    await write("t", "a", "new a");
    await write("t", "b", "new b");
    await write("t", "c", "new c");
    await writeFile(at("a"), "somebody's work");
    await rm(at("c"));
    const undone = await undo("t");
    expect(results(undone)).toEqual({ a: "conflict", b: "restored", c: "already" });
    expect(undone.files[0]!.reason).toMatch(/changed since/);
    expect([await now("a"), await now("b")]).toEqual(["somebody's work", "old b"]);
  });

  test("work somebody else did in the middle of the turn is not taken away", async () => {
    const { at, write, undo, now } = await world();
    await writeFile(at("a"), "old");
    await write("t", "a", "first");
    await writeFile(at("a"), "somebody's work");
    await write("t", "a", "second");
    const undone = await undo("t");
    expect(results(undone)).toEqual({ a: "lost" });
    expect(undone.files[0]!.reason).toMatch(/somebody else/);
    expect(await now("a")).toBe("second");
  });

  test("can be undone, and that too (CHECKPOINTS-7)", async () => {
    const { at, write, undo, now, checkpoints } = await world();
    await writeFile(at("a"), "old");
    await write("t", "a", "new");
    await write("t", "b", "made");
    const first = await undo("t");
    expect(first.undo).toBeTruthy();
    const second = await undo(first.undo!);
    expect([await now("a"), await now("b")]).toEqual(["new", "made"]);
    await undo(second.undo!);
    expect([await now("a"), await now("b")]).toEqual(["old", null]);
    const list = await checkpoints.list({ limit: 10 });
    expect(list.map((one) => one.undoes)).toEqual([second.undo, first.undo, "t", undefined]);
  });

  test("a dry run says the same and touches nothing", async () => {
    const { at, write, undo, now, checkpoints } = await world();
    await writeFile(at("a"), "old");
    await write("t", "a", "new");
    await write("t", "b", "made");
    const told = await undo("t", true);
    expect(results(told)).toEqual({ a: "restored", b: "removed" });
    expect(told.undo).toBeUndefined();
    expect([await now("a"), await now("b")]).toEqual(["new", "made"]);
    expect(await checkpoints.list({ limit: 10 })).toHaveLength(1);
  });

  test("a turn that still works, one nothing is known of, and a place swapped for a link outside are refused", async () => {
    const { at, dir, write, undo, busy } = await world();
    await write("t", "d/a", "made");
    busy.add("t");
    await expect(undo("t")).rejects.toMatchObject({ code: "CONFLICT" });
    busy.delete("t");
    await expect(undo("nothing")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await rm(at("d"), { recursive: true });
    await mkdir(join(dir, "outside"));
    await writeFile(join(dir, "outside/a"), "made");
    await symlink(join(dir, "outside"), at("d"));
    expect(results(await undo("t"))).toEqual({ "d/a": "conflict" });
    expect(await readFile(join(dir, "outside/a"), "utf8")).toBe("made");
  });

  test.each([1, 2, 3])("cut off at file %i, it is completed by asking again (CHECKPOINTS-6)", async (n) => {
    const { at, write, now, make } = await world();
    for (const name of ["a", "b", "c"]) {
      await writeFile(at(name), `old ${name}`);
      await write("t", name, `new ${name}`);
    }
    let left = n;
    const dying = make({
      at(point) {
        if (point === "undo.file" && --left === 0) throw new Error("killed");
      },
    });
    await expect(dying.undo("t", { by: "me" })).rejects.toThrow("killed");
    expect([await now("a"), await now("b"), await now("c")].filter((text) => text!.startsWith("old"))).toHaveLength(n);
    const next = make();
    const undone = await next.undo("t", { by: "me" });
    expect(results(undone)).toEqual({ a: "restored", b: "restored", c: "restored" });
    expect([await now("a"), await now("b"), await now("c")]).toEqual(["old a", "old b", "old c"]);
    await next.undo(undone.undo!, { by: "me" });
    expect(await now("b")).toBe("new b");
  });

  test("cut off before the first file, the next start completes it", async () => {
    const { at, write, now, make } = await world();
    await writeFile(at("a"), "old");
    await write("t", "a", "new");
    const dying = make({
      at(point) {
        if (point === "undo.planned") throw new Error("killed");
      },
    });
    await expect(dying.undo("t", { by: "me" })).rejects.toThrow("killed");
    expect(await now("a")).toBe("new");
    await make().start();
    expect(await now("a")).toBe("old");
  });
});

describe("a command", () => {
  test.each(["rm large", "bash script.sh"])("of a large file that is gone after %s it is said why", async (command) => {
    const { at, exec, undo } = await world();
    await writeFile(at("large"), "old large\n".repeat(200_000));
    await writeFile(at("script.sh"), "rm large\n");
    await exec("t", command);
    const { files } = await undo("t");
    const reason = "a command deleted or moved it, and there is no copy: it had more than 1048576 bytes";
    expect(files).toEqual([{ path: "large", result: "lost", reason }]);
  });

  test("files it names, files the turn touched and files a script may change are restored; of large ones it is said that they cannot be (CHECKPOINTS-3)", async () => {
    const { at, write, exec, undo, now } = await world();
    await writeFile(at("named"), "old named\n");
    await writeFile(at("hidden"), "old hidden\n");
    await writeFile(at("gone"), "old gone\n");
    await writeFile(at("touched"), "old touched\n");
    await writeFile(at("large"), "old large\n".repeat(200_000));
    await writeFile(at("script.sh"), "echo more >> hidden; echo more >> touched; echo x > made; echo x > large\n");
    await write("t", "touched", "by the tool\n");
    await exec("t", "bash script.sh; echo more >> named; rm gone");
    const undone = await undo("t");
    expect(results(undone)).toEqual({
      touched: "restored",
      named: "restored",
      gone: "restored",
      made: "removed",
      hidden: "restored",
      large: "lost",
    });
    const { reason } = undone.files.find((file) => file.path === "large")!;
    expect(reason).toBe("a command changed it, and there is no copy: it had more than 1048576 bytes");
    expect([await now("named"), await now("gone"), await now("touched"), await now("made")]).toEqual([
      ...["old named\n", "old gone\n", "old touched\n"],
      null,
    ]);
    expect([await now("hidden"), await now("large")]).toEqual(["old hidden\n", "x\n"]);
  });

  test("files its output goes to are restored, also large ones, behind a cd and among very many files (CHECKPOINTS-3)", async () => {
    const { at, exec, undo, now } = await world();
    const old = "old,line\n".repeat(300_000);
    await mkdir(at("notes"));
    await mkdir(at("many"));
    for (const name of ["report.csv", "notes/report.csv", "longer.log", "kept.log"]) await writeFile(at(name), old);
    for (let n = 0; n < 5_100; n++) await writeFile(at(`many/${n}`), "");
    await exec("t", "echo x > report.csv; echo x >> longer.log; echo x > fresh.txt");
    await exec("t", "cd notes && echo x > report.csv");
    await exec("t", "echo x | tee kept.log");
    expect([await now("report.csv"), await now("notes/report.csv")]).toEqual(["x\n", "x\n"]);
    expect(results(await undo("t"))).toEqual({
      "report.csv": "restored",
      "longer.log": "restored",
      "notes/report.csv": "restored",
      "kept.log": "restored",
      "fresh.txt": "removed",
    });
    for (const name of ["report.csv", "notes/report.csv", "longer.log", "kept.log"]) expect(await now(name)).toBe(old);
    expect(await now("fresh.txt")).toBe(null);
  });

  test("it is said beforehand how large a file may be that comes back", async () => {
    const { checkpoints } = await world();
    expect([0, 1, 20 * 1024 * 1024, 20 * 1024 * 1024 + 1].map((bytes) => checkpoints.restores(bytes))).toEqual([
      ...[true, true, true, false],
    ]);
    const none = await world({ megabytes: 0, days: 14 });
    expect(none.checkpoints.restores(0)).toBe(false);
    const small = await world({ megabytes: 1, days: 14 });
    expect([small.checkpoints.restores(100), small.checkpoints.restores(2 * 1024 * 1024)]).toEqual([true, false]);
  });

  test("the other name of a deleted hard link is not reported as lost", async () => {
    const { at, exec, undo, now } = await world();
    const large = "large\n".repeat(300_000);
    for (const [name, other, text] of [
      ["f1", "hard1", "one file\n"],
      ["big", "hardbig", large],
    ] as const) {
      await writeFile(at(name), text);
      await link(at(name), at(other));
    }
    await exec("t", "rm f1");
    const undone = await undo("t");
    expect(results(undone)).toEqual({ f1: "restored" });
    expect(undone.notes.join()).toMatch(/f1 was a hard link to the same file as hard1/);
    expect([await now("f1"), await now("hard1")]).toEqual(["one file\n", "one file\n"]);

    await exec("t2", "rm big");
    expect(results(await undo("t2"))).toEqual({ big: "lost" });
    expect(await now("hardbig")).toBe(large);
  });

  test("a write through one of two hard links is undone for both names, which are then separate files", async () => {
    const { at, exec, undo, now } = await world();
    await writeFile(at("one"), "old\n");
    await link(at("one"), at("two"));
    await exec("t", "echo new > one");
    expect([await now("one"), await now("two")]).toEqual(["new\n", "new\n"]);
    const undone = await undo("t");
    expect(results(undone)).toEqual({ one: "restored", two: "restored" });
    expect(undone.notes.join()).toMatch(
      /one was a hard link to the same file as two; what is restored is a separate file/,
    );
    expect([await now("one"), await now("two")]).toEqual(["old\n", "old\n"]);
  });

  test.each([".git", "node_modules"])("a deleted or replaced %s is reported as not restored", async (folder) => {
    const { at, exec, undo, now } = await world();
    const fill = async () => {
      await mkdir(at(folder));
      await writeFile(at(`${folder}/config`), "settings");
    };
    await fill();
    await writeFile(at("a.txt"), "old");
    await exec("t", `rm -rf ${folder} a.txt`);
    for (const dryRun of [true, false]) {
      const undone = await undo("t", dryRun);
      expect(results(undone)).toEqual({ "a.txt": "restored", [folder]: "lost" });
      expect(undone.files.find((file) => file.path === folder)?.reason).toMatch(/keeps no copies of folders/);
    }
    expect(await now("a.txt")).toBe("old");

    await fill();
    await exec("t2", `mkdir fresh; rm -rf ${folder}; mv fresh ${folder}`);
    expect(results(await undo("t2"))).toEqual({ [folder]: "lost" });
    await exec("t3", `echo more >> ${folder}/other; echo new > a.txt`);
    expect(results(await undo("t3"))).toEqual({ "a.txt": "restored", [`${folder}/other`]: "removed" });
  });

  test("of many deleted files each one is either restored or reported as lost", async () => {
    const { at, exec, undo } = await world();
    await mkdir(at("many"));
    const names = Array.from({ length: 1200 }, (_, n) => `many/${n}`);
    await Promise.all(names.map((name) => writeFile(at(name), name)));
    await exec("t", "rm -rf many");
    const undone = await undo("t");
    const there = names.filter((name) => existsSync(at(name)));
    const said = (result: string) => undone.files.filter((file) => file.result === result).map((file) => file.path);
    expect(said("restored").sort()).toEqual(there.sort());
    expect(said("lost")).toHaveLength(names.length - there.length);
    expect(undone.notes).toEqual([]);
  }, 30_000);

  test("permissions that a command changed are not restored, and that is said", async () => {
    const { at, exec, undo, now, checkpoints } = await world();
    await writeFile(at("run.sh"), "echo hi\n", { mode: 0o644 });
    await writeFile(at("same.sh"), "echo hi\n", { mode: 0o644 });
    await exec("t", "chmod 755 run.sh; chmod 644 same.sh");
    expect((await checkpoints.list({ limit: 10 }))[0]?.notes.join()).toContain("permissions of run.sh, which undo");
    const undone = await undo("t");
    expect(results(undone)).toEqual({});
    expect(undone.notes).toEqual([
      "A command of the turn: it changed the permissions of run.sh, which undo doesn't restore.",
    ]);
    expect(await now("run.sh")).toBe("echo hi\n");
  });

  test("one that changes nothing leaves nothing to undo", async () => {
    const { at, exec, checkpoints } = await world();
    await writeFile(at("a"), "text");
    await exec("t", "cat a; echo a message about a");
    expect(await checkpoints.list({ limit: 10 })).toEqual([]);
  });

  test("one that was cut off by a crash is told as such", async () => {
    const { at, around, checkpoints, place, undo, now } = await world();
    await writeFile(at("a"), "old");
    const plan = await createExec().plan({ command: "echo new > a" }, place);
    // The process dies within the work: nothing after it runs.
    void checkpoints.around(around("t", "c", "exec", plan), () => new Promise(() => {}));
    await expect.poll(() => checkpoints.list({ limit: 1 })).toHaveLength(1);
    await expect.poll(async () => (await checkpoints.list({ limit: 1 }))[0]!.files).toHaveLength(1);
    await writeFile(at("a"), "new\n");
    await checkpoints.settle("t", "c");
    const undone = await undo("t");
    expect(results(undone)).toEqual({ a: "lost" });
    expect(undone.notes.join()).toMatch(/interrupted; what it changed isn't known/);
    expect(await now("a")).toBe("new\n");
  });
});

describe("after a crash in the middle of a write", () => {
  const begin = async () => {
    const w = await world();
    await writeFile(w.at("a"), "old");
    const plan = await createWrite().plan({ path: "a", content: "new" }, w.place);
    void w.checkpoints.around(w.around("t", "c", "write", plan), () => new Promise(() => {}));
    await expect.poll(() => w.checkpoints.list({ limit: 1 })).toHaveLength(1);
    return w;
  };

  test("what it wrote is undone", async () => {
    const { at, checkpoints, undo, now } = await begin();
    await writeFile(at("a"), "new");
    await checkpoints.settle("t", "c");
    expect(results(await undo("t"))).toEqual({ a: "restored" });
    expect(await now("a")).toBe("old");
  });

  test("nothing is left to undo when it wrote nothing", async () => {
    const { checkpoints } = await begin();
    await checkpoints.settle("t", "c");
    expect(await checkpoints.list({ limit: 1 })).toEqual([]);
  });

  test("what somebody wrote since is not taken for the agent's (CHECKPOINTS-2)", async () => {
    const { at, checkpoints, undo, now } = await begin();
    await writeFile(at("a"), "somebody's work");
    await checkpoints.settle("t", "c");
    expect(results(await undo("t"))).toEqual({ a: "conflict" });
    expect(await now("a")).toBe("somebody's work");
  });
});

describe("room", () => {
  test("the same content is kept once", async () => {
    const { at, write, blobs } = await world();
    for (const name of ["a", "b", "c"]) await writeFile(at(name), "same");
    for (const name of ["a", "b", "c"]) await write("t", name, `new ${name}`);
    expect(await blobs()).toHaveLength(1);
  });

  test("over its size the oldest turns go, and their copies", async () => {
    const { at, write, checkpoints, blobs, undo, clock } = await world({ megabytes: 1, days: 14 });
    const big = (letter: string) => letter.repeat(400_000);
    await writeFile(at("a"), big("0"));
    for (const [i, turn] of ["t1", "t2", "t3", "t4"].entries()) {
      await write(turn, "a", big(String(i + 1)));
      clock.advance(1000);
    }
    await checkpoints.prune();
    expect((await checkpoints.list({ limit: 10 })).map((one) => one.turn)).toEqual(["t4", "t3"]);
    expect(await blobs()).toHaveLength(2);
    await expect(undo("t1")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(results(await undo("t4"))).toEqual({ a: "restored" });
  });

  test("over its time a turn goes, and its copies", async () => {
    const { at, write, checkpoints, blobs, clock } = await world();
    await writeFile(at("a"), "old");
    await write("t1", "a", "new");
    clock.advance(13 * 86_400_000);
    await checkpoints.prune();
    expect(await checkpoints.list({ limit: 10 })).toHaveLength(1);
    clock.advance(2 * 86_400_000);
    await checkpoints.prune();
    expect(await checkpoints.list({ limit: 10 })).toEqual([]);
    expect(await blobs()).toEqual([]);
  });

  test("with 0 megabytes nothing is kept and the work is done all the same", async () => {
    const { write, now, checkpoints } = await world({ megabytes: 0, days: 14 });
    await write("t", "a", "new");
    expect(await now("a")).toBe("new");
    expect(await checkpoints.list({ limit: 10 })).toEqual([]);
  });

  test("a store that cannot be written does not stop the work; there is nothing to undo then (CHECKPOINTS-4)", async () => {
    const { dir, at, write, undo, now } = await world();
    await writeFile(join(dir, "checkpoints"), "a file where the folder should be");
    await writeFile(at("a"), "old");
    await write("t", "a", "new");
    expect(await now("a")).toBe("new");
    await expect(undo("t")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
