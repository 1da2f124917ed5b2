/** What rooms answer whose methods are younger than this face. When the registry has them, these are the same shapes. */

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
