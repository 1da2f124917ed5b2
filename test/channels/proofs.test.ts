/** What holds for every adapter of the table, without a platform: who may talk with an empty list, and what proves who calls. */

import { describe, expect, test } from "vitest";
import { ADAPTERS, configured, sign } from "../../src/edges/channels/index.ts";
import { standing } from "../../src/flow/channels/standing.ts";
import { startTeams } from "../fakes/teams/index.ts";
import { pretend } from "../support/pretend.ts";
import { build } from "./door.ts";
import { listeningDoor, openAlone } from "./support.ts";

/** What each must be told at least. Whoever adds a channel adds a line. */
const LEAST: Record<string, Record<string, unknown>> = {
  telegram: { token: "1234567:token-of-a-bot-0123456789" },
  teams: { appId: "app-of-the-bot", appPassword: "password" },
  slack: { botToken: "xoxb-token", appToken: "xapp-token" },
  discord: { token: "token-of-a-bot-0123456789" },
  matrix: { homeserver: "https://matrix.test", token: "token-of-a-bot-0123456789" },
  mattermost: { url: "https://mattermost.test", token: "token-of-a-bot-0123456789" },
  signal: { number: "+15550000001" },
  whatsapp: {
    phoneNumberId: "1",
    token: "token-of-a-bot-0123456789",
    appSecret: "app-secret-0123456789",
    verifyToken: "verify-token-0123",
  },
  "whatsapp-web": { number: "+15550000001" },
  webhook: { secret: "secret-of-both-sides", senders: [] },
  email: { address: "a@b.test", password: "p", imapHost: "h", smtpHost: "h", authserv: ["mx.b.test"] },
  irc: { host: "irc.test", nick: "lares" },
  xmpp: { address: "a@b.test", password: "p" },
  nostr: { secretKey: "1".repeat(64), relays: ["wss://relay.test"] },
  external: { token: "a-token-of-the-program" },
};
const talks = { dm: "allowlist" };
const fieldsOf = (name: string) => (name === "webhook" ? LEAST[name]! : { ...LEAST[name], ...talks });

describe.each(Object.keys(ADAPTERS))("%s", (name) => {
  const entry = ADAPTERS[name]!;

  test("CH-03: an allowlist that names nobody lets nobody in: not directly, not in a group, not by a star, a name or nothing", () => {
    const { policy } = configured(entry, "main", entry.config.parse(fieldsOf(name)), pretend({}));
    const chats = [
      { id: "c", kind: "direct" as const },
      { id: "g", kind: "group" as const },
    ];
    for (const chat of chats) {
      for (const id of ["1", "*", "", "undefined"]) {
        for (const kind of ["message", "edit", "reaction", "button", "member"] as const) {
          const event = { kind, chat, sender: { id, name: "owner" }, addressed: true };
          expect({ id, chat, kind, may: standing(policy, event, []).may }).toMatchObject({ may: false });
        }
      }
    }
  });

  test("WH-01: without each of its secrets it cannot be set up", () => {
    expect(entry.config.safeParse(fieldsOf(name)).error).toBeUndefined();
    for (const secret of entry.secrets.filter((field) => field in LEAST[name]!)) {
      expect({ secret, ...entry.config.safeParse({ ...fieldsOf(name), [secret]: undefined }) }).toMatchObject({
        success: false,
      });
      expect({ secret, ...entry.config.safeParse({ ...fieldsOf(name), [secret]: "" }) }).toMatchObject({
        success: false,
      });
    }
  });
});

test("WH-03, WH-07: Teams' token counts in its header only; the same activity under another query is the same event", async () => {
  const fake = await startTeams();
  try {
    const account = { appId: fake.appId, appPassword: fake.secret, services: [fake.service], loginUrl: fake.url };
    const channel = await openAlone("teams", { ...account, keysUrl: `${fake.url}/openid` });
    const { door, heard } = listeningDoor();
    const body = Buffer.from(JSON.stringify(fake.activity({ id: "ann", name: "Ann" }, "a:ann", { text: "once" })));
    const post = (headers: Record<string, string>, query: Record<string, string>) =>
      channel.receive!({ method: "POST", headers, query, body }, door);
    const token = fake.token();
    for (const query of [{ token }, { authorization: `Bearer ${token}` }, { access_token: token }] as Record<
      string,
      string
    >[])
      await expect(post({}, query)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    for (const query of [{}, { again: "1" }, { b: "2", a: "1" }] as Record<string, string>[])
      expect(await post({ authorization: `Bearer ${token}` }, query)).toMatchObject({ status: 200 });
    expect(new Set(heard.map((event) => event.id)).size).toBe(1);
  } finally {
    await fake.close();
  }
});

test("WH-03, WH-07: a webhook's signature counts in its header only; the same message under another query is the same event", async () => {
  const secret = "secret-of-both-sides";
  const channel = await build(ADAPTERS.webhook!, { secret });
  const { door, heard } = listeningDoor();
  const text = JSON.stringify({ id: "m1", chat: "c", sender: { id: "boss" }, text: "once" });
  const at = String(Math.floor(Date.now() / 1000));
  const proof = { "x-lares-timestamp": at, "x-lares-signature": sign(secret, at, text) };
  const post = (headers: Record<string, string>, query: Record<string, string>) =>
    channel.receive!({ method: "POST", headers, query, body: Buffer.from(text) }, door);
  for (const query of [proof, { signature: proof["x-lares-signature"], secret }] as Record<string, string>[])
    await expect(post({}, query)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  for (const query of [{}, { again: "1" }] as Record<string, string>[])
    expect(await post(proof, query)).toMatchObject({ status: 202 });
  expect(heard.map((event) => event.id)).toEqual(["m1", "m1"]);
});
