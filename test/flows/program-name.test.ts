/** Commands that Lares prints work where they are printed: in the terminal it was started from, on the page, in a chat. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scratch, startLares, TOKEN, until } from "../support/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCRIPT = join(ROOT, "bin/lares.js");

let home: string;
beforeEach(() => {
  home = scratch("name");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** What a command prints, on both streams, in a clean environment. */
function printed(program: string, args: string[], at: { cwd: string; path?: string }): string {
  const env = { PATH: at.path ?? "/usr/bin:/bin", HOME: home, LARES_HOME: join(home, "none") };
  const { stdout, stderr } = spawnSync(program, args, { cwd: at.cwd, env, encoding: "utf8" });
  return stdout + stderr;
}

test("from a clone a hint names the script, as it is reached from the working directory", () => {
  const inside = printed(process.execPath, ["bin/lares.js", "status"], { cwd: ROOT });
  expect(inside).toContain("node bin/lares.js gateway run");
  const elsewhere = printed(process.execPath, [SCRIPT, "status"], { cwd: home });
  expect(elsewhere).toContain(`node ${SCRIPT} gateway run`);
});

test.each([
  ["a missing word", ["approve"]],
  ["an unknown flag", ["chat", "--zzzz"]],
  ["the first page of help", ["--help"]],
  ["the bare program without a terminal", []],
  ["help about one command", ["sessions", "get", "--help"]],
  ["a noun alone", ["schedule"]],
  ["a word too many", ["channels", "list", "more"]],
])("from a clone no line says `lares …`: %s", (_what, args) => {
  const said = printed(process.execPath, ["bin/lares.js", ...args], { cwd: ROOT });
  expect(said).toContain("node bin/lares.js ");
  expect(said).not.toMatch(/(^|[^\w/.-])lares (?=[a-z-])/m);
});

test("a hint that is pasted into the same terminal runs", () => {
  const said = printed(process.execPath, [SCRIPT, "token"], { cwd: home });
  const hint = /(node \S+lares\.js) gateway run/.exec(said)![1]!;
  const [, script] = hint.split(" ");
  expect(printed(process.execPath, [script!, "--version"], { cwd: home })).toMatch(/^\d+\.\d+/);
});

test("installed as lares on the PATH, it is called lares", () => {
  const bin = join(home, "bin");
  mkdirSync(bin);
  chmodSync(SCRIPT, 0o755);
  symlinkSync(SCRIPT, join(bin, "lares"));
  const path = `${bin}:${join(process.execPath, "..")}:/usr/bin:/bin`;
  const said = printed(join(bin, "lares"), ["status"], { cwd: home, path });
  expect(said).toMatch(/(?<!\/)lares gateway run/);
  expect(said).not.toContain("lares.js");
});

test("npm start says what works next", async () => {
  const env = { PATH: "/usr/bin:/bin", HOME: home, LARES_HOME: home };
  const child = spawn(process.execPath, ["scripts/start.mjs", "--port", "0"], { cwd: ROOT, env });
  try {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk));
    await until("the start to be told", () => said.includes("Next"), { instead: () => said });
    // Typed in another terminal, which has no LARES_HOME.
    expect(said).toMatch(/Next +node bin\/lares\.js --home \S+ chat/);
  } finally {
    const gone = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await gone;
  }
});

test("the page is told the name, and never where things are", async () => {
  const asked = async (env: Record<string, string>) => {
    const lares = await startLares({ env });
    try {
      const program = (await (await fetch(`${lares.url}/program`)).json()) as unknown;
      const script = await (await fetch(`${lares.url}/login.js`)).text();
      const hints: string[] = [];
      for (const path of ["/rpc/status", "/v1/models"])
        hints.push(
          await (await fetch(`${lares.url}${path}`, { method: path === "/v1/models" ? "GET" : "POST" })).text(),
        );
      return { program, script, hints };
    } finally {
      await lares.dispose();
    }
  };
  const clone = await asked({ LARES_COMMAND: "" });
  expect(clone.program).toEqual({ program: "node bin/lares.js" });
  expect(clone.script).toContain('"node bin/lares.js"');
  expect(clone.script).not.toContain(ROOT);
  for (const hint of clone.hints) expect(hint).toContain("`node bin/lares.js token` prints it");
  const wrapped = await asked({ LARES_COMMAND: "docker exec lares lares" });
  expect(wrapped.program).toEqual({ program: "docker exec lares lares" });
  for (const hint of wrapped.hints) expect(hint).toContain("`docker exec lares lares token` prints it");
});

test("in a chat a hint names a command that works", async () => {
  const lares = await startLares({ env: { LARES_COMMAND: "" } });
  try {
    const none = await lares.chat("owner", "/export");
    expect(none.response).toContain("Nothing to export here");
    await lares.chat("owner", "hello");
    const answer = await lares.chat("owner", "/export");
    expect(answer.response).toContain("node bin/lares.js sessions export");
  } finally {
    await lares.dispose();
  }
});

test("a skill that speaks of commands is shown word for word", async () => {
  const lares = await startLares({ env: { LARES_COMMAND: "" } });
  try {
    const folder = join(lares.home, "agents/main/skills/notes");
    mkdirSync(folder, { recursive: true });
    const body = "Run `lares chat`, then lares sessions list.";
    writeFileSync(join(folder, "SKILL.md"), `---\nname: notes\ndescription: Notes.\n---\n${body}\n`);
    writeFileSync(join(folder, "more.md"), `${body}\n`);
    const env = { PATH: "/usr/bin:/bin", HOME: home, LARES_TOKEN: TOKEN };
    for (const more of [[], ["--file", "more.md"]]) {
      const args = [SCRIPT, "skills", "show", "notes", ...more, "--agent", "main", "--home", lares.home];
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: home, env, encoding: "utf8" });
      expect(stdout, stderr).toContain(body);
    }
  } finally {
    await lares.dispose();
  }
});

test("an answer that speaks of commands stays word for word", () => {
  const out = execFileSync(process.execPath, ["--import", "tsx", "-e", QUOTE], { cwd: ROOT, encoding: "utf8" });
  expect(out).toBe("say: lares chat\nprint: lares chat\nsee: node x chat\n");
});

const QUOTE = `
  import { makeOutput } from "./src/faces/cli/output.ts";
  const out = makeOutput({ stdout: process.stdout, stderr: process.stderr, env: { noColor: true }, program: { here: "node x" } }, { json: false, quiet: false });
  out.raw("say: lares chat\\n");
  out.say("print: lares chat");
  out.say(out.ours("see: lares chat"));
`;
