/**
 * What is asked of other systems' databases. Their tables change with their releases: what is there is looked at first. Somebody may
 * have made the file for us, so only plain tables are read, each from one end to the other: a view, a virtual table or a computed
 * column would run what its author wrote, here and without an end. Triggers and full-text indexes are usual there, and never used.
 */

type Fields = Record<string, unknown>;
export type AskSqlite = (sql: string) => Fields[];

/** Looks into a SQLite file, by a copy: opening the original would leave files beside it. */
export type ReadSqlite = <T>(file: string, look: (ask: AskSqlite) => T) => Promise<T>;

export function hermesRows(file: string, read: ReadSqlite): Promise<{ sessions: Fields[]; messages: Fields[] }> {
  return read(file, (ask) => {
    const { columns } = readTables(ask);
    columns("sessions");
    columns("messages");
    return {
      sessions: ask("SELECT * FROM sessions"),
      messages: ask(
        "SELECT session_id, role, content, timestamp FROM messages WHERE role IN ('user', 'assistant') ORDER BY session_id, id",
      ),
    };
  });
}

/** The file would have us run more than a plain reading. */
export class NotPlain extends Error {
  constructor(table: string, what: string) {
    super(
      `The database was not read: its "${table}" is ${what}, which could run anything. Only plain tables are read.`,
    );
  }
}

interface Tables {
  /** Rows of each plain table that has any. */
  counts: Map<string, number>;
  /** None for a table that is not there. Throws `NotPlain` for one that must not be read. */
  columns(table: string): Set<string>;
}

const KINDS: Readonly<Record<string, string>> = { view: "a view", virtual: "a virtual table" };

function readTables(ask: AskSqlite): Tables {
  // SQLite's own word for what each is, not the text that the file has about it.
  const all = ask("SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'");
  const counts = new Map<string, number>();
  for (const { name, type } of all) {
    if (type !== "table") continue;
    const table = String(name);
    const rows = Number(ask(`SELECT COUNT(*) AS n FROM "${table.replaceAll('"', '""')}"`)[0]?.n ?? 0);
    if (rows > 0) counts.set(table, rows);
  }
  const columns = (table: string) => {
    const found = all.find(({ name }) => String(name).toLowerCase() === table);
    if (!found) return new Set<string>();
    if (found.type !== "table") throw new NotPlain(table, KINDS[String(found.type)] ?? `of the kind "${found.type}"`);
    const own = ask(`SELECT name, hidden FROM pragma_table_xinfo('${table}')`);
    if (own.some(({ hidden }) => hidden !== 0)) throw new NotPlain(table, "a table with computed columns");
    return new Set(own.map(({ name }) => String(name)));
  };
  return { counts, columns };
}

export interface AgentRows {
  tables: Map<string, number>;
  /** In the order they were said; where a conversation was rewound and continued differently, only the part that counts. */
  events: { session: string; event: string }[];
  /** Session id → the name of the conversation. */
  keys: Map<string, string>;
}

/** An OpenClaw agent's database: sessions as streams of events. */
export function openClawAgent(file: string, read: ReadSqlite): Promise<AgentRows> {
  return read(file, (ask) => {
    const { counts, columns } = readTables(ask);
    const keys = new Map<string, string>();
    // Newer releases name the first, older ones the others.
    for (const table of ["session_windows", "sessions", "session_entries"]) {
      const has = columns(table);
      if (!has.has("session_id") || !has.has("session_key")) continue;
      for (const row of ask(`SELECT session_id, session_key FROM ${table}`))
        if (!keys.has(String(row.session_id))) keys.set(String(row.session_id), String(row.session_key));
    }
    const events = columns("transcript_events").size ? ask(EVENTS) : [];
    // Matched here: the file may lack the index that keeps it from comparing all with all.
    const active = new Map<string, Set<unknown>>();
    const chosen = columns("session_transcript_active_events").size ? ask(ACTIVE) : [];
    for (const { session_id, event_seq } of chosen) {
      const session = String(session_id);
      active.set(session, (active.get(session) ?? new Set()).add(event_seq));
    }
    const holds = ({ session_id, seq }: Fields) => active.get(String(session_id))?.has(seq) ?? true;
    return { tables: counts, events: events.filter(holds).map(toEvent), keys };
  });
}

const EVENTS = "SELECT session_id, seq, event_json FROM transcript_events ORDER BY session_id, seq";
const ACTIVE = "SELECT session_id, event_seq FROM session_transcript_active_events";

function toEvent({ session_id, event_json }: Fields): AgentRows["events"][number] {
  return { session: String(session_id), event: String(event_json) };
}

export interface StateRows {
  tables: Map<string, number>;
  jobs: Fields[];
}

/** OpenClaw's database of what all agents share: jobs, among much that belongs to its own running. */
export function openClawState(file: string, read: ReadSqlite): Promise<StateRows> {
  return read(file, (ask) => {
    const { counts, columns } = readTables(ask);
    return { tables: counts, jobs: columns("cron_jobs").size ? ask("SELECT * FROM cron_jobs") : [] };
  });
}
