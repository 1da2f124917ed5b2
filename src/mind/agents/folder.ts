/**
 * An agent is a folder in the home: files people edit, a workspace the agent works in. Created with good defaults; an
 * existing file is never overwritten.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentId, AppError, asId } from "../../core/domain/index.ts";
import { withInside } from "../../core/files/index.ts";
import { AGENT_FILES, OWNER_FILES, type PromptFile, promptText } from "./defaults.ts";
import { type AgentFile, type AgentFileInfo, fileInfo, readAgentFile, writeAgentFile } from "./files.ts";

export interface AgentPlace {
  agentDir: string;
  workspace: string;
  spillDir: string;
}

/** A prompt file longer than this is cut, and says so: a pasted book must not be paid for on every call. */
const LONGEST_FILE = 16_000;

export class AgentFolders {
  private readonly root: string;

  constructor(home: string) {
    this.root = join(home, "agents");
  }

  /** Creates the folder and any missing files. Safe to call again. */
  ensure(agent: AgentId): void {
    const dir = this.dir(agent);
    for (const sub of ["", "skills", "workspace"]) mkdirSync(join(dir, sub), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(AGENT_FILES)) {
      try {
        writeFileSync(join(dir, name), text, { flag: "wx", mode: 0o600 });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  }

  /** A new agent, with these words about who it is. Throws CONFLICT when there is one of this name. */
  async create(agent: AgentId, soul?: string): Promise<void> {
    if (this.exists(agent)) {
      throw new AppError("CONFLICT", {
        message: `There is already an agent "${agent}".`,
        hint: "Choose another name.",
      });
    }
    this.ensure(agent);
    if (soul !== undefined) await this.writeFile(agent, "SOUL.md", soul);
  }

  exists(agent: AgentId): boolean {
    return /^[a-z0-9][a-z0-9-]{0,63}$/.test(agent) && existsSync(this.dir(agent));
  }

  names(): string[] {
    try {
      return readdirSync(this.root, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && /^[a-z0-9][a-z0-9-]{0,63}$/.test(entry.name))
        .map((entry) => entry.name)
        .sort();
    } catch {
      return [];
    }
  }

  place(agent: AgentId): AgentPlace {
    const dir = this.dir(agent);
    const workspace = join(dir, "workspace");
    // Inside the workspace, so that the agent can read the whole of an output that was cut.
    return { agentDir: dir, workspace, spillDir: join(workspace, ".lares", "out") };
  }

  /**
   * The files a prompt is made of, in their current state; empty where they say nothing. The owner's files go only to the owner.
   */
  async promptFiles(
    agent: AgentId,
    how: { forOwner: boolean },
  ): Promise<{ soul: string; agents: string; user: string; memory: string }> {
    const read = async (name: PromptFile) =>
      !how.forOwner && OWNER_FILES.has(name) ? "" : promptText(name, await promptFile(this.dir(agent), name)).trim();
    const [soul, agents, user, memory] = await Promise.all([
      read("SOUL.md"),
      read("AGENTS.md"),
      read("USER.md"),
      read("MEMORY.md"),
    ]);
    return { soul, agents, user, memory };
  }

  /** Which of the editable files exist. */
  files(agent: AgentId): AgentFileInfo[] {
    return Object.keys(AGENT_FILES).flatMap((name) => fileInfo(this.dir(agent), name));
  }

  /** One of the files people edit. */
  readFile(agent: AgentId, name: string): Promise<AgentFile> {
    return readAgentFile(this.dir(agent), name);
  }

  /** Replaces one of them atomically. With `version`, only if nobody else has changed it since. */
  writeFile(agent: AgentId, name: string, text: string, version?: string): Promise<AgentFile> {
    return writeAgentFile(this.dir(agent), name, text, version);
  }

  private dir(agent: AgentId): string {
    if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(agent)) {
      throw new AppError("AGENT_UNKNOWN", {
        message: `"${agent}" can't be an agent's name.`,
        hint: "Use a-z, 0-9 and -.",
      });
    }
    return join(this.root, agent);
  }
}

/** A prompt file, cut to what fits. If it can't be read, the prompt says so, so that a missing identity is noticed. */
async function promptFile(dir: string, name: string): Promise<string> {
  try {
    return await withInside({ root: dir, path: name, parents: "imagine", links: "refuse" }, async (inside) => {
      if (inside.kind === "missing") return "";
      // No character has more than four bytes.
      const { bytes, more } = await inside.readStart(4 * LONGEST_FILE);
      const text = bytes.toString("utf8");
      if (!more && text.length <= LONGEST_FILE) return text;
      return `${text.slice(0, LONGEST_FILE)}\n[${name} is longer; the rest is left out]`;
    });
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return "";
    return `[${name} is not read: it must be a plain file in the agent's folder, not a link]`;
  }
}

export const DEFAULT_AGENT = asId<AgentId>("main");
