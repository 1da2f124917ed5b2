/**
 * An agent's skills: folders with a SKILL.md in its own `skills/`, in the home's for all agents, and in those of plugins, in this
 * order: the first of a name wins.
 *
 * SKILLS-1: nothing outside a skill's own folder is read, and nothing of a folder that is only linked here.
 * SKILLS-4: checking costs a stat per file; only files that changed since the last check are read again.
 * SKILLS-5: a skill that can't be used is listed with the reason, never silently skipped.
 * SKILLS-6: an imported skill is used only once the owner has allowed it by name; a plugin's, while the plugin is on.
 */
import { join } from "node:path";
import { AppError } from "../../core/domain/index.ts";
import { nearest } from "../../core/kit/index.ts";
import type { SkillsConfig } from "./config.ts";
import { type Manuscript, nameProblem, type ReadYaml, readManuscript } from "./manuscript.ts";
import { searchSkills, section } from "./section.ts";

/** The files of skills. Never follows a link out of the root it is given. */
export interface SkillFiles {
  /** What stands in a skills folder, hidden names left out. Empty when there is none. Throws when it cannot be looked at. */
  entries(root: string, most: number): Promise<{ entries: { name: string; isLink: boolean }[]; more: boolean }>;
  /** Changes whenever one of the files does; reads nothing. */
  stamp(paths: readonly string[]): Promise<string>;
  /** A file's text, or why it cannot be read. */
  read(root: string, path: string, most: number): Promise<{ text: string } | { why: string } | { none: true }>;
  /** Every file below the root, in order of path. */
  names(root: string, most: number): Promise<{ files: { path: string; bytes: number }[]; more: boolean }>;
}

export interface SkillsParts {
  files: SkillFiles;
  home: string;
  agentDir: (agent: string) => string;
  config: (agent: string) => SkillsConfig;
  /** The operating system here, as `process.platform` names it. */
  platform: string;
  /** The skills folders of the plugins that are on. */
  plugins?: () => readonly { plugin: string; root: string }[];
}

export type SkillState = "ready" | "off" | "covered" | "unusable";

export interface Skill {
  name: string;
  description: string;
  /** Whose folder it stands in. */
  of: "agent" | "home" | "plugin";
  /** Its folder. */
  root: string;
  state: SkillState;
  /** Why it is not ready. */
  why?: string;
  /** Its words are the owner's own: put there by hand, or trusted by name. */
  own: boolean;
  /** The system or plugin it came from. */
  imported?: string;
  about: Omit<Manuscript, "description" | "body">;
}

type Found = { name: string; root: string } & ({ why: string } | { made: Omit<Manuscript, "body">; imported?: string });

/** Who brought a skill: beside its SKILL.md when it was not the owner's hand. */
export const ORIGIN_FILE = ".origin.json";
/** Instructions longer than this are a book. */
export const LARGEST_SKILL = 128 * 1024;
/** More are no help to a model; each costs a look at every session's start. */
const MOST_SKILLS = 500;
/** Files read at the same time. */
const AT_ONCE = 16;
const MOST_FILES = 200;
const MOST_FOUND = 8;

export class Skills {
  private readonly parts: SkillsParts;
  /** By skills folder, then by name: what was read, and the stamp it had. */
  private readonly known = new Map<string, Map<string, { stamp: string; found: Found }>>();
  private readonly looking = new Map<string, Promise<Found[]>>();
  private yaml: ReadYaml | undefined;

  constructor(parts: SkillsParts) {
    this.parts = parts;
  }

