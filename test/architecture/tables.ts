/** Which room a table belongs to. Only that room writes it; who else still reads it with a statement of its own is a list that shrinks. */
import { sqlTextsIn } from "./sql.ts";
import { lineOf, parse } from "./syntax.ts";

export const OWNERS: Readonly<Record<string, string>> = {
  a2a_card: "edges/tools",
  a2a_hire: "edges/tools",
  a2a_hop: "flow/peers",
  access_login: "flow/access",
  access_token: "flow/access",
  approval: "flow/approvals",
  attachment: "flow/attachments",
  attention_dismissed: "flow/attention",
  beat: "mind/heartbeat",
  beat_said: "mind/heartbeat",
  board_comment: "mind/board",
  board_evidence: "mind/board",
  board_handoff: "mind/board",
  board_link: "mind/board",
  board_move: "mind/board",
  board_refused: "mind/board",
  board_run: "mind/board",
  board_task: "mind/board",
  board_verdict: "mind/board",
  budget_hold: "mind/budget",
  budget_spent: "mind/budget",
  button: "flow/channels",
  channel_grant: "flow/channels",
  channel_kept: "flow/channels",
  checkpoint: "flow/checkpoints",
  checkpoint_blob: "flow/checkpoints",
  child_run: "mind/sub-agents",
  compaction: "mind/context",
  delivery: "flow/outbox",
  draft: "flow/outbox",
  engine_event: "ground/engine/embedded",
  engine_journal: "ground/engine/embedded",
  engine_slot: "ground/engine/embedded",
  engine_turn: "ground/engine/embedded",
  event_claim: "flow/events",
  goal: "mind/goals",
  hook_event: "flow/event-hooks",
  hook_place: "flow/event-hooks",
  inbox: "flow/inbox",
  inbox_file: "flow/attachments",
  interim_result: "mind/context",
  job: "mind/schedule",
  mcp_pin: "edges/tools",
  mcp_run: "edges/tools",
  mcp_server: "edges/tools",
  mcp_task: "edges/tools",
  memory: "mind/memory",
  memory_capture: "mind/memory",
  memory_condensation: "mind/memory",
  memory_entity: "mind/memory",
  memory_file: "mind/memory",
  memory_folder: "mind/memory",
  memory_forgotten: "mind/memory",
  memory_fts: "mind/memory",
  memory_fts_word: "mind/memory",
  memory_mention: "mind/memory",
  memory_place: "mind/memory",
  memory_relation: "mind/memory",
  memory_told: "mind/memory",
  memory_vector: "mind/memory",
  memory_view: "mind/memory",
  message: "mind/context",
  message_count: "flow/channels",
  message_fts: "mind/memory",
  message_shelf: "mind/memory",
  meta: "ground/records",
  pairing: "flow/channels",
  person_zone: "mind/schedule",
  process: "edges/tools",
  prompt: "mind/context",
  remembered: "flow/approvals",
  replay: "flow/idempotency",
  resource_fence: "flow/locks",
  resource_lock: "flow/locks",
  resource_lost: "flow/locks",
  run: "flow/runs",
  run_event: "flow/runs",
  run_said: "flow/runs",
  run_session: "mind/schedule",
  runtime_proof: "edges/runtimes",
  runtime_trial: "edges/runtimes",
  session: "flow/sessions",
  slot: "mind/schedule",
  system_event: "flow/events",
  team_debt: "mind/teams",
  team_exchange: "mind/teams",
  team_post: "mind/teams",
  team_reader: "mind/teams",
  tool_change: "flow/turns",
  turn: "flow/turns",
  turn_restart: "flow/turns",
  undo: "flow/checkpoints",
  usage: "flow/turns",
  watch: "mind/watch",
  worktree: "edges/worktrees",
};

/**
 * Rooms that read a table of another with a statement of their own, and why. Such a statement breaks when the owner changes the table,
 * and the type checker doesn't see it: a new reader asks the owner for a function instead, and a line that isn't needed any more goes.
 */
