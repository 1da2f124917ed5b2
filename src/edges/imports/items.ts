/** What another system's folder holds, in our words. Reading makes items; nothing of the folder is ever changed. */
import { trimCharacters } from "../../core/kit/index.ts";
import type { ImportedAccess, ImportedDelivery } from "./people.ts";

export interface ImportedLine {
  role: "user" | "assistant";
  text: string;
  at: number;
}

export type ImportItem =
  | { what: "agent"; from: string; agent: string }
  /** A file people edit: who the agent is, how it works. */
  | { what: "file"; from: string; agent: string; file: "SOUL.md" | "AGENTS.md" | "HEARTBEAT.md"; text: string }
  | { what: "memory"; from: string; agent: string; text: string; kind: "fact" | "person" | "episode"; at?: number }
  /** A folder with a SKILL.md, taken over as it is. */
  | { what: "skill"; from: string; agent: string; name: string; dir: string }
  | { what: "session"; from: string; agent: string; id: string; title: string; messages: ImportedLine[] }
  | {
      what: "schedule";
      from: string;
      agent: string;
      id: string;
      name: string;
      when: { cron?: string; zone?: string; every?: string; at?: string };
      prompt: string;
      enabled: boolean;
      /** Where it answers. */
      deliver?: ImportedDelivery;
    }
  /** `settings` are ours by name; `secrets` name the fields whose values are secret. */
  | {
      what: "channel";
      from: string;
      channel: string;
      account: string;
      settings: Record<string, string>;
      secrets: string[];
      /** Who may write there. */
      access?: ImportedAccess;
      /** It let everybody in there, which is not taken over. */
      wasOpen?: boolean;
    }
  | { what: "left out"; from: string; why: string };

/** An agent's name as ours may be: a-z, 0-9 and -. */
export function agentName(id: string): string {
  const dashed = id.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const name = trimCharacters(dashed, "-").slice(0, 64);
  return name || "main";
}

/** Facts of a memory file: its list items, and paragraphs that are none. Headings give a short item its subject. */
export function factsIn(text: string): string[] {
  const facts: string[] = [];
  let held: string[] = [];
  const flush = () => {
    const said = held.join(" ").replace(/\s+/g, " ").trim();
    if (said.length > 3) facts.push(said.slice(0, 4000));
    held = [];
  };
  let inCode = false;
  for (const line of text.replace(/^---\n[\s\S]*?\n---\n/, "").split(/\r?\n/)) {
    if (/^\s*(```|~~~)/.test(line)) inCode = !inCode;
    const item = inCode ? undefined : /^(?:[-*+]|\d+[.)])\s(.*)$/.exec(line.trimStart())?.[1]?.trimStart();
    if (item !== undefined || line.trim() === "" || /^#{1,6}\s|^\s*(?:---+|§)\s*$/.test(line)) flush();
    if (item !== undefined) held.push(item);
    else if (!/^#{1,6}\s|^\s*(?:---+|§)\s*$|^<!--.*-->$/.test(line)) held.push(line.trim());
  }
  flush();
  return facts;
}
