/** How Claude Code is started: what it may use, what it asks about, what it finds in its environment. */
import { expect, test } from "vitest";
import type { RunPorts, RunRequest } from "../../../core/contracts/index.ts";
import { asMessage, buildCommand } from "./command.ts";

const REQUEST: RunRequest = {
  run: "run-1",
  attempt: 1,
  lastSeq: 0,
  agent: "main",
  prompt: { instructions: "Be kind.", text: "a message of a person" },
  workspace: { path: "/work", boundary: "none", writable: true },
  model: "anthropic/claude-sonnet-4-5",
  limits: { deadline: null, quietMs: 1000, toolCalls: null },
  resume: null,
};
const PORTS: RunPorts & { models: NonNullable<RunPorts["models"]> } = {
  models: { baseUrl: "http://127.0.0.1:4000", token: "run-token" },
  mcp: [{ name: "lares", url: "http://127.0.0.1:4001/mcp", token: "tool-token" }],
  home: "/homes/main",
  tmp: "/runs/1",
  env: { PATH: "/bin", LARES_RUN: "run-1" },
  confine: async (command) => command,
};
const start = (request: Partial<RunRequest> = {}, ports: Partial<RunPorts> = {}) =>
  buildCommand({
    program: "/bin/claude",
    request: { ...REQUEST, ...request },
    ports: { ...PORTS, ...ports, models: PORTS.models },
    session: "s-1",
  });

/** What follows an option. */
const after = (argv: readonly string[], option: string) => argv[argv.indexOf(option) + 1];

test("CLAUDE-6: no settings, hooks, servers or commands of the folder it works in count (RT-07)", () => {
  const { argv, cwd } = start();
  expect(cwd).toBe("/work");
  expect(after(argv, "--setting-sources")).toBe("");
  expect(argv).toContain("--strict-mcp-config");
  expect(argv).toContain("--disable-slash-commands");
  expect(JSON.parse(after(argv, "--settings")!)).toMatchObject({ disableAllHooks: true });
});

test("CLAUDE-7: every tool it brings asks, and a file that a message names isn't read; tools of ours are judged where they run (RT-06)", () => {
  const { argv, env } = start();
  const tools = after(argv, "--tools")!.split(",");
  const { permissions } = JSON.parse(after(argv, "--settings")!);
  expect(tools.filter((tool) => !permissions.ask.includes(tool))).toEqual(["AskUserQuestion"]);
  expect(permissions.allow).toEqual(["mcp__lares"]);
  expect([after(argv, "--permission-prompt-tool"), after(argv, "--permission-mode")]).toEqual(["stdio", "default"]);
  expect(env.CLAUDE_CODE_DISABLE_ATTACHMENTS).toBe("1");
});

test("tools by which it talks to other sessions, wakes itself or starts agents are left out", () => {
  const tools = after(start().argv, "--tools")!.split(",");
  expect(tools).toEqual(["Bash", "Glob", "Grep", "Read", "Edit", "NotebookEdit", "Write", "AskUserQuestion"]);
  expect(start().env.CLAUDE_CODE_DISABLE_BACKGROUND_TASKS).toBe("1");
  const reading = start({ workspace: { path: "/work", boundary: "none", writable: false } });
  expect(after(reading.argv, "--tools")).toBe("Bash,Glob,Grep,Read,AskUserQuestion");
});

test("CLAUDE-8: its home is the identity's, its key the run's, and nothing is inherited", () => {
  const { env } = start();
  expect(env).toEqual({
    PATH: "/bin",
    LARES_RUN: "run-1",
    HOME: "/homes/main",
    TMPDIR: "/runs/1",
    CLAUDE_CONFIG_DIR: "/homes/main/claude",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:4000",
    ANTHROPIC_API_KEY: "run-token",
    ANTHROPIC_DEFAULT_HAIKU_MODEL: "claude-sonnet-4-5",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_MAX_RETRIES: "3",
    ENABLE_TOOL_SEARCH: "false",
    CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  });
  expect(start({}, { home: "/homes/other" }).env.CLAUDE_CONFIG_DIR).not.toBe(env.CLAUDE_CONFIG_DIR);
  expect(start({}, { home: null }).env.CLAUDE_CONFIG_DIR).toBe("/runs/1/claude");
});

test("words, instructions and tokens aren't among its arguments, where others could read them", () => {
  const line = start().argv.join(" ");
  for (const secret of ["a message of a person", "Be kind.", "run-token", "tool-token"])
    expect(line).not.toContain(secret);
});

test("a new conversation has our id; one that goes on is named", () => {
  expect(after(start().argv, "--session-id")).toBe("s-1");
  const resume = { runtime: "claude-code", form: 1, state: { session: "s-1" } };
  const { argv } = start({ resume });
  expect([after(argv, "--resume"), argv.includes("--session-id")]).toEqual(["s-1", false]);
});

test.each([
  ["anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"],
  ["gateway/some-model", "gateway/some-model"],
])("the model %s is named as %s", (model, name) => {
  expect(after(start({ model }).argv, "--model")).toBe(name);
});

test("without a chosen model it uses its own", () => {
  expect(start({ model: null }).argv).not.toContain("--model");
});

test.each([
  ["/clear", " /clear"],
  ["a /clear inside", "a /clear inside"],
])("the message %j is said as %j", (text, said) => {
  expect(asMessage(text)).toBe(said);
});
