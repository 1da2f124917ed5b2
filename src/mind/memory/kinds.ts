import { scopeKeys } from "../../core/domain/index.ts";
/** The words of memory: what a remembered thing is, who may see it, how far it is trusted. */

export const MEMORY_KINDS = ["fact", "preference", "person", "project", "decision", "procedure", "episode"] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

/** Who said it. `outside`: a page, a file, a stranger, a tool's output; it waits for a person before it counts (I12). */
export type Trust = "owner" | "agent" | "person" | "outside";

export interface NewMemory {
  text: string;
  /** An id of the caller's making: the same id again is the same memory. */
  id?: string;
  kind?: MemoryKind;
  /** Where it comes from: a turn, a message, a conversation's name. Items that share it follow each other. */
  source?: string;
  /** When it happened or was said; now when not given. */
  at?: number;
  /** Who may see it; see `listScopes`. From `person` and `agent` when not given. */
  scope?: string;
  person?: string;
  agent?: string;
  trust?: Trust;
  /** Gone by itself after this time. */
  expiresAt?: number;
  /** Subject and relation of a fact with one value at a time; found in the text when not given. */
  topic?: string;
  /** Live memories it takes the place of. */
  supersedes?: readonly string[];
  /** It waits for a person, for this reason. */
  pending?: string;
}

export type AddOutcome =
  /** `superseded`: what it took the place of. */
  | { id: string; state: "live"; superseded?: string[] }
  /** The same fact was known already; this is its id. */
  | { id: string; state: "known" }
  /** Text from outside: it is remembered when a person says so. */
  | { id: string; state: "pending" }
  /** Older than the fact that holds now; kept as history. */
  | { id: string; state: "superseded" };

export interface Remembered {
  id: string;
  text: string;
  kind: MemoryKind | "document";
  scope: string;
  state: "live" | "pending" | "superseded";
  trust: Trust;
  at: number;
  createdAt: number;
  uses: number;
  person?: string;
  agent?: string;
  source?: string;
  /** Where in the source: lines of a file. */
  place?: string;
  topic?: string;
  supersededBy?: string;
  /** Why it waits for a person. */
  why?: string;
  usedAt?: number;
  expiresAt?: number;
}

export interface Found {
  id: string;
  text: string;
  source: string | null;
  /** Comparable within one answer only. */
  score: number;
  at: number;
  kind: MemoryKind | "document" | "message" | "outside";
  place?: string;
  /** Who said it. A message counts as the owner's only when nothing from outside had been read before it. */
  trust: Trust;
  person?: string;
}

/** Whose eyes a search has. */
export interface Viewer {
  agent?: string;
  person?: string;
  teams?: readonly string[];
  /** True: the session is the owner's. Without it a session with a person is a stranger's. */
  owner?: boolean;
}

/** Visible to everybody, strangers too. */
export const PUBLIC = "public";
/** Visible to all agents in the owner's own sessions. */
export const SHARED = "shared";
export const agentScope = scopeKeys.agent;
export const teamScope = scopeKeys.team;
export const personScope = scopeKeys.person;

/**
 * The scopes a session may read.
 *
 * MEMORY-1: a stranger's session sees what it said itself and what is public, whatever agent and team
 * it talks to; the owner's facts are not among its scopes, so no query can reach them.
 */
export function listScopes(viewer: Viewer): string[] {
  const own = viewer.person === undefined ? [] : [personScope(viewer.person)];
  if (viewer.person !== undefined && !viewer.owner) return [...own, PUBLIC];
  return [
    ...own,
    PUBLIC,
    SHARED,
    ...(viewer.agent === undefined ? [] : [agentScope(viewer.agent)]),
    ...(viewer.teams ?? []).map(teamScope),
  ];
}

/** Where a new memory goes when nobody says so: to the person, else to the agent, else to all agents. */
export function scopeFor(memory: Pick<NewMemory, "scope" | "person" | "agent">): string {
  if (memory.scope !== undefined) return memory.scope;
  if (memory.person !== undefined) return personScope(memory.person);
  return memory.agent === undefined ? SHARED : agentScope(memory.agent);
}

/** What a query may look at; undefined is everything: the owner at the controls. */
export function visibleScopes(query: Viewer & { scope?: string | readonly string[] }): string[] | undefined {
  const asked = query.scope === undefined ? undefined : [query.scope].flat();
  if (query.person === undefined && query.agent === undefined && !query.teams) return asked;
  const allowed = listScopes(query);
  // A viewer who names a scope sees it only if it is one of theirs.
  return asked ? asked.filter((scope) => allowed.includes(scope)) : allowed;
}
