/** What is asked of another system's database. */

type Fields = Record<string, unknown>;

/** Rows of a SQLite file, read from a copy: opening the original would leave files beside it. */
export type ReadSqlite = (file: string, sql: string) => Promise<Fields[]>;

export async function hermesRows(file: string, rows: ReadSqlite): Promise<{ sessions: Fields[]; messages: Fields[] }> {
  return {
    sessions: await rows(file, "SELECT * FROM sessions"),
    messages: await rows(
      file,
      "SELECT session_id, role, content, timestamp FROM messages WHERE role IN ('user', 'assistant') ORDER BY session_id, id",
    ),
  };
}
