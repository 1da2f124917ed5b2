/**
 * Skills for the tools that reach them: `read` with a path `skill:NAME[/FILE]`, and `tool_search`.
 *
 * SKILLS-1 holds here too: the path is proven to be inside the skill's own folder by the same path type as every other.
 */
import type { ActionPlan, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { visibleLine } from "../escape.ts";
import { humanSize } from "../files/content.ts";
import { withInside } from "../paths/index.ts";

/** What the tools need of skills. Whose they are follows from the caller. */
export interface SkillPort {
  /** The folder of one that can be used, and whether its words are the owner's own. Throws NOT_FOUND with the reason. */
  open(agent: string, name: string): Promise<{ root: string; own: boolean }>;
  /** What it tells to do, and the files it brings beside that. */
  words(
    agent: string,
    name: string,
  ): Promise<{ body: string; files: readonly { path: string; bytes: number }[]; more: boolean }>;
  /** Best first; without a question the first by name. `all`: how many there are. */
  search(
    agent: string,
    query: string,
  ): Promise<{ skills: readonly { name: string; description: string; own: boolean }[]; all: number }>;
}

export interface SkillPath {
  name: string;
  /** Below the skill's folder; empty for the skill itself. */
  file: string;
}

/** As many files as are named behind a skill's words. */
const NAMED_FILES = 30;
/** What a search says of one. */
const LONGEST_DESCRIPTION = 300;

export function skillPath(path: string): SkillPath | undefined {
  const found = /^skill:\/{0,2}([^/]+)(?:\/([\s\S]*))?$/.exec(path.trim());
  return found ? { name: found[1]!, file: found[2] ?? "" } : undefined;
}

export async function planSkill(
  port: SkillPort,
  { name, file }: SkillPath,
  place: ToolPlace,
  details: string,
): Promise<ActionPlan> {
  const { root } = await port.open(place.caller.agent, name);
  const plan = (target: string): ActionPlan => ({
    tool: "read",
    risk: "read",
    targets: [target],
    shown: `read ${visibleLine(target)}${details}`,
    binding: { path: target },
  });
  try {
    const at = { root, path: file || "SKILL.md", parents: "imagine" as const };
    return await withInside(at, async (inside) => plan(`skill:${name}/${inside.path}`));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "PATH_OUTSIDE") throw error;
    return { ...plan(`skill:${name}/${file}`), outside: `"${visibleLine(file)}" is outside the skill's folder.` };
  }
}

/** The body of a SKILL.md and the names of its files; nothing when it is too long for one answer. */
export async function skillWords(
  port: SkillPort,
  agent: string,
  name: string,
  most: number,
): Promise<ToolResult | undefined> {
  const { body, files, more } = await port.words(agent, name);
  if (Buffer.byteLength(body) > most) return undefined;
  const named = files.slice(0, NAMED_FILES).map(({ path, bytes }) => `${visibleLine(path)} (${humanSize(bytes)})`);
  const rest = more || files.length > NAMED_FILES ? ", …" : "";
  const note = named.length ? `\n\n[its files: ${named.join(", ")}${rest}; read skill:${name}/FILE]` : "";
  return { text: `${body.trimEnd()}${note}`, meta: { skill: name, files: files.length } };
}

export async function foundSkills(
  port: SkillPort | undefined,
  agent: string,
  query: string,
): Promise<{ lines: string[]; isMatch: boolean; carriesOutside: boolean } | undefined> {
  const { skills, all } = (await port?.search(agent, query)) ?? { skills: [], all: 0 };
  if (all === 0) return undefined;
  const lines = skills.map(({ name, description }) => {
    const cut = description.length > LONGEST_DESCRIPTION;
    return `skill:${name}: ${cut ? `${description.slice(0, LONGEST_DESCRIPTION - 1)}…` : description}`;
  });
  const left = all - skills.length;
  const rest = left ? ` ${left} ${query ? "others do not match" : "more: search by words"}.` : "";
  const foot = `To use a skill, first read {"path":"skill:NAME"}.${rest}`;
  return { lines: [...lines, foot], isMatch: skills.length > 0, carriesOutside: skills.some(({ own }) => !own) };
}
