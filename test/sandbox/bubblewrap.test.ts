/** Real commands in a real bubblewrap, as whoever runs the tests (root too: then the kernel would allow everything else). */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createExec } from "../../src/edges/tools/index.ts";
import { createBubblewrap } from "../../src/edges/tools/sandbox/index.ts";
import { needs, until } from "../support/index.ts";
import { measureSandbox } from "./measure.ts";
import { alive, CANARY, confinement, never, newKey, type World, world } from "./support.ts";

const works = await createBubblewrap().available();
const exec = (at: World, command: string, config: object = {}, more: object = {}) =>
  createExec({ sandbox: confinement(at, config) }).run({ command, ...more }, at, newKey(), never);

const canRun = needs("bwrap", `commands in bubblewrap${works.ok ? "" : `: ${works.why}`}`, works.ok);
describe.skipIf(!canRun)("in bubblewrap", () => {
  test("the workspace is written to, everything else is not", async () => {
    // Not in /tmp or /dev/shm: a command has its own of those.
    const cache = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
    mkdirSync(cache, { recursive: true });
    const at = world(mkdtempSync(join(cache, "sandbox-")));
    const targets = [
      at.outside,
      at.home,
      at.agentDir,
      at.userHome,
      "/",
      "/etc",
      "/usr/local/bin",
      "/proc/sys/kernel",
      "/root",
      "/home",
      "/var/lib",
    ];
    const tries = targets.map((dir) => `(mkdir -p ${dir}; echo x > ${dir}/lares-pwned) && echo WROTE ${dir}`);
    const { text } = await exec(at, `echo mine > own; ${tries.join("; ")}; cat own`);
    // Where the sources themselves lie in /tmp, the command wrote into a /tmp of its own; below, nothing of it is there.
    const wrote = [...text.matchAll(/^WROTE (.*)$/gm)].map((match) => match[1]!);
    expect(wrote.filter((dir) => !/^\/(tmp|dev\/shm)\//.test(dir))).toEqual([]);
    expect(text).toContain("mine\n[exit 0");
    expect(readFileSync(join(at.workspace, "own"), "utf8")).toBe("mine\n");
    for (const dir of targets) expect(existsSync(join(dir, "lares-pwned")), dir).toBe(false);
  });

  test("the home of Lares, keys, and what only root may read are not to be seen", async () => {
    const at = world();
    const files = [
      join(at.home, "lares.db"),
      join(at.home, "token"),
      join(at.agentDir, "SOUL.md"),
      join(at.userHome, ".ssh/id_ed25519"),
      join(at.outside, "file"),
      "/etc/shadow",
      "/etc/gshadow",
      "/root/.bashrc",
      "/var/run/docker.sock",
    ];
    const { text } = await exec(at, `cat ${files.join(" ")} 2>/dev/null; ls -A ${at.home} ${at.userHome}; ls / /run`);
    expect(text).not.toContain(CANARY);
    expect(text).not.toMatch(/root:|lares\.db|\.ssh|token|docker/);
    expect((await exec(at, "cat /etc/passwd")).text).toContain("root:");
  });

  test("links and hard links out of the workspace lead nowhere", async () => {
    const at = world();
    symlinkSync(at.outside, join(at.workspace, "out"));
    symlinkSync("/proc/1/root", join(at.workspace, "up"));
    const { text } = await exec(
      at,
      `cat out/file; cat up${at.outside}/file; ln ${at.outside}/file hard; echo x > out/new; cat /proc/*/root${at.outside}/file`,
    );
    expect(text).not.toContain(CANARY);
    expect(existsSync(join(at.outside, "new"))).toBe(false);
  });

  test("other processes are not to be seen or signalled", async () => {
    const at = world();
    const { text } = await exec(at, `kill -0 ${process.pid} && echo REACHED; ls -d /proc/[0-9]* | wc -l`);
    expect(text).not.toContain("REACHED");
    expect(Number(/(\d+)\n\[exit/.exec(text)![1])).toBeLessThan(8);
  });

  test("the network is off, and on when the rules say so", async () => {
    const at = world();
    const server = createServer((_q, a) => void a.end("the far side")).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await until("listening", () => server.listening);
    const { port } = server.address() as AddressInfo;
    const ask = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
    const off = await exec(at, ask);
    expect(off).toMatchObject({ isError: true, text: expect.not.stringContaining("the far side") });
    expect((await exec(at, ask, { network: true })).text).toContain("the far side");
    for (const network of ["off", "no", "False", "none", "disabled"]) {
      const word = await exec(at, ask, { network });
      expect(word, network).toMatchObject({ isError: true, text: expect.not.stringContaining("the far side") });
    }
  });

  test("the environment is the command's own and nothing else", async () => {
    const at = world();
    process.env.LARES_TEST_CANARY = CANARY;
    onTestFinished(() => {
      delete process.env.LARES_TEST_CANARY;
    });
    const secrets = () => ({ DEPLOY_KEY: { reveal: () => "s3cret" }, PATH: { reveal: () => "/evil" } });
    const tool = createExec({ sandbox: confinement(at), secrets });
    const { text } = await tool.run({ command: "/usr/bin/env" }, at, newKey(), never);
    const names = text.split("\n").flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    expect(names.sort()).toEqual(
      [
        "DEPLOY_KEY",
        "GIT_CEILING_DIRECTORIES",
        "HOME",
        "LANG",
        "LARES_RUN",
        "LC_ALL",
        "PATH",
        "PWD",
        "TERM",
        "TZ",
      ].sort(),
    );
    expect(text).toContain("DEPLOY_KEY=s3cret");
    expect(text).not.toMatch(/evil|canary/);
    const plan = await tool.plan({ command: "env" }, at);
    expect(plan.shown).toContain("[with the secrets DEPLOY_KEY, PATH]");
    expect(JSON.stringify(plan)).not.toContain("s3cret");
  });

  test("a secret is on no command line", async () => {
    const at = world();
    const key = newKey();
    const tool = createExec({ sandbox: confinement(at), secrets: () => ({ KEY: { reveal: () => "s3cret" } }) });
    const done = tool.run({ command: "touch begun; until [ -e go ]; do sleep 0.02; done" }, at, key, never);
    await until("begun", () => existsSync(join(at.workspace, "begun")));
    const lines = alive(key).map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join()).not.toContain("s3cret");
    writeFileSync(join(at.workspace, "go"), "");
    await done;
  });

  test("no rights are left: no capabilities, and the machine's settings cannot be changed", async () => {
    const at = world();
    const { text } = await exec(
      at,
      'grep CapEff /proc/self/status; v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern && echo CHANGED; mount -t tmpfs x /tmp && echo MOUNTED; echo s > /proc/sysrq-trigger && echo RQ',
    );
    expect(text).toContain("CapEff:\t0000000000000000");
    expect(text).not.toMatch(/CHANGED|MOUNTED|RQ/);
  });

  test("a readable folder is read and not written, and what is hidden inside it stays hidden", async () => {
    const at = world();
    mkdirSync(join(at.outside, "deep"));
    const { text } = await exec(at, `cat ${at.outside}/file; touch ${at.outside}/deep/x`, { readable: [at.outside] });
    expect(text).toContain(CANARY);
    expect(text).toContain("Read-only file system");
    const brave = { readable: [at.userHome], dangerouslyAllow: ["binds"] };
    const inside = await exec(
      at,
      `cat ${at.home}/token ${at.userHome}/.ssh/*; ls -A ${at.home}; touch here; ls`,
      brave,
    );
    expect(inside.text).not.toContain(CANARY);
    expect(inside.text).toContain("here");
    expect(statSync(join(at.workspace, "here")).isFile()).toBe(true);
  });

  test("what it leaves behind ends with it, and a timeout ends all of it", async () => {
    const at = world();
    const key = newKey();
    const tool = createExec({ sandbox: confinement(at) });
    await tool.run({ command: "setsid -f env -i sleep 300; sleep 300 & echo left" }, at, key, never);
    expect(alive(key)).toEqual([]);
    const late = await tool.run(
      { command: "trap 'echo cleaned > cleaned; exit' TERM; sleep 300 & wait", timeout_s: 1 },
      at,
      key,
      never,
    );
    expect(late.text).toContain("timed out");
    // It was asked first, and had time to clean up.
    expect(readFileSync(join(at.workspace, "cleaned"), "utf8")).toBe("cleaned\n");
    expect(alive(key)).toEqual([]);
  });

  test("programs keep the name they were called by, and exit codes theirs", async () => {
    const at = world();
    expect((await exec(at, "awk 'BEGIN { print 1 + 1; exit 7 }'")).text).toMatch(/^2\n\[exit 7/);
    expect((await exec(at, "echo out; echo err > /dev/stderr")).text).toMatch(/^out\nerr\n/);
    expect((await exec(at, "pwd", {}, { cwd: "." })).text).toContain(at.workspace);
  });

  test("who is asked reads where it will run, and an approval is bound to it", async () => {
    const at = world();
    const plan = (config: object) => createExec({ sandbox: confinement(at, config) }).plan({ command: "ls" }, at);
    const [shut, open, none] = await Promise.all([plan({}), plan({ network: true }), plan({ backend: "none" })]);
    expect(shut.shown).toContain("up to 120 s, in a sandbox (bubblewrap) without network, /tmp is its own]");
    expect(open.shown).toContain("in a sandbox (bubblewrap) with network, /tmp is its own]");
    expect(none.shown).toContain("without a sandbox: the config says so]");
    // "Allow always" in a sandbox is no word on running without one.
    expect(none.targets).toEqual([...shut.targets, "without a sandbox"]);
    expect(new Set([shut, open, none].map((p) => JSON.stringify(p.binding))).size).toBe(3);
  });

  test("a command in the foreground dies with Lares", async () => {
    const at = world();
    const key = newKey();
    const room = await confinement(at).room(at.workspace);
    const { argv, env } = await room.wrap({
      argv: ["/bin/sh", "-c", "touch begun; sleep 300"],
      cwd: at.workspace,
      env: { PATH: "/usr/bin:/bin", LARES_RUN: key },
      key,
    });
    const code = `require("child_process").spawn(${JSON.stringify(argv[0])}, ${JSON.stringify(argv.slice(1))}, {detached: true, stdio: "ignore", env: ${JSON.stringify(env)}}); setInterval(() => {}, 1000)`;
    const lares = spawn(process.execPath, ["-e", code], { stdio: "ignore" });
    await until("the command to begin", () => existsSync(join(at.workspace, "begun")));
    lares.kill("SIGKILL");
    await until("all of it to end", () => alive(key).length === 0);
  });

  test("shutting in costs little (measured, not judged)", async () => {
    const { plainMs, sandboxMs } = await measureSandbox(5);
    process.stderr.write(`sandbox start: ${sandboxMs.toFixed(1)} ms, plain ${plainMs.toFixed(1)} ms\n`);
    expect(sandboxMs).toBeGreaterThan(0);
  });
});
