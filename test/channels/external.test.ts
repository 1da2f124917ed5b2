/** A channel outside the process under the contract every channel passes: the Python example, driven by its standard streams. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { channelContract } from "../contracts/channel.ts";
import { type Lares, needs, startLares, startModel, until } from "../support/index.ts";
import { connected } from "./support.ts";

const EXAMPLE = fileURLToPath(new URL("../../examples/channel.py", import.meta.url));
const GROUP = "the-room";
const CHANNEL_TOKEN = "a-token-of-the-program";
const hasPython = runs("python3");

describe.skipIf(!needs("python3", "a channel outside the process", hasPython))("external", () => {
  channelContract({
    name: "external",
    async start() {
      const way = await startWay();
      let said = "";
      const env = { PATH: process.env.PATH ?? "", LARES_URL: `ws://127.0.0.1:${way.port}/ws` };
      const child: ChildProcess = spawn("python3", [EXAMPLE], {
        env: { ...env, LARES_CHANNEL: "main", LARES_CHANNEL_TOKEN: CHANNEL_TOKEN },
        stdio: ["pipe", "pipe", "inherit"],
      });
      child.stdout!.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
      });
      const shown = () =>
        said
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line) as { id: string; target: string; content: string; threadId?: string });
      const put = (said: object) => void child.stdin!.write(`${JSON.stringify(said)}\n`);
      let threads = 0;
      return {
        account: { token: CHANNEL_TOKEN, dialect: "plain", limit: 4000 },
        owner: { id: "+1555", name: "Ann" },
        stranger: { id: "+1666", name: "Eve" },
        has: { redelivers: true, dedupes: true },
        async attach(lares) {
          way.to(Number(new URL(lares.url).port));
          await connected(lares, "external/main");
        },
        async say(from, text, where) {
          if (!where) child.stdin!.write(`${from.id}\t${text}\n`);
          else put({ userId: from.id, content: text, chatId: GROUP, group: true, addressed: where.addressed === true });
          return "";
        },
        group: GROUP,
        sendFile: async (from, { name, type, bytes }, text) =>
          put({ userId: from.id, content: text, media: [{ name, mediaType: type, data: bytes.toString("base64") }] }),
        noLargeFiles: { none: "a file comes inside a frame of the socket, whose own limit is below that" },
        threads: {
          start: async () => `thread-${++threads}`,
          say: async (from, thread, text) => put({ userId: from.id, content: text, threadId: thread }),
          shown: async (thread) =>
            shown()
              .filter((m) => m.threadId === thread)
              .map(({ id, content }) => ({ id, text: content })),
        },
        refuseSends: { none: "a program acknowledges or does not" },
        garble: { none: "what cannot be read is answered with an error, to the program" },
        shown: async (where) =>
          shown()
            .filter((m) => m.target === (where === "group" ? GROUP : where.id))
            .map(({ id, content }) => ({ id, text: content })),
        async close() {
          child.kill("SIGKILL");
          await way.close();
        },
      };
    },
  });
});

describe("a program that is a channel", () => {
  let lares: Lares;
  let model: Awaited<ReturnType<typeof startModel>>;
  beforeAll(async () => {
    model = await startModel();
    const room = { allow: ["ann"] };
    const account = { token: CHANNEL_TOKEN, owners: ["ann"], groups: { room }, dm: "allowlist" };
    const config = { outbox: { firstRetryMs: 20, mostRetryMs: 200 }, channels: { external: { sms: account } } };
    lares = await startLares({ env: model.env, config });
  });
  afterAll(async () => {
    await lares?.dispose();
    await model?.close();
  });

  test("a wrong token, an unknown account and another's credential are closed alike, and count as wrong credentials", async () => {
    for (const params of [
      { channelId: "sms", token: "wrong-token-wrong-token" },
      { channelId: "nobody", token: CHANNEL_TOKEN },
      { channelId: "sms", token: lares.token },
      { channelId: "sms" },
    ])
      expect(await (await program(lares, params)).ended).toMatch(/^4003/);
    // The token of a channel is no key to the house.
    expect(
      (await lares.request("POST", "/rpc/status", { body: {}, headers: { authorization: `Bearer ${CHANNEL_TOKEN}` } }))
        .status,
    ).toBe(401);
  });

  test("messages count once by id; answers come until they are acknowledged, in order; a second program takes over (EXTERNAL-1, EXTERNAL-2, EXTERNAL-3)", async () => {
    const first = await program(lares, { channelId: "sms", token: CHANNEL_TOKEN });
    await first.next("res");
    const hello = { type: "inbound_message", id: "m1", userId: "ann", content: "say:one", timestamp: Date.now() };
    first.send(hello);
    expect(await first.next("ack")).toMatchObject({ id: "m1", outcome: "admitted" });
    const answer = await first.next("outbound_message");
    expect(answer).toMatchObject({ channelId: "sms", target: "ann", content: "one" });
    first.send({ ...hello });
    expect(await first.next("ack")).toMatchObject({ id: "m1", outcome: "known" });
    first.send({ type: "inbound_message", id: "m2", userId: "ann", content: "say:two" });
    first.send({ type: "inbound_message", id: "m3", userId: "eve", userName: "ann", content: "say:no" });
    first.send({ type: "inbound_message", id: "m4", userId: "ann", chatId: "room", group: true, content: "say:no" });
    const inRoom = { chatId: "room", group: true, addressed: true, content: "say:no" };
    first.send({ type: "inbound_message", id: "m5", userId: "eve", userName: "ann", ...inRoom });
    first.send({ type: "inbound_message", userId: "ann", content: "no id" });
    expect(await first.next("ack")).toMatchObject({ id: "m2", outcome: "admitted" });
    expect(await first.next("ack")).toMatchObject({ id: "m3", outcome: "refused" });
    expect(await first.next("ack")).toMatchObject({ id: "m4", outcome: "ignored" });
    expect(await first.next("ack")).toMatchObject({ id: "m5", outcome: "refused" });
    expect(await first.next("error")).toMatchObject({ error: { code: "BAD_REQUEST" } });

    // "one" was never acknowledged: it comes again to whoever speaks now, before "two".
    const second = await program(lares, { channelId: "sms", token: CHANNEL_TOKEN });
    expect(await first.ended).toMatch(/^4010/);
    expect(await second.next("outbound_message")).toEqual(answer);
    second.send({ type: "ack", id: answer.id });
    expect(await second.next("outbound_message")).toMatchObject({ content: "two" });
    second.close();
  });
});

/** A program with a WebSocket of its own. */
async function program(lares: Lares, params: object) {
  const socket = new WebSocket(`${lares.url.replace("http", "ws")}/ws`);
  const frames: Record<string, unknown>[] = [];
  const ended = new Promise<string>((resolve) => socket.once("close", (code, why) => resolve(`${code} ${why}`)));
  socket.on("error", () => {});
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  await new Promise<void>((resolve) => socket.once("open", () => resolve()));
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  send({ type: "req", id: "1", method: "connect", params: { role: "channel", ...params } });
  return {
    ended,
    send,
    close: () => socket.close(),
    next: (type: string) =>
      until(
        `a frame ${type}`,
        () => {
          const at = frames.findIndex((frame) => frame.type === type);
          return at < 0 ? undefined : frames.splice(at, 1)[0];
        },
        { instead: () => frames },
      ),
  };
}

/** One address for the program, wherever Lares listens now. */
async function startWay() {
  let port = 0;
  const server = createServer((from) => {
    const to = connect(port, "127.0.0.1");
    from.on("error", () => to.destroy());
    to.on("error", () => from.destroy());
    from.on("close", () => to.destroy());
    to.on("close", () => from.destroy());
    for (const side of [from, to]) side.setNoDelay();
    from.pipe(to).pipe(from);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    to: (now: number) => {
      port = now;
    },
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

function runs(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
