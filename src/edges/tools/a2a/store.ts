/** Which cards the owner accepted, and the tasks that agents have given to peers. */
import type { Reads, Tx } from "../../../core/contracts/index.ts";
import type { Authority } from "../../../core/domain/index.ts";

export interface AcceptedCard {
  digest: string;
  shown: string;
}

export function readAccepted(db: Reads, peer: string): Promise<AcceptedCard | undefined> {
  return db.get("SELECT digest, shown FROM a2a_card WHERE peer = ?", peer);
}

export async function readChanged(db: Reads, peer: string): Promise<boolean> {
  return (await db.get<{ changed: number }>("SELECT changed FROM a2a_card WHERE peer = ?", peer))?.changed === 1;
}

/** Whether the peer shows another card than the accepted one. */
export function writeChanged(tx: Tx, peer: string, isChanged: boolean): void {
  tx.run("UPDATE a2a_card SET changed = ? WHERE peer = ?", isChanged ? 1 : 0, peer);
}

export function writeAccepted(tx: Tx, peer: string, { digest, shown }: AcceptedCard, at: number): void {
  tx.run(
    `INSERT INTO a2a_card (peer, digest, shown, at) VALUES (?, ?, ?, ?)
     ON CONFLICT (peer) DO UPDATE SET digest = excluded.digest, shown = excluded.shown, at = excluded.at,
     changed = 0`,
    peer,
    digest,
    shown,
    at,
  );
}

export function forgetAccepted(tx: Tx, peer: string): void {
  tx.run("DELETE FROM a2a_card WHERE peer = ?", peer);
}

/**
 * `sending`: the message may have gone out. `open`: the peer works. `told`: its last word is in the session, or will be. `dropped`:
 * it is no longer wanted.
 */
export type HireState = "sending" | "open" | "told" | "dropped";

export interface HireRow {
  id: string;
  peer: string;
  agent: string;
  session: string;
  turn: string;
  /** Where the answer's turn answers, as JSON. */
  route: string;
  authority: Authority;
  message: string;
  state: HireState;
  /** What the peer calls them. */
  task: string | null;
  context: string | null;
  /** What came back with the call itself. */
  text: string | null;
  /** Of the peer's last question, which is passed on once. */
  asked: string | null;
  at: number;
  until: number;
}

const COLUMNS =
  "id, peer, agent, session, turn, route, authority, message, state, task, context, text, asked, at, until";

export function insertHire(tx: Tx, r: HireRow): void {
  tx.run(
    `INSERT INTO a2a_hire (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ...[r.id, r.peer, r.agent, r.session, r.turn, r.route, r.authority, r.message, r.state],
    ...[r.task, r.context, r.text, r.asked, r.at, r.until],
  );
}

export function updateHire(tx: Tx, id: string, change: Pick<HireRow, "state" | "task" | "context" | "text">): void {
  tx.run(
    "UPDATE a2a_hire SET state = ?, task = ?, context = ?, text = ? WHERE id = ?",
    change.state,
    change.task,
    change.context,
    change.text,
    id,
  );
}

export function setHireState(tx: Tx, id: string, state: HireState): void {
  tx.run("UPDATE a2a_hire SET state = ? WHERE id = ?", state, id);
}

export function noteAsked(tx: Tx, id: string, asked: string): void {
  tx.run("UPDATE a2a_hire SET asked = ? WHERE id = ?", asked, id);
}

export function readHire(db: Reads, id: string): Promise<HireRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM a2a_hire WHERE id = ?`, id);
}

export function openHires(db: Reads): Promise<HireRow[]> {
  return db.all(`SELECT ${COLUMNS} FROM a2a_hire WHERE state = 'open' ORDER BY at`);
}

export async function lastContext(db: Reads, session: string, peer: string): Promise<string | undefined> {
  const row = await db.get<{ context: string }>(
    "SELECT context FROM a2a_hire WHERE session = ? AND peer = ? AND context IS NOT NULL ORDER BY at DESC LIMIT 1",
    session,
    peer,
  );
  return row?.context;
}

export function eraseHires(tx: Tx, session: string): void {
  tx.run("DELETE FROM a2a_hire WHERE session = ?", session);
}

/** After a restore: what was being asked of other agents isn't asked again, and nobody waits for it. */
export function dropOpenHires(tx: Tx): void {
  tx.run("UPDATE a2a_hire SET state = 'dropped' WHERE state IN ('sending', 'open')");
}
