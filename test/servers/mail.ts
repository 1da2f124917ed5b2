/**
 * A real mail house: Dovecot for IMAP and LMTP, smtp-server in front of it as the border server. It writes
 * Authentication-Results as such a server does: its own line on top, whatever the sender wrote under its name taken away.
 */

import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { type ParsedMail, simpleParser } from "mailparser";
import { createTransport } from "nodemailer";
import { SMTPServer } from "smtp-server";
import { pretend } from "../support/pretend.ts";
import { scratch } from "../support/scratch.ts";
import { freePort, programAt, serve } from "./spawned.ts";

export const DOVECOT = programAt("/usr/sbin/dovecot", "/usr/bin/dovecot");
export const AUTHSERV = "mx.people.test";
export const PASSWORD = "the-password";

export interface Mail {
  from: string;
  to: string;
  /** Head and body, CRLF or LF. */
  raw: string;
  /** What the border server finds out; by default that the writer is who they say. */
  verdict?: string;
}

export async function startMail() {
  const folder = scratch("dovecot");
  const [imapPort, lmtpPort] = [await freePort(), await freePort()];
  for (const name of ["run", "mail", "home"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "dovecot.conf"), configuration({ folder, imapPort, lmtpPort, ...whoRuns(folder) }));
  const dovecot = await serve(DOVECOT!, ["-F", "-c", join(folder, "dovecot.conf")], { port: imapPort, folder });
  const inside = createTransport(pretend({ host: "127.0.0.1", port: lmtpPort, lmtp: true, ignoreTLS: true }));

  /** As the border server hands it in. */
  async function deliver({ from, to, raw, verdict }: Mail): Promise<void> {
    const domain = from.slice(from.indexOf("@") + 1);
    const said = verdict ?? `dmarc=pass header.from=${domain}`;
    const stripped = raw.replace(new RegExp(`^Authentication-Results:\\s*${AUTHSERV}[^\\n]*\\n`, "gim"), "");
    const head = `Return-Path: <${from}>\r\nAuthentication-Results: ${AUTHSERV}; ${said}\r\n`;
    await inside.sendMail(pretend({ envelope: { from, to }, raw: head + stripped }));
  }

  let held: { came: boolean } | undefined;
  const refusals: { left: number; code: number }[] = [];
  const smtp = new SMTPServer({
    authOptional: false,
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    allowInsecureAuth: true,
    logger: false,
    onAuth: (auth, _session, done) =>
      auth.password === PASSWORD
        ? done(null, { user: auth.username })
        : done(Object.assign(new Error("no"), { responseCode: 535 })),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (held && !held.came) {
          // Neither taken nor answered.
          held.came = true;
          return;
        }
        const refusal = refusals.find((one) => one.left > 0);
        if (refusal) {
          refusal.left--;
          return done(Object.assign(new Error("try again"), { responseCode: refusal.code }));
        }
        const from = (session.envelope.mailFrom || { address: "" }).address;
        const all = session.envelope.rcptTo.map(({ address }) =>
          deliver({ from, to: address, raw: Buffer.concat(chunks).toString("utf8") }),
        );
        Promise.all(all).then(
          () => done(),
          (error: Error) => done(error),
        );
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
  const smtpPort = (smtp.server.address() as { port: number }).port;

  const read = new Map<string, ParsedMail>();
  /** Everything in somebody's inbox, in the order it came. */
  async function inbox(address: string): Promise<ParsedMail[]> {
    const box = join(folder, "mail", address);
    const files = ["new", "cur"].flatMap((sub) => list(join(box, sub)).map((name) => join(box, sub, name)));
    files.sort((a, b) => arrival(a) - arrival(b));
    const mails: ParsedMail[] = [];
    for (const file of files) {
      const key = file.replace(/:2,\w*$/, "").replace("/cur/", "/new/");
      const known = read.get(key) ?? (await simpleParser(readFileSync(file)));
      read.set(key, known);
      mails.push(known);
    }
    return mails;
  }

  return {
    imapPort,
    smtpPort,
    deliver,
    inbox,
    refuse: (times: number, code = 451) => void refusals.push({ left: times, code }),
    /** The next mail arrives and nothing comes of it. Tells whether it arrived. */
    hold() {
      const mine = { came: false };
      held = mine;
      return () => mine.came;
    },
    async close() {
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
      await dovecot.stop();
    },
  };
}

/** Dovecot wants no part of it to be root: as root its own users are taken, otherwise all is the present user's. */
function whoRuns(folder: string) {
  const { username, uid, gid } = userInfo();
  if (uid !== 0) {
    const group = execFileSync("id", ["-gn"], { encoding: "utf8" }).trim();
    return { internal: username, group, login: username, uid, gid };
  }
  const nobody = Number(execFileSync("id", ["-u", "nobody"], { encoding: "utf8" }));
  chmodSync(folder, 0o755);
  for (const name of ["mail", "home"]) chownSync(join(folder, name), nobody, nobody);
  return { internal: "dovecot", group: "dovecot", login: "dovenull", uid: nobody, gid: nobody };
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Dovecot's names begin with the second and the microsecond. */
function arrival(file: string): number {
  const name = /\/(\d+)\.M(\d+)P/.exec(file);
  return name ? Number(name[1]) * 1e6 + Number(name[2]) : 0;
}

function configuration(at: {
  folder: string;
  imapPort: number;
  lmtpPort: number;
  internal: string;
  group: string;
  login: string;
  uid: number;
  gid: number;
}): string {
  return `base_dir = ${at.folder}/run
state_dir = ${at.folder}/run
log_path = ${at.folder}/log
protocols = imap lmtp
ssl = no
disable_plaintext_auth = no
auth_failure_delay = 0
default_internal_user = ${at.internal}
default_internal_group = ${at.group}
default_login_user = ${at.login}
first_valid_uid = 0
first_valid_gid = 0
postmaster_address = postmaster@people.test
service imap-login {
  chroot =
  inet_listener imap {
    address = 127.0.0.1
    port = ${at.imapPort}
  }
  inet_listener imaps {
    port = 0
  }
}
service lmtp {
  chroot =
  inet_listener lmtp {
    address = 127.0.0.1
    port = ${at.lmtpPort}
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
mail_location = maildir:${at.folder}/mail/%u
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${at.uid} gid=${at.gid} home=${at.folder}/home/%u allow_all_users=yes
}
`;
}
