/**
 * Email: IMAP in, SMTP out.
 *
 * In: mail stays on the server, so nothing is lost; the cursor is UIDVALIDITY and UID, committed with the mail. When the server
 * renumbers its mails, the last days are read again: a mail is known by its Message-ID. `\Seen` is set last and means nothing.
 * A mail's head is read first; the text only if its writer is proven (EMAIL-1), attachments only after the door let them in.
 * Out: SMTP takes no key. The copy in Sent is found by its Message-ID after a crash; without one nobody can tell.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { check } from "./check.ts";
import type { EmailAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { find, send } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<EmailAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "email",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    check: (signal) => check(state, signal),
    send: (message, signal) => send(state, message, signal),
    find: (message, signal) => find(state, message, signal),
  };
}
