/** How far the mailbox was read, and taking what is new from there. */
import type { ImapFlow } from "imapflow";
import type { ChannelHost } from "../../../core/contracts/index.ts";
import { asNumber, asObject } from "../../../core/domain/index.ts";
import { toEvent } from "./events.ts";
import type { EmailState } from "./state.ts";

/** UIDVALIDITY, the last UID taken, and when that mail arrived. */
export interface MailPosition {
  validity: string;
  uid: number;
  at: number;
}

/** Mails whose heads are fetched with one command. */
const MOST_AT_ONCE = 20;
const DAY_MS = 86_400_000;

export async function findPosition(
  { clock, log }: EmailState,
  client: ImapFlow,
  door: ChannelHost,
): Promise<MailPosition> {
  const box = client.mailbox as { uidValidity: bigint; uidNext: number };
  const validity = String(box.uidValidity);
  const kept = asObject(await door.cursor());
  const uid = asNumber(kept.uid);
  const last = asNumber(kept.at) ?? clock.now();
  if (uid !== undefined && kept.validity === validity) return { validity, uid, at: last };
  if (uid === undefined) {
    // What was there before this account was added isn't ours to answer.
    const first = { validity, uid: box.uidNext - 1, at: clock.now() };
    await door.hear([], { ...first });
    return first;
  }
  log.warn("the mail server renumbered its mails; the last days are read again");
  const recent = (await client.search({ since: new Date(last - DAY_MS) }, { uid: true })) || [];
  return { validity, uid: Math.min(box.uidNext, ...recent) - 1, at: last };
}

export async function takeNew(
  state: EmailState,
  { client, door }: { client: ImapFlow; door: ChannelHost },
  from: MailPosition,
): Promise<MailPosition> {
  let at = from;
  const found = (await client.search({ uid: `${at.uid + 1}:*` }, { uid: true })) || [];
  // `n:*` names the last mail even when it is older.
  const uids = found.filter((uid) => uid > at.uid).sort((a, b) => a - b);
  for (let i = 0; i < uids.length; i += MOST_AT_ONCE) {
    const some = uids.slice(i, i + MOST_AT_ONCE);
    const query = { uid: true, headers: true, envelope: true, bodyStructure: true, internalDate: true };
    const mails = await client.fetchAll(some.join(","), query, { uid: true });
    for (const mail of mails.sort((a, b) => a.uid - b.uid)) {
      const arrived = new Date(mail.internalDate ?? state.clock.now()).getTime();
      const next = { ...at, uid: mail.uid, at: arrived };
      const event = await toEvent(state, { client, door }, { mail, at: arrived, validity: at.validity });
      await door.hear(event ? [event] : [], { ...next });
      at = next;
      // Only for people who look into the mailbox; whether a mail was taken is said by the position.
      if (event) await client.messageFlagsAdd(String(mail.uid), ["\\Seen"], { uid: true }).catch(() => false);
    }
    door.alive(uids.length - i - some.length);
  }
  return at;
}
