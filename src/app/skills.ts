/** What the skills' room needs of the file system, and what the tools need of skills. */
import { lstat, stat } from "node:fs/promises";
import { AppError } from "../core/domain/index.ts";
import { createAgentFiles, type SkillDesk, withInside } from "../edges/tools/index.ts";
import { type SkillFiles, Skills } from "../mind/skills/index.ts";
import type { LaresConfig } from "./config.ts";

export function openSkills(parts: { home: string; config: LaresConfig; agentDir: (agent: string) => string }): Skills {
  const { home, config, agentDir } = parts;
  return new Skills({
    ...{ home, agentDir, files: skillFiles(), platform: process.platform },
    config: (agent) => {
      const own = config.agents[agent]?.skills?.disabled ?? [];
      const { disabled, allowed, trusted, promptTokens } = config.skills;
      return { disabled: [...disabled, ...own], allowed: [...allowed], trusted: [...trusted], promptTokens };
    },
  });
}

export function skillDesk(skills: Skills): SkillDesk {
  return {
    open: (agent, name) => skills.get(agent, name),
    words: async (agent, name) => skills.words(await skills.get(agent, name)),
    search: (agent, query) => skills.search(agent, query),
  };
}

/** The one path type, as the skills' room asks for it. */
export function skillFiles(): SkillFiles {
  const inside = createAgentFiles();
  return {
    async entries(root, most) {
      const found = await lstat(root).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (!found) return { entries: [], more: false };
      if (!found.isDirectory()) {
        throw new AppError("FORBIDDEN", { message: "it is a link or a file. Put the folder itself there." });
      }
      const { entries, more } = await withInside({ root, path: "." }, (here) => here.list(most));
      const shown = entries.filter(
        ({ name, kind }) => !name.startsWith(".") && (kind === "directory" || kind === "link"),
      );
      return { entries: shown.map(({ name, kind }) => ({ name, isLink: kind === "link" })), more };
    },
    async stamp(paths) {
      const each = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
      return each.map((s) => (s ? `${s.ino}:${s.size}:${s.mtimeMs}:${s.ctimeMs}` : "-")).join(" ");
    },
    async read(root, path, most) {
      const found = await inside.read(root, path, most);
      if (found.state === "none") return { none: true };
      return found.state === "file" ? { text: found.content.toString("utf8") } : { why: sentence(path, found.why) };
    },
    async names(root, most) {
      const { files, more } = await inside.manifest(root, most);
      const each = [...files].map(([path, mark]) => ({ path, bytes: Number(mark.split(":")[0]) }));
      return { files: each.sort((a, b) => (a.path < b.path ? -1 : 1)), more };
    },
  };
}

/** The path type speaks of a workspace; here the root is the skill's own folder. */
function sentence(path: string, why: string): string {
  const about = why.replaceAll("the workspace", "the skill's folder");
  return `${about.startsWith('"') ? "" : `${path}: `}${about}`;
}
