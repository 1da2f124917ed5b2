// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as a shell reads them
/** `lares hooks` with the real program: what there is, a trial without consequences, and Claude Code's hooks after a yes. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { PROGRAM, startLares, startModel, toolResults } from "../support/index.ts";
import { scratch } from "../support/scratch.ts";

async function start(eventHooks: object = {}) {
  const home = scratch("user");
  const model = await startModel();
  const config = { policy: { mode: "record" }, eventHooks };
  const lares = await startLares({ env: { ...model.env, HOME: home }, config });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  const cli = (...args: string[]) => {
    const done = spawnSync(process.execPath, [PROGRAM, "hooks", ...args, "--home", lares.home], {
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", HOME: home, LARES_TOKEN: lares.token },
    });
    return { status: done.status, stdout: done.stdout, stderr: done.stderr };
  };
  const look = (from: string) => lares.rpc("hooks.import", { from });
  const exec = (command: string) => lares.chat("ana", `tool:exec ${JSON.stringify({ command })} then: say:done`);
  const result = () => toolResults(model.requests.at(-1)!).at(-1)!;
  return { lares, model, home, cli, look, exec, result };
}

function write(path: string, content: string | object): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content), { mode: 0o755 });
  return path;
}

const command = (text: string, more: object = {}) => ({ type: "command", command: text, ...more });
const hooksOn = (event: string, hook: object, matcher = "") => ({ [event]: [{ matcher, hooks: [hook] }] });

it("list shows what each hook hears and how its calls ended: denied, timed out, failed, no objection", async () => {
  const { cli, exec } = await start({
    commands: {
      PreToolUse: [
        { matcher: "Bash", hooks: [command("echo no >&2; exit 2"), command("sleep 60", { timeout: 0.3 })] },
        { matcher: "Edit", hooks: [command("exit 2")] },
      ],
      "turn.ended": [{ hooks: [command("exit 7")] }],
    },
  });
  const fresh = cli("list");
  expect(fresh.stdout).toContain("○ command:PreToolUse:1  Bash: echo no >&2; exit 2\n");
  expect(fresh.stdout).toContain("    is asked about tool.planned; denies if it fails\n");
  await exec("echo x");
  await expect.poll(() => cli("list").stdout, { timeout: 15_000 }).toContain("1 failed");
  const [denied, late, other, observer] = cli("list")
    .stdout.split(/^(?=[○✓✕])/m)
    .slice(1);
  expect(denied).toMatch(/✓ command:PreToolUse:1[\s\S]*1 call, 1 denied; last: it denied/);
  expect(late).toMatch(
    /✕ command:PreToolUse:2[\s\S]*1 call, 1 timed out; last: too late[\s\S]*didn't answer within 0.3 s/,
  );
  expect(other).toMatch(/○ command:PreToolUse:3[\s\S]*not called since Lares started/);
  expect(observer).toMatch(
    /✕ command:turn\.ended:1[\s\S]*hears turn\.ended[\s\S]*1 call, 1 failed[\s\S]*exited with code 7/,
  );
});

it("test calls a hook with an example, or with what you say; nothing of it counts", async () => {
  const { lares, cli, model } = await start({
    commands: hooksOn("PreToolUse", command("grep -q secret.txt && { echo keep out >&2; exit 2; }; exit 0"), "Write"),
  });
  const name = "command:PreToolUse:1";
  expect(cli("test", name)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/not run: its matcher "Write" doesn't include exec/),
  });
  const tried = (path: string) => cli("test", name, "--facts", JSON.stringify({ tool: "write", input: { path } }));
  expect(tried("a.txt").stdout).toMatch(/tool\.planned: no objection/);
  expect(tried("secret.txt").stdout).toMatch(/tool\.planned: denies: Hook "command:PreToolUse:1": keep out\./);
  expect(cli("test", name, "--facts", '{"colour":"red"}')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("colour"),
  });
  expect(cli("test", name, "--facts", "red").status).toBe(2);
  expect(cli("test", name, "--event", "no.such").status).toBe(2);
  expect((await lares.rpc("hooks.list", {})).hooks[0]).toMatchObject({ calls: 0, denied: 0, failures: 0 });
  expect(model.requests).toEqual([]);
});

it("PL-06: import shows Claude Code's commands, and a yes is good for exactly those that were shown (HOOKRUN-6)", async () => {
  const { lares, home, cli, look, exec, result } = await start();
  const proof = join(home, "proof");
  const shop = join(home, "src/shop");
  write(join(shop, ".claude/hooks/check.sh"), "#!/bin/sh\necho not in this shop >&2\nexit 2\n");
  const settings = join(shop, ".claude/settings.json");
  const hooks = {
    PreToolUse: [
      { matcher: "Bash", hooks: [command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh', { timeout: 600 })] },
    ],
    PreCompact: [{ hooks: [command(`touch ${proof}`)] }],
    Stop: [{ hooks: [{ type: "prompt", prompt: "is it good?" }, command(`touch ${proof}; echo "\${HOME:-}"`)] }],
  };
  write(settings, { permissions: {}, hooks });
  const { items } = await look(shop);
  expect(items.map(({ event, state, why }) => [event, state, why])).toEqual([
    ["PreToolUse", "new", undefined],
    ["PreCompact", "left out", "nothing in Lares corresponds to PreCompact"],
    ["Stop", "left out", "only commands can be taken over"],
    ["Stop", "new", undefined],
  ]);
  expect(items[0]).toMatchObject({
    hears: "tool.planned",
    matcher: "Bash",
    command: `"${shop}"/.claude/hooks/check.sh`,
    timeout: 60,
  });
  // Without a yes nothing is added, and without a terminal nobody can say it.
  expect(cli("import", shop)).toMatchObject({
    status: 2,
    stdout: expect.stringContaining(`"${shop}"/.claude/hooks/check.sh`),
  });
  expect((await lares.rpc("hooks.list", {})).hooks).toEqual([]);
  // The file changes between the look and the yes.
  write(settings, { hooks: { ...hooks, ...hooksOn("PreToolUse", command(`touch ${proof}`), "Bash") } });
  const late = await lares.rpc("hooks.import", { from: shop, yes: [items[0]!.id] });
  expect(late).toMatchObject({ added: 0, changed: 1 });
  expect((await lares.rpc("hooks.list", {})).hooks).toEqual([]);
  write(settings, { hooks });
  expect(cli("import", shop, "--yes")).toMatchObject({ status: 0, stdout: expect.stringContaining("Added 2 hooks.") });
  expect(existsSync(proof)).toBe(false);
  expect(readFileSync(join(lares.home, "lares.yaml"), "utf8")).toContain("/.claude/hooks/check.sh");
  expect((await look(shop)).items.map(({ state }) => state)).toEqual([
    "there already",
    "left out",
    "left out",
    "there already",
  ]);
  expect(cli("import", shop, "--yes").stdout).toContain("Nothing to add.");
  await exec("echo x");
  expect(result().text).toContain("not in this shop");
});

it("import keeps the shell's own variables, adds behind what is there, and leaves out what agents could change", async () => {
  const { lares, home, look, exec, result } = await start({
    commands: hooksOn("PreToolUse", command("exit 0"), "Write"),
  });
  const settings = write(join(home, ".claude/settings.json"), {
    hooks: hooksOn("PreToolUse", command('WHY=because; echo "${WHY}" >&2; exit 2'), "Bash"),
  });
  const { items } = await look(settings);
  expect(await lares.rpc("hooks.import", { from: settings, yes: [items[0]!.id] })).toMatchObject({
    added: 1,
    changed: 0,
  });
  const { hooks } = await lares.rpc("hooks.list", {});
  expect(hooks.map(({ shown }) => shown)).toEqual(["Write: exit 0", 'Bash: WHY=because; echo "${WHY}" >&2; exit 2']);
  await exec("echo x");
  expect(result().text).toContain("because");
  const own = write(join(lares.workspace(), ".claude/settings.json"), {
    hooks: hooksOn("PreToolUse", command("$CLAUDE_PROJECT_DIR/check.sh")),
  });
  write(join(lares.workspace(), "check.sh"), "exit 0\n");
  expect((await look(own)).items[0]).toMatchObject({
    state: "left out",
    why: expect.stringMatching(/agents can change .*check\.sh/),
  });
});

it("import reads plain settings only: no links that lead out, no pipes, no nesting without end", async () => {
  const { home, lares, look } = await start();
  const secret = write(join(home, "secret.json"), { hooks: hooksOn("Stop", command("leak")) });
  mkdirSync(join(home, "p/.claude"), { recursive: true });
  symlinkSync(secret, join(home, "p/.claude/settings.json"));
  write(join(home, "p/.claude/settings.local.json"), `{"hooks":${"[".repeat(100_000)}`);
  const { items } = await look(join(home, "p"));
  expect(items.map(({ state }) => state)).toEqual(["left out", "left out"]);
  expect(JSON.stringify(items)).not.toContain("leak");
  spawnSync("mkfifo", [join(home, "pipe")]);
  expect((await look(join(home, "pipe"))).items).toMatchObject([{ state: "left out" }]);
  await expect(lares.rpc("hooks.import", { from: join(home, "none") })).rejects.toThrow("no file or folder");
  write(join(home, "odd.json"), {
    hooks: { Stop: "x", PreToolUse: [{ hooks: [7, null, command("x".repeat(20_000))] }] },
  });
  expect((await look(join(home, "odd.json"))).items.every(({ state }) => state === "left out")).toBe(true);
});

it("test refuses an event that the hook doesn't hear, and names those it does", async () => {
  const { cli } = await start({ commands: hooksOn("PreToolUse", command("exit 2")) });
  const done = cli("test", "command:PreToolUse:1", "--event", "turn.ended");
  expect(done.status).not.toBe(0);
  expect(done.stderr).toContain('The hook "command:PreToolUse:1" doesn\'t hear turn.ended.');
  expect(done.stderr).toContain("It hears: tool.planned.");
});
