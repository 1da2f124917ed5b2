/**
 * Makes the transcripts that the fake replays, from real runs: `tsx test/fakes/codex/record.ts PROGRAM`. The scripted model server answers,
 * through our proxy. What belongs to this machine or this minute is replaced.
 *
 * Documentation: see codex.mjs
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunAnswer, RunRequest } from "../../../src/core/contracts/index.ts";
import { type CodexStage, openCodexStage } from "../../contracts/runtime/codex-stage.ts";
import { Follower, makeRequest } from "../../contracts/runtime/rig.ts";
import { until } from "../../support/index.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const never = new AbortController().signal;
const allow: RunAnswer = { kind: "allow" };
const deny: RunAnswer = { kind: "deny", reason: "not today" };
const program = process.argv[2];
if (!program) throw new Error("Which program? tsx test/fakes/codex/record.ts PROGRAM");

interface Scene {
  name: string;
  prompt(stage: CodexStage): string;
  answer?: RunAnswer;
  /** Said while it asks. */
  steer?: string;
  stop?: true;
  /** After the thread of this scene. */
  after?: string;
  mcp?: true;
  exec?: true;
}

const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\nEOF";
const SCENES: Scene[] = [
  { name: "say", prompt: ({ prompts }) => prompts.say("hello there") },
  { name: "resume", prompt: ({ prompts }) => prompts.say("I do"), after: "say" },
  { name: "think", prompt: ({ prompts }) => prompts.think!("let me see", "seen") },
  { name: "act-allow", prompt: ({ prompts }) => prompts.act("MARK", "did it"), answer: allow },
  { name: "act-deny", prompt: ({ prompts }) => prompts.act("MARK", "went on"), answer: deny },
  { name: "act-stop", prompt: ({ prompts }) => prompts.act("MARK", "never"), stop: true },
  { name: "steer", prompt: ({ prompts }) => prompts.act("MARK", "as you like"), answer: allow, steer: "mind the gap" },
  { name: "forever", prompt: ({ prompts }) => prompts.forever("on and on"), stop: true },
  { name: "fail-401", prompt: () => "fail:401" },
  { name: "fail-429", prompt: () => "fail:429" },
  { name: "fail-500", prompt: () => "fail:500" },
  { name: "retry", prompt: () => "cut*1 say: fine" },
  {
    name: "patch-allow",
    prompt: () => `tool: exec_command ${JSON.stringify({ cmd: patch })} then: say: patched`,
    answer: allow,
  },
  { name: "mcp-allow", prompt: () => 'tool: mcp__lares.note {"text":"x"} then: say: noted', answer: allow, mcp: true },
  { name: "mcp-deny", prompt: () => 'tool: mcp__lares.note {"text":"x"} then: say: left', answer: deny, mcp: true },
  { name: "exec-say", prompt: ({ prompts }) => prompts.say("hello there"), exec: true },
  { name: "exec-resume", prompt: ({ prompts }) => prompts.say("I do"), after: "exec-say", exec: true },
  { name: "exec-think", prompt: ({ prompts }) => prompts.think!("let me see", "seen"), exec: true },
  { name: "exec-act", prompt: ({ prompts }) => prompts.act("MARK", "did it"), exec: true },
  { name: "exec-fail-401", prompt: () => "fail:401", exec: true },
  { name: "exec-mcp", prompt: () => 'tool: mcp__lares.note {"text":"x"} then: say: noted', exec: true, mcp: true },
];

const out = here("raw.jsonl");
const openStage = (variables: string) =>
  openCodexStage({
    script: here("tee.mjs"),
    variables: `LARES_TEE_PROGRAM=${program} ${variables}`,
    dir: mkdtempSync(join(tmpdir(), "codex-record-")),
    mcp: true,
  });
const stages = [await openStage(`LARES_TEE_FILE=${out}`), await openStage(`LARES_TEE_FILE=${out} LARES_TEE_EXEC=1`)];
const tokens = new Map<string, RunRequest["resume"]>();
for (const scene of SCENES) {
  const stage = stages[scene.exec ? 1 : 0]!;
  // What looked for the version was written down, too.
  await stage.adapter.probe(never);
  rmSync(out, { force: true });
  const resume = scene.after === undefined ? null : (tokens.get(scene.after) ?? null);
  const request = makeRequest(stage, scene.prompt(stage), { model: "openai/gpt-5", resume });
  const ports = await stage.ports(request.run);
  const session = await stage.adapter.open(request, scene.mcp ? ports : { ...ports, mcp: [] }, never);
  const follower = new Follower(session);
  if (scene.stop && scene.name === "forever") await until("words", () => follower.text.includes("on and on"));
  if (scene.answer || (scene.stop && scene.name !== "forever")) {
    const { ask } = await follower.first("ask");
    if (scene.steer) await session.say(scene.steer, "steer");
    if (scene.answer) await session.answer(ask, scene.answer);
  }
  if (scene.stop) await session.stop("soft");
  await follower.ended;
  await session.close();
  tokens.set(scene.name, follower.all("checkpoint").at(-1)?.token ?? null);
  const lines = existsSync(out) ? readFileSync(out, "utf8") : "";
  writeFileSync(join(here("transcripts"), `${scene.name}.jsonl`), scrub(lines, stage.dir));
  process.stdout.write(`${scene.name}: ${follower.all("done")[0]?.outcome}\n`);
}
rmSync(out, { force: true });
for (const stage of stages) await stage.close();
process.exit(0);

/** Ids become short names, in the order in which they come; folders, ports and times become the same everywhere. */
function scrub(text: string, dir: string): string {
  const ids = new Map<string, string>();
  return text
    .replaceAll(dir, "/lares")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
      return ids.get(id)!;
    })
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:1")
    .replace(/rollout-[\dT-]+/g, "rollout-")
    .replace(/sessions\/\d+\/\d+\/\d+/g, "sessions/2026/01/01")
    .replace(/("\w*(?:AtMs|[a-z]At|atMs)":)1\d{9,12}/g, "$11800000000")
    .replace(/("durationMs":)\d+/g, "$11")
    .replace(/("serverName":)"(?!lares)[^"]*"/g, '$1"machine"')
    .replace(/("processId":)"\d+"/g, '$1"1"')
    .replace(/\/[^" ]*\/node_modules\/[^" ]*/g, "/usr/lib/codex")
    .replace(/\(Debian[^)]*\)/g, "(Linux; x86_64)");
}
