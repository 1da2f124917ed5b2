/**
 * Skills of agents for other programs: the protocol's skills extension (SEP-2640), in both eras. An address is
 * `skill://AGENT/SKILL/FILE`. Nothing is remembered: each request looks at what an agent can use at that moment.
 *
 * MCPSERVER-8: only skills that the agent itself can use are offered, and only to tokens with the right to read.
 * MCPSERVER-9: of a skill's folder only plain files are read: within bounds, hidden names left out, no link followed.
 */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { McpServer, ServerContext } from "@modelcontextprotocol/server";
import {
  type Skill,
  SkillCatalogError,
  type SkillReadResult,
  type SkillSource,
  SkillsExtension,
  skillEntry,
} from "@modelcontextprotocol/server/ext/skills";
import { AppError } from "../../../core/domain/index.ts";
import { filesBelow, readBelow } from "../../../core/files/index.ts";
import { agentId, type MethodName, type Params, type Result } from "../../../core/protocol/index.ts";
import { call } from "../call.ts";
import { explain, type McpVisitor, toMcpCaller } from "./catalogue.ts";

const BASE = "skill://";
const MANIFEST = "SKILL.md";
/** Of an address; a path of 1,024 characters fits, also when most of them are escaped. */
const MOST_URI = 4096;
/** For one page every file of its skills is read, because an entry has their digests. */
const PAGE = 20;
const MOST_FILES = 200;
const MOST_DEPTH = 8;
/** One file is held in memory at a time, and is sent in one message. */
const MOST_FILE_BYTES = 1024 * 1024;
const MOST_SKILL_BYTES = 4 * 1024 * 1024;
const HIDDEN = { has: (name: string) => name.startsWith(".") };

interface ReadySkill {
  agent: string;
  name: string;
  folder: string;
}

interface SkillAddress {
  agent: string;
  name: string;
  /** Below the skill's folder. */
  path: string;
}

export function addSkills(server: McpServer, client: McpVisitor): void {
  if (!client.principal.scopes.has("read")) return;
  const { log } = client.parts;
  const onWarning = ({ path, message }: { path: string; message: string }) =>
    log.debug("a skill isn't offered over MCP", { skill: path, why: message });
  new SkillsExtension({ source: makeSource(client, onWarning), onWarning }).attach(server);
}

function makeSource(client: McpVisitor, warn: (problem: { path: string; message: string }) => void): SkillSource {
  const entry = async (skill: ReadySkill): Promise<Skill | undefined> => {
    try {
      return await toEntry(skill, client);
    } catch (error) {
      if (!(error instanceof SkillCatalogError)) throw error;
      warn({ path: toKey(skill), message: error.problems.map(({ message }) => message).join("; ") });
      return undefined;
    }
  };
  const find = async (at: SkillAddress | undefined, ctx: ServerContext): Promise<ReadySkill | undefined> =>
    at && (await readySkills(client, at.agent, ctx)).find(({ name }) => name === at.name);
  return {
    async list({ cursor = "" }, ctx) {
      const left = (await allSkills(client, ctx)).filter((skill) => toKey(skill) > cursor);
      const skills: Skill[] = [];
      for (const skill of left.slice(0, PAGE)) {
        const made = await entry(skill);
        if (made) skills.push(made);
      }
      return { skills, ...(left.length > PAGE ? { nextCursor: toKey(left[PAGE - 1]!) } : {}) };
    },
    async get(uri, ctx) {
      const at = readAddress(uri);
      const skill = at?.path === MANIFEST ? await find(at, ctx) : undefined;
      return skill && entry(skill);
    },
    async read(uri, ctx) {
      const at = readAddress(uri);
      const skill = await find(at, ctx);
      return skill && readFile(skill.folder, at!.path, client);
    },
  };
}

/** Of two agents that share a skill of the home, the first lists it; at both addresses it can be read. */
async function allSkills(client: McpVisitor, ctx: ServerContext): Promise<ReadySkill[]> {
  const { agents } = await ask(client, "agents.list", {}, ctx);
  const byFolder = new Map<string, ReadySkill>();
  for (const name of agents.map(({ agent }) => agent).sort())
    for (const skill of await readySkills(client, name, ctx))
      if (!byFolder.has(skill.folder)) byFolder.set(skill.folder, skill);
  return [...byFolder.values()].sort((a, b) => (toKey(a) < toKey(b) ? -1 : 1));
}