  /** All of them by name, also those that cannot be used. */
  async list(agent: string): Promise<Skill[]> {
    const { disabled, allowed, trusted } = this.parts.config(agent);
    const mine = await this.look(join(this.parts.agentDir(agent), "skills"));
    const everybodys = await this.look(join(this.parts.home, "skills"));
    const taken = new Set(mine.filter((found) => "made" in found).map(({ name }) => name));
    const inHome = new Set<string>();
    for (const { name } of everybodys.filter((found) => "made" in found)) inHome.add(name);
    const skill = (found: Found, of: Skill["of"], plugin?: string): Skill => {
      const { name, root } = found;
      if ("why" in found)
        return { name, description: "", of, root, state: "unusable", why: found.why, own: false, about: { notes: [] } };
      const { description, ...about } = found.made;
      const from = plugin === undefined ? found.imported : `the plugin ${plugin}`;
      const imported = from === undefined ? {} : { imported: from };
      const own = from === undefined || trusted.includes(name) || trusted.includes("*");
      const base = { name, description, of, root, own, about, ...imported };
      if (of !== "agent" && taken.has(name))
        return { ...base, state: "covered", why: "The agent has its own skill of this name." };
      if (plugin !== undefined && inHome.has(name))
        return { ...base, state: "covered", why: "There is another skill of this name." };
      const { platforms } = about;
      if (platforms && !platforms.includes(this.parts.platform))
        return { ...base, state: "off", why: `It is for ${platforms.join(", ")}; this is ${this.parts.platform}.` };
      if (disabled.includes(name)) return { ...base, state: "off", why: "It's turned off in lares.yaml." };
      // A person accepted the plugin's files, these among them.
      if (plugin !== undefined) inHome.add(name);
      else if (!own && !allowed.includes(name) && !allowed.includes("*"))
        return { ...base, state: "off", why: howToAllow([...allowed, name]) };
      return { ...base, state: "ready" };
    };
    const all = [...mine.map((one) => skill(one, "agent")), ...everybodys.map((one) => skill(one, "home"))];
    for (const { plugin, root } of this.parts.plugins?.() ?? [])
      all.push(...(await this.look(root)).map((one) => skill(one, "plugin", plugin)));
    return all.sort(byName);
  }

  /** What a new session's prompt says of them. */
  async section(agent: string): Promise<string> {
    const { promptTokens } = this.parts.config(agent);
    return promptTokens > 0 ? section(await this.ready(agent), promptTokens) : "";
  }

  /** The best matches; without a question the first by name. `all`: how many there are. */
  async search(agent: string, query: string): Promise<{ skills: Skill[]; all: number }> {
    const ready = await this.ready(agent);
    const skills = query.trim() ? searchSkills(ready, query, MOST_FOUND) : ready.slice(0, MOST_FOUND);
    return { skills, all: ready.length };
  }

  /** One that can be used. Throws NOT_FOUND with the reason, or the nearest name. */
  async get(agent: string, name: string): Promise<Skill> {
    const skill = await this.find(agent, name);
    if (skill.state === "ready") return skill;
    throw new AppError("NOT_FOUND", {
      message: `The skill "${name}" can't be used: ${skill.why}`,
      retry: "after-change",
    });
  }

  /** One whatever its state; of two with one name, the agent's own. */
  async find(agent: string, name: string): Promise<Skill> {
    const all = await this.list(agent);
    const skill = all.find((one) => one.name === name && one.state === "ready") ?? all.find((one) => one.name === name);
    if (skill) return skill;
    const near = nearest(
      name,
      all.filter((one) => one.state === "ready").map((one) => one.name),
    );
    throw new AppError("NOT_FOUND", {
      message: `There is no skill "${name}".`,
      hint: near ? `Did you mean "${near}"?` : "See them: lares skills list, or tool_search.",
      retry: "after-change",
    });
  }

  /** What its SKILL.md tells to do, and which other files it brings. */
  async words(skill: Skill): Promise<{ body: string; files: { path: string; bytes: number }[]; more: boolean }> {
    const read = await this.parts.files.read(skill.root, "SKILL.md", LARGEST_SKILL);
    const made = "text" in read ? readManuscript(read.text, skill.name, await this.readYaml()) : read;
    if (!("body" in made)) {
      const why = "why" in made ? made.why : "There is no SKILL.md in it.";
      throw new AppError("NOT_FOUND", { message: `The skill "${skill.name}" can't be used: ${why}` });
    }
    const { files, more } = await this.parts.files.names(skill.root, MOST_FILES);
    const others = files.filter(({ path }) => path !== "SKILL.md" && path !== ORIGIN_FILE);
    return { body: made.body, files: others, more };
  }

