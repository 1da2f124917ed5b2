/**
 * What OpenClaw keeps in databases since mid-2026: `agents/<id>/agent/openclaw-agent.sqlite` with the agent's conversations, and
 * `state/openclaw.sqlite` with the jobs. Every table with rows that are not taken over is named, with the reason.
 */
import { join } from "node:path";
import { asObject } from "../../core/domain/index.ts";
import type { ForeignFolder } from "./files.ts";
import type { ImportItem } from "./items.ts";
import { NotPlain, openClawAgent, openClawState, type ReadSqlite } from "./store.ts";

type Fields = Record<string, unknown>;
type LeftOut = ImportItem & { what: "left out" };

/** Tables that say nothing of their own: indexes and counts over what is taken, or the schema's number. */
const SILENT = new Set([
  ...[
    "schema_meta",
    "session_windows",
    "session_nodes",
    "sessions",
    "session_entries",
    "transcript_events",
    "cron_jobs",
  ],
  ...["session_transcript_active_events", "session_transcript_index_state", "transcript_event_identities"],
  ...["session_key_contract", "transcript_rewrite_watermarks"],
]);

/** Why the rows of a table stay behind; the first that fits. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /^auth_|token|credential|identit|_keys$|pairing|push|apns/,
    "Logins and devices are not imported. Connect and pair them here.",
  ],
  [/^memory_/, "The memory's index; its texts come from the files."],
  [/archive/, "Conversations that were reset or deleted there."],
  [
    /^standing_intents$|^commitments$/,
    "Reminders tied to a situation have no counterpart. Make a schedule: lares schedule add",
  ],
  [
    /^session_pending_inputs$|queue|ingress|outbox|deliver/,
    "Messages on their way. Let OpenClaw finish before moving.",
  ],
  [/^cron_run_logs$/, "The history of runs."],
  [/goal|board|task|flow|subagent|progress/, "Work under way. Finish it there, or give it to an agent here."],
  [/approv/, "Permissions are not imported. See yours: lares policy rules"],
  [/plugin|skill_/, "Plugins and what they keep."],
  [/media|image/, "Files of conversations."],
];
const OTHERWISE = "State of the running program.";

export async function readAgentDatabase(
  folder: ForeignFolder,
  dir: string,
  how: {
    agent: string;
    read: ReadSqlite;
    transcript: (lines: string) => Promise<Extract<ImportItem, { what: "session" }>["messages"]>;
  },
): Promise<ImportItem[]> {
  const { agent, read, transcript } = how;
  const from = join(dir, "agent", "openclaw-agent.sqlite");
  if (!(await folder.isFile(from))) return [];
  const found = await openClawAgent(from, read).catch((error: unknown) => unreadable(from, error));
  if ("what" in found) return [found];
  const streams = new Map<string, string[]>();
  for (const { session, event } of found.events) {
    const stream = streams.get(session);
    if (stream) stream.push(event);
    else streams.set(session, [event]);
  }
  const items: ImportItem[] = [];
  for (const [id, events] of streams) {
    const messages = await transcript(events.join("\n"));
    const title = found.keys.get(id) ?? id;
    items.push(
      messages.length > 0
        ? { what: "session", from, agent, id, title, messages }
        : { what: "left out", from, why: `The session ${title} holds no messages.` },
    );
  }
  return [...items, ...leftBehind(from, found.tables)];
}

export async function readStateDatabase(
  folder: ForeignFolder,
  read: ReadSqlite,
  job: (from: string, job: Fields) => ImportItem,
): Promise<ImportItem[]> {
  const from = join(folder.dir, "state", "openclaw.sqlite");
  if (!(await folder.isFile(from))) return [];
  const found = await openClawState(from, read).catch((error: unknown) => unreadable(from, error));
  if ("what" in found) return [found];
  return [...found.jobs.map((row) => job(from, toJob(row))), ...leftBehind(from, found.tables)];
}

/** A row as the job of the older jobs.json: its own JSON where it is whole, its columns otherwise. */
function toJob(row: Fields): Fields {
  const whole = json(row.job_json);
  const schedule = {
    kind: row.schedule_kind,
    expr: row.schedule_expr,
    tz: row.schedule_tz,
    everyMs: row.every_ms,
    at: row.at,
  };
  const payload = { kind: row.payload_kind, message: row.payload_message };
  const agentId = row.agent_id ?? row.owner_agent_id;
  return {
    id: row.job_id,
    name: row.name,
    agentId,
    schedule,
    payload,
    ...whole,
    // Switched on or off since: the column is what counts.
    enabled: row.enabled === undefined ? whole.enabled : Number(row.enabled) === 1,
  };
}

/** One line a reason: so many rows of which tables. */
function leftBehind(from: string, tables: ReadonlyMap<string, number>): LeftOut[] {
  const lines = new Map<string, string[]>();
  for (const [table, rows] of tables) {
    if (SILENT.has(table)) continue;
    const why = REASONS.find(([names]) => names.test(table))?.[1] ?? OTHERWISE;
    lines.set(why, [...(lines.get(why) ?? []), `${table}: ${rows}`]);
  }
  return [...lines].map(([why, all]) => ({ what: "left out", from, why: `${why} (${all.join(", ")})` }));
}

function unreadable(from: string, error: unknown): LeftOut {
  if (error instanceof NotPlain) return { what: "left out", from, why: error.message };
  const why = `It could not be read: ${error instanceof Error ? error.message : error}. Stop OpenClaw and try again.`;
  return { what: "left out", from, why };
}

function json(text: unknown): Fields {
  try {
    return asObject(JSON.parse(String(text)));
  } catch {
    return {};
  }
}