async function readySkills(client: McpVisitor, agent: string, ctx: ServerContext): Promise<ReadySkill[]> {
  try {
    const { skills } = await ask(client, "skills.list", { agent }, ctx);
    return skills.filter(({ state }) => state === "ready").map(({ name, folder }) => ({ agent, name, folder }));
  } catch (error) {
    // There is no such agent, or no longer.
    if (error instanceof AppError && error.code === "AGENT_UNKNOWN") return [];
    throw new Error(explain(error, client.parts));
  }
}

function ask<M extends MethodName>(
  { parts, principal }: McpVisitor,
  method: M,
  params: Params<M>,
  { mcpReq: { signal } }: ServerContext,
): Promise<Result<M>> {
  return call(parts, method, params, toMcpCaller(principal, signal));
}

/** With the digest of every file as it would be sent, so that a client can check what it reads. */
async function toEntry(skill: ReadySkill, client: McpVisitor): Promise<Skill> {
  const { files, more } = await filesBelow(skill.folder, { most: MOST_FILES, depth: MOST_DEPTH, closed: HIDDEN });
  const offered = files.filter(({ path }) => isOffered(path.split("/")));
  const bytes = offered.reduce((sum, { size }) => sum + size, 0);
  if (more || bytes > MOST_SKILL_BYTES)
    throw unfit(skill, `it has more than ${MOST_FILES} files, ${MOST_SKILL_BYTES} bytes or ${MOST_DEPTH} levels`);
  const manifest = await readFile(skill.folder, MANIFEST, client);
  if (!manifest || !("text" in manifest)) throw unfit(skill, `its ${MANIFEST} can't be read as text`);
  // The others' content is filled in below, one file after the other.
  const contents = { ...Object.fromEntries(offered.map(({ path }) => [path, ""])), [MANIFEST]: manifest.text };
  const entry = await skillEntry(toKey(skill), contents, { baseUri: BASE });
  const resources: { uri: string; digest: string; size: number }[] = [];
  for (const { uri } of Array.isArray(entry.resources) ? entry.resources : []) {
    const path = readAddress(uri)?.path;
    const file = path === undefined ? undefined : await readFile(skill.folder, path, client);
    if (!file) throw unfit(skill, `${uri} can't be read, or has more than ${MOST_FILE_BYTES} bytes`);
    const sent = "text" in file ? Buffer.from(file.text) : file.bytes;
    resources.push({ uri, digest: `sha256:${createHash("sha256").update(sent).digest("hex")}`, size: sent.length });
  }
  return { ...entry, resources };
}

/** MCPSERVER-2 holds for files, too. Bytes that aren't text can't be redacted, so a file that would need it isn't sent. */
async function readFile(root: string, path: string, { parts }: McpVisitor): Promise<SkillReadResult | undefined> {
  const found = await readBelow({ root, path, most: MOST_FILE_BYTES, links: "refuse" });
  if (found.state !== "file") return undefined;
  if (isUtf8(found.content)) return { text: parts.redact(found.content.toString("utf8")) };
  const raw = found.content.toString("latin1");
  return parts.redact(raw) === raw ? { bytes: found.content } : undefined;
}

function readAddress(uri: string): SkillAddress | undefined {
  if (uri.length > MOST_URI || !uri.startsWith(BASE)) return undefined;
  const [agent, name, ...path] = decoded(uri.slice(BASE.length).split("/"));
  if (!agentId.safeParse(agent).success || !name || path.length === 0 || !isOffered(path)) return undefined;
  return { agent: agent!, name, path: path.join("/") };
}

function decoded(segments: readonly string[]): string[] {
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return [];
  }
}

/** Names as a folder has them; hidden ones, `.` and `..` among them, are nobody's business. */
function isOffered(names: readonly string[]): boolean {
  return names.every((name) => name !== "" && !HIDDEN.has(name) && !/[/\\\0]/.test(name));
}

const toKey = ({ agent, name }: ReadySkill): string => `${agent}/${name}`;

function unfit(skill: ReadySkill, message: string): SkillCatalogError {
  return new SkillCatalogError([{ path: toKey(skill), message }]);
}
