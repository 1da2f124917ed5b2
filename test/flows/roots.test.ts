/** An agent works in project folders besides its workspace, and reads elsewhere when it is allowed to. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lares, needs, startLares, startModel } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "lares-roots-")));
const app = join(base, "app");
const docs = join(base, "docs");
let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  for (const dir of [app, docs]) mkdirSync(dir);
  writeFileSync(join(app, "main.txt"), "one\n");
  writeFileSync(join(docs, "guide.txt"), "the guide\n");
  writeFileSync(join(base, "other.txt"), "the other\n");
  writeFileSync(join(docs, ".env"), "SECRET=1\n");
  symlinkSync(base, join(app, "out"));
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: {
      gateway: { http: { wait: 0.05 } },
      agents: { main: { roots: [app] } },
      policy: { allow: { read: [`${docs}/**`], write: [`${app}/**`], exec: ["git *", "cat *", "touch *"] } },
    },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
  rmSync(base, { recursive: true, force: true });
});

const call = (user: string, tool: string, input: object) =>
  lares.rpc("chat.send", { user, message: `tool:${tool} ${JSON.stringify(input)} then: say:{results}`, agent: "main" });

describe("a project folder", () => {
  it("is read, listed, searched, written and edited like the workspace", async () => {
    const at = (name: string) => join(app, name);
    expect((await call("r1", "read", { path: at("main.txt") })).response).toContain("one");
    expect((await call("r2", "list", { path: app })).response).toContain("main.txt");
    expect((await call("r3", "search", { pattern: "one", path: app })).response).toContain("one");
    expect((await call("r4", "write", { path: at("new.txt"), content: "made" })).state).toBe("answered");
    expect(readFileSync(at("new.txt"), "utf8")).toBe("made");
    expect((await call("r5", "edit", { path: at("new.txt"), old: "made", new: "edited" })).state).toBe("answered");
    expect(readFileSync(at("new.txt"), "utf8")).toBe("edited");
  });

  it("is where commands run, and nothing in it is outside", async () => {
    expect((await call("c2", "exec", { command: `cat ${app}/main.txt` })).response).toContain("one");
    await call("c3", "exec", { command: "touch made-here", cwd: app });
    expect(existsSync(join(app, "made-here"))).toBe(true);
  });

  it.skipIf(!needs("git", "git in a project folder"))("git works there", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], { cwd: app, stdio: "ignore" });
    git("init", "-q");
    git("add", "main.txt");
    git("commit", "-qm", "one");
    const seen = await call("c1", "exec", { command: "git log --oneline", cwd: app });
    expect(seen.response).toMatch(/one\n\[exit 0/);
  });

  it("is named to the agent", async () => {
    await call("p1", "list", { path: app });
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain(`the project folders ${app}`);
  });

  it("does not reach further: links out of it and folders beside it stay closed", async () => {
    for (const path of [join(app, "out/other.txt")]) {
      expect((await call(`l-${path}`, "read", { path })).response).toMatch(/not allowed/i);
    }
    expect((await call("l2", "write", { path: join(base, "x"), content: "x" })).response).toMatch(/not allowed/i);
    expect(existsSync(join(base, "x"))).toBe(false);
    expect((await call("l3", "exec", { command: "cat out/other.txt", cwd: app })).approval).toBeDefined();
  });

  it("is undone like the workspace", async () => {
    const { turn } = await call("u1", "write", { path: join(app, "main.txt"), content: "two" });
    expect(readFileSync(join(app, "main.txt"), "utf8")).toBe("two");
    const undone = await lares.rpc("undo.turn", { turn });
    expect(undone.files.map((one) => one.result)).toEqual(["restored"]);
    expect(readFileSync(join(app, "main.txt"), "utf8")).toBe("one\n");
  });
});

describe("reading elsewhere", () => {
  it("a rule for read covers the files below it", async () => {
    expect((await call("a1", "read", { path: join(docs, "guide.txt") })).response).toContain("the guide");
    expect((await call("a2", "list", { path: docs })).response).toContain("guide.txt");
  });

  it("commands see what a rule for read allows, also below /tmp", async () => {
    const seen = await call("a8", "exec", { command: `cat ${docs}/guide.txt` });
    expect(seen.response).toContain("the guide");
  });

  it.skipIf(!needs("bwrap", "a folder that commands may only read"))(
    "and cannot change it or look beside it",
    async () => {
      const command = `touch ${docs}/new.txt; ls ${base}`;
      const message = `tool:exec ${JSON.stringify({ command })} then: say:{results}`;
      const { approval, turn } = await lares.rpc("chat.send", { user: "a9", message, agent: "main" });
      await lares.rpc("approvals.resolve", { id: approval!.id, decision: "allow-once" });
      const { response } = await lares.rpc("turns.wait", { turn });
      expect(response).toContain("Read-only file system");
      expect(response).not.toContain("other.txt");
      expect(existsSync(join(docs, "new.txt"))).toBe(false);
    },
  );

  it("without a rule it asks, and reads once it is allowed", async () => {
    const message = `tool:read ${JSON.stringify({ path: join(base, "other.txt") })} then: say:{results}`;
    const { approval, turn } = await lares.rpc("chat.send", { user: "a3", message, agent: "main" });
    expect(approval!.because).toContain("outside the workspace");
    await lares.rpc("approvals.resolve", { id: approval!.id, decision: "allow-once" });
    expect((await lares.rpc("turns.wait", { turn })).response).toContain("the other");
  });

  it("asks for secrets even with a rule, and never opens places of credentials", async () => {
    expect((await call("a4", "read", { path: join(docs, ".env") })).approval).toBeDefined();
    expect((await call("a5", "read", { path: join(homedir(), ".ssh/id_rsa") })).response).toMatch(/not allowed/i);
    expect((await call("a6", "read", { path: join(lares.home, "token") })).response).toMatch(/not allowed/i);
    expect((await call("a7", "search", { pattern: "x", path: homedir() })).response).toMatch(/not allowed/i);
  });
});

it.each(["/", "~/", homedir(), "/etc", "HOME", "HOME/agents"])("%s can be no agent's folder", async (path) => {
  const { openRoots } = await import("../../src/edges/tools/index.ts");
  const config = { agents: { main: { roots: [path.replace("HOME", lares.home)] } } };
  const roots = openRoots(pretend(config), { home: lares.home, userHome: homedir() });
  expect(() => roots.check()).toThrow(/can't work in/);
  expect(roots.of("main")).toEqual([]);
});
