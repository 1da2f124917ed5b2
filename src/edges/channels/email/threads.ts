/** What an answer in a conversation answers: the subject and the mails it refers to. After a restart the mailbox knows. */
import type { ImapFlow } from "imapflow";
import type { Outgoing } from "../../../core/contracts/index.ts";
import { askAside } from "./connection.ts";
import type { Answered } from "./smtp.ts";
import type { EmailState } from "./state.ts";

/** A person, and the Message-ID of the mail that began the conversation. */
interface Conversation {
  chat: string;
  root: string;
}

export function rememberThread({ threads }: EmailState, conversation: Conversation, answered: Answered): void {
  threads.set(makeKey(conversation), answered);
}

export async function findAnswered(state: EmailState, message: Outgoing, signal: AbortSignal): Promise<Answered> {
  const { chat, thread } = message.route;
  if (!thread) return { subject: "A message from Lares", references: [] };
  const conversation = { chat, root: thread };
  const known = state.threads.get(makeKey(conversation));
  if (known) return known;
  const found = await askAside(state, (client) => searchLast(state, client, conversation), signal).catch(
    () => undefined,
  );
  const envelope = found ? found.envelope : undefined;
  const last = envelope?.messageId;
  const references = last && last !== thread ? [thread, last] : [thread];
  const answered = { subject: envelope?.subject?.trim() || "your message", references };
  rememberThread(state, conversation, answered);
  return answered;
}

/** The last mail of a conversation. */
async function searchLast({ config }: EmailState, client: ImapFlow, { chat, root }: Conversation) {
  await client.mailboxOpen(config.mailbox, { readOnly: true });
  const about = (header: string) => client.search({ from: chat, header: { [header]: root } }, { uid: true });
  const uids = [...((await about("message-id")) || []), ...((await about("references")) || [])];
  return uids.length ? client.fetchOne(String(Math.max(...uids)), { envelope: true }, { uid: true }) : undefined;
}

function makeKey({ chat, root }: Conversation): string {
  return `${chat}\n${root}`;
}
