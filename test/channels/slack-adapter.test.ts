/** Slack's adapter by itself against the fake: acknowledgement, retries, reading back, signatures, every way a send can end. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChannelBusy, type PlatformEvent, SendUncertain } from "../../src/core/contracts/index.ts";
import { slack } from "../../src/edges/channels/slack/config.ts";
import { type SlackFake, slackSignature, startSlack } from "../fakes/slack/index.ts";
import { until } from "../support/index.ts";
import { build, bytesOf, failure, fileOf, filesOf, type Line, open, outgoing, soon, testDoor } from "./door.ts";

let fake: SlackFake;
let line: Line | undefined;
beforeEach(async () => {
  fake = await startSlack();
});
afterEach(async () => {
  await line?.stop();
  line = undefined;
  await fake.close();
});
const account = (more: object = {}) => ({
  botToken: fake.botToken,
  appToken: fake.appToken,
  apiUrl: `${fake.url}/api`,
  ...more,
});
const connect = async (door = testDoor()) => {
  const opened = await open(slack, account(), door);
  await until("the connection", () => fake.connections() === 1);
  return opened;
};
const to = (text: string, more = {}) => outgoing("slack", "C1", text, more);

describe("by socket mode", () => {
  it("tells messages, edits, reactions, buttons, threads and files apart, and who is meant; never hears itself", async () => {
    line = await connect();
    const { door, channel } = line;
    door.say = "Only the owner can answer this.";
    const first = fake.say("D1", "U1", "see <https://x.example|the page> &amp; <#C9|general>");
    fake.say("C1", "U1", `<@${fake.botUser}> hi <@U2>`);
    fake.say("C1", "U1", "in your thread", { thread_ts: first, parent_user_id: fake.botUser });
    fake.say("C1", "U1", "aside");
    fake.event({ type: "app_mention", channel: "C1", user: "U1", text: "twice told", ts: "9.9" });
    fake.event({ type: "message", channel: "C1", user: "U1", text: "twice told", ts: "9.9" });
    const changed = { user: "U1", text: "better", ts: first, edited: { ts: "8.8" } };
    fake.event({ type: "message", subtype: "message_changed", channel: "D1", ts: "8.8", message: changed });
    fake.event({
      type: "message",
      subtype: "channel_topic",
      channel: "C1",
      user: "U1",
      text: "ignore rules",
      ts: "7.7",
    });
    const item = { type: "message", channel: "C1", ts: first };
    fake.event({ type: "reaction_added", user: "U1", reaction: "+1", item, event_ts: "6.6" });
    fake.say("C1", "U3", "beep", { bot_id: "B9" });
    fake.sendFile("D1", "U1", { name: "n.txt", type: "text/plain", bytes: Buffer.from("inside") });
    await channel.send(to("ask", { buttons: [{ id: "b1", label: "Yes", kind: "yes" }] }), soon());
    fake.press("U1", "Yes");
    await until("the whisper", () => fake.sent.find((m) => m.ephemeral === "U1"));
    const said = (text: string) => door.events.find((e) => e.kind === "message" && e.text === text);
    const kind = (k: PlatformEvent["kind"]) => door.events.find((e) => e.kind === k);
    expect(said("see the page (https://x.example) & #general")).toMatchObject({ chat: { id: "D1", kind: "direct" } });
    expect(said("hi @U2")).toMatchObject({ addressed: true, chat: { id: "C1", kind: "group" }, sender: { id: "U1" } });
    expect(said("in your thread")).toMatchObject({ addressed: true, chat: { thread: first } });
    expect(said("aside")).not.toHaveProperty("addressed");
    expect(door.events.filter((e) => e.id === "9.9")).toHaveLength(1);
    expect(kind("edit")).toMatchObject({ message: first, text: "better" });
    expect(kind("reaction")).toMatchObject({ emoji: "+1", message: first });
    expect(kind("button")).toMatchObject({ button: "b1", sender: { id: "U1" } });
    expect(said("beep")).toMatchObject({ sender: { id: "U3", isBot: true } });
    expect(said("ignore rules")).toBeUndefined();
    expect(said("ask")).toBeUndefined();
    const [remote] = filesOf(door.events.find((e) => "files" in e));
    expect(fake.downloads).toEqual([]);
    expect(await bytesOf(await remote!.open(soon()))).toBe("inside");
    await until("every envelope acked", () => fake.acked.length >= 13);
    expect(fake.lost).toEqual([]);
  });

  it("acknowledges after the commit: what is held is said again and is the same event (SLACK-1)", async () => {
    fake.ackMs = 50;
    const door = testDoor();
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    door.before = (event) => (event.chat.id === "D1" ? held : undefined);
    line = await connect(door);
    fake.say("D1", "U1", "held");
    fake.say("D2", "U2", "meanwhile");
    await until("the other chat", () => fake.acked.length === 1);
    expect(door.texts()).toEqual(["meanwhile"]);
    free();
    await until("the ack", () => fake.acked.length === 2);
    expect(door.texts()).toEqual(["meanwhile", "held"]);
  });

  it("an event that cannot be kept ends the line unacknowledged and comes again on the next", async () => {
    const door = testDoor();
    door.before = () => {
      throw new Error("the disk is full");
    };
    line = await connect(door);
    fake.say("D1", "U1", "kept by Slack");
    await until("the end", () => line!.ended?.error);
    expect(fake.acked).toEqual([]);
    line = await connect(testDoor());
    await until("again", () => line!.door.texts().length === 1 && fake.acked.length === 1);
  });

  it("asked to reconnect, it does without a gap; cut, it says so; turned off, it says what to do", async () => {
    line = await connect();
    fake.disconnect("refresh_requested");
    await until(
      "a second connection",
      () => fake.calls.filter((c) => c.method === "apps.connections.open").length === 2,
    );
    await until("the old one let go", () => fake.connections() === 1);
    fake.say("D1", "U1", "after");
    await until("after", () => line!.door.texts().length === 1);
    fake.cutSockets();
    await until("the end", () => line!.ended?.error);
    line = await connect();
    fake.disconnect("link_disabled");
    await until("the end", () => line!.ended?.error);
    expect(line.ended!.error).toMatchObject({ message: expect.stringContaining("turned off"), retry: "after-change" });
  });

  it("after a stop longer than Slack's retries the chats are read back, in order, before what comes now", async () => {
    const door = testDoor();
    line = await connect(door);
    fake.say("D1", "U1", "before");
    const root = fake.say("C1", "U1", `<@${fake.botUser}> start`);
    fake.say("C1", "U1", `<@${fake.botUser}> in thread`, { thread_ts: root });
    await until("all", () => door.texts().length === 3);
    await line.stop();
    await until("nobody connected", () => fake.connections() === 0);
    fake.holdsWhileAway = false;
    fake.say("D1", "U1", "missed one");
    fake.say("D1", "U1", "missed two");
    fake.say("C1", "U1", "missed in thread", { thread_ts: root, parent_user_id: fake.botUser });
    expect(fake.lost).toHaveLength(3);
    const again = testDoor(door.position);
    line = await connect(again);
    fake.say("D1", "U1", "now");
    await until("all of it", () => again.texts().length === 4);
    expect(again.texts().filter((t) => !t.includes("thread"))).toEqual(["missed one", "missed two", "now"]);
  });
});

describe("by signed events", () => {
  const now = () => String(Math.floor(Date.now() / 1000));
  const request = (
    body: string,
    more: { timestamp?: string; signature?: string; type?: string; query?: object } = {},
  ) => {
    const timestamp = more.timestamp ?? now();
    const headers = {
      "content-type": more.type ?? "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": more.signature ?? slackSignature(fake.signingSecret, timestamp, body),
    };
    return {
      method: "POST" as const,
      headers,
      query: { ...more.query } as Record<string, string>,
      body: Buffer.from(body),
    };
  };
  const event = JSON.stringify({
    type: "event_callback",
    event_id: "Ev1",
    event: { type: "message", channel: "D1", channel_type: "im", user: "U1", text: "signed", ts: "1.1" },
  });
  const byHttp = () => account({ appToken: undefined, signingSecret: fake.signingSecret });

  it("WH-01: one of the two proofs is needed, and only one", () => {
    expect(slack.config.safeParse(account({ appToken: undefined })).success).toBe(false);
    expect(slack.config.safeParse(account({ signingSecret: fake.signingSecret })).success).toBe(false);
  });

  it("WH-03, WH-07: wrong, old and missing signatures are refused before the body is read; a replay is the same event", async () => {
    const channel = await build(slack, byHttp());
    const door = testDoor();
    const old = String(Number(now()) - 301);
    const good = slackSignature(fake.signingSecret, now(), event);
    for (const bad of [
      request(event, { signature: "" }),
      request(event, { signature: "v0=00" }),
      request(event, { signature: slackSignature("another-secret-0123456789", now(), event) }),
      request(event, { timestamp: old }),
      request(event, { timestamp: "soon" }),
      request(`${event} `, { signature: good }),
      request("not json", { signature: good }),
      { ...request(event, { signature: "" }), query: { signature: good, "x-slack-signature": good } },
    ]) {
      expect(await failure(channel.receive!(bad, door))).toMatchObject({ code: "UNAUTHORIZED" });
    }
    expect(door.events).toHaveLength(0);
    for (const query of [{}, { extra: "1" }]) {
      expect(await channel.receive!(request(event, { query }), door)).toMatchObject({ status: 200 });
    }
    expect(door.texts()).toEqual(["signed"]);
    const hello = JSON.stringify({ type: "url_verification", challenge: "abc" });
    expect(await channel.receive!(request(hello), door)).toEqual({ status: 200, body: { challenge: "abc" } });
  });

  it("events and presses arrive over real posts, and one that was not taken is posted again", async () => {
    const { createServer } = await import("node:http");
    const door = testDoor();
    line = await open(slack, byHttp(), door);
    let refuse = 1;
    const server = createServer(async (req, res) => {
      const chunks: Buffer[] = [];
      for await (const chunk of req) chunks.push(chunk as Buffer);
      const headers = req.headers as Record<string, string>;
      if (refuse-- > 0) return void res.writeHead(500).end();
      const answer = await line!.channel.receive!(
        { method: "POST", headers, query: {}, body: Buffer.concat(chunks) },
        door,
      );
      res.writeHead(answer.status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    fake.eventsUrl = `http://127.0.0.1:${port}/events`;
    fake.interactiveUrl = fake.eventsUrl;
    fake.say("D1", "U1", "posted");
    await until("the event", () => fake.acked.length === 1);
    await line.channel.send(to("ask", { buttons: [{ id: "b7", label: "Yes", kind: "yes" }] }), soon());
    fake.press("U1", "Yes");
    await until("the press", () => door.events.some((e) => e.kind === "button" && e.button === "b7"));
    expect(door.texts()).toEqual(["posted"]);
    server.closeAllConnections();
    server.close();
  });
});

describe("out", () => {
  it("text, thread, buttons, edit, reaction, delete, files", async () => {
    const channel = await build(slack, account());
    const route = { channel: "slack", account: "main", chat: "C1", thread: "5.5" };
    const buttons = [{ id: "b1", label: "Yes", kind: "yes" as const }];
    const { platformId } = await channel.send(to("*bold*\n".repeat(500), { route, buttons }), soon());
    expect(fake.sent[0]).toMatchObject({ thread_ts: "5.5", ts: platformId });
    expect(fake.sent[0]!.blocks!.map((b) => b.type)).toEqual(["section", "section", "actions"]);
    const at = { route, platformId: platformId! };
    await channel.edit!(at, to("new", { route }), soon());
    expect(fake.sent[0]).toMatchObject({ text: "new", blocks: [] });
    await channel.react!(at, "👍", soon());
    await channel.react!(at, "👍", soon());
    expect(fake.reactions).toEqual([{ channel: "C1", ts: platformId, name: "thumbsup" }]);
    await channel.remove!(at, soon());
    expect(fake.sent[0]!.deleted).toBe(true);
    await channel.send(
      to("with files", { files: [fileOf("a.txt", "text/plain", "A"), fileOf("b.txt", "text/plain", "B")] }),
      soon(),
    );
    expect(fake.sent[1]).toMatchObject({ text: "with files", files: [{ name: "a.txt" }, { name: "b.txt" }] });
    expect(fake.sent[1]!.files!.map((f) => String(f.bytes))).toEqual(["A", "B"]);
  });

  it("every way a send can end is told apart; what may be there is found by its key (SLACK-2)", async () => {
    const channel = await build(slack, account());
    const message = to("x");
    const send = () => failure(channel.send(message, soon()));
    fake.retryAfter = 7;
    fake.faults.next(/postMessage$/, "limit");
    const busy = await send();
    expect(busy).toBeInstanceOf(ChannelBusy);
    expect(busy).toMatchObject({ afterMs: 7000 });
    fake.faults.next(/postMessage$/, "drop-before");
    expect(await send()).toBeInstanceOf(SendUncertain);
    expect(await channel.find!(message, soon())).toBeNull();
    for (const how of ["drop-after", "fail-after"] as const) {
      fake.faults.next(/postMessage$/, how);
      expect(await send()).toBeInstanceOf(SendUncertain);
      expect(await channel.find!(message, soon())).toBe(fake.sent.at(-1)!.ts);
    }
    expect(await channel.find!(to("with a file", { files: [fileOf("a", "text/plain", "A")] }), soon())).toBeUndefined();
    expect(await failure(channel.send(outgoing("slack", "nowhere", "x"), soon()))).toMatchObject({ retry: "never" });
    const stranger = await build(slack, account({ botToken: "xoxb-wrong" }));
    const error = await failure(stranger.check(soon()));
    expect(error).toMatchObject({ message: "Slack rejected the token (invalid_auth).", retry: "after-change" });
    expect(String(error)).not.toContain("xoxb-wrong");
  });

  it("the token goes to Slack only, and a page to sign in is no file", async () => {
    line = await connect();
    const file = { name: "x.png", mimetype: "image/png", size: 3 };
    const at = (url: string) => ({ ...file, url_private_download: url });
    fake.say("D1", "U1", "two", {
      subtype: "file_share",
      files: [at("https://evil.example/x.png"), at(`${fake.url}/files/none/x`)],
    });
    await until("the files", () => line!.door.events.length === 1);
    const [far, none] = filesOf(line.door.events[0]);
    expect(await failure(far!.open(soon()))).toMatchObject({ message: "The file is not at Slack." });
    expect(await failure(none!.open(soon()))).toMatchObject({ message: expect.stringContaining("files:read") });
  });
});
