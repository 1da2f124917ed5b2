/** Every example on the help pages, run in a shell as it is written, with the real program on a home that has what they name. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "../../src/faces/cli/words/table/index.ts";
import { type Lares, PROGRAM, startLares, TOKEN } from "../support/index.ts";
import { scratch } from "../support/scratch.ts";

/** Ids and codes are made up; the command says that nobody has one like it. */
const MADE_UP = /\b(?:3f9a2c|3f9c1a|abc123|t_01hxyz|K7QW2MXA)\b/;

/** Commands whose example cannot end well on this home, with the code they end with. */
const ENDS: Readonly<Record<string, readonly [code: number, why: string]>> = {
  "watch resume": [5, "nothing is watched"],
  "channels add": [2, "the token is asked for in a terminal"],
  "channels status": [5, "no channel is connected"],
  "channels test": [5, "no channel is connected"],
  "channels remove": [5, "no channel is connected"],
  onboard: [2, "there is no key in the environment"],
  "a2a add": [2, "no token comes in on standard input"],
  "a2a test": [5, "there is no peer of that name"],
  "a2a remove": [5, "there is no peer of that name"],
  "mcp login": [5, "there is no server of that name"],
  "mcp import": [5, "there is no such file"],
  "plugins install": [2, "the yes is asked for in a terminal"],
  "plugins update": [5, "there is no plugin of that name"],
  "plugins enable": [5, "there is no plugin of that name"],
  "plugins disable": [5, "there is no plugin of that name"],
  "plugins remove": [5, "there is no plugin of that name"],
  "hooks test": [5, "there is no hook of that name"],
  "hooks import": [5, "there is no such file"],
  "import openclaw": [5, "there is no such folder"],
  "import hermes": [5, "there is no such folder"],
  "import accept": [5, "nothing was imported"],
  "backup list": [5, "there is no backup"],
  "backup verify": [5, "there is no backup"],
  "backup restore": [2, "the yes is asked for in a terminal"],
  "board show": [5, "there is no task of that number"],
  "board comment": [5, "there is no task of that number"],
  "board accept": [5, "there is no task of that number"],
  "board reject": [5, "there is no task of that number"],
  "board publish": [5, "there is no task of that number"],
  "board shelve": [5, "there is no task of that number"],
  "board hand-in": [5, "there is no task of that number"],
  "board release": [5, "there is no task of that number"],
  "board block": [5, "there is no task of that number"],
  "board unblock": [5, "there is no task of that number"],
  "board settle": [5, "there is no task of that number"],
  "board cancel": [5, "there is no task of that number"],
  "secrets keyring": [3, "the shell has no session with a keyring"],
};

/**
 * Commands that stay until they are stopped, those whose examples fetch something from the registry or start what it had, and one that
 * writes outside of the home; see test/flows/mcp.test.ts, test/flows/runtime-trials.test.ts and test/flows/backup.test.ts.
 */
const LEFT_OUT = new Set(["gateway run", "logs", "mcp test", "runtimes install", "runtimes probe", "backup create"]);

/** What takes something away comes last, so that the others still find it. */
const isLast = ({ name }: { name: string }) => /\b(?:remove|delete|revoke)$/.test(name);
const examples = COMMANDS.filter(({ name }) => !LEFT_OUT.has(name));

let lares: Lares;
let dir: string;

beforeAll(async () => {
  lares = await startLares({ config: { agents: { main: { heartbeat: { every: "30 minutes" } } } } });
  dir = scratch("examples");
  for (const folder of ["bin", "notes", "weather"]) mkdirSync(join(dir, folder));
  const $schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
  writeFileSync(join(dir, "weather", "plugin.json"), JSON.stringify({ $schema, name: "weather" }));
  writeFileSync(join(dir, "bin", "lares"), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
  chmodSync(join(dir, "bin", "lares"), 0o755);
  writeFileSync(join(dir, "notes", "tea.md"), "Green tea is in the cupboard.\n");
  writeFileSync(join(dir, "cook.md"), "You cook.\n");
  writeFileSync(join(dir, "token.txt"), "a-token-of-mine\n");
  const skill = join(lares.home, "agents", "main", "skills", "deploy");
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, "SKILL.md"), "---\nname: deploy\ndescription: Deploys the site.\n---\nRun make.\n");
  writeFileSync(join(lares.home, "agents", "main", "HEARTBEAT.md"), "- every day: look at the calendar\n");
  for (const name of ["mail", "plants"]) await lares.rpc("schedule.add", { prompt: "Say so.", every: "1 day", name });
  await lares.rpc("teams.add", { id: "household", members: [{ agent: "main", role: "cook" }] });
  await lares.rpc("wakes.send", { session: "main", text: "Good morning." });
}, 30_000);

afterAll(async () => {
  await lares?.dispose();
  if (dir) rmSync(dir, { recursive: true, force: true });
});

function shell(line: string): Promise<{ code: number | null; text: string }> {
  const child = spawn("/bin/sh", ["-c", line], {
    cwd: dir,
    env: { PATH: `${join(dir, "bin")}:/usr/bin:/bin`, HOME: dir, LARES_HOME: lares.home, LARES_TOKEN: TOKEN },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const out of [child.stdout, child.stderr]) out.on("data", (c: Buffer) => (text += c.toString("utf8")));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

test.each(
  [...examples.filter((one) => !isLast(one)), ...examples.filter(isLast)].map((one) => [one.example, one.name]),
)(
  "%s",
  async (example, name) => {
    const { code, text } = await shell(example);
    const [expected] = ENDS[name] ?? [MADE_UP.test(example) ? 5 : 0];
    expect({ code, text }).toEqual({ code: expected, text: expect.not.stringMatching(/^\s+at .*:\d+:\d+/m) });
  },
  30_000,
);
