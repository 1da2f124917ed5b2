/** What a mailbox's account knows while it lives, and its connection while there is one. */
import type { ImapFlow } from "imapflow";
import type { Clock, Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { RecentMap } from "../recent.ts";
import type { EmailAccount } from "./config.ts";
import type { Answered } from "./smtp.ts";

export interface EmailState {
  config: EmailAccount;
  clock: Clock;
  log: Log;
  library: AdapterParts<EmailAccount>["library"];
  /** What the next answer in a conversation answers; by `threads.ts`. */
  threads: RecentMap<Answered>;
  /** The connection that listens. */
  live: ImapFlow | undefined;
}

/** A conversation that was forgotten costs two searches of the mailbox. */
const MOST_THREADS = 500;

export function makeState({ config, clock, log, library }: AdapterParts<EmailAccount>): EmailState {
  return { config, clock, log, library, threads: new RecentMap(MOST_THREADS), live: undefined };
}