export const READERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  child_run: { "flow/approvals": "who asked, over any number of sub-agents: one recursive statement" },
  compaction: { "flow/sessions": "a session's row in the list, with its last compaction" },
  engine_journal: { "flow/turns": "effects of unknown outcome, with the turn's session and agent" },
  engine_turn: { "flow/turns": "parked turns by their deadline, which the engine keeps" },
  inbox: { "flow/approvals": "who asked: whose message the turn took" },
  message: {
    "flow/inbox": "on the turn's path: what an edit or a reply refers to, in the statement that takes it",
    "flow/sessions": "a session's row in the list, with its first and last message",
    "mind/memory": "the search index is built from messages, a piece at a time",
  },
  session: {
    "flow/inbox": "on the turn's path: the session a message goes to, in the statement that looks for it",
    "mind/context": "on the turn's path: where the session's window begins",
    "mind/memory": "which sessions are indexed, and whose they are",
  },
  turn: {
    "flow/approvals": "who asked, and where questions are open, in the approval's own statement",
    "flow/inbox": "on the turn's path: whether a message is known, in the statement that admits it",
    "flow/sessions": "a session's row in the list, with its last turn",
    "mind/memory": "who said a message that is being indexed",
  },
  usage: { "mind/context": "on the turn's path: what the provider counted last" },
};

/** A table's name, quoted or not, perhaps behind the name of its database. */
const TABLE = '(?:["`[]?\\w+["`\\]]?\\s*\\.\\s*)?["`[]?(\\w*)["`\\]]?';
const WRITES = new RegExp(
  `\\b(?:INSERT\\s+(?:OR\\s+\\w+\\s+)?INTO|REPLACE\\s+INTO|UPDATE(?:\\s+OR\\s+\\w+)?|DELETE\\s+FROM)\\s+${TABLE}`,
  "gi",
);
/** What stands behind FROM or JOIN up to the next clause: several tables may be named there, each perhaps with a short name. */
const READS =
  /(?<!DELETE\s)\b(?:FROM|JOIN)\s+([^()]*?)(?=\b(?:FROM|JOIN|WHERE|ON|SET|GROUP|ORDER|LIMIT|UNION|LEFT|INNER|CROSS|USING|RETURNING|SELECT|NATURAL|WINDOW|EXCEPT|INTERSECT)\b|[();]|$)/gi;
const READ = new RegExp(`^\\s*${TABLE}(?:\\s|$)`);
/** Part of a statement that is put together elsewhere. */
const PIECE = new RegExp(`\\b(?:FROM|JOIN)\\s+${TABLE}`, "g");
/** `ON CONFLICT … DO UPDATE SET` names no table. */
const NO_TABLE = /^set$/i;

export interface Touch {
  table: string;
  room: string;
  where: string;
  does: "writes" | "reads";
}

/** What a file does with tables. `path` is relative to src/. A table that stands in a variable has the name "". */
export function touchesIn(path: string, room: string, source: string): Touch[] {
  return sqlTextsIn(parse(source), namesTable).flatMap(({ at, text }) => {
    const where = `src/${path}:${lineOf(source, at)}`;
    const touch = (does: Touch["does"], table: string): Touch[] => [{ table, room, where, does }];
    return [
      ...[...text.matchAll(WRITES)].flatMap(([, table]) =>
        NO_TABLE.test(table!) ? [] : touch("writes", table!.toLowerCase()),
      ),
      ...[...text.matchAll(READS)]
        .flatMap(([, list]) => list!.split(","))
        .map((one) => READ.exec(one)?.[1]?.toLowerCase() ?? "")
        .flatMap((table) => (table in OWNERS ? touch("reads", table) : [])),
    ];
  });
}

function namesTable(text: string): boolean {
  return [...text.matchAll(PIECE)].some(([, table]) => table!.toLowerCase() in OWNERS);
}

/** Writes of others' tables, and of tables whose names cannot be read. */
export function foreignWrites(touches: readonly Touch[]): string[] {
  return touches.flatMap(({ table, room, where, does }) => {
    if (does !== "writes" || OWNERS[table] === room) return [];
    if (table === "") return [`${where} writes a table whose name stands in a variable; name it`];
    const owner = OWNERS[table];
    return [
      owner === undefined
        ? `${where} writes "${table}", which has no owner`
        : `${where} (${room}) writes "${table}", which is ${owner}'s; let it export a function that takes the transaction`,
    ];
  });
}

/** `table: room` of each room that reads another's table. */
export function foreignReaders(touches: readonly Touch[]): string[] {
  const found = touches.filter(({ table, room, does }) => does === "reads" && OWNERS[table] !== room);
  return [...new Set(found.map(({ table, room }) => `${table}: ${room}`))].sort();
}

/** The tables that the migrations leave behind. */
export function tablesIn(migrations: string): string[] {
  const made = [...migrations.matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g)].map(([, table]) => table!);
  const gone = [...migrations.matchAll(/DROP TABLE (\w+)/g)].map(([, table]) => table!);
  return [...new Set(made)].filter((table) => !gone.includes(table)).sort();
}
