/** What rooms answer whose methods are younger than this face. When the registry has them, these are the same shapes. */

export type SlotState = "pending" | "running" | "done" | "failed" | "skipped" | "missed";

export interface Job {
  id: string;
  name: string;
  /** When, in words: "weekdays 07:00, Lisbon". */
  words: string;
  agent: string;
  prompt: string;
  session: string;
  enabled: boolean;
  /** From lares.yaml: it follows the file. */
  declared: boolean;
  next?: number | null;
  last?: { due: number; state: SlotState; reason?: string };
  failures: number;
}

export interface Slot {
  due: number;
  state: SlotState;
  reason?: string;
  turn?: string;
  startedAt?: number;
  endedAt?: number;
}

export interface Fact {
  id: string;
  text: string;
  kind?: string;
  source?: string;
  at?: number | string;
  score?: number;
}

export interface Verdict {
  verdict: "allow" | "ask" | "deny";
  because: string;
  text: string;
  parts: { verdict: string; what: string; because: string }[];
}
