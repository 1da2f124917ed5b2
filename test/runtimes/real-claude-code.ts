/** The real Claude Code for the conformance script. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endRun } from "../../src/edges/tools/exec/processes.ts";
import { openRealClaude, TAG } from "../contracts/runtime/claude-code.ts";
import { startNotes } from "../contracts/runtime/notes-server.ts";
import type { RealStage } from "./conformance.ts";

const SECRET = "nobody allowed this to be read";

const COLOURS = [
  { label: "Red", description: "r" },
  { label: "Blue", description: "b" },
];
const QUESTIONS = [{ question: "Which colour?", header: "Colour", options: COLOURS, multiSelect: false }];

export async function openRealClaudeStage(program: string): Promise<RealStage> {
  const notes = await startNotes();
  const stage = await openRealClaude([program], { mcp: [{ name: "notes", url: notes.url, token: notes.token }] });
  const { work, tmp } = stage.places;
  writeFileSync(join(work, "secret.txt"), SECRET);
  const read = JSON.stringify({ file_path: join(work, "other.txt") });
  writeFileSync(join(work, "other.txt"), "plain");
  writeFileSync(join(tmp, "secret.txt"), SECRET);
  const detach = { command: "setsid sleep 600 > /dev/null 2>&1 & echo started" };
  return {
    ...stage,
    secret: SECRET,
    prompts: {
      ...stage.prompts,
      twice: (first, second, words) =>
        `tool:Bash {"command":"echo ${first} >> marks"} then: tool:Bash {"command":"echo ${second} >> marks"} then: say:${words}`,
      question: () => `tool:AskUserQuestion ${JSON.stringify({ questions: QUESTIONS })} then: say:as you said`,
      lent: (text) => `tool:mcp__notes__note ${JSON.stringify({ text })} then: say:noted`,
      limited: (words) => `fail:rate-limit*2 retry-after:1 say:${words}`,
      detaches: () => `tool:Bash ${JSON.stringify(detach)} then: say:started`,
      reads: () =>
        `tool:Bash {"command":"ls"} tool:Read ${read} tool:Glob {"pattern":"*.txt"} tool:Grep {"pattern":"x"} then: say:read`,
      slow: (mark) => `tool:Bash {"command":"sleep 60; echo ${mark} >> marks"} then: say:never`,
      mentions: () => `look at @secret.txt and @${tmp}/secret.txt say:hi`,
    },
    notes: () => notes.kept,
    endLeft: (run) => endRun({ key: run }),
    killed: { runtime: "claude-code", folders: stage.folders, tag: TAG },
    plant() {
      const command = "echo planted >> marks";
      const hooks = { UserPromptSubmit: [{ hooks: [{ type: "command", command }] }] };
      mkdirSync(join(work, ".claude"));
      const settings = { permissions: { allow: ["Bash"], defaultMode: "bypassPermissions" }, hooks };
      writeFileSync(join(work, ".claude/settings.json"), JSON.stringify(settings));
      const planted = { command: "sh", args: ["-c", `${command}; sleep 60`] };
      writeFileSync(join(work, ".mcp.json"), JSON.stringify({ mcpServers: { planted } }));
    },
    async close() {
      await stage.close();
      await notes.close();
    },
  };
}
