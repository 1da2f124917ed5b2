/** Folders besides the workspace that agents work in (`agents.<id>.roots`), as real paths. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../core/domain/index.ts";
import { expanded } from "./advise.ts";
import { createAgentFiles } from "./paths/index.ts";
import { safeRoot } from "./sandbox/index.ts";

/** One agent's own folders. */
export const rootsConfig = z
  .array(z.string().regex(/^(\/|~(\/|$))/, "an absolute path, or one that begins with ~/"))
  .default([])
  .describe("Folders besides its workspace that this agent works in. Example: [~/code/app]");

/** What the settings say about folders of agents. */
export interface RootsConfig {
  agents: Readonly<
    Record<string, { roots?: readonly string[]; policy?: { allow: ReadRules } | undefined } | undefined>
  >;
  policy: { allow: ReadRules };
}

type ReadRules = { read?: readonly string[] | undefined };

export interface Roots {
  /** Those of this agent that are there and may be worked in. */
  of(agent: string): string[];
  /** Those of all agents. */
  all(): string[];
  /** Throws CONFIG_INVALID for the first that must not be one: the machine, a home, what belongs to Lares or the system. */
  check(): void;
}

export function openRoots(config: RootsConfig, homes: { home: string; userHome: string }): Roots {
  const real = (path: string) => safeRoot(expanded(path, homes.userHome), homes);
  const given = (agent: string) => config.agents[agent]?.roots ?? [];
  const of = (agent: string) =>
    given(agent).flatMap((path) => {
      try {
        const root = real(path);
        return existsSync(root) ? [root] : [];
      } catch (error) {
        // It was refused when the settings were read; one that became dangerous since is simply not there.
        if (error instanceof AppError) return [];
        throw error;
      }
    });
  return {
    of,
    all: () => [...new Set(Object.keys(config.agents).flatMap(of))],
    check() {
      for (const agent of Object.keys(config.agents)) for (const path of given(agent)) real(path);
    },
  };
}

/**
 * What the policy lets an agent read outside its workspace, as folders and files that a sandbox can show: `/srv/data/**` is the folder,
 * `/srv/notes.txt` the file. A pattern for part of a folder (`/srv/*.txt`) is none; the file tools go by it, commands do not see it.
 */
export function listReadable(config: RootsConfig, agent: string, userHome: string): string[] {
  const rules = [...(config.policy.allow.read ?? []), ...(config.agents[agent]?.policy?.allow.read ?? [])];
  return rules.flatMap((rule) => {
    const path = rule.startsWith("~/") ? join(userHome, rule.slice(2)) : rule;
    const folder = path.endsWith("/**") ? path.slice(0, -3) : path;
    return folder.startsWith("/") && folder !== "/" && !/[*?[]/.test(folder) ? [folder] : [];
  });
}

/** Files in the workspace are named from there, those in an agent's other folders by their whole path. */
export function createRootedFiles(roots: () => readonly string[]): ReturnType<typeof createAgentFiles> {
  const files = createAgentFiles();
  const outer = (path: string) => roots().find((root) => path === root || path.startsWith(`${root}/`));
  return {
    async read(root, path, most) {
      const found = await files.read(outer(path) ?? root, path, most);
      const at = outer(path);
      return at === undefined ? found : { ...found, path: join(at, found.path) };
    },
    async readNoFile(root, path) {
      const at = outer(path);
      const found = await files.readNoFile(at ?? root, path);
      return at === undefined || !found ? found : { ...found, path: join(at, found.path) };
    },
    link: (root, path, target, tag) => files.link(outer(path) ?? root, path, target, tag),
    folder: (root, path, mode) => files.folder(outer(path) ?? root, path, mode),
    write: (root, path, content, how) => files.write(outer(path) ?? root, path, content, how),
    remove: (root, path) => files.remove(outer(path) ?? root, path),
    async manifest(root, most) {
      const found = await files.manifest(root, most);
      if (outer(root) !== root) return found;
      const byWholePath = <T>(map: ReadonlyMap<string, T>) =>
        new Map([...map].map(([path, value]) => [join(root, path), value]));
      return { ...found, files: byWholePath(found.files), closed: byWholePath(found.closed) };
    },
  };
}
