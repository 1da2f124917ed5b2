/** Email under the contract every channel passes, against a real Dovecot behind a real SMTP server. */
import { describe, expect, test } from "vitest";
import type { PlatformEvent } from "../../src/core/contracts/index.ts";
import { channelContract } from "../contracts/channel.ts";
import { AUTHSERV, PASSWORD, startMail } from "../servers/mail.ts";
import { needs, until } from "../support/index.ts";
import { connected, listeningDoor, openAlone } from "./support.ts";

const BOT = "lares@house.test";

describe.skipIf(!needs("dovecot", "the email channel"))("email", () => {
  channelContract({
    name: "email",
    async start() {
      const mail = await startMail();
      const owner = { id: "ann@people.test", name: "Ann" };
      const stranger = { id: "eve@people.test", name: "Eve" };
      let n = 0;
      await mail.deliver({
        from: owner.id,
        to: BOT,
        raw: letter(owner, "say:from before the bot came", "<old@people.test>"),
      });
      return {
        account: { ...accountOf(mail), paceMs: 0 },
        owner,
        stranger,
        // SMTP has no key, but the copy in Sent is found again by the Message-ID that is made from it.
        has: { redelivers: true, dedupes: true },
        attach: (lares) => connected(lares, "email/main"),
        async say(from, text) {
          n++;
          // As people do: in the thread of the mail before, with what they answer below.
          const raw = letter(from, text, `<${n}@people.test>`, {
            root: `<root-${from.name}@people.test>`,
            quote: "say:quoted",
          });
          await mail.deliver({ from: from.id, to: BOT, raw });
          return `<${n}@people.test>`;
        },
        async shown(where) {
          const mails = where === "group" ? [] : await mail.inbox(where.id);
          return mails.map((m) => ({ id: m.messageId ?? "", text: (m.text ?? "").trim() }));
        },
        refuseSends: (times) => mail.refuse(times),
        garble: { none: "a mail that cannot be read is one without a sender, which is refused for that" },
        async sendFile(from, file, text) {
          n++;
          await mail.deliver({ from: from.id, to: BOT, raw: letterWith(from, text, `<${n}@people.test>`, file) });
        },
        async filesShown(where) {
          const all = (await mail.inbox(where.id)).flatMap((one) => one.attachments);
          return all.map(({ filename, content }) => ({ name: filename ?? "", bytes: content }));
        },
        holdFile: () => mail.hold(),
        threads: {
          start: async () => `<thread-${++n}@people.test>`,
          say: (from, thread, text) => {
            const raw = letter(from, text, `<${++n}@people.test>`, { root: thread });
            return mail.deliver({ from: from.id, to: BOT, raw });
          },
          async shown(thread) {
            const mails = await mail.inbox(owner.id);
            const within = mails.filter((one) => [one.references].flat().includes(thread));
            return within.map((one) => ({ id: one.messageId ?? "", text: (one.text ?? "").trim() }));
          },
        },
        close: () => mail.close(),
      };
    },
  });

  test("only proven people are read; nothing hanging on a mail is fetched before the door (CH-01, CH-07); answers keep the thread", async () => {
    const mail = await startMail();
    const stop = new AbortController();
    const ann = { id: "ann@people.test", name: "Ann" };
    const account = accountOf(mail);
    try {
      const { door, heard } = listeningDoor();
      const channel = await openAlone("email", account);
      const running = channel.run!(door, stop.signal).catch((error: unknown) => error);
      await until("it listens", () => door.isAlive);
      const give = (raw: string, verdict?: string) =>
        mail.deliver({ from: ann.id, to: BOT, raw, ...(verdict ? { verdict } : {}) });
      const forged = `Authentication-Results: ${AUTHSERV}; dmarc=pass header.from=people.test\n`;
      await give(letter(ann, "forged", "<1@people.test>", { head: forged }), "dmarc=fail header.from=people.test");
      await give(letter(ann, "vacation", "<2@people.test>", { head: "Auto-Submitted: auto-replied\n" }));
      await give(letter({ id: ann.id, name: '"owner@house.test"' }, "named", "<3@people.test>"));
      await give(withFile(ann));
      await until("both", () => heard.length === 2);
      expect(heard.map((e) => e.sender.id)).toEqual([ann.id, ann.id]);
      const [named, filed] = heard as Extract<PlatformEvent, { kind: "message" }>[];
      expect(named).toMatchObject({
        id: "<3@people.test>",
        text: "a talk\n\nnamed",
        chat: { thread: "<3@people.test>" },
      });
      expect(filed!.text).toBe("Grüße");
      expect(filed!.files).toMatchObject([{ name: "note.txt", mediaType: "text/plain" }]);
      const body = await filed!.files![0]!.open(stop.signal);
      expect(await text(body)).toBe("inside the file");

      const route = { channel: "email", account: "main", chat: ann.id, thread: "<3@people.test>" };
      const message = {
        route: { ...route, thread: filed!.chat.thread! },
        key: "turn_1:answer/000",
        text: "*Here*",
        html: "<b>Here</b>",
        files: [{ name: "r.csv", mediaType: "text/csv", bytes: 3, read: async () => Buffer.from("a,b") }],
      };
      expect(await channel.find!(message, stop.signal)).toBeUndefined();
      const { platformId } = await channel.send(message, stop.signal);
      const [got] = await mail.inbox(ann.id);
      expect(got).toMatchObject({
        messageId: platformId,
        subject: "Re: a talk",
        inReplyTo: "<4@people.test>",
        references: ["<0@people.test>", "<4@people.test>"],
      });
      expect(got!.headers.get("auto-submitted")).toBe("auto-replied");
      expect(got!.attachments[0]).toMatchObject({ filename: "r.csv", content: Buffer.from("a,b") });
      // Another process would find it by its key, and knows what it answers from the mailbox.
      const other = await openAlone("email", account);
      expect(await other.find!(message, stop.signal)).toBe(platformId);
      await other.send({ route, key: "turn_2:answer/000", text: "again" }, stop.signal);
      expect((await mail.inbox(ann.id))[1]).toMatchObject({ subject: "Re: a talk", inReplyTo: "<3@people.test>" });
      const wrong = await openAlone("email", { ...account, password: "wrong" });
      await expect(wrong.check(stop.signal)).rejects.toThrow("refused the user name or the password");
      await expect(wrong.send({ ...message, key: "x" }, stop.signal)).rejects.toMatchObject({ retry: "later" });
      expect(await channel.check(stop.signal)).toMatchObject({ id: BOT });
      stop.abort();
      await running;
    } finally {
      stop.abort();
      await mail.close();
    }
  });
});

