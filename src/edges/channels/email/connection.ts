/** A connection to the IMAP server. */
import type { ImapFlow } from "imapflow";
import { unreached } from "../sending.ts";
import { loginRefused } from "./smtp.ts";
import type { EmailState } from "./state.ts";

export async function connect({ config, log, library }: EmailState, signal: AbortSignal): Promise<ImapFlow> {
  const { ImapFlow } = await library<typeof import("imapflow")>("imapflow");
  const client = new ImapFlow({
    host: config.imapHost,
    port: config.imapPort,
    secure: config.tls === "implicit",
    doSTARTTLS: config.tls === "starttls",
    auth: { user: config.user ?? config.address, pass: config.password },
    logger: false,
    disableAutoIdle: true,
  });
  // Without a listener an error of the socket would end the process.
  client.on("error", (error: unknown) => log.debug("the IMAP connection broke", { error: String(error) }));
  signal.addEventListener("abort", () => client.close(), { once: true });
  try {
    await client.connect();
  } catch (error) {
    client.close();
    if ((error as { authenticationFailed?: boolean }).authenticationFailed) throw loginRefused("IMAP", error);
    throw unreached(`the IMAP server ${config.imapHost}`, error);
  }
  return client;
}

/** Asks over a separate connection: opening another folder must not disturb the one that listens. */
export async function askAside<T>(
  state: EmailState,
  ask: (client: ImapFlow) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const client = await connect(state, signal);
  try {
    return await ask(client);
  } finally {
    await client.logout().catch(() => client.close());
  }
}
