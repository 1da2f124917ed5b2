/** A host that takes the connection and then says nothing, or resets it: that ends in a sentence and never ends Lares. */
import { createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { startLares, until } from "../support/index.ts";

it("channels add says in plain words which setting is missing, unknown or wrong", async () => {
  const lares = await startLares({});
  const add = (fields: Record<string, string>) =>
    lares.rpc("channels.add", { channel: "telegram", account: "main", fields }).then(
      (): { message?: string; hint?: string } => ({ message: "added" }),
      (error: { error?: { message?: string; hint?: string } }) => error.error ?? {},
    );
  try {
    const start = "Telegram can't be connected with these settings:";
    expect((await add({})).message).toBe(`${start} token is needed: text.`);
    expect((await add({})).hint).toMatch(/^token: /);
    expect((await add({ token: "123456:abc", tokn: "x" })).message).toBe(`${start} unknown key tokn.`);
    expect((await add({ token: "123456:abc", apiUrl: "nowhere" })).message).toMatch(/: apiUrl must be /);
  } finally {
    await lares.dispose();
  }
}, 60_000);

it("channels add against a host that hangs ends in a sentence within a bounded time", async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    // Reads on, so that it notices when the other side closes.
    socket.resume().on("error", () => {});
    socket.once("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  const lares = await startLares({});
  try {
    const kinds: [string, Record<string, string | number | boolean>][] = [
      ["telegram", { token: "123456:abc", apiUrl: url }],
      ["mattermost", { url, token: "a-token-of-mattermost-0123" }],
      ["matrix", { homeserver: url, token: "a-token-of-matrix" }],
      ["signal", { url, number: "+15550100" }],
      ["irc", { host: "127.0.0.1", port, tls: false, nick: "lares" }],
      ["xmpp", { address: "lares@people.test", password: "p", service: `xmpp://127.0.0.1:${port}` }],
    ];
    const began = Date.now();
    const ends = await Promise.all(
      kinds.map(([channel, fields]) =>
        lares.rpc("channels.add", { channel, account: "main", fields }).then(
          () => "added",
          (error: { error?: { message?: string } }) => error.error?.message ?? String(error),
        ),
      ),
    );
    for (const [i, said] of ends.entries()) expect(said, kinds[i]![0]).toMatch(/did not answer within 15 seconds\.$/);
    expect(Date.now() - began).toBeLessThan(40_000);
    expect((await lares.rpc("channels.list", {})).channels).toEqual([]);
    // Nothing is left open that could break later.
    await until("every connection is closed", () => open.size === 0);
    expect((await lares.rpc("channels.list", {})).channels).toEqual([]);
  } finally {
    await lares.dispose();
    for (const socket of open) socket.destroy();
    server.close();
  }
}, 90_000);

it("an XMPP server that resets the connection is reported and leaves Lares running", async () => {
  let resets = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
    // The first bytes are the stream's header: by now the client waits for the server's.
    socket.once("data", () => {
      resets++;
      socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const service = `xmpp://127.0.0.1:${(server.address() as { port: number }).port}`;
  const main = { address: "lares@people.test", password: "p", service, owners: ["ann@people.test"] };
  const lares = await startLares({ config: { channels: { xmpp: { main } } } });
  try {
    const state = async () => (await lares.rpc("channels.list", {})).channels[0];
    await until("the server reset it twice", () => resets >= 2, { withinMs: 30_000 });
    await until("the reset is reported", async () =>
      JSON.stringify(await state()).includes("can't be reached: it closed the connection"),
    );
  } finally {
    await lares.dispose();
    for (const socket of open) socket.destroy();
    server.close();
  }
}, 90_000);
