/** A tool that is not there: which one is meant, and how it is called. Names that other agents' tools have are known by heart. */
import type { ToolSpec } from "../../core/contracts/index.ts";
import { nearest } from "../../core/kit/index.ts";
import { visibleLine } from "./escape.ts";

/** By the tool that does it: what models call it that learned with other tools. */
const ALSO_CALLED: Readonly<Record<string, readonly string[]>> = {
  exec: [
    ...["bash", "shell", "sh", "zsh", "terminal", "run", "command", "execute", "cmd", "python", "powershell", "system"],
    ...["run_command", "execute_command", "run_shell_command", "run_terminal_cmd", "shell_command", "local_shell"],
    ...["run_in_terminal", "bash_tool", "container.exec", "code_interpreter", "exec_command"],
  ],
  search: [
    ...["grep", "rg", "ripgrep", "find", "glob", "search_files", "grep_search", "file_search", "find_files"],
    ...["search_file_content", "codebase_search", "search_code", "glob_search", "grep_files"],
  ],
  read: [
    "cat",
    "view",
    "open",
    "head",
    "tail",
    "read_file",
    "view_file",
    "open_file",
    "file_read",
    "view_image",
    "less",
  ],
  list: ["ls", "dir", "tree", "list_files", "list_dir", "list_directory", "readdir", "read_directory"],
  write: ["create_file", "write_file", "file_write", "create", "save_file", "write_to_file", "touch"],
  edit: [
    ...["str_replace", "str_replace_editor", "str_replace_based_edit_tool", "replace", "edit_file", "replace_in_file"],
    ...["search_replace", "multiedit", "multi_edit", "sed"],
  ],
  apply_patch: ["patch", "applypatch", "apply_diff", "diff"],
  web_fetch: [
    "fetch",
    "curl",
    "wget",
    "http",
    "http_get",
    "webfetch",
    "read_url",
    "fetch_url",
    "url_fetch",
    "open_url",
  ],
  web_search: ["google", "websearch", "search_web", "google_search", "brave_search", "internet_search"],
  memory_save: ["remember", "save_memory", "memory", "memory_add", "memory_store", "memory_write"],
  memory_search: ["recall", "memory_recall", "session_search", "search_memory", "memory_get"],
  schedule_add: [
    "cron",
    "remind",
    "reminder",
    "set_reminder",
    "schedule",
    "cronjob",
    "create_reminder",
    "add_schedule",
  ],
  sessions_spawn: ["task", "agent", "spawn", "subagent", "delegate", "delegate_task", "spawn_agent", "dispatch_agent"],
  message: ["send_message", "send", "reply", "notify", "send_file", "message_send"],
  process: ["jobs", "kill", "bash_output", "write_stdin", "kill_shell", "processes"],
  browser: ["browse", "browser_navigate", "navigate", "open_browser", "puppeteer", "playwright"],
};
const MEANT = new Map(
  Object.entries(ALSO_CALLED).flatMap(([tool, names]) => names.map((name) => [name, tool] as const)),
);

export interface KnownTools {
  /** Called directly. */
  offered: readonly ToolSpec[];
  /** Called through `tool_run`. */
  found: readonly ToolSpec[];
}

/** What the model reads. `name` is its own word; everything else is ours. */
export function unknownTool(name: string, { offered, found }: KnownTools): string {
  const asked = name.slice(0, 80);
  const said = `There is no tool "${visibleLine(asked)}" here`;
  const byName = new Map([...offered, ...found].map((spec) => [spec.name, spec]));
  const near = byName.has(asked)
    ? asked
    : (known(MEANT.get(asked.toLowerCase()), byName) ?? nearest(asked, byName.keys()));
  const names = `Tools: ${offered.map((spec) => spec.name).join(", ")}.`;
  if (near === undefined) return `${said}. ${names}`;
  const fields = listFields(byName.get(near)!);
  if (found.some((spec) => spec.name === near) && byName.has("tool_run"))
    return `${said}; ${near} is run through tool_run: tool_run {"name":"${near}","input":{…}}, where the input has ${fields}.`;
  return `${said}. Use ${near}, which takes ${fields}.`;
}

function known(name: string | undefined, byName: ReadonlyMap<string, unknown>): string | undefined {
  return name !== undefined && byName.has(name) ? name : undefined;
}

function listFields({ input }: ToolSpec): string {
  const names = Object.keys((input.properties as object | undefined) ?? {});
  const needed = new Set(Array.isArray(input.required) ? input.required : []);
  const words = names.map((one) => (needed.has(one) ? one : `${one} (optional)`));
  return words.join(", ") || "no input";
}
