/**
 * Email: IMAP in, SMTP out.
 *
 * In: mail stays on the server, so nothing is lost; the cursor is UIDVALIDITY and UID, committed with the mail. When the server
 * numbers its mails anew, the last days are read again: a mail is known by its Message-ID. `\Seen` is set last and means nothing.
 * A mail's head is read first; the text only of one whose writer is proven (EMAIL-1), attachments only after the door let them in.
 * Out: SMTP takes no key. The copy in Sent is found by its Message-ID after a crash; without one nobody can tell.
 */
import type { ImapFlow, MessageStructureObject } from "imapflow";
import type { Channel, Door, Outgoing, PlatformEvent, RemoteFile } from "../../../core/contracts/index.ts";
import { following, pause, truthy } from "../../../core/kit/index.ts";
import type { AdapterParts } from "../account.ts";
import { asNumber, asObject } from "../api.ts";
import { refused, unreached } from "../sending.ts";
import type { EmailAccount } from "./config.ts";
import { automatic, findHeader, findThread, type MailHeaders, parseHeaders, parseResults, unproven } from "./letter.ts";
import { type Answered, failure, loginRefused, makeTransport, messageId, written } from "./post.ts";
import { textOfHtml, writtenText } from "./reply.ts";

/** Servers forget to tell; a look costs one short command. */
const LOOK_MS = 60_000;
const AGAIN_MS = 100;
const MOST_AT_ONCE = 20;
/** More text than a person writes in a mail. */
const MOST_TEXT = 256 * 1024;
const DAY_MS = 86_400_000;
const MOST_THREADS = 500;

interface Position {
  validity: string;
  uid: number;
  at: number;
}