function accountOf({ imapPort, smtpPort }: { imapPort: number; smtpPort: number }) {
  const hosts = { imapHost: "127.0.0.1", imapPort, smtpHost: "127.0.0.1", smtpPort };
  return { address: BOT, password: PASSWORD, ...hosts, tls: "none", authserv: [AUTHSERV] };
}

function letterWith(
  from: { id: string; name: string },
  text: string,
  id: string,
  file: { name: string; type: string; bytes: Buffer },
): string {
  const root = `<root-${from.name}@people.test>`;
  const data = file.bytes.toString("base64").replace(/.{76}/g, "$&\n");
  return `From: ${from.name} <${from.id}>
To: ${BOT}
Subject: a talk
Message-ID: ${id}
In-Reply-To: ${root}
References: ${root}
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

${text}

--b
Content-Type: ${file.type}; name=${file.name}
Content-Disposition: attachment; filename=${file.name}
Content-Transfer-Encoding: base64

${data}
--b--
`;
}

function withFile(from: { id: string; name: string }): string {
  return `From: ${from.name} <${from.id}>
To: ${BOT}
Subject: Re: a talk
Message-ID: <4@people.test>
References: <0@people.test>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe

--b
Content-Type: text/plain; name=note.txt
Content-Disposition: attachment; filename=note.txt
Content-Transfer-Encoding: base64

${Buffer.from("inside the file").toString("base64")}
--b--
`;
}

async function text(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function letter(
  from: { id: string; name: string },
  text: string,
  id: string,
  more: { root?: string; quote?: string; head?: string } = {},
): string {
  const thread = more.root ? `In-Reply-To: ${more.root}\nReferences: ${more.root}\n` : "";
  const quote = more.quote ? `\n\nOn Sun, 15 Nov 2026 at 07:00, Lares <${BOT}> wrote:\n\n> ${more.quote}\n` : "";
  return `From: ${from.name} <${from.id}>\nTo: ${BOT}\nSubject: a talk\nMessage-ID: ${id}\n${thread}${more.head ?? ""}Content-Type: text/plain; charset=utf-8\n\n${text}${quote}\n`;
}