  /** Why the folder of a skill could not be used under this name; nothing when it could. */
  async examine(root: string, name: string): Promise<string | undefined> {
    const found = nameProblem(name) ?? (await this.readOne(root, name));
    if (typeof found === "string") return found;
    if ("why" in found) return found.why;
    return undefined;
  }

  private async ready(agent: string): Promise<Skill[]> {
    return (await this.list(agent)).filter((skill) => skill.state === "ready");
  }

  /** Looks at a skills folder; those who ask while it is looked at share the look. */
  private look(root: string): Promise<Found[]> {
    const under = this.looking.get(root);
    if (under) return under;
    const look = this.scan(root).finally(() => this.looking.delete(root));
    this.looking.set(root, look);
    return look;
  }

  private async scan(root: string): Promise<Found[]> {
    let here: Awaited<ReturnType<SkillFiles["entries"]>>;
    try {
      here = await this.parts.files.entries(root, MOST_SKILLS);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return [{ name: "skills", root, why: `The folder can't be read: ${why}` }];
    }
    const before = this.known.get(root);
    const now = new Map<string, { stamp: string; found: Found }>();
    for (let from = 0; from < here.entries.length; from += AT_ONCE) {
      const some = here.entries.slice(from, from + AT_ONCE);
      const read = await Promise.all(some.map((entry) => this.fresh(root, entry, before?.get(entry.name))));
      for (const one of read) now.set(one.found.name, one);
    }
    if (now.size) this.known.set(root, now);
    else this.known.delete(root);
    const found = [...now.values()].map((one) => one.found);
    if (!here.more) return found;
    return [
      ...found,
      { name: "skills", root, why: `There are more than ${MOST_SKILLS} here; the others are left out.` },
    ];
  }

  private async fresh(
    root: string,
    { name, isLink }: { name: string; isLink: boolean },
    before: { stamp: string; found: Found } | undefined,
  ): Promise<{ stamp: string; found: Found }> {
    const dir = join(root, name);
    if (isLink) return { stamp: "", found: { name, root: dir, why: "It is a link. Put the folder itself here." } };
    const bad = nameProblem(name);
    if (bad) return { stamp: "", found: { name, root: dir, why: bad } };
    // Before it is read: what changes meanwhile is read again at the next look. The folder's own time tells of the origin file.
    const stamp = await this.parts.files.stamp([dir, join(dir, "SKILL.md")]);
    if (before?.stamp === stamp) return before;
    return { stamp, found: { name, root: dir, ...(await this.readOne(dir, name)) } };
  }

  private async readOne(
    dir: string,
    name: string,
  ): Promise<{ why: string } | { made: Omit<Manuscript, "body">; imported?: string }> {
    const { files } = this.parts;
    const read = await files.read(dir, "SKILL.md", LARGEST_SKILL);
    if ("none" in read) return { why: "There is no SKILL.md in it." };
    if ("why" in read) return read;
    const made = readManuscript(read.text, name, await this.readYaml());
    if ("why" in made) return made;
    const origin = await files.read(dir, ORIGIN_FILE, LARGEST_SKILL);
    const { body: _body, ...card } = made;
    return { made: card, ...("none" in origin ? {} : { imported: "text" in origin ? readOrigin(origin.text) : "?" }) };
  }

  /** Loaded with the first skill. */
  private async readYaml(): Promise<ReadYaml> {
    if (!this.yaml) {
      const { parse } = await import("yaml");
      this.yaml = (text) => parse(text, { logLevel: "silent", prettyErrors: false });
    }
    return this.yaml;
  }
}

/** `config set` replaces the list, so the command carries those allowed before. */
function howToAllow(names: readonly string[]): string {
  return `Imported, not used until you allow it: lares config set skills.allowed '${JSON.stringify(names)}'`;
}

/** A name that nobody can read is still a sign that it came from elsewhere. */
function readOrigin(text: string): string {
  try {
    const { from } = JSON.parse(text) as { from?: unknown };
    return typeof from === "string" ? from.slice(0, 100) : "?";
  } catch {
    return "?";
  }
}

/** An agent's own skill comes before everybody's of that name. */
function byName(a: Skill, b: Skill): number {
  if (a.name === b.name) return a.of === "agent" ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
