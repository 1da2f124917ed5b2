/**
 * The Lares that is killed while a fake ACP agent works for it, without a sandbox around it. `left-child.ts <JSON>`: the run, its home and what
 * the agent is to do.
 */
import type { RunRequest } from "../../src/core/contracts/index.ts";
import { systemClock } from "../../src/core/kit/index.ts";
import { ACP_PROFILES, makeAcpAdapter } from "../../src/edges/runtimes/index.ts";
import { endRun } from "../../src/edges/tools/exec/processes.ts";
import { unconfined } from "../contracts/runtime/rig.ts";

const { run, home, tag, text, agent } = JSON.parse(process.argv[2]!) as Record<string, string>;
const profile = {
  ...ACP_PROFILES[0]!,
  name: "fake",
  env: {},
  command: process.execPath,
  args: [agent!],
  version: [agent!, "--version"],
};
const adapter = makeAcpAdapter(profile, {
  clock: systemClock,
  searchPath: () => [],
  tag: tag!,
  endRun: (one) => endRun(one),
});
const workspace = { path: home!, boundary: "none" as const, writable: true };
const request: RunRequest = {
  run: run!,
  attempt: 1,
  lastSeq: 0,
  agent: "main",
  prompt: { instructions: "", text: text! },
  workspace,
  model: null,
  limits: { deadline: null, quietMs: 60_000, toolCalls: null },
  resume: null,
};
const env = { PATH: process.env.PATH ?? "", [tag!]: run!, LARES_FAKE_HOME: home!, LARES_FAKE_QUIRKS: "never-ends" };
const ports = { models: null, mcp: [], home: home!, tmp: home!, env, confine: unconfined };
const session = await adapter.open(request, ports, new AbortController().signal);
for await (const event of session.events(0)) process.send?.(event.body);
