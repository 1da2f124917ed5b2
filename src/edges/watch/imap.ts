/** New mails of a folder over IMAP. The folder is opened read-only: nothing is marked as read. */
import type { ImapFlow } from "imapflow";
import { AppError, type Json } from "../../core/domain/index.ts";
import type { Watched } from "./config.ts";
import type { Look, WatchedItem } from "./look.ts";

type Mailbox = Extract<Watched, { kind: "imap" }>;
type Cursor = { validity: string; next: number };

const PATIENCE_MS = 30_000;
/** Mails of one look; the rest comes with the next. */
const MOST_MAILS = 50;
const MOST_BYTES = 64 * 1024;
const MOST_TEXT = 2000;

export async function lookAtMail(box: Mailbox, cursor: Json | null, signal: AbortSignal): Promise<Look> {
  const { ImapFlow } = await load();
  const client = new ImapFlow({
    host: box.host,
    port: box.port,
    secure: box.secure,
    ...(box.secure || box.allowPlain ? {} : { doSTARTTLS: true }),
    auth: { user: box.user, pass: box.password },
    logger: false,
    socketTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    connectionTimeout: PATIENCE_MS,
  });
  // Without a listener a broken connection would end the process.
  client.on("error", () => {});
  const abort = () => client.close();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await client.connect();
    const opened = await client.mailboxOpen(box.folder, { readOnly: true });
    const now: Cursor = { validity: String(opened.uidValidity), next: opened.uidNext };
    const before = cursor as Cursor | null;
    // Another validity: the server has renumbered its mails, and nothing says which are new.
    if (before?.validity !== now.validity) return { items: [], cursor: now };
    if (now.next <= before.next) return { items: [], cursor };
    return await fetchFrom(client, before, now);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw cause instanceof AppError ? cause : broken(box, cause);
  } finally {
    signal.removeEventListener("abort", abort);
    await client.logout().catch(() => client.close());
  }
}

async function fetchFrom(client: ImapFlow, before: Cursor, now: Cursor): Promise<Look> {
  const items: WatchedItem[] = [];
  let next = before.next;
  const range = `${before.next}:${Math.min(now.next - 1, before.next + MOST_MAILS - 1)}`;
  const query = { uid: true, envelope: true, source: { maxLength: MOST_BYTES } } as const;
  for await (const mail of client.fetch(range, query, { uid: true })) {
    if (mail.uid < before.next) continue;
    next = Math.max(next, mail.uid + 1);
    const { subject = "", from = [], date } = mail.envelope ?? {};
    const sender = from.map(({ name, address }) => [name, address && `<${address}>`].filter(Boolean).join(" "));
    const lines = [
      `From: ${sender.join(", ")}`,
      `Subject: ${subject}`,
      ...(date ? [`Date: ${new Date(date).toISOString()}`] : []),
    ];
    const text = readText(mail.source?.toString("utf8") ?? "").slice(0, MOST_TEXT);
    items.push({ id: `${now.validity}-${mail.uid}`, label: "New mail", body: [...lines, "", text].join("\n") });
  }
  // Unused numbers are skipped with the rest of the range.
  const end = Math.max(next, Math.min(now.next, before.next + MOST_MAILS));
  return { items, cursor: { validity: now.validity, next: end } };
}

/** The beginning of what was written, where it is plain; the rest of a mail is the agent's to read with its own tools. */
export function readText(source: string): string {
  const [head = "", ...rest] = source.split(/\r?\n\r?\n/);
  const body = rest.join("\n\n");
  const boundary = /boundary="?([^";\r\n]+)"?/i.exec(head)?.[1];
  if (!boundary) return decoded(head, body);
  for (const part of body.split(`--${boundary}`)) {
    const [partHead = "", ...partRest] = part.replace(/^\r?\n/, "").split(/\r?\n\r?\n/);
    if (/content-type:\s*text\/plain/i.test(partHead)) return decoded(partHead, partRest.join("\n\n"));
    if (/content-type:\s*multipart\//i.test(partHead)) {
      const inner = readText(part.replace(/^\r?\n/, ""));
      if (inner) return inner;
    }
  }
  return "";
}

function decoded(head: string, body: string): string {
  const how = /content-transfer-encoding:\s*(\S+)/i.exec(head)?.[1]?.toLowerCase();
  if (how === "base64") return Buffer.from(body, "base64").toString("utf8").trim();
  if (how !== "quoted-printable") return body.trim();
  const bytes = body
    .replace(/=\r?\n/g, "")
    .split(/(=[0-9a-f]{2})/i)
    .map((part) => (/^=[0-9a-f]{2}$/i.test(part) ? Buffer.from(part.slice(1), "hex") : Buffer.from(part)));
  return Buffer.concat(bytes).toString("utf8").trim();
}

async function load(): Promise<typeof import("imapflow")> {
  try {
    return await import("imapflow");
  } catch (cause) {
    throw new AppError("NOT_READY", {
      message: "The package imapflow is not installed.",
      hint: "Install it beside Lares: npm install imapflow",
      retry: "after-change",
      cause,
    });
  }
}

function broken(box: Mailbox, cause: unknown): AppError {
  const { authenticationFailed, responseText, message } = cause as {
    authenticationFailed?: boolean;
    responseText?: string;
    message?: string;
  };
  return new AppError("NOT_READY", {
    message: authenticationFailed
      ? `${box.host} refused the user name or password.`
      : `${box.host} could not be read: ${responseText ?? message ?? String(cause)}.`,
    hint: authenticationFailed ? "Check the user and password of this watch." : "Lares will try again.",
    retry: authenticationFailed ? "after-change" : "later",
    cause,
  });
}
