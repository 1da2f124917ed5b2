/** Mail that leaves, over SMTP. */
import { createHash } from "node:crypto";
import { type Outgoing, SendUncertain } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import { refused, unreached } from "../sending.ts";
import type { EmailAccount } from "./config.ts";
import { readDomain } from "./headers.ts";

type Nodemailer = typeof import("nodemailer");

/** What the answer is an answer to. */
export interface Answered {
  subject: string;
  /** Message-IDs, oldest first. */
  references: readonly string[];
}

/** The same key makes the same Message-ID: the copy is found by it, and mail programs recognise a mail that came twice. */
export function messageId(key: string, address: string): string {
  const hash = createHash("sha256").update(`${address}\n${key}`).digest("hex");
  return `<lares.${hash.slice(0, 32)}@${readDomain(address)}>`;
}

/** The whole mail, as it is sent and as its copy is saved. */
export async function written(
  mail: Nodemailer,
  config: EmailAccount,
  message: Outgoing,
  to: Answered,
): Promise<Buffer> {
  const attachments = await Promise.all(
    (message.files ?? []).map(async (file) => ({
      filename: file.name,
      contentType: file.mediaType,
      content: Buffer.from(await file.read()),
    })),
  );
  const maker = mail.createTransport({ streamTransport: true, buffer: true, newline: "crlf" });
  const made = (await maker.sendMail({
    from: config.name ? { name: config.name, address: config.address } : config.address,
    to: message.route.chat,
    subject: /^re:/i.test(to.subject) ? to.subject : `Re: ${to.subject}`,
    messageId: messageId(message.key, config.address),
    ...(to.references.length ? { inReplyTo: to.references.at(-1)!, references: [...to.references] } : {}),
    // RFC 3834: asks other machines not to answer it by themselves.
    headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" },
    text: message.text,
    ...truthy({ html: message.html }),
    attachments,
    disableUrlAccess: true,
    disableFileAccess: true,
  })) as { message: Buffer };
  return made.message;
}

export function makeTransport(mail: Nodemailer, config: EmailAccount) {
  return mail.createTransport({
    host: config.smtpHost,
    port: config.smtpPort,
    secure: config.tls === "implicit",
    requireTLS: config.tls === "starttls",
    ignoreTLS: config.tls === "none",
    auth: { user: config.user ?? config.address, pass: config.password },
    connectionTimeout: 15_000,
    greetingTimeout: 15_000,
    socketTimeout: 25_000,
  });
}

/** After a failure at one of these commands the server surely has no mail to pass on. */
const BEFORE_DATA = /^(CONN|EHLO|HELO|STARTTLS|AUTH\b.*|MAIL FROM|RCPT TO)$/;

/** What an SMTP failure means for the message (CHANNEL-2). */
export function failure(error: unknown): Error {
  const { code, command, responseCode, message } = error as {
    code?: string;
    command?: string;
    responseCode?: number;
    message?: string;
  };
  if (code === "EAUTH") return loginRefused("SMTP", error);
  const said = `The SMTP server refused: ${message ?? responseCode}.`;
  if (responseCode !== undefined && responseCode >= 500) return refused(said, "never", error);
  if (responseCode !== undefined && responseCode >= 400) return refused(said, "later", error);
  if (code === "EENVELOPE" || code === "EMESSAGE") return refused(said, "never", error);
  if (command !== undefined && BEFORE_DATA.test(command)) return unreached("the SMTP server", error);
  return new SendUncertain("The connection to the SMTP server broke while the mail was sent.", { cause: error });
}

export function loginRefused(what: string, cause: unknown): AppError {
  return new AppError("CHANNEL_SEND", {
    message: `The ${what} server refused the user name or the password.`,
    hint: "Enter the right ones (often an app password): lares channels add email",
    retry: "later",
    cause,
  });
}
