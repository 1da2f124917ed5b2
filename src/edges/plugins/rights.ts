/** Rights as sentences that a person reads before saying yes, and what an update changes about them. Pure. */
import type { PluginRights } from "./format/own-part.ts";
import type { PluginContents } from "./installed.ts";
import { nameServer } from "./names.ts";
import type { StagedPlugin } from "./plugins.ts";

/** One right a line, in plain words; the same right is always the same line, so two lists can be compared. */
export function describeRights({ manifest, servers }: Pick<PluginContents, "manifest" | "servers">): string[] {
  const { rights, code } = manifest.own;
  const programs = servers.flatMap((one) => (one.kind === "program" ? [one.shown] : []));
  const remote = servers.flatMap((one) => (one.kind === "remote" ? [one.url] : []));
  return [
    ...programs.map((shown) => `run ${shown}`),
    ...remote.map((url) => `send what agents ask to ${url}`),
    ...rights.hosts.map((host) => `reach ${host}`),
    ...rights.paths.read.map((path) => `read ${path}`),
    ...rights.paths.write.map((path) => `change ${path}`),
    ...rights.secrets.map((name) => `know your secret ${name}`),
    ...rights.hooks.map((event) => `hear and judge ${event}`),
    ...(code ? toolLines(rights) : []),
    ...(code ? rights.commands.map((command) => `add the command /${nameServer(manifest.name)}:${command}`) : []),
    ...(code && rights.model
      ? ["answer as a model, and read the conversations it answers, for providers that you connect to it"]
      : []),
    ...(code && rights.watch ? ["look at something and wake agents, for watches that you set up with it"] : []),
    ...(code && rights.memory
      ? ["read what agents remember and search for, and add to what they find, for memory that you connect to it"]
      : []),
    ...(code && rights.channel ? ["pass on messages as a channel, for accounts that you connect to it"] : []),
    ...servers
      .filter((one) => one.allow === undefined)
      .map((one) => `offer any tool and command of the server ${one.name}`),
  ];
}

function toolLines({ tools }: PluginRights): string[] {
  return tools.map((tool) => (tool === "*" ? "offer any tool it likes" : `offer the tool ${tool}`));
}

/** What a plugin brings, counted, in a few words each. A tool or a role counts once, not by the program that does it. */
export function describeOffers({ manifest, servers, skills }: PluginContents): string[] {
  const { rights, code } = manifest.own;
  const { tools, commands, hooks } = rights;
  const roles = { channel: "a channel", model: "a model", watch: "a watcher", memory: "a memory back end" };
  const of = (n: number, one: string) => (n === 0 ? [] : [n === 1 ? `1 ${one}` : `${n} ${one}s`]);
  const own = code
    ? [
        ...(tools.includes("*") ? ["any tools"] : of(tools.length, "tool")),
        ...of(commands.length, "command"),
        ...of(hooks.length, "hook"),
        ...Object.entries(roles).flatMap(([role, words]) => (rights[role as keyof typeof roles] ? [words] : [])),
      ]
    : [];
  return [...own, ...of(servers.length - (code ? 1 : 0), "MCP server"), ...of(skills.length, "skill")];
}

/** What was staged, as the protocol shows it to the person who decides. */
export function showStaged(
  { files, findings, ...staged }: StagedPlugin,
  sandbox: { ok: boolean; name?: string | undefined; why?: string | undefined },
) {
  return {
    ...staged,
    files: Object.keys(files).length,
    findings: findings.map(({ path, what }) => ({ path, what })),
    confined: sandbox.ok
      ? `in a sandbox (${sandbox.name})`
      : `not at all: ${sandbox.why ?? "there is no sandbox here"}`,
  };
}

export interface ListChange {
  added: string[];
  removed: string[];
}

export function compareLists(before: readonly string[], after: readonly string[]): ListChange {
  return {
    added: after.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !after.includes(one)),
  };
}

export interface FileChange extends ListChange {
  changed: string[];
}

export function compareFiles(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): FileChange {
  const { added, removed } = compareLists(Object.keys(before), Object.keys(after));
  const changed = Object.keys(after).filter((path) => path in before && before[path] !== after[path]);
  return { added, removed, changed };
}
