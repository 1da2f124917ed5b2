/**
 * The files of an agent's folder that people edit from a face.
 *
 * AGENTS-1: only the known names, and never through a link: a link could show or overwrite any file of the machine (FS-11).
 * AGENTS-2: a write is all or nothing, and can be made to fail if somebody else changed the file in the meantime.
 */
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { readBelow, writeBelow } from "../../core/files/index.ts";
import { AGENT_FILES } from "./defaults.ts";

export interface AgentFile {
  text: string;
  /** Changes with the text. */
  version: string;
}

export interface AgentFileInfo {
  name: string;
  bytes: number;
  changedAt: number;
}

/** Larger than anything that belongs in a prompt. */
const LARGEST = 1_000_000;

export function fileInfo(dir: string, name: string): AgentFileInfo[] {
  try {
    const found = lstatSync(join(dir, name));
    return found.isFile() ? [{ name, bytes: found.size, changedAt: Math.round(found.mtimeMs) }] : [];
  } catch {
    return [];
  }
}

export async function readAgentFile(dir: string, name: string): Promise<AgentFile> {
  const found = await readBelow({ root: dir, path: known(name), most: LARGEST, links: "refuse" });
  if (found.state === "refused") throw unusable(name, found.why);
  const text = found.state === "file" ? found.content.toString("utf8") : "";
  return { text, version: makeVersion(text) };
}

export async function writeAgentFile(dir: string, name: string, text: string, version?: string): Promise<AgentFile> {
  const now = await readAgentFile(dir, name);
  if (version !== undefined && version !== now.version) {
    throw new AppError("CONFLICT", {
      message: `${name} was changed in the meantime.`,
      hint: "Read it again and make your change there.",
      retry: "after-change",
      details: { version: now.version },
    });
  }
  await writeBelow({ root: dir, path: known(name), content: text, tag: `agent ${name}`, mode: 0o600, links: "refuse" });
  return { text, version: makeVersion(text) };
}

function known(name: string): string {
  if (!Object.hasOwn(AGENT_FILES, name)) {
    throw new AppError("BAD_REQUEST", {
      message: `"${name}" is not one of an agent's files.`,
      details: { field: "file" },
    });
  }
  return name;
}

function makeVersion(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function unusable(name: string, cause: unknown): AppError {
  return new AppError("FORBIDDEN", {
    message: `${name} is a link or not a text file.`,
    hint: "Put a plain file there.",
    cause,
  });
}