export function create({ account, config, clock, log, library }: AdapterParts<EmailAccount>): Channel {
  const threads = new Map<string, Answered>();
  let live: ImapFlow | undefined;

  async function connect(signal: AbortSignal): Promise<ImapFlow> {
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
    // Without a listener an error of the socket ends the process.
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

  /** A connection of its own: asking another folder must not disturb the one that listens. */
  async function aside<T>(signal: AbortSignal, ask: (client: ImapFlow) => Promise<T>): Promise<T> {
    const client = await connect(signal);
    try {
      return await ask(client);
    } finally {
      await client.logout().catch(() => client.close());
    }
  }

  async function run(door: Door, signal: AbortSignal): Promise<void> {
    const client = await connect(signal);
    live = client;
    let wake = () => {};
    let closed = false;
    client.on("exists", () => wake());
    client.on("close", () => {
      closed = true;
      wake();
    });
    try {
      await client.mailboxOpen(config.mailbox);
      door.known(config.address);
      let at = await begin(client, door);
      while (!signal.aborted) {
        // Set before the look: what comes during it wakes us at once.
        const news = new Promise<void>((resolve) => {
          wake = resolve;
        });
        at = await take(client, door, at);
        door.alive();
        if (closed) throw refused("The IMAP server closed the connection.", "later");
        const rest = new AbortController();
        // A command of ours (the copy in Sent) ends the waiting: look again. The pause keeps a server that cannot wait from being asked without end.
        const idle = client.idle().then(() => pause(clock, AGAIN_MS, rest.signal));
        idle.then(wake, wake);
        const both = following(signal, rest.signal);
        await Promise.race([news, pause(clock, LOOK_MS, both.signal)]);
        rest.abort();
        both.done();
        if (closed && !signal.aborted) throw refused("The IMAP server closed the connection.", "later");
      }
    } finally {
      live = undefined;
      client.close();
    }
  }

  async function begin(client: ImapFlow, door: Door): Promise<Position> {
    const box = client.mailbox as { uidValidity: bigint; uidNext: number };
    const validity = String(box.uidValidity);
    const kept = asObject(await door.cursor());
    const uid = asNumber(kept.uid);
    const last = asNumber(kept.at) ?? clock.now();
    if (uid !== undefined && kept.validity === validity) return { validity, uid, at: last };
    if (uid === undefined) {
      // What lay there before this account was added is not ours to answer.
      const first = { validity, uid: box.uidNext - 1, at: clock.now() };
      await door.hear([], { ...first });
      return first;
    }
    log.warn("the mail server numbered its mails anew; the last days are read again");
    const recent = (await client.search({ since: new Date(last - DAY_MS) }, { uid: true })) || [];
    return { validity, uid: Math.min(box.uidNext, ...recent) - 1, at: last };
  }

  async function take(client: ImapFlow, door: Door, from: Position): Promise<Position> {
    let at = from;
    const found = (await client.search({ uid: `${at.uid + 1}:*` }, { uid: true })) || [];
    // `n:*` names the last mail even when it is older.
    const uids = found.filter((uid) => uid > at.uid).sort((a, b) => a - b);
    for (let i = 0; i < uids.length; i += MOST_AT_ONCE) {
      const some = uids.slice(i, i + MOST_AT_ONCE);
      const query = { uid: true, headers: true, envelope: true, bodyStructure: true, internalDate: true };
      const mails = await client.fetchAll(some.join(","), query, { uid: true });
      for (const mail of mails.sort((a, b) => a.uid - b.uid)) {
        const arrived = new Date(mail.internalDate ?? clock.now()).getTime();
        const next = { ...at, uid: mail.uid, at: arrived };
        const event = await toEvent(client, door, mail, arrived, at.validity);
        await door.hear(event ? [event] : [], { ...next });
        at = next;
        if (event) await client.messageFlagsAdd(String(mail.uid), ["\\Seen"], { uid: true }).catch(() => false);
      }
      door.alive(uids.length - i - some.length);
    }
    return at;
  }

  async function toEvent(
    client: ImapFlow,
    door: Door,
    mail: Awaited<ReturnType<ImapFlow["fetchAll"]>>[number],
    at: number,
    validity: string,
  ): Promise<PlatformEvent | undefined> {
    const id = `${validity}:${mail.uid}`;
    const people = mail.envelope?.from ?? [];
    const from = people.length === 1 ? people[0]!.address?.toLowerCase() : undefined;
    const head = String(mail.headers ?? "");
    const read = door.read({ kind: "mail's headers", id, value: head }, () => {
      const headers = parseHeaders(head);
      return { headers, why: notHeard(headers, from) };
    });
    if (!read) return undefined;
    const { headers, why } = read;
    if (!from || why) {
      log.info("a mail was not taken", { uid: mail.uid, from: from ?? "?", why: why ?? "it has no single sender" });
      return undefined;
    }
    const own = mail.envelope?.messageId ?? `<${validity}.${mail.uid}@${config.imapHost}>`;
    const { root, isReply } = findThread(headers, own);
    const subject = mail.envelope?.subject?.trim() ?? "";
    const isForward = /^(fwd?|wg|tr|rv|i):/i.test(subject);
    const parts = splitParts(mail.bodyStructure);
    const body = await readBody(client, mail.uid, parts.text);
    const said = door.read({ kind: "mail", id, value: body }, () => {
      const text = parts.text?.type === "text/html" ? textOfHtml(body) : body;
      return writtenText(text, isReply && !isForward);
    });
    if (said === undefined) return undefined;
    remember(from, root, { subject: subject || "your message", references: root === own ? [own] : [root, own] });
    return {
      kind: "message",
      id: own,
      at,
      chat: { id: from, kind: "direct", thread: root },
      sender: { id: from, ...truthy({ name: people[0]!.name }) },
      // The subject begins a conversation; in an answer it is only a name for it.
      text: subject && (!isReply || isForward) && !said.startsWith("/") ? `${subject}\n\n${said}` : said,
      ...truthy({ forwarded: isForward }),
      files: parts.files.map((part) => remote(client, mail.uid, part)),
    };
  }

  function notHeard(headers: MailHeaders, from: string | undefined): string | undefined {
    if (!from) return "it has no single sender";
    if (from === config.address.toLowerCase()) return "it is our own";
    if (/^(mailer-daemon|postmaster|no-?reply|do-?not-?reply)@/.test(from)) return "nobody reads answers there";
    return automatic(headers) ?? unproven(headers, from, config);
  }

  async function readBody(client: ImapFlow, uid: number, part: MessageStructureObject | undefined): Promise<string> {
    if (!part) return "";
    const { content } = await client.download(String(uid), part.part ?? "1", { uid: true, maxBytes: MOST_TEXT });
    if (!content) return "";
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  }

  function remote(client: ImapFlow, uid: number, part: MessageStructureObject): RemoteFile {
    const name = part.dispositionParameters?.filename ?? part.parameters?.name;
    return {
      ...truthy({ name }),
      mediaType: part.type,
      // The size is of the encoded form: four characters for three bytes.
      ...(part.size ? { bytes: part.encoding === "base64" ? Math.floor(part.size * 0.74) : part.size } : {}),
      open: async () => {
        const { content } = await client.download(String(uid), part.part ?? "1", { uid: true });
        if (!content) throw refused("The mail server does not have this file any more.", "never");
        return content;
      },
    };
  }

  function remember(chat: string, root: string, answered: Answered): void {
    const key = `${chat}\n${root}`;
    threads.delete(key);
    threads.set(key, answered);
    if (threads.size > MOST_THREADS) threads.delete(threads.keys().next().value as string);
  }

  /** What an answer answers; after a restart the mailbox is asked. */
  async function answered(message: Outgoing, signal: AbortSignal): Promise<Answered> {
    const { chat, thread } = message.route;
    if (!thread) return { subject: "A message from Lares", references: [] };
    const known = threads.get(`${chat}\n${thread}`);
    if (known) return known;
    const found = await aside(signal, async (client) => {
      await client.mailboxOpen(config.mailbox, { readOnly: true });
      const about = (header: string) => client.search({ from: chat, header: { [header]: thread } }, { uid: true });
      const uids = [...((await about("message-id")) || []), ...((await about("references")) || [])];
      const uid = uids.length ? Math.max(...uids) : undefined;
      return uid === undefined ? undefined : await client.fetchOne(String(uid), { envelope: true }, { uid: true });
    }).catch(() => undefined);
    const envelope = found ? found.envelope : undefined;
    const last = envelope?.messageId;
    const references = last && last !== thread ? [thread, last] : [thread];
    const answer = { subject: envelope?.subject?.trim() || "your message", references };
    remember(chat, thread, answer);
    return answer;
  }

  async function sentFolder(client: ImapFlow): Promise<string | undefined> {
    const folders = await client.list();
    return (folders.find((one) => one.specialUse === "\\Sent") ?? folders.find((one) => /^sent\b/i.test(one.name)))
      ?.path;
  }

  /** A copy for people, and the proof after a crash. The mail has left: a failure here is no failure of it. */
  async function keepCopy(raw: Buffer, signal: AbortSignal): Promise<void> {
    const put = async (client: ImapFlow) => {
      let folder = await sentFolder(client);
      if (!folder) folder = (await client.mailboxCreate("Sent")).path;
      await client.append(folder, raw, ["\\Seen"]);
    };
    try {
      await (live?.usable ? put(live) : aside(signal, put));
    } catch (error) {
      log.info("a sent mail could not be kept", { error: String(error) });
    }
  }

  return {
    name: "email",
    account,
    run,

    async check(signal) {
      const transport = makeTransport(await library<typeof import("nodemailer")>("nodemailer"), config);
      const note = await aside(signal, async (client) => {
        const box = await client.mailboxOpen(config.mailbox, { readOnly: true });
        if (!config.authenticate) return "The From line is taken at its word: anybody can write as anybody.";
        const query = { headers: ["authentication-results"] };
        const last = (box.exists ? await client.fetchOne("*", query) : undefined) || undefined;
        const said = findHeader(parseHeaders(last?.headers || ""), "authentication-results");
        const by = said === undefined ? undefined : parseResults(said).by;
        if (by === undefined || config.authserv.some((name) => name.toLowerCase() === by)) return undefined;
        return `The newest mail was judged by "${by}", which authserv does not name.`;
      });
      await transport.verify().catch((error: unknown) => {
        throw failure(error);
      });
      return { id: config.address, name: config.address, ...truthy({ note }) };
    },

    async send(message, signal) {
      const mail = await library<typeof import("nodemailer")>("nodemailer");
      const raw = await written(mail, config, message, await answered(message, signal));
      const transport = makeTransport(mail, config);
      const envelope = { from: config.address, to: message.route.chat };
      await transport.sendMail({ envelope, raw }).catch((error: unknown) => {
        throw failure(error);
      });
      if (config.saveSent) await keepCopy(raw, signal);
      return { platformId: messageId(message.key, config.address) };
    },

    async find(message, signal) {
      if (!config.saveSent) return undefined;
      const id = messageId(message.key, config.address);
      return aside(signal, async (client) => {
        const folder = await sentFolder(client);
        if (!folder) return undefined;
        await client.mailboxOpen(folder, { readOnly: true });
        const found = (await client.search({ header: { "message-id": id } }, { uid: true })) || [];
        // Not there proves nothing: it may have left before the copy was made.
        return found.length ? id : undefined;
      });
    },
  };
}

/** The text to read, and what hangs on the mail. */
function splitParts(root: MessageStructureObject | undefined) {
  const all: MessageStructureObject[] = [];
  const walk = (node: MessageStructureObject | undefined) => {
    if (!node) return;
    if (node.childNodes?.length && !node.type.startsWith("message/")) node.childNodes.forEach(walk);
    else all.push(node);
  };
  walk(root);
  const isFile = (part: MessageStructureObject) =>
    part.disposition === "attachment" || (!part.type.startsWith("text/") && !part.type.startsWith("multipart/"));
  const texts = all.filter((part) => !isFile(part));
  const text = texts.find((part) => part.type === "text/plain") ?? texts.find((part) => part.type === "text/html");
  return { text, files: all.filter(isFile) };
}
