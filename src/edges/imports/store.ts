/** What is asked of other systems' databases. Their tables change with their releases: what is there is looked at first. */

type Fields = Record<string, unknown>;
export type AskSqlite = (sql: string) => Fields[];

/** Looks into a SQLite file, by a copy: opening the original would leave files beside it. */
export type ReadSqlite = <T>(file: string, look: (ask: AskSqlite) => T) => Promise<T>;

export function hermesRows(file: string, read: ReadSqlite): Promise<{ sessions: Fields[]; messages: Fields[] }> {
  return read(file, (ask) => ({
    sessions: ask("SELECT * FROM sessions"),
    messages: ask(
      "SELECT session_id, role, content, timestamp FROM messages WHERE role IN ('user', 'assistant') ORDER BY session_id, id",
    ),
  }));
}

export interface Tables {
  /** Rows of each table that has any, the shadow tables of full-text indexes left out. */
  counts: Map<string, number>;
  columns(table: string): Set<string>;
}

function tablesOf(ask: AskSqlite): Tables {
  const tables = ask("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const virtual = tables.filter(({ sql }) => /^\s*CREATE\s+VIRTUAL/i.test(String(sql))).map(({ name }) => String(name));
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const table = String(name);
    if (virtual.some((index) => table === index || table.startsWith(`${index}_`))) continue;
    const rows = Number(ask(`SELECT COUNT(*) AS n FROM "${table.replaceAll('"', '""')}"`)[0]?.n ?? 0);
    if (rows > 0) counts.set(table, rows);
  }
  const columns = (table: string) =>
    new Set(ask(`SELECT name FROM pragma_table_info('${table.replaceAll("'", "''")}')`).map((row) => String(row.name)));
  return { counts, columns };
}

export interface AgentRows {
  tables: Map<string, number>;
  /** In the order they were said; where a conversation was taken back and went on differently, only what holds. */
  events: { session: string; event: string }[];
  /** Session id → the name of the conversation. */
  keys: Map<string, string>;
}

/** An OpenClaw agent's database: sessions as streams of events. */
export function openClawAgent(file: string, read: ReadSqlite): Promise<AgentRows> {
  return read(file, (ask) => {
    const { counts, columns } = tablesOf(ask);
    const keys = new Map<string, string>();
    // Newer releases name the first, older ones the others.
    for (const table of ["session_windows", "sessions", "session_entries"]) {
      const has = columns(table);
      if (!has.has("session_id") || !has.has("session_key")) continue;
      for (const row of ask(`SELECT session_id, session_key FROM ${table}`))
        if (!keys.has(String(row.session_id))) keys.set(String(row.session_id), String(row.session_key));
    }
    const chosen = counts.has("session_transcript_active_events")
      ? `AND (NOT EXISTS (SELECT 1 FROM session_transcript_active_events a WHERE a.session_id = e.session_id)
           OR EXISTS (SELECT 1 FROM session_transcript_active_events a WHERE a.session_id = e.session_id AND a.event_seq = e.seq))`
      : "";
    const events = counts.has("transcript_events")
      ? ask(
          `SELECT session_id, event_json FROM transcript_events e WHERE 1 = 1 ${chosen} ORDER BY session_id, seq`,
        ).map((row) => ({ session: String(row.session_id), event: String(row.event_json) }))
      : [];
    return { tables: counts, events, keys };
  });
}

export interface StateRows {
  tables: Map<string, number>;
  jobs: Fields[];
}

/** OpenClaw's database of what all agents share: jobs, among much that belongs to its own running. */
export function openClawState(file: string, read: ReadSqlite): Promise<StateRows> {
  return read(file, (ask) => {
    const { counts } = tablesOf(ask);
    return { tables: counts, jobs: counts.has("cron_jobs") ? ask("SELECT * FROM cron_jobs") : [] };
  });
}
