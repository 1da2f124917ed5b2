/** What a WhatsApp Web account has while it lives: its library, and the open connection. The device's keys are stored (credentials.ts). */
import type { Log } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { fromBaileys } from "./baileys.ts";
import type { WhatsAppWebAccount } from "./config.ts";
import type { Library, Socket } from "./library.ts";

export interface WhatsAppWebState {
  config: WhatsAppWebAccount;
  log: Log;
  /** Throws with what to do when it isn't installed. */
  loadLibrary(): Promise<Library>;
  /** While it is open. */
  socket: Socket | undefined;
}

export function makeState({ config, log, library }: AdapterParts<WhatsAppWebAccount>): WhatsAppWebState {
  const loadLibrary = async () => fromBaileys(await library("@whiskeysockets/baileys"));
  return { config, log, loadLibrary, socket: undefined };
}
