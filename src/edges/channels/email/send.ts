/** Sending: over SMTP, with a copy in Sent, by which a mail is found again after a crash. */
import type { ImapFlow } from "imapflow";
import type { Outgoing } from "../../../core/contracts/index.ts";
import { askAside } from "./connection.ts";
import { failure, makeTransport, messageId, written } from "./smtp.ts";
import type { EmailState } from "./state.ts";
import { findAnswered } from "./threads.ts";

export async function send(state: EmailState, message: Outgoing, signal: AbortSignal): Promise<{ platformId: string }> {
  const { config, library } = state;
  const mail = await library<typeof import("nodemailer")>("nodemailer");
  const raw = await written(mail, config, message, await findAnswered(state, message, signal));
  const transport = makeTransport(mail, config);
  const envelope = { from: config.address, to: message.route.chat };
  await transport.sendMail({ envelope, raw }).catch((error: unknown) => {
    throw failure(error);
  });
  if (config.saveSent) await saveCopy(state, raw, signal);
  return { platformId: messageId(message.key, config.address) };
}

export async function find(state: EmailState, message: Outgoing, signal: AbortSignal): Promise<string | undefined> {
  const { config } = state;
  if (!config.saveSent) return undefined;
  const id = messageId(message.key, config.address);
  const search = async (client: ImapFlow) => {
    const folder = await findSentFolder(client);
    if (!folder) return undefined;
    await client.mailboxOpen(folder, { readOnly: true });
    const found = (await client.search({ header: { "message-id": id } }, { uid: true })) || [];
    // A missing copy proves nothing: the mail may have left before the copy was made.
    return found.length ? id : undefined;
  };
  return askAside(state, search, signal);
}

/** A copy for people, and the proof after a crash. The mail has left: a failure here is no failure of it. */
async function saveCopy(state: EmailState, raw: Buffer, signal: AbortSignal): Promise<void> {
  const save = async (client: ImapFlow) => {
    const folder = (await findSentFolder(client)) ?? (await client.mailboxCreate("Sent")).path;
    await client.append(folder, raw, ["\\Seen"]);
  };
  try {
    await (state.live?.usable ? save(state.live) : askAside(state, save, signal));
  } catch (error) {
    state.log.info("the copy of a sent mail could not be saved", { error: String(error) });
  }
}

async function findSentFolder(client: ImapFlow): Promise<string | undefined> {
  const folders = await client.list();
  const marked = folders.find((one) => one.specialUse === "\\Sent");
  return (marked ?? folders.find((one) => /^sent\b/i.test(one.name)))?.path;
}
