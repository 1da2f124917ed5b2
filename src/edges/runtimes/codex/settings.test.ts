import { expect, test } from "vitest";
import type { RunPorts, RunRequest } from "../../../core/contracts/index.ts";
import {
  type CodexRun,
  choosePlaces,
  chooseSandbox,
  describeThread,
  isHomeInTemp,
  listEnvironment,
  listSettings,
  nameForIt,
} from "./settings.ts";

const request: RunRequest = {
  run: "run-1",
  attempt: 1,
  lastSeq: 0,
  agent: "main",
  prompt: { instructions: "Be brief.", text: "hello" },
  workspace: { path: "/repo", boundary: "worktree", writable: true },
  model: "openai/gpt-5",
  limits: { deadline: null, quietMs: 60_000, toolCalls: null },
  resume: null,
};
const ports: RunPorts = {
  models: { baseUrl: "http://127.0.0.1:9", token: "lares-run-secret" },
  mcp: [{ name: "lares tools", url: "http://127.0.0.1:8/mcp", token: "mcp-secret" }],
  home: "/data/home",
  tmp: "/run/tmp",
  env: { PATH: "/bin", TMPDIR: "/data", LARES_RUN: "tag-1" },
  confine: async (command) => command,
};
const run: CodexRun = { request, ports, places: choosePlaces(request, ports), tag: "LARES_RUN", asks: true };
const settings = (more: Partial<CodexRun> = {}) => listSettings({ ...run, ...more }).filter((one) => one !== "-c");

test("CODEX-1: its home is outside its temporary folder, also when nothing is kept or the given TMPDIR holds everything", () => {
  expect(isHomeInTemp(run.places)).toBe(false);
  expect(listEnvironment(run)).toMatchObject({ CODEX_HOME: "/data/home/codex", TMPDIR: "/run/tmp/tmp" });
  const thrownAway = choosePlaces(request, { ...ports, home: null });
  expect(isHomeInTemp(thrownAway)).toBe(false);
  expect(isHomeInTemp({ home: "/run/tmp/tmp/codex", tmp: "/run/tmp/tmp" })).toBe(true);
  expect(isHomeInTemp({ home: "/run/tmp/tmpfiles", tmp: "/run/tmp/tmp" })).toBe(false);
});

test("CODEX-2: the folder is untrusted, so its own settings, hooks and servers don't count (RT-08)", () => {
  expect(settings()).toContain('projects={"/repo"={"trust_level"="untrusted"}}');
});

test("CODEX-3: commands get the run's tag and none of its tokens, which aren't on the command line either", () => {
  expect(settings()).toContain(
    'shell_environment_policy={"inherit"="core","set"={"LARES_RUN"="tag-1","LARES_ATTEMPT"="1"}}',
  );
  expect(settings().join(" ")).not.toContain("secret");
  expect(listEnvironment(run)).toMatchObject({
    LARES_MODEL_TOKEN: "lares-run-secret",
    LARES_MCP_TOKEN_0: "mcp-secret",
  });
});

test("CODEX-4: what acts without asking is off", () => {
  for (const feature of ["multi_agent", "apps", "hooks", "plugins", "view_image", "image_generation"])
    expect(settings()).toContain(`features.${feature}=false`);
  expect(settings()).toContain('web_search="disabled"');
});

test("its model is our proxy in the format of Responses: chat is refused by every version since", () => {
  const provider = settings().find((one) => one.startsWith("model_providers="));
  expect(provider).toContain('"base_url"="http://127.0.0.1:9/v1"');
  expect(provider).toContain('"wire_api"="responses"');
  expect(provider).toContain('"env_key"="LARES_MODEL_TOKEN"');
});

test("the policy that asks before everything is given to the thread: the settings file refuses its name", () => {
  expect(describeThread(run)).toMatchObject({ approvalPolicy: "untrusted", developerInstructions: "Be brief." });
  expect(settings().join(" ")).not.toContain("approval_policy");
});

test("a model has the name that Codex knows it by, without whoever provides it", () => {
  expect(describeThread(run)).toMatchObject({ model: "gpt-5" });
  expect(nameForIt("openrouter/openai/gpt-5")).toBe("gpt-5");
  expect(nameForIt(null)).toBeUndefined();
});

test("where nobody can be asked, it never leaves its sandbox, and MCP tools are allowed: they'd be refused otherwise", () => {
  const given = settings({ asks: false });
  expect(given).toContain('approval_policy="never"');
  expect(given.join(" ")).toContain('"default_tools_approval_mode"="approve"');
});

test("in a worktree the common git folder stays read-only: a host's commit runs no hook that a run has written", () => {
  expect(settings().join(" ")).not.toContain("writable_roots");
  expect(settings()).toContain('sandbox_workspace_write={"exclude_slash_tmp"=true,"network_access"=false}');
});

test("inside a boundary of ours it makes no sandbox of its own", () => {
  expect(chooseSandbox(request.workspace)).toBe("workspace-write");
  expect(chooseSandbox({ path: "/repo", boundary: "sandbox", writable: true })).toBe("danger-full-access");
  expect(chooseSandbox({ path: "/repo", boundary: "none", writable: false })).toBe("read-only");
  expect(chooseSandbox(null)).toBe("read-only");
});
