/** Who asked for something: a view over turns, the inbox and sub-agents, which no single room owns. */
import type { Reads } from "../../../core/contracts/index.ts";
import { type Authority, type ReplyRoute, readPerson } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { ASKED_BY_GUEST, askedBy } from "../words.ts";

/** Sub-agents can start sub-agents, but never deeper than this. */
const MOST_ABOVE = 12;

/**
 * Who asked for something that the owner is asked about: the person with these rights whose message the turn took, or the turn
 * that started it.
 */
export async function describeAsker(db: Reads, turn: string, authority: Authority): Promise<string | undefined> {
  if (authority !== "stranger" && authority !== "known") return undefined;
  const row = await db.get<{ route: string; person: string; name: string | null }>(
    `WITH RECURSIVE up (id, depth) AS (
       SELECT id, 0 FROM turn WHERE id = ? UNION SELECT c.parent_turn, up.depth + 1 FROM up JOIN child_run c ON c.turn = up.id WHERE up.depth < ?
     ), heard (id, depth) AS (
       SELECT id, depth FROM up
       UNION SELECT i.turn, up.depth FROM up JOIN turn t ON t.id = up.id
         JOIN turn j ON j.session = t.session AND j.accepted_at >= t.accepted_at
         JOIN inbox i ON i.turn = j.id AND i.taken_by = up.id
     )
     SELECT t.route, t.person, t.name FROM heard JOIN turn t ON t.id = heard.id
     WHERE t.speaker = ? AND t.person IS NOT NULL ORDER BY heard.depth DESC, t.accepted_at DESC LIMIT 1`,
    turn,
    MOST_ABOVE,
    authority,
  );
  if (!row) return authority === "stranger" ? ASKED_BY_GUEST : undefined;
  const { route, person, name } = row;
  return askedBy(authority, JSON.parse(route) as ReplyRoute, {
    name,
    id: readPerson(person).id,
  });
}

/**
 * The person a turn works for: its own author or, for a sub-agent's turn, the person at the top. Undefined if no person started
 * it.
 */
export async function personBehind(
  db: Reads,
  turn: string,
): Promise<{ standing: "owner" | "known" | "guest"; name?: string } | undefined> {
  const row = await db.get<{ person: string; name: string | null; speaker: Authority }>(
    `WITH RECURSIVE up (id, depth) AS (
       SELECT id, 0 FROM turn WHERE id = ? UNION SELECT c.parent_turn, up.depth + 1 FROM up JOIN child_run c ON c.turn = up.id WHERE up.depth < ?
     )
     SELECT t.person, t.name, t.speaker FROM up JOIN turn t ON t.id = up.id
     WHERE t.speaker IN ('owner', 'known', 'outside', 'stranger') AND t.person IS NOT NULL ORDER BY up.depth LIMIT 1`,
    turn,
    MOST_ABOVE,
  );
  if (!row) return undefined;
  const standing = row.speaker === "owner" || row.speaker === "known" ? row.speaker : "guest";
  const name = row.name ?? (standing === "owner" ? undefined : readPerson(row.person).id);
  return { standing, ...truthy({ name }) };
}
