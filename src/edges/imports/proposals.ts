/**
 * What an import proposes and nobody has accepted yet: instructions beside the agent's own (`agents/<id>/imported/FILE`), and
 * facts that wait. Only a person's word makes them count (I12).
 */
import { join } from "node:path";
import { type AgentId, AppError, asId, isImportSource } from "../../core/domain/index.ts";
import { removeTree, textBelow } from "../../core/files/index.ts";
import type { ImportPorts } from "./ports.ts";

export interface Proposal {
  /** AGENT/FILE. */
  id: string;
  agent: string;
  file: string;
  /** What the file says now. */
  now: string;
  /** What it would say. */
  proposed: string;
}

type Parts = Pick<ImportPorts, "home" | "agents" | "facts">;

/** What imports propose; MEMORY.md and USER.md come as facts. */
const FILES = ["SOUL.md", "AGENTS.md", "HEARTBEAT.md"] as const;
/** An agent's file of instructions. */
export const MOST_FILE_BYTES = 1024 * 1024;
const FACTS = "facts";
/** Facts decided about at once; an import has a few thousand at most. */
const MOST_FACTS = 100_000;

export async function listProposals(parts: Parts): Promise<{ files: Proposal[]; facts: number }> {
  const files: Proposal[] = [];
  for (const agent of parts.agents.names())
    for (const file of FILES) {
      const found = await read(parts, agent, file);
      if (found) files.push(found);
    }
  return { files, facts: (await waiting(parts)).length };
}

/** `proposed`: the text that was read; refused when it is another one by now. Returns how many files or facts count now. */
export async function acceptProposal(parts: Parts, id: string, proposed?: string): Promise<number> {
  if (id === FACTS) return decide(parts, true);
  const found = await named(parts, id);
  if (proposed !== undefined && proposed !== found.proposed) {
    throw new AppError("CONFLICT", {
      message: `What is proposed for ${id} has changed since you read it.`,
      hint: "Read it again: lares import proposals",
    });
  }
  await parts.agents.writeFile(asId<AgentId>(found.agent), found.file, found.proposed);
  await removeTree(proposalPlace(parts.home, found.agent, found.file));
  return 1;
}

export async function rejectProposal(parts: Parts, id: string): Promise<number> {
  if (id === FACTS) return decide(parts, false);
  const found = await named(parts, id);
  await removeTree(proposalPlace(parts.home, found.agent, found.file));
  return 1;
}

/** Where a proposed file lies. */
export function proposalPlace(home: string, agent: string, file: string): { root: string; path: string } {
  return { root: join(home, "agents", agent), path: `imported/${file}` };
}

async function waiting({ facts }: Parts) {
  return (await facts.pending({ limit: MOST_FACTS })).filter((fact) => isImportSource(fact.source));
}

async function decide(parts: Parts, keep: boolean): Promise<number> {
  const facts = await waiting(parts);
  for (const { id } of facts) await parts.facts.decide(id, keep);
  return facts.length;
}

async function named(parts: Parts, id: string): Promise<Proposal> {
  const [agent = "", name = ""] = id.split("/");
  const file = FILES.find((one) => one === name);
  const known = file && parts.agents.exists(asId<AgentId>(agent));
  const found = known ? await read(parts, agent, file) : undefined;
  if (found) return found;
  throw new AppError("NOT_FOUND", {
    message: `Nothing is proposed for "${id}".`,
    hint: "See what is: lares import proposals",
  });
}

async function read(parts: Parts, agent: string, file: string): Promise<Proposal | undefined> {
  const proposed = await textBelow({ ...proposalPlace(parts.home, agent, file), most: MOST_FILE_BYTES });
  if (proposed === undefined) return undefined;
  const { text } = await parts.agents.readFile(asId<AgentId>(agent), file);
  return { id: `${agent}/${file}`, agent, file, now: text, proposed };
}
