/** What must hold of a home that was found after a power cut, looked at with SQLite alone. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDatabase } from "../../src/ground/records/index.ts";

/** What the world had seen of Lares when the power went. */
export interface Seen {
  /** Words of answers that a caller had got. */
  answered: ReadonlySet<string>;
  /** Words of messages that a caller was told are accepted. */
  accepted: ReadonlySet<string>;
  /** Words that had left for a platform. */
  sent: ReadonlySet<string>;
  /** Files by path, with their content, that a caller was told are stored. */
  stored: ReadonlyMap<string, string>;
}

export function writeHome(dir: string, home: ReadonlyMap<string, Buffer | "folder">, only?: RegExp): void {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [path, content] of [...home].sort(([a], [b]) => a.length - b.length)) {
    if (only && !only.test(path)) continue;
    const to = join(dir, path);
    if (content === "folder") mkdirSync(to, { recursive: true });
    else {
      mkdirSync(dirname(to), { recursive: true });
      writeFileSync(to, content, { mode: 0o600 });
    }
  }
}

/** Sentences about what is wrong; none when all is well. */
export async function checkHome(
  dir: string,
  home: ReadonlyMap<string, Buffer | "folder">,
  seen: Seen,
): Promise<string[]> {
  const wrong: string[] = [];
  for (const [path, content] of seen.stored) {
    const found = home.get(path);
    if (!(found instanceof Buffer) || !found.includes(content)) wrong.push(`${path} was stored and is not there`);
  }
  // Callers who were answered have it.
  const token = home.get("token");
  if (seen.answered.size && !(token instanceof Buffer && /^\S{16,}\n$/.test(token.toString())))
    wrong.push("the token is lost");
  if (!home.has("lares.db")) {
    if (seen.accepted.size + seen.answered.size) wrong.push("the database is gone");
    return wrong;
  }
  writeHome(dir, home, /^lares\.db(-wal|-journal)?$/);
  let db: Awaited<ReturnType<typeof openDatabase>> | undefined;
  try {
    db = await openDatabase(join(dir, "lares.db"));
    const rows = db.prepare("PRAGMA quick_check(1)").all() as Record<string, string>[];
    if (Object.values(rows[0]!)[0] !== "ok") wrong.push(`the database is damaged: ${Object.values(rows[0]!)[0]}`);
    const { n } = db.prepare("SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'turn'").get() as { n: number };
    if (n === 0) {
      if (seen.accepted.size + seen.answered.size) wrong.push("the tables are gone");
      return wrong;
    }
    const all = (sql: string) => (db!.prepare(sql).all() as { text: string | null }[]).map(({ text }) => text ?? "");
    const results = all("SELECT result AS text FROM turn WHERE state = 'answered'").join("\n");
    for (const word of seen.answered)
      if (!results.includes(word)) wrong.push(`the answer ${word} was given and is lost`);
    const bodies = [...all("SELECT text FROM inbox"), ...all("SELECT body AS text FROM engine_turn")].join("\n");
    for (const word of seen.accepted)
      if (!bodies.includes(word)) wrong.push(`the message ${word} was accepted and is lost`);
    // The next start sends what is only intended. What has left must be known as claimed, or as sent.
    const again = all("SELECT text FROM delivery WHERE state = 'intended' AND attempts = 0").join("\n");
    for (const word of seen.sent) if (again.includes(word)) wrong.push(`${word} was sent and would be sent again`);
    const known = all("SELECT text FROM delivery").join("\n");
    for (const word of seen.sent) if (!known.includes(word)) wrong.push(`${word} was sent and nothing knows of it`);
  } catch (error) {
    wrong.push(`the database can't be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    db?.close();
  }
  return wrong;
}
