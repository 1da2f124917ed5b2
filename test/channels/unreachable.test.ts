/** A platform that can't be reached is reported with the reason in plain words, for every channel. */
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADAPTERS } from "../../src/edges/channels/index.ts";
import { type Lares, startLares } from "../support/index.ts";

type Fields = Record<string, string | number | boolean | string[]>;

/** The fields that lead to a host and port. Those without a server to ask are listed beside. */
const KINDS: Record<string, (host: string, port: number) => Fields> = {
  telegram: (host, port) => ({ token: "123456:abc", apiUrl: `http://${host}:${port}` }),
  discord: (host, port) => ({ token: "a-token-of-discord-0123", apiUrl: `http://${host}:${port}` }),
  slack: (host, port) => ({
    botToken: "xoxb-1",
    appToken: "xapp-1",
    apiUrl: `http://${host}:${port}`,
  }),
  mattermost: (host, port) => ({ url: `http://${host}:${port}`, token: "a-token-of-mattermost-0123" }),
  matrix: (host, port) => ({ homeserver: `http://${host}:${port}`, token: "a-token-of-matrix" }),
  signal: (host, port) => ({ url: `http://${host}:${port}`, number: "+15550100" }),
  whatsapp: (host, port) => ({
    phoneNumberId: "12345678",
    token: "a-token-of-whatsapp",
    appSecret: "a-secret-of-whatsapp",
    verifyToken: "a-word-of-ours",
    graph: `http://${host}:${port}`,
  }),
  teams: (host, port) => ({ appId: "12345678", appPassword: "p", tenant: "t", loginUrl: `http://${host}:${port}` }),
  irc: (host, port) => ({ host, port, tls: false, nick: "lares" }),
  xmpp: (host, port) => ({ address: "lares@people.test", password: "p", service: `xmpp://${host}:${port}` }),
  email: (host, port) => ({
    address: "lares@people.test",
    password: "p",
    imapHost: host,
    imapPort: port,
    smtpHost: host,
    smtpPort: port,
    tls: "implicit",
    authserv: ["mx.people.test"],
  }),
  nostr: (host, port) => ({ secretKey: "1".repeat(64), relays: [`ws://${host}:${port}`] }),
};
const WITHOUT = ["webhook", "external", "whatsapp-web"];

describe("channels add", () => {
  let lares: Lares;
  let port: number;
  beforeAll(async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as { port: number }).port;
    await new Promise((resolve) => server.close(resolve));
    lares = await startLares({});
  }, 60_000);
  afterAll(() => lares?.dispose());

  const add = (channel: string, fields: Fields) =>
    lares.rpc("channels.add", { channel, account: "main", fields }).then(
      () => ({ message: "added", hint: "" }),
      ({ error }: { error?: { message?: string; hint?: string } }) => ({ message: "", hint: "", ...error }),
    );

  it("every channel with a server to ask is in the table", () => {
    expect([...Object.keys(KINDS), ...WITHOUT].sort()).toEqual(Object.keys(ADAPTERS).sort());
  });

  it.each(Object.entries(KINDS))("%s: nothing listens on that port", async (channel, fields) => {
    const { message, hint } = await add(channel, fields("127.0.0.1", port));
    expect(message).toMatch(/can't be reached: the host is there, but nothing is listening on that port\.$/);
    expect(message).not.toMatch(/ECONN|connect |fetch failed/);
    expect(hint).not.toBe("");
  });

  it.each(["xmpp", "telegram", "irc", "email"])("%s: there is no such host", async (channel) => {
    const { message } = await add(channel, KINDS[channel]!("nobody.invalid", port));
    // A machine without a name server can't tell.
    expect(message).toMatch(/can't be reached: (there is no host of that name|no name server answers; .*)\.$/);
  });
});
