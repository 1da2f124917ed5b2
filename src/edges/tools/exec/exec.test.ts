import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../test/support/until.ts";
import type { JsonObject } from "../../../core/domain/index.ts";
import { createRead } from "../files/read.ts";
import { never, type Scene, scene } from "../testing.ts";
import { RUN_TAG } from "./environment.ts";
import { createExec } from "./exec.ts";

let runs = 0;
const newKey = () => `test-${process.pid}-${++runs}`;
const exec = (place: Scene, input: JsonObject, key = newKey(), signal = never) =>
  createExec().run(input, place, key, signal);

/** Pids that carry the key, found without any code under test. A dead process that nobody has fetched yet has none. */
function alive(key: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`${RUN_TAG}=${key}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const touched: string[] = [];
function setEnv(name: string, value: string) {
  touched.push(name);
  process.env[name] = value;
}
afterEach(() => {
  for (const name of touched.splice(0)) delete process.env[name];
});

test("output comes first, the exit line last, code and time in meta", async () => {
  const place = await scene();
  const result = await exec(place, { command: "echo hello; exit 3" });
  expect(result.text).toMatch(/^hello\n\[exit 3, \d+\.\d s\]$/);
  expect(result).toMatchObject({ isError: true, meta: { exit: 3, signal: null, how: "exited", cwd: place.workspace } });
  expect((await exec(place, { command: "true" })).isError).toBeUndefined();
});

test("stdout and stderr keep their order and can be opened by name", async () => {
  const command = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; echo named > /dev/stderr";
  const { text } = await exec(await scene(), { command });
  expect(text).toMatch(/^out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nnamed\n\[exit 0/);
});

test("EN-01, EN-03, EN-05: nothing of the parent's environment reaches a command (EXEC-1)", async () => {
  const place = await scene();
  await writeFile(join(place.out, "evil.sh"), "echo PWNED\n");
  setEnv("BASH_ENV", join(place.out, "evil.sh"));
  setEnv("ENV", join(place.out, "evil.sh"));
  setEnv("LD_PRELOAD", "/nonexistent/evil.so");
  setEnv("NODE_OPTIONS", "--require /nonexistent/evil.js");
  setEnv("BASH_FUNC_ls%%", "() { echo PWNED; }");
  setEnv("OPENAI_API_KEY", "sk-canary");
  setEnv("PATH_EXTRA", "x");
  const key = newKey();
  const { text } = await exec(place, { command: "ls >/dev/null; /usr/bin/env" }, key);
  expect(text).not.toMatch(/PWNED|evil|canary/);
  const names = text
    .split("\n")
    .filter((line) => line.includes("=") && !line.startsWith("["))
    .map((line) => line.split("=")[0]);
  // PWD, SHLVL, OLDPWD and _ are bash's own.
  const own = ["PWD", "SHLVL", "OLDPWD", "_"];
  expect(names.filter((name) => !own.includes(name!)).sort()).toEqual(
    ["GIT_CEILING_DIRECTORIES", "HOME", "LANG", "LARES_RUN", "LC_ALL", "PATH", "TERM", "TZ"].sort(),
  );
  expect(text).toContain(`HOME=${place.workspace}\n`);
  expect(text).toContain(`${RUN_TAG}=${key}\n`);
});

test("standard input is closed: a command that reads does not wait", async () => {
  expect((await exec(await scene(), { command: "cat; echo done" })).text).toMatch(/^done\n/);
});

test("the working directory is inside the workspace or it is refused", async () => {
  const place = await scene();
  await mkdir(join(place.workspace, "sub"));
  await symlink(place.out, join(place.workspace, "link"));
  expect((await exec(place, { command: "pwd", cwd: "sub" })).text).toContain(join(place.workspace, "sub"));
  for (const cwd of ["..", "link", "/", "~"]) {
    await expect(exec(place, { command: "touch pwned", cwd }), cwd).rejects.toEqual(
      expect.objectContaining({ code: "PATH_OUTSIDE" }),
    );
    expect((await createExec().plan({ command: "ls", cwd }, place)).outside, cwd).toBeTruthy();
  }
  expect(await readdir(place.out)).toEqual(["secret"]);
});

test("AP-03: a working directory that was swapped changes the binding", async () => {
  const place = await scene();
  await mkdir(join(place.workspace, "a"));
  const first = await createExec().plan({ command: "ls", cwd: "a" }, place);
  await rename(join(place.workspace, "a"), join(place.workspace, "b"));
  await mkdir(join(place.workspace, "a"));
  const second = await createExec().plan({ command: "ls", cwd: "a" }, place);
  expect(second.binding.cwd).toBe(first.binding.cwd);
  expect(second.binding.cwd_id).not.toBe(first.binding.cwd_id);
});

test("the plan shows hidden characters spelt out and the end of a long command, and binds argv and environment", async () => {
  const place = await scene();
  const command = `echo ${"a".repeat(9000)}\u202e; pwn\r\nls`;
  const plan = await createExec().plan({ command }, place);
  expect(plan.shown).toContain("\\u{202e}; pwn\\u{d}\n> ls\n[programs: echo, pwn\\u{d}, ls]");
  expect(plan.shown).toMatch(/\[… \d+ of 9026 characters not shown …\]/);
  expect(plan).toMatchObject({ risk: "exec", targets: ["/bin/bash", "-c", command] });
  expect(plan.binding).toMatchObject({ argv: ["/bin/bash", "-c", command], env: { HOME: place.workspace } });
});

test("a command too long to be read by a person, and one with a NUL, are refused", async () => {
  const place = await scene();
  await expect(createExec().plan({ command: "x".repeat(16_001) }, place)).rejects.toThrow(/at most 16000 are allowed/);
  await expect(createExec().plan({ command: "ls\0 pwn" }, place)).rejects.toThrow(/NUL/);
  await expect(createExec().plan({ command: "ls", timeout_s: 601 }, place)).rejects.toThrow(/"timeout_s"/);
});

test("EXEC-3: a plain command is started by argv without a shell, pinned by real path, under the name it was called by", async () => {
  const place = await scene();
  const plan = await createExec().plan({ command: "  e\\cho '$(x)' \"a b\" # comment" }, place);
  expect(plan).toMatchObject({ targets: ["/usr/bin/echo", "$(x)", "a b"], shell: { form: "argv", reasons: [] } });
  expect(plan.binding).toMatchObject({ argv: ["/usr/bin/echo", "$(x)", "a b"], argv0: "echo" });
  expect((await exec(place, { command: "echo '$(x)' \"a b\"" })).text).toMatch(/^\$\(x\) a b\n/);
  // The supervisor is a shell; it passes the words on and reads none of them.
  const words = "'a;b' '`x`' '*' '$HOME' '>out' 'X=1' '' '#c'";
  expect((await exec(place, { command: `/usr/bin/printf '%s|' ${words}` })).text).toMatch(
    /^a;b\|`x`\|\*\|\$HOME\|>out\|X=1\|\|#c\|\n/,
  );
  expect(await readdir(place.workspace)).toEqual([]);
  expect((await exec(place, { command: "sh -c 'echo $0'" })).text).toMatch(/^sh\n/);
});

test("EXEC-4: plain commands in a row reach the shell as a text made from their words", async () => {
  const place = await scene();
  const plan = await createExec().plan({ command: "ls   -a # x\n echo 'a  b'|cat" }, place);
  expect(plan.shell).toMatchObject({ form: "rendered", reasons: [] });
  expect(plan.binding.argv).toEqual(["/bin/bash", "-c", "/usr/bin/ls -a\n/usr/bin/echo 'a  b' | /usr/bin/cat"]);
  expect((await exec(place, { command: "echo one && echo 'it'\\''s' | cat" })).text).toMatch(/^one\nit's\n/);
});

test("what an approval is bound to changes with a script's contents and with the program's file", async () => {
  const place = await scene();
  await writeFile(join(place.workspace, "job.sh"), "echo one\n");
  const before = await createExec().plan({ command: "bash job.sh" }, place);
  expect(before.binding.files).toEqual([expect.objectContaining({ path: join(place.workspace, "job.sh") })]);
  await writeFile(join(place.workspace, "job.sh"), "echo two\n");
  const after = await createExec().plan({ command: "bash job.sh" }, place);
  expect(after.binding).not.toEqual(before.binding);
  expect(after.targets).not.toEqual(before.targets);
});

test("builtins and unknown names still go to the shell", async () => {
  const place = await scene();
  expect((await exec(place, { command: "type cd" })).text).toMatch(/^cd is a shell builtin/);
  expect((await exec(place, { command: "no-such-program" })).text).toMatch(/command not found\n\[exit 127/);
});

const STUBBORN = `trap '' TERM; sleep 300 & wait; sleep 300`;

test("TOOL-2: on timeout the whole tree ends: children, double-forked, setsid, nohup, deaf to SIGTERM", async () => {
  const place = await scene();
  const key = newKey();
  const command = `
    (setsid bash -c '${STUBBORN.replaceAll("'", "'\\''")}' >/dev/null 2>&1 &)
    ( (nohup setsid sleep 300 >/dev/null 2>&1 &) & )
    sleep 300 & echo started; sleep 300`;
  const result = await exec(place, { command, timeout_s: 1 }, key);
  expect(result.text).toMatch(/^started\n(.*\n)*\[timed out and was ended with all its processes, \d/);
  expect(result.text).toMatch(
    /\n\[It was stopped after 1 s\. Anything it had already done remains.*timeout_s \(up to 600\)/,
  );
  expect(result).toMatchObject({ isError: true, meta: { how: "timeout" } });
  expect(alive(key)).toEqual([]);
});

test("TOOL-2: on abort the whole tree ends and the outcome says so", async () => {
  const place = await scene();
  const key = newKey();
  const stop = new AbortController();
  const running = exec(place, { command: "(setsid sleep 300 &); touch up; sleep 300" }, key, stop.signal);
  await until(
    "the file, and what runs beside it",
    () => existsSync(join(place.workspace, "up")) && alive(key).length > 1,
  );
  stop.abort();
  expect((await running).text).toMatch(/stopped by request/);
  expect(alive(key)).toEqual([]);
});

test("a call that is aborted already starts nothing", async () => {
  const place = await scene();
  await expect(exec(place, { command: "touch x" }, newKey(), AbortSignal.abort())).rejects.toThrow();
  expect(await readdir(place.workspace)).toEqual([]);
});

test("EXEC-2: what a command leaves in the background is ended and counted, without waiting for it", async () => {
  const key = newKey();
  const { text } = await exec(await scene(), { command: "sleep 300 & echo done" }, key);
  expect(text).toMatch(/^done\n\[exit 0, \d\.\d s; 1 background process was ended\]$/);
  expect(alive(key)).toEqual([]);
});

test("processes of another run are left alone", async () => {
  const other = spawn("/bin/sleep", ["300"], { env: { [RUN_TAG]: "somebody-else" }, detached: true });
  try {
    await exec(await scene(), { command: "sleep 300", timeout_s: 1 });
    expect(alive("somebody-else")).toHaveLength(1);
  } finally {
    other.kill("SIGKILL");
  }
});

test("after a crash the probe ends what still runs under the key and claims nothing", async () => {
  const place = await scene();
  const key = newKey();
  spawn("/bin/sleep", ["300"], { env: { [RUN_TAG]: key }, detached: true, stdio: "ignore" });
  await until("the process", () => alive(key).length === 1);
  expect(
    await createExec().probe!({ command: "sleep 300" }, place, key, { sameBoot: true, signal: never }),
  ).toBeUndefined();
  expect(alive(key)).toEqual([]);
});

test("long output is cut to head and tail, and the whole is on disk", async () => {
  const place = await scene();
  const key = "turn:7/../step 3";
  const result = await exec(place, { command: "seq 1 100000" }, key);
  const whole = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join("");
  const spill = join(place.spillDir, "turn_7_.._step_3.txt");
  expect(result.text.length).toBeLessThan(30_500);
  const [head, , tail] = result.text.split(/\n(\[… .* …\])\n/) as [string, string, string];
  expect(head).toBe(whole.slice(0, 10_000));
  expect(tail.replace(/\[exit 0.*$/, "")).toBe(whole.slice(-20_000));
  expect(result.text).toContain(
    `${whole.length - 30_000} characters cut; the full output (575.1 KB) is in .lares/out/turn_7_.._step_3.txt; `,
  );
  expect(result.meta).toMatchObject({ spill, bytes: whole.length });
  // The call it names goes on where the head ends.
  const call = JSON.parse(/go on with read (\{.*?\})/.exec(result.text)![1]!);
  const rest = (await createRead().run(call, place, "k", never)).text;
  expect(rest.startsWith(head.slice(head.lastIndexOf("\n") + 1))).toBe(true);
  expect(await readFile(spill, "utf8")).toBe(whole);
  expect((await stat(spill)).mode & 0o077).toBe(0);
});

test("output that fits leaves no file behind", async () => {
  const place = await scene();
  await exec(place, { command: "seq 1 100" });
  expect(await readdir(place.workspace)).toEqual([]);
});

test("a command that never stops talking is bounded on disk and ends on time", async () => {
  const place = await scene();
  const result = await exec(place, { command: "yes", timeout_s: 1 }, "yes");
  expect((await stat(join(place.spillDir, "yes.txt"))).size).toBeLessThanOrEqual(50 * 1024 * 1024);
  expect(result.meta).toMatchObject({ how: "timeout" });
});

test("a guest's command gets no secrets, and its card names none", async () => {
  const place = await scene();
  const tool = createExec({ secrets: () => ({ DEPLOY_KEY: { reveal: () => "s3cret" } }) });
  const as = (authority: "owner" | "known" | "stranger") => ({ ...place, caller: { ...place.caller, authority } });
  for (const authority of ["owner", "known"] as const) {
    expect((await tool.run({ command: "env" }, as(authority), newKey(), never)).text).toContain("DEPLOY_KEY=s3cret");
  }
  expect((await tool.run({ command: "env" }, as("stranger"), newKey(), never)).text).not.toContain("DEPLOY_KEY");
  expect((await tool.plan({ command: "env" }, as("stranger"))).shown).not.toContain("secrets");
});
