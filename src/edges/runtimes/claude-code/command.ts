/**
 * The command that starts Claude Code for a run: what it may use, what it asks about, and where it keeps what. Pure.
 *
 * CLAUDE-6: no settings, hooks, servers or commands but ours: those of the folder it works in are somebody else's words.
 * CLAUDE-7: every tool of its own asks, also where it would read without asking. A file that a message names with "@" isn't read: that
 *     reading asks nobody.
 * CLAUDE-8: its home is the identity's, its key is good for this run alone, and nothing of our environment is inherited.
 */
import { join } from "node:path";
import type { RunCommand, RunPorts, RunRequest } from "../../../core/contracts/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { SERVER_TOOL } from "./translate.ts";

export interface ClaudeStart {
  /** By its absolute path. */
  program: string;
  request: RunRequest;
  ports: RunPorts & { models: NonNullable<RunPorts["models"]> };
  /** The conversation's id: ours for a new one. */
  session: string;
}

const READING = ["Bash", "Glob", "Grep", "Read"];
const WRITING = ["Edit", "NotebookEdit", "Write"];
/** It asks the person by itself. */
const ASKING = ["AskUserQuestion"];

export function buildCommand({ program, request, ports, session }: ClaudeStart): RunCommand {
  const own = request.workspace?.writable === false ? READING : [...READING, ...WRITING];
  const { model } = request;
  const settings = {
    disableAllHooks: true,
    // Tools of ours go through the gate where they are run.
    permissions: { ask: own, allow: ports.mcp.map(({ name }) => `${SERVER_TOOL}${name}`) },
  };
  return {
    argv: [
      program,
      ...["-p", "--verbose", "--include-partial-messages", "--replay-user-messages"],
      ...["--input-format", "stream-json", "--output-format", "stream-json"],
      ...["--permission-prompt-tool", "stdio", "--permission-mode", "default"],
      // Without the tools by which it talks to other sessions of this machine, wakes itself or starts agents that nobody sees.
      ...["--tools", [...own, ...ASKING].join(",")],
      ...["--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands"],
      ...["--settings", JSON.stringify(settings)],
      ...(model === null ? [] : ["--model", nameForIt(model)]),
      ...[request.resume ? "--resume" : "--session-id", session],
    ],
    cwd: request.workspace?.path ?? ports.tmp,
    env: buildEnvironment(ports, model),
  };
}

function buildEnvironment({ home, tmp, env, models }: ClaudeStart["ports"], model: string | null) {
  const kept = home ?? tmp;
  return {
    HOME: kept,
    TMPDIR: tmp,
    ...env,
    CLAUDE_CONFIG_DIR: join(kept, "claude"),
    ANTHROPIC_BASE_URL: models.baseUrl,
    ANTHROPIC_API_KEY: models.token,
    // For its small calls, too: no model is used that nobody chose.
    ...defined({ ANTHROPIC_DEFAULT_HAIKU_MODEL: model === null ? undefined : nameForIt(model) }),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // The proxy repeats calls by itself.
    CLAUDE_CODE_MAX_RETRIES: "3",
    // Tools of MCP servers are hidden behind a search otherwise.
    ENABLE_TOOL_SEARCH: "false",
    CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
    // What goes on after the turn would wake it without us.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  };
}

const ITS_MAKER = "anthropic/";

/** Models of its maker it knows by their own names, with their limits. Any other is named in full, for the proxy. */
function nameForIt(model: string): string {
  return model.startsWith(ITS_MAKER) ? model.slice(ITS_MAKER.length) : model;
}

/** A message that begins with a slash would be taken for one of its commands, and never reach the model. */
export function asMessage(text: string): string {
  return text.startsWith("/") ? ` ${text}` : text;
}
