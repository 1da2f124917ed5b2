/** What an import needs from the other rooms. Every call is idempotent per item, so an import can be repeated. */
import type { AgentId, HistoryEntry, Json, ReplyRoute, SessionKey } from "../../core/domain/index.ts";
import type { Clock, Crash, Guard } from "../../core/kit/index.ts";
import type { ImportItem } from "./items.ts";
import type { ReadSqlite } from "./store.ts";

export interface ImportPorts {
  home: string;
  clock: Pick<Clock, "now">;
  crash: Crash;
  /** Knows which folder stopped Lares before (I13). */
  guard: Guard;
  agents: ImportAgents;
  facts: ImportFacts;
  skills: {
    /** Why the folder can't be a skill of this name, or undefined. */
    examine(dir: string, name: string): Promise<string | undefined>;
    /** The file in a skill's folder that says it came from elsewhere. */
    originFile: string;
  };
  sessions: {
    /** How many messages it has; undefined when there is none of this key. */
    count(session: SessionKey): Promise<number | undefined>;
    /** Adds what is missing of these lines, as text from outside. */
    add(of: { session: SessionKey; agent: string }, lines: HistoryEntry[]): Promise<void>;
    rename(session: SessionKey, title: string): Promise<void>;
  };
  jobs: {
    list(): Promise<readonly { name: string; createdBy: string }[]>;
    /** Throws when these times make no sense. */
    check(when: When): void;
    add(job: ImportedJob): Promise<unknown>;
  };
  accounts: {
    has(channel: string, account: string): boolean;
    /** Writes the account into lares.yaml. */
    add(channel: string, account: string, settings: Readonly<Record<string, Json>>): Promise<unknown>;
  };
  /** Durable when it resolves. */
  keepSecret(name: string, value: string): Promise<void>;
  /** Looks into databases below this folder, by copies. */
  readSqlite(root: string): ReadSqlite;
}

export interface ImportAgents {
  /** All agents, configured or with a folder. */
  names(): string[];
  /** Whether there is an agent of this name. */
  exists(agent: AgentId): boolean;
  /** Makes the agent's folder where it is missing. */
  ensure(agent: AgentId): void;
  /** One of the files people edit; empty text if it is missing. */
  readFile(agent: AgentId, file: string): Promise<{ text: string }>;
  /** Replaces one of the files people edit, atomically. */
  writeFile(agent: AgentId, file: string, text: string): Promise<unknown>;
}

export interface ImportFacts {
  /** The fact with this id; undefined if there is none. */
  get(id: string): Promise<unknown>;
  /** Whether this text was deleted here on purpose. */
  wasForgotten(text: string): Promise<boolean>;
  /** Stores a fact as pending. Idempotent per id. */
  add(fact: ImportedFact): Promise<unknown>;
  /** Facts that wait for a person's decision. */
  pending(query: { limit: number }): Promise<readonly { id: string; source?: string }[]>;
  /** A person's decision on a pending fact. False if it isn't pending. */
  decide(id: string, keep: boolean): Promise<boolean>;
}

type When = (ImportItem & { what: "schedule" })["when"];

export interface ImportedFact {
  id: string;
  text: string;
  kind: "fact" | "person" | "episode";
  agent: string;
  trust: "outside";
  /** Why it waits. */
  pending: string;
  source: string;
  at?: number;
}

export interface ImportedJob extends When {
  name: string;
  prompt: string;
  agent: string;
  enabled: false;
  createdBy: string;
  route?: ReplyRoute;
}
