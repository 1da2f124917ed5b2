/**
 * Pairing: a stranger who writes directly gets a code, which the owner uses to let them in. A code is valid for an hour, three
 * may be pending per account, and a stranger who writes again gets nothing new.
 */
import { randomInt } from "node:crypto";
import type { Records, Tx } from "../../core/contracts/index.ts";
import { type AccountKey, AppError, noticeIds, type ReplyRoute, toAccountName } from "../../core/domain/index.ts";
import type { Bus, Clock } from "../../core/kit/index.ts";
import {
  deleteGrant,
  deletePairing,
  type GrantRow,
  insertPairing,
  listGrants,
  listPairings,
  type Pairing,
  pairingByCode,
  pairings,
  writeGrant,
} from "./store.ts";
import { LET_IN, offerCode } from "./words.ts";

/** No letters that look like digits or like each other. */
const SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;
const GOOD_FOR_MS = 3_600_000;
const MOST_PENDING = 3;

export interface PairingParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  /** Says something on a route, durably with the transaction; returns how to send it once it is durable. */
  say: (tx: Tx, m: { id: string; route: ReplyRoute; text: string }) => void;
  sent: (id: string) => void;
}

export class Pairings {
  private readonly parts: PairingParts;

  constructor(parts: PairingParts) {
    this.parts = parts;
  }

  /** A stranger asks for access. `record` goes into the same transaction. */
  async ask(
    at: AccountKey,
    stranger: { id: string; name?: string },
    route: ReplyRoute,
    record: (tx: Tx) => void,
  ): Promise<void> {
    const { records, clock, say, sent } = this.parts;
    const now = clock.now();
    const open = await listPairings(records, at, now);
    if (open.some((p) => p.sender === stranger.id) || open.length >= MOST_PENDING) return records.write(record);
    const code = newCode();
    const id = noticeIds.pairing(code);
    await records.write((tx) => {
      insertPairing(tx, {
        ...at,
        sender: stranger.id,
        code,
        name: stranger.name ?? null,
        route: JSON.stringify(route),
        asked_at: now,
        expires_at: now + GOOD_FOR_MS,
      });
      say(tx, {
        id,
        route,
        text: offerCode(code),
      });
      record(tx);
    });
    sent(id);
    this.parts.bus.emit({ event: "channel.knock", channel: toAccountName(at), sender: stranger.id });
  }

  list(): Promise<Pairing[]> {
    return pairings(this.parts.records.committed, this.parts.clock.now());
  }

  grants(at?: AccountKey): Promise<GrantRow[]> {
    return listGrants(this.parts.records.committed, at);
  }

  /** Lets the stranger in: for direct messages of this account, and nothing else (CH-05). */
  async approve(typed: string, by: string, role: "known" | "owner"): Promise<Pairing> {
    const { records, clock, say, sent } = this.parts;
    const found = await this.find(typed);
    const { channel, account, sender, name } = found;
    const id = noticeIds.paired(found.code);
    await records.write((tx) => {
      writeGrant(tx, { channel, account, sender, name, context: "direct", role, by, at: clock.now() });
      deletePairing(tx, found.code);
      say(tx, {
        id,
        route: JSON.parse(found.route) as ReplyRoute,
        text: LET_IN,
      });
    });
    sent(id);
    return found;
  }

  async refuse(typed: string): Promise<Pairing> {
    const found = await this.find(typed);
    await this.parts.records.write((tx) => deletePairing(tx, found.code));
    return found;
  }

  revoke(grant: AccountKey & { sender: string; context: string }): Promise<void> {
    return this.parts.records.write((tx) => deleteGrant(tx, grant));
  }

  private async find(typed: string): Promise<Pairing> {
    const found = await pairingByCode(this.parts.records, typed.trim().toUpperCase());
    if (found && found.expires_at > this.parts.clock.now()) return found;
    throw new AppError("NOT_FOUND", {
      message: `Nobody is waiting with the code "${typed}".`,
      hint: "Codes are valid for an hour. See who is waiting: lares channels pending",
    });
  }
}

function newCode(): string {
  return Array.from({ length: LENGTH }, () => SIGNS[randomInt(SIGNS.length)]).join("");
}
