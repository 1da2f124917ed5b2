/**
 * Claude Code's hooks in our terms: which of our events is theirs, what their programs read, and what their answers mean. Pure.
 *
 * HOOKRUN-3: nothing in an answer becomes a yes. What would be one (`allow`, `approve`, changed input) is passed on under its own name, so
 *     that it is reported as ignored.
 */
import type { HookEventName, HookPayload } from "../../../core/contracts/index.ts";
import { HOOK_EVENTS } from "../../../core/contracts/index.ts";
import { asObject, asText, isChildSession, isObject } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";

interface ClaudeEvent {
  event: HookEventName;
  mode?: "answer";
  /** Whether it is this event of theirs: one of ours may stand for several. */
  isMeant?(facts: HeardFacts): boolean;
}

/** What a payload says, field by field. */
type HeardFacts = Readonly<Record<string, unknown>>;

const isOfChild = ({ session }: HeardFacts) => typeof session === "string" && isChildSession(session);

const CLAUDE_EVENTS: Readonly<Record<string, ClaudeEvent>> = {
  PreToolUse: { event: "tool.planned" },
  PostToolUse: { event: "tool.finished", mode: "answer", isMeant: ({ isError }) => isError !== true },
  PostToolUseFailure: { event: "tool.finished", mode: "answer", isMeant: ({ isError }) => isError === true },
  UserPromptSubmit: { event: "context.building" },
  SessionStart: { event: "context.building", isMeant: ({ first }) => first === true },
  SessionEnd: { event: "session.closed" },
  Stop: { event: "answer.ready", isMeant: (facts) => !isOfChild(facts) },
  SubagentStop: { event: "answer.ready", isMeant: isOfChild },
  PostCompact: { event: "compaction.done" },
  Notification: { event: "approval.changed", isMeant: ({ state }) => state === "pending" },
};

export function isClaudeEvent(name: string): boolean {
  return Object.hasOwn(CLAUDE_EVENTS, name);
}

/** Our event behind a name in the configuration: one of theirs, or our own. */
export function findEvent(name: string): ClaudeEvent | undefined {
  if (isClaudeEvent(name)) return CLAUDE_EVENTS[name];
  return Object.hasOwn(HOOK_EVENTS, name) ? { event: name as HookEventName } : undefined;
}

/** What their tools are called, the name we tell first. */
const TOOLS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  exec: ["Bash"],
  read: ["Read"],
  write: ["Write"],
  edit: ["Edit"],
  apply_patch: ["MultiEdit", "Edit"],
  list: ["LS", "Glob"],
  search: ["Grep", "Glob"],
  web_fetch: ["WebFetch"],
  web_search: ["WebSearch"],
  sessions_spawn: ["Task", "Agent"],
};

function toolNames(tool: string): readonly [string, ...string[]] {
  const theirs = TOOLS[tool];
  if (theirs) return [...theirs, tool];
  return tool.includes("__") ? [`mcp__${tool}`, tool] : [tool];
}

/** Whether a matcher means this tool, by our name or theirs. Without a tool it means everything. */
export function matches(matcher: string, tool: unknown): boolean {
  const alternatives = matcher.split("|").map((one) => one.trim().replace(/^\^|\$$/g, ""));
  if (typeof tool !== "string" || alternatives.every((one) => one === "")) return true;
  return toolNames(tool).some((name) => alternatives.some((one) => one !== "" && isLike(one, name)));
}

/** `*` and `.*` stand for any letters, everything else for itself. */
function isLike(pattern: string, name: string): boolean {
  const pieces = pattern.replaceAll(".*", "*").split("*");
  const [first = "", ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}

/** What a program reads on its input: their fields, and the whole of ours below `lares`. */
export function claudeInput(name: string, payload: HookPayload, cwd: string): Record<string, unknown> {
  const facts: HeardFacts = payload;
  const tool = asText(facts.tool);
  const input = asObject(facts.input);
  const path = asText(input.path);
  return {
    session_id: facts.session ?? "",
    transcript_path: "",
    cwd,
    permission_mode: "default",
    hook_event_name: name,
    ...(tool === undefined
      ? {}
      : {
          tool_name: toolNames(tool)[0],
          tool_use_id: facts.call,
          tool_input: {
            ...input,
            ...(path === undefined ? {} : { file_path: path.startsWith("/") ? path : `${cwd}/${path}` }),
          },
        }),
    ...SAID[payload.event]?.(facts),
    lares: payload,
  };
}

const SAID: Partial<Record<HookEventName, (facts: HeardFacts) => Record<string, unknown>>> = {
  "tool.finished": ({ text, isError }) => ({ tool_response: { output: text, is_error: isError } }),
  "context.building": ({ text, first }) => ({ prompt: text, ...(first ? { source: "startup" } : {}) }),
  "answer.ready": ({ text, pass }) => ({ stop_hook_active: pass === 2, last_assistant_message: text }),
  "session.closed": ({ how }) => ({ reason: how === "reset" ? "clear" : "other" }),
  "approval.changed": ({ shown }) => ({ message: shown, notification_type: "permission_prompt" }),
};

/** The longest reason that is passed on; more is cut. */
const MOST_REASON = 500;
const MOST_NOTE = 20_000;

export interface CommandEnd {
  code: number | null;
  out: string;
  errors: string;
}

/** What a program meant. Throws when it failed: any exit code but 0 and 2. */
export function claudeAnswer(event: HookEventName, { code, out, errors }: CommandEnd): unknown {
  const said = errors.trim();
  if (code === 2) return blocked(event, said || out.trim() || "it said no without a reason");
  if (code !== 0) throw new Error(`it exited with code ${code}${said ? `: ${said.slice(-200)}` : ""}`);
  const text = out.trim();
  if (text === "") return undefined;
  if (text.startsWith("{")) return fromJson(event, JSON.parse(text) as unknown);
  // What a program prints otherwise is for its own log, but for prompts, where it is context.
  return event === "context.building" ? { notes: [text.slice(0, MOST_NOTE)] } : undefined;
}

/** What a no means for each event. */
function blocked(event: HookEventName, reason: string): unknown {
  const why = reason.slice(0, MOST_REASON);
  if (event === "answer.ready") return { again: why };
  return event === "tool.finished" ? { notes: [reason.slice(0, MOST_NOTE)] } : { deny: why };
}

/** Fields that are for their screen, not for a decision. */
const UNUSED = new Set(["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"]);

function fromJson(event: HookEventName, answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  const own = Object.fromEntries(
    Object.entries(answer).filter(([name]) => !UNUSED.has(name) && name !== "hookSpecificOutput"),
  );
  const {
    permissionDecision,
    permissionDecisionReason,
    additionalContext,
    hookEventName: _name,
    ...other
  } = asObject(answer.hookSpecificOutput);
  const reason = asText(permissionDecisionReason) ?? asText(answer.reason) ?? "it gave no reason";
  const why = reason.slice(0, MOST_REASON) || "it gave no reason";
  const decision = permissionDecision ?? answer.decision;
  const note = asText(additionalContext)?.trim().slice(0, MOST_NOTE);
  return {
    ...own,
    // Unknown decisions and fields are passed on under their names, to be reported as ignored (HOOKRUN-3).
    ...other,
    ...(answer.continue === false ? { deny: (asText(answer.stopReason) ?? why).slice(0, MOST_REASON) || why } : {}),
    ...(decision === "deny" || decision === "block" ? asObject(blocked(event, why)) : {}),
    ...(decision === "ask" ? { ask: why } : {}),
    ...truthy({ allow: decision === "allow" || decision === "approve" }),
    ...defined({ notes: note ? [note] : undefined }),
  };
}
