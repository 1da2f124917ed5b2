/**
 * Claude Code's hooks, taken over from a settings file when the owner says so. They are copied: what the file says later changes
 * nothing here.
 *
 * HOOKRUN-6: nothing is added without a yes to exactly these commands. The yes names a digest of the file, the event, the matcher and the
 *     command; a file that changed after it was shown has another digest, and the yes is worth nothing. Nothing is started.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { HookEventName } from "../../../core/contracts/index.ts";
import { AppError, asList, asNumber, asObject, asText, type Json } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { readSource } from "../mcp/adding/sources.ts";
import { digestJson } from "../mcp/listed/manifest.ts";
import { findEvent, isClaudeEvent } from "./claude.ts";
import { whyNotScript } from "./command.ts";
import { type EventHooksConfig, matched } from "./config.ts";

export interface ImportableHook {
  /** Of exactly this command in this file: what a yes names. */
  id: string;
  file: string;
  /** As Claude Code calls it, and as Lares does. */
  event: string;
  hears?: HookEventName;
  matcher: string;
  command: string;
  /** Seconds. */
  timeout?: number;
  state: "new" | "there already" | "left out";
  why?: string;
}

export interface ImportHooksPort {
  /** The command hooks there are. */
  known(): EventHooksConfig["commands"];
  /** All of them or none. Throws CONFIG_INVALID when the settings don't take them. */
  save(edits: readonly (readonly [path: string, value: Json])[]): Promise<unknown>;
  userHome: string;
  /** Everywhere agents may write. */
  writable(): readonly string[];
}

/** As long as a hook may take here. */
const MOST_SECONDS = 60;
const MOST_HOOKS = 200;

/** `yes`: what the owner agreed to, by id. */
export async function importHooks(
  port: ImportHooksPort,
  { from, yes = [] }: { from: string; yes?: readonly string[] | undefined },
): Promise<{ items: ImportableHook[]; added: number; changed: number }> {
  const items: ImportableHook[] = [];
  for (const file of await settingsFiles(from)) items.push(...(await look(port, file)));
  const wanted = items.filter(({ id, state }) => state === "new" && yes.includes(id));
  const edits = wanted.map(({ event, matcher, command, timeout }, i) => {
    const before = wanted.slice(0, i).filter((one) => one.event === event).length;
    const at = (port.known()[event]?.length ?? 0) + before;
    const hook = { type: "command", command: escapeReferences(command), ...defined({ timeout }) };
    const group: Json = { ...(matcher === "" ? {} : { matcher }), hooks: [hook] };
    return [`eventHooks.commands.${event}[${at}]`, group] as const;
  });
  if (edits.length > 0) await port.save(edits);
  return { items, added: wanted.length, changed: yes.filter((id) => !items.some((item) => item.id === id)).length };
}

/** A settings file, or those of a project's or a person's folder. */
async function settingsFiles(from: string): Promise<string[]> {
  const path = resolve(from);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new AppError("NOT_FOUND", { message: `There is no file or folder "${path}".` });
  if (!found.isDirectory()) return [path];
  const folder = basename(path) === ".claude" ? path : join(path, ".claude");
  return ["settings.json", "settings.local.json"].map((name) => join(folder, name));
}

async function look(port: ImportHooksPort, file: string): Promise<ImportableHook[]> {
  const read = await readSource(file);
  if (!read) return [];
  const leftOut = (event: string, why: string): ImportableHook => ({
    id: digestJson([file, event, why]),
    file,
    event,
    matcher: "",
    command: "",
    state: "left out",
    why,
  });
  if ("why" in read) return [leftOut("(file)", read.why)];
  const { hooks } = asObject(read.value);
  return Object.entries(asObject(hooks)).flatMap(([event, groups]) =>
    asList(groups).flatMap((group) => {
      const { matcher, hooks: commands } = asObject(group);
      return asList(commands)
        .slice(0, MOST_HOOKS)
        .map((hook) => judge(port, { file, event, matcher: asText(matcher) ?? "", hook: asObject(hook) }));
    }),
  );
}

interface FoundHook {
  file: string;
  event: string;
  matcher: string;
  hook: Readonly<Record<string, unknown>>;
}

function judge(port: ImportHooksPort, { file, event, matcher, hook }: FoundHook): ImportableHook {
  const given = asText(hook.command) ?? "";
  const seconds = asNumber(hook.timeout);
  const timeout = seconds === undefined ? undefined : Math.min(Math.max(seconds, 0.1), MOST_SECONDS);
  const placed = placeProject(given, file, port.userHome);
  const command = placed ?? given;
  const hears = isClaudeEvent(event) ? findEvent(event)?.event : undefined;
  const item = {
    id: digestJson([file, event, matcher, command, timeout ?? null]),
    file,
    event,
    matcher,
    command,
    ...defined({ hears, timeout }),
  };
  const why = whyNot(port, { item, isPlaced: placed !== undefined, type: asText(hook.type) ?? "command" });
  if (why !== undefined) return { ...item, state: "left out", why };
  const isThere = port
    .known()
    [event]?.some((one) => one.matcher === matcher && one.hooks.some((known) => known.command === command));
  return { ...item, state: isThere ? "there already" : "new" };
}

function whyNot(
  port: ImportHooksPort,
  { item, isPlaced, type }: { item: Omit<ImportableHook, "state">; isPlaced: boolean; type: string },
): string | undefined {
  const { event, hears, matcher, command, file } = item;
  if (hears === undefined) return `nothing in Lares corresponds to ${event}`;
  if (type !== "command" || command === "") return "only commands can be taken over";
  if (!isPlaced) return "its project's path has characters that a shell would read as something else";
  const fits = matched.safeParse({ matcher, hooks: [{ type, command }] });
  if (!fits.success) return fits.error.issues[0]?.message ?? "it isn't a hook";
  return whyNotScript(command, { cwd: dirname(file), userHome: port.userHome, writable: port.writable() });
}

const PROJECT = /\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR\})/g;

/**
 * A project's hook names scripts by the project's folder, which here is the agent's workspace: the folder is written out. A
 * person's own settings belong to no project, so they stay as they are. Undefined: a shell would misread the folder.
 */
function placeProject(command: string, file: string, userHome: string): string | undefined {
  const project = dirname(dirname(file));
  if (project === userHome || command.search(PROJECT) < 0) return command;
  return /^[\w./@+-]{1,4096}$/.test(project) ? command.replaceAll(PROJECT, () => project) : undefined;
}

/** In lares.yaml `${NAME}` is a variable of Lares'; the shell gets its own. */
function escapeReferences(command: string): string {
  return command.replaceAll(/\$\{(?=[A-Za-z_]\w{0,200}\})/g, () => "$${");
}
