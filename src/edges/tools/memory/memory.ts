/** `memory_save`, `memory_search`, `memory_forget`: what the agent remembers, through a desk that knows whose session it is. */
import { z } from "zod";
import type { ActionPlan, Tool, ToolPlace } from "../../../core/contracts/index.ts";
import type { JsonObject, Origin } from "../../../core/domain/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";

const KINDS = ["fact", "preference", "person", "project", "decision", "procedure", "episode"] as const;

/** What these tools need of the house. Whose memory it is follows from the caller; the scope is never the model's choice. */
export interface MemoryDesk {
  /** Durable when it resolves; `key` again is the same memory. `pending`: kept, but a person must agree first. */
  save(memory: {
    key: string;
    text: string;
    kind?: MemoryKind;
    caller: Caller;
  }): Promise<{ id: string; state: string }>;
  /** Best first, only what the caller's session may see. `origin` says whose words each one is. */
  search(query: { query: string; caller: Caller }): Promise<Found[]>;
  /** Deletes for good. False when there is no such memory in the session's sight; may be repeated. */
  forget(memory: { id: string; caller: Caller }): Promise<boolean>;
}

export interface Found {
  id: string;
  text: string;
  source: string | null;
  at: number;
  place?: string;
  origin: Origin;
}

type Caller = ToolPlace["caller"];
type MemoryKind = (typeof KINDS)[number];

/** What these tools say is ours; `memory_search` says of each answer whose words it holds. */
const OURS = { result: "own", failure: "own" } as const;

const saveInput = z.strictObject({ text: z.string().min(1).max(4000), kind: z.enum(KINDS).optional() });
const searchInput = z.strictObject({ query: z.string().min(1).max(2000) });
const forgetInput = z.strictObject({ id: z.string().min(1).max(64) });

export function createMemoryTools(desk: MemoryDesk): Tool[] {
  return [save(desk), search(desk), forget(desk)];
}

function save(desk: MemoryDesk): Tool {
  return {
    spec: {
      name: "memory_save",
      description: "Remember one fact",
      input: {
        type: "object",
        properties: { text: { type: "string" }, kind: { type: "string", enum: [...KINDS] } },
        required: ["text"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input) {
      const { text, kind } = parseInput("memory_save", saveInput, input);
      const shown = `Remember${kind ? ` (${kind})` : ""}: ${visible(text)}`;
      return { ...plan("memory_save", shown, { text, ...(kind ? { kind } : {}) }), adds: true };
    },
    async run(input, place, key) {
      const { text, kind } = parseInput("memory_save", saveInput, input);
      const saved = await desk.save({ key, text, caller: place.caller, ...(kind ? { kind } : {}) });
      const note =
        saved.state === "pending" ? "waits until a person agrees" : saved.state === "known" ? "known already" : "saved";
      return { text: `${note} (${saved.id})`, meta: { id: saved.id, state: saved.state } };
    },
  };
}

function search(desk: MemoryDesk): Tool {
  return {
    spec: {
      name: "memory_search",
      description: "Search memory and past talks",
      input: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    },
    repeat: "safe",
    words: OURS,
    async plan(input) {
      const { query } = parseInput("memory_search", searchInput, input);
      return {
        tool: "memory_search",
        risk: "read",
        targets: [],
        shown: `Search memory: ${visible(query)}`,
        binding: { query },
      };
    },
    async run(input, place) {
      const { query } = parseInput("memory_search", searchInput, input);
      const found = await desk.search({ query, caller: place.caller });
      const lines = found.map((hit) => {
        const source = hit.source === null ? "" : ` [${hit.source}${hit.place ? `, ${hit.place}` : ""}]`;
        return `${hit.id} ${new Date(hit.at).toISOString().slice(0, 10)}${source}: ${hit.text}`;
      });
      const text = lines.join("\n") || "nothing found";
      const origin = found.every((hit) => hit.origin === "own") ? "own" : "outside";
      return { text, origin, meta: { found: found.length } };
    },
  };
}

function forget(desk: MemoryDesk): Tool {
  return {
    spec: {
      name: "memory_forget",
      description: "Delete a memory by id",
      input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    },
    repeat: "safe",
    words: OURS,
    async plan(input) {
      const { id } = parseInput("memory_forget", forgetInput, input);
      return plan("memory_forget", `Forget ${visibleLine(id)}`, { id });
    },
    async run(input, place) {
      const { id } = parseInput("memory_forget", forgetInput, input);
      const gone = await desk.forget({ id, caller: place.caller });
      return gone ? { text: "forgotten" } : { text: `There is no memory ${visibleLine(id)}.`, isError: true };
    },
  };
}

function plan(tool: string, shown: string, binding: JsonObject): ActionPlan {
  return { tool, risk: "state", targets: [], shown, binding, changes: "memory" };
}
