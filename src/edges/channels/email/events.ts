/** From a mail to what the door understands. The text is fetched only if the head proves who wrote it (EMAIL-1). */
import type { ImapFlow } from "imapflow";
import type { ChannelHost, PlatformEvent } from "../../../core/contracts/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { EmailAccount } from "./config.ts";
import { automatic, findThread, type MailHeaders, parseHeaders, unproven } from "./headers.ts";
import { type MailParts, readText, splitParts, toRemoteFile } from "./mail-parts.ts";
import { readHtml, writtenText } from "./reply.ts";
import type { EmailState } from "./state.ts";
import { rememberThread } from "./threads.ts";

export interface GivenMail {
  mail: Awaited<ReturnType<ImapFlow["fetchAll"]>>[number];
  /** When it arrived. */
  at: number;
  /** UIDVALIDITY, which together with the UID names a mail. */
  validity: string;
}

export async function toEvent(
  state: EmailState,
  { client, door }: { client: ImapFlow; door: ChannelHost },
  { mail, at, validity }: GivenMail,
): Promise<PlatformEvent | undefined> {
  const id = `${validity}:${mail.uid}`;
  const proven = readHead(state, door, { mail, at, validity });
  if (!proven) return undefined;
  const { from, name, headers } = proven;
  const own = mail.envelope?.messageId ?? `<${validity}.${mail.uid}@${state.config.imapHost}>`;
  const { root, isReply } = findThread(headers, own);
  const subject = mail.envelope?.subject?.trim() ?? "";
  const isForward = /^(fwd?|wg|tr|rv|i):/i.test(subject);
  const parts = splitParts(mail.bodyStructure);
  const body = await readText(client, mail.uid, parts.text);
  const said = door.read({ kind: "mail", id, value: body }, () => readWords(parts, body, isReply && !isForward));
  if (said === undefined) return undefined;
  const references = root === own ? [own] : [root, own];
  rememberThread(state, { chat: from, root }, { subject: subject || "your message", references });
  // The subject begins a conversation; in an answer it is only a name for it.
  const hasSubject = subject !== "" && (!isReply || isForward) && !said.startsWith("/");
  return {
    kind: "message",
    id: own,
    at,
    chat: { id: from, kind: "direct", thread: root },
    sender: { id: from, ...truthy({ name }) },
    text: hasSubject ? `${subject}\n\n${said}` : said,
    ...truthy({ forwarded: isForward }),
    files: parts.files.map((part) => toRemoteFile(client, mail.uid, part)),
  };
}

/** Who wrote it, when that is proven and a person; otherwise the log says why it isn't taken. */
function readHead({ config, log }: EmailState, door: ChannelHost, { mail, validity }: GivenMail) {
  const people = mail.envelope?.from ?? [];
  const from = people.length === 1 ? people[0]!.address?.toLowerCase() : undefined;
  const head = String(mail.headers ?? "");
  const read = door.read({ kind: "mail's headers", id: `${validity}:${mail.uid}`, value: head }, () => {
    const headers = parseHeaders(head);
    return { headers, why: whyNotHeard(config, headers, from) };
  });
  if (!read) return undefined;
  if (!from || read.why) {
    log.info("a mail was not taken", { uid: mail.uid, from: from ?? "?", why: read.why ?? "it has no single sender" });
    return undefined;
  }
  return { from, name: people[0]!.name, headers: read.headers };
}

function whyNotHeard(config: EmailAccount, headers: MailHeaders, from: string | undefined): string | undefined {
  if (!from) return "it has no single sender";
  if (from === config.address.toLowerCase()) return "it is our own";
  if (/^(mailer-daemon|postmaster|no-?reply|do-?not-?reply)@/.test(from)) return "nobody reads answers there";
  return automatic(headers) ?? unproven(headers, from, config);
}

function readWords({ text }: MailParts, body: string, isReply: boolean): string {
  return writtenText(text?.type === "text/html" ? readHtml(body) : body, isReply);
}
