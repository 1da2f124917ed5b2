/** How far from its origin a conversation with a peer is: an agent that is asked by an agent may hire a third one, and so on. */
import type { Reads, Tx } from "../../core/contracts/index.ts";

export function recordHops(tx: Tx, session: string, hops: number): void {
  tx.run(
    `INSERT INTO a2a_hop (session, hops) VALUES (?, ?)
     ON CONFLICT (session) DO UPDATE SET hops = excluded.hops WHERE excluded.hops > a2a_hop.hops`,
    session,
    hops,
  );
}

export async function countHops(db: Reads, session: string): Promise<number> {
  return (await db.get<{ hops: number }>("SELECT hops FROM a2a_hop WHERE session = ?", session))?.hops ?? 0;
}

export function eraseHops(tx: Tx, session: string): void {
  tx.run("DELETE FROM a2a_hop WHERE session = ?", session);
}
