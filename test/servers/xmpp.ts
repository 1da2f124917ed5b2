/** A real Prosody with an archive and rooms, and people on it with @xmpp/client. */
import { mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
// @ts-expect-error it brings no types
import { client as makeClient, xml as makeXml } from "@xmpp/client";
import { NS, type Xml, type XmppLibrary } from "../../src/edges/channels/xmpp/library.ts";
import { scratch } from "../support/scratch.ts";
import { freePort, programAt, serve } from "./spawned.ts";

export const PROSODY = programAt("/usr/bin/prosody", "/usr/sbin/prosody");
export const XMPP_PASSWORD = "the-password";
const client = makeClient as XmppLibrary["client"];
const xml = makeXml as XmppLibrary["xml"];

export async function startXmpp(people: string[]) {
  const folder = scratch("prosody");
  const port = await freePort();
  const accounts = join(folder, "data", "people%2etest", "accounts");
  mkdirSync(accounts, { recursive: true });
  for (const one of people)
    writeFileSync(join(accounts, `${one}.dat`), `return { ["password"] = "${XMPP_PASSWORD}"; }\n`);
  const file = join(folder, "prosody.cfg.lua");
  writeFileSync(
    file,
    `data_path = "${folder}/data"
pidfile = "${folder}/pid"
certificates = "${folder}"
log = { info = "*console" }
${userInfo().uid === 0 ? "run_as_root = true" : ""}
c2s_ports = { ${port} }
c2s_interfaces = { "127.0.0.1" }
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
authentication = "internal_plain"
storage = "internal"
modules_enabled = { "roster", "saslauth", "disco", "ping", "presence", "message", "iq", "c2s", "mam", "offline" }
modules_disabled = { "s2s", "tls", "http", "posix" }
default_archive_policy = true
VirtualHost "people.test"
Component "rooms.people.test" "muc"
  modules_enabled = { "muc_mam" }
  muc_log_by_default = true
  muc_room_default_public_jids = true
  muc_room_locking = false
`,
  );
  const server = await serve(PROSODY!, ["-F", "--config", file], { port, folder });
  return { port, stop: () => server.stop() };
}

/** Somebody with an XMPP client; corrections are shown as they are meant. */
export async function xmppPerson(port: number, name: string, room?: string) {
  const one = client({
    service: `xmpp://127.0.0.1:${port}`,
    domain: "people.test",
    credentials: (authenticate: (c: object, mechanism: string) => Promise<void>) =>
      authenticate({ username: name, password: XMPP_PASSWORD }, "PLAIN"),
    timeout: 10_000,
  });
  one.reconnect.stop();
  one.on("error", () => {});
  const heard: { from: string; id: string; text: string }[] = [];
  const states: string[] = [];
  /** Reactions to what this person wrote, in the order they came. */
  const signs: { message: string; all: string[] }[] = [];
  one.on("stanza", (stanza: Xml) => {
    if (!stanza.is("message")) return;
    if (stanza.getChild("composing", NS.states)) states.push(stanza.attrs.from!);
    const reactions = stanza.getChild("reactions", NS.reactions);
    if (reactions) {
      const all = reactions.getChildren("reaction").map((one) => one.text());
      signs.push({ message: reactions.attrs.id ?? "", all });
    }
    const text = stanza.getChildText("body");
    if (!text) return;
    const replaced = stanza.getChild("replace", NS.correct)?.attrs.id;
    const old = heard.find((m) => m.id === replaced);
    if (old) old.text = text;
    else heard.push({ from: stanza.attrs.from!, id: stanza.attrs.id ?? "", text });
  });
  await one.start();
  await one.send(xml("presence"));
  if (room) await one.send(xml("presence", { to: `${room}/${name}` }, xml("x", { xmlns: NS.muc })));
  let n = 0;
  return {
    heard,
    states,
    signs,
    async say(
      to: string,
      text: string,
      more: { type?: string; replaces?: string; reacts?: string; retracts?: string } = {},
    ) {
      const id = `${name}-${++n}`;
      await one.send(
        xml(
          "message",
          { to, type: more.type ?? "chat", id },
          ...(text ? [xml("body", {}, text)] : []),
          ...(more.replaces ? [xml("replace", { xmlns: NS.correct, id: more.replaces })] : []),
          ...(more.retracts ? [xml("retract", { xmlns: NS.retract, id: more.retracts })] : []),
          ...(more.reacts
            ? [xml("reactions", { xmlns: NS.reactions, id: more.reacts }, xml("reaction", {}, "👍"))]
            : []),
        ),
      );
      return id;
    },
    /** As if it were the archive's answer: words of somebody else. */
    async forge(to: string, from: string, text: string) {
      const said = xml("message", { from, to, type: "chat" }, xml("body", {}, text));
      const result = xml(
        "result",
        { xmlns: NS.mam, queryid: "q1", id: "x" },
        xml("forwarded", { xmlns: NS.forward }, said),
      );
      await one.send(xml("message", { to }, result));
    },
    close: () => one.stop().catch(() => {}),
  };
}
