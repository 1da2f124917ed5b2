/**
 * Stands between Lares and the real Claude Code and writes down what both say, for the fake beside it to repeat:
 * `node record.mjs <claude> …`, into the folder LARES_RECORD. What differs from run to run or says something about the machine is taken
 * out, and so are long lists that Lares doesn't read.
 *
 * Documentation: see claude.mjs
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { transcriptName } from "./names.mjs";

const [, , program, ...args] = process.argv;
const folder = process.env.LARES_RECORD;
if (args.includes("--version")) process.exit(spawnSync(program, args, { stdio: "inherit" }).status ?? 1);
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const entries = [];
const users = [];
const session = args[args.findIndex((one) => one === "--session-id" || one === "--resume") + 1];
const isResumed = args.includes("--resume");

/** Fields that nobody reads, or that are long. */
const DROPPED = new Set([
  ...[
    "timestamp",
    "commands",
    "agents",
    "models",
    "account",
    "pid",
    "slash_commands",
    "terminal_slash_commands",
    "skills",
  ],
  ...[
    "plugins",
    "memory_paths",
    "messaging_socket_path",
    "subagent_stats",
    "available_output_styles",
    "cwd",
    "original_cwd",
  ],
  ...[
    "user_output_styles_dir",
    "additional_directories",
    "permission_suggestions",
    "blocked_path",
    "signature",
    "server_policy_ask_only",
  ],
  ...["request_sent_wall_ms", "api_message_id", "iterations", "diagnostics", "context_management", "thinking_display"],
]);

function scrub(value, key) {
  if (Array.isArray(value)) return value.map((one) => scrub(one));
  if (typeof value === "object" && value !== null) {
    const kept = Object.entries(value).filter(
      ([name]) => !DROPPED.has(name) && (name === "retry_delay_ms" || !name.endsWith("_ms")),
    );
    return Object.fromEntries(kept.map(([name, one]) => [name, scrub(one, name)]));
  }
  if (typeof value !== "string") return value;
  const user = users.indexOf(value);
  if (user >= 0) return `{user-${user + 1}}`;
  // Its own names for its lines.
  if (key === "uuid") return "{uuid}";
  const places = [process.cwd(), process.env.HOME, process.env.TMPDIR].filter(Boolean);
  return places.reduce((text, place) => text.replaceAll(place, "/place"), value.replaceAll(session, "{session}"));
}

/** Of what Lares says, its kind: the tokens in it are nobody's business. */
function kindOf(message) {
  if (message.type === "user") return { type: "user", text: message.message.content.map((part) => part.text).join("") };
  if (message.type === "control_request") return { type: message.type, subtype: message.request.subtype };
  return { type: message.type, behavior: message.response.response?.behavior };
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line);
    if (message.type === "user") users.push(message.uuid);
    entries.push({ lares: kindOf(message) });
    child.stdin.write(`${line}\n`);
  })
  .on("close", () => child.stdin.end());
createInterface({ input: child.stdout }).on("line", (line) => {
  // Before Lares can answer it.
  entries.push({ claude: scrub(JSON.parse(line)) });
  process.stdout.write(`${line}\n`);
});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("close", (code) => {
  entries.push({ exit: code });
  save();
  process.exit(code ?? 1);
});

/** Of two runs with the same beginning, the one that came further. */
function save() {
  const first = entries.find(({ lares }) => lares?.type === "user")?.lares.text;
  const file = join(folder, transcriptName(first, isResumed));
  const text = `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`;
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file) || readFileSync(file, "utf8").trim().split("\n").length <= entries.length)
    writeFileSync(file, text);
}
