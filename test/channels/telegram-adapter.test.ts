/** Telegram's adapter by itself against the fake Bot API: every kind of update, every way a send can end, both ways in. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChannelBusy, SendUncertain } from "../../src/core/contracts/index.ts";
import type { AppError } from "../../src/core/domain/index.ts";
import { telegram } from "../../src/edges/channels/telegram/config.ts";
import { startTelegram, type TelegramFake } from "../fakes/telegram/index.ts";
import { until } from "../support/index.ts";
import { build, bytesOf, failure, fileOf, filesOf, type Line, open, outgoing, soon, testDoor } from "./door.ts";

const SECRET = "a-secret-of-telegram-webhooks";
let fake: TelegramFake;
let line: Line | undefined;
beforeEach(async () => {
  fake = await startTelegram();
});
afterEach(async () => {
  await line?.stop();
  line = undefined;
  await fake.close();
});
const account = (more: object = {}) => ({ token: fake.token, apiUrl: fake.url, ...more });
const to = (text: string, more = {}) => outgoing("telegram", "5", text, more);

describe("in", () => {
  it("tells messages, edits, reactions, buttons, quotes, topics, files and places apart, and who is meant", async () => {
    line = await open(telegram, account());
    const { door } = line;
    door.say = "Allowed.";
    const name = `@${fake.bot.username}`;
    fake.say(5, { id: 5, first_name: "Ann", last_name: "B" }, "hello");
    fake.say(-9, 5, `${name} hi`, { entities: [{ type: "mention", offset: 0, length: name.length }] });
    fake.say(-9, 5, `/new${name}`, { entities: [{ type: "bot_command", offset: 0, length: 4 + name.length }] });
    const mine = { message_id: 1, date: 1, chat: { id: -9, type: "supergroup" }, text: "my words" };
    const bot = { id: fake.bot.id, is_bot: true };
    fake.say(-9, 5, "to you", { reply_to_message: { ...mine, from: bot } });
    fake.say(-9, 5, "to him", { reply_to_message: { ...mine, from: { id: 6 }, text: "his words" } });
    fake.say(-9, 5, "in a topic", { message_thread_id: 7, is_topic_message: true });
    fake.say(5, 5, "", { text: undefined, location: { latitude: 1.5, longitude: 2 } });
    fake.edit(5, 5, 1, "hello!");
    fake.react(5, 5, 1, "👍");
    fake.update({ channel_post: { message_id: 3, date: 1, chat: { id: -3, type: "channel" }, text: "a broadcast" } });
    fake.update({ of_a_kind: "nobody knows yet" });
    await until("the words", () => fake.pending() === 0);
    fake.sendFile(5, 5, { name: "n.txt", type: "text/plain", bytes: Buffer.from("inside"), caption: "see" });
    await line.channel.send(to("ask", { buttons: [{ id: "b1", label: "Yes", kind: "yes" }] }), soon());
    fake.press(5, "Yes");
    await until("all of it", () => fake.answered.length === 1 && fake.pending() === 0);
    // Chats are taken side by side; each is in its own order.
    const of = (chat: string) => door.events.filter((event) => event.chat.id === chat);
    const [hello, place, edit, reaction, file, press] = of("5");
    const [hi, command, answer, quote, topic] = of("-9");
    expect(hello).toMatchObject({
      kind: "message",
      chat: { id: "5", kind: "direct" },
      sender: { id: "5", name: "Ann B" },
    });
    expect(hi).toMatchObject({ text: "hi", addressed: true, chat: { id: "-9", kind: "group", title: "Group 9" } });
    expect(command).toMatchObject({ text: "/new", addressed: true });
    expect(answer).toMatchObject({ addressed: true, quote: { text: "my words" } });
    expect(answer).not.toHaveProperty("quote.sender");
    expect(quote).toMatchObject({ quote: { text: "his words", sender: "6" } });
    expect(quote).not.toHaveProperty("addressed");
    expect(topic).toMatchObject({ chat: { thread: "7" } });
    expect(place).toMatchObject({ text: "[Location: 1.5, 2]" });
    expect(edit).toMatchObject({ kind: "edit", message: "1", text: "hello!" });
    expect(reaction).toMatchObject({ kind: "reaction", message: "1", emoji: "👍", removed: false });
    expect(file).toMatchObject({ text: "see", files: [{ name: "n.txt", bytes: 6 }] });
    expect(press).toMatchObject({ kind: "button", button: "b1", sender: { id: "5" } });
    expect(fake.answered[0]).toMatchObject({ text: "Allowed." });
    expect(door).toMatchObject({ name, position: { offset: expect.any(Number) } });
    const [remote] = filesOf(file);
    expect(fake.downloads).toEqual([]);
    expect(await bytesOf(await remote!.open(soon()))).toBe("inside");
  });

  const picture = (n: number, album: string, caption?: string) => ({
    ...{ text: undefined, media_group_id: album, photo: [{ file_id: `p${n}`, file_size: 3 }] },
    ...(caption ? { caption } : {}),
  });

  it("an album is one message with all its pictures, also when a batch ends in the middle of it", async () => {
    line = await open(telegram, account());
    const { door } = line;
    fake.say(5, 5, "", picture(1, "g1", "three of them"));
    // The first batch holds one part only; the others come while it settles.
    await until("the batch to be taken", () => !fake.polling());
    fake.say(5, 5, "", picture(2, "g1"));
    fake.say(5, 5, "", picture(3, "g1"));
    fake.say(6, 6, "another chat");
    await until("all of it", () => door.texts().length === 2);
    const album = door.events.find((event) => event.chat.id === "5");
    expect(album).toMatchObject({ id: "1", text: "three of them" });
    expect(filesOf(album)).toHaveLength(3);
    await until("the offset behind it", () => fake.pending() === 0);
  });

  it("by webhook the parts of an album are stored before they are acknowledged, and heard as one, also after a crash (TELEGRAM-3)", async () => {
    const door = testDoor();
    const config = account({ webhook: { url: "https://lares.example/channels/telegram/main", secret: SECRET } });
    const part = (n: number) => ({
      method: "POST" as const,
      headers: { "x-telegram-bot-api-secret-token": SECRET },
      query: {},
      body: Buffer.from(
        JSON.stringify({
          update_id: n,
          message: { message_id: n, date: 1, chat: { id: 5, type: "private" }, from: { id: 5 }, ...picture(n, "g2") },
        }),
      ),
    });
    const dying = await build(telegram, config);
    for (const n of [11, 12]) expect(await dying.receive!(part(n), door)).toMatchObject({ status: 200 });
    expect(door.events).toEqual([]);
    line = await open(telegram, config, door);
    await until("the album", () => door.events.length > 0);
    expect(door.events[0]).toMatchObject({ id: "11" });
    expect(filesOf(door.events[0])).toHaveLength(2);
    // Telegram did not see our answer and sends a part again.
    await line.channel.receive!(part(12), door);
    fake.say(5, 5, "and then");
    expect(door.events.filter((event) => event.id === "12")).toEqual([]);
  });

  it("what was not taken stays at Telegram and is heard again from the stored offset (TELEGRAM-1)", async () => {
    const door = testDoor();
    line = await open(telegram, account(), door);
    fake.say(5, 5, "one");
    await until("one", () => door.texts().length === 1);
    door.before = (event) => {
      if (event.kind === "message" && event.text === "two") throw new Error("the disk is full");
    };
    fake.say(5, 5, "two");
    await until("the end", () => line!.ended);
    expect(fake.pending()).toBe(1);
    const second = testDoor(door.position);
    line = await open(telegram, account(), second);
    await until("two again", () => second.texts().length === 1 && fake.pending() === 0);
    expect(second.texts()).toEqual(["two"]);
  });

  it("a slow file holds up its own chat and no other", async () => {
    const door = testDoor();
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    door.before = (event) => (event.kind === "message" && event.files ? held : undefined);
    fake.sendFile(5, 5, { name: "big", type: "video/mp4", bytes: Buffer.from("x") });
    fake.say(5, 5, "after the file");
    fake.say(6, 6, "meanwhile");
    line = await open(telegram, account(), door);
    await until("the other chat", () => door.texts().includes("meanwhile"));
    expect(door.texts()).toEqual(["meanwhile"]);
    expect(fake.pending()).toBe(3);
    free();
    await until("the rest", () => fake.pending() === 0);
    expect(door.texts()).toEqual(["meanwhile", "", "after the file"]);
  });

  it("a webhook in the way is taken away without losing what waits; a second poller is named", async () => {
    fake.webhook = { url: `${fake.url}/nobody` };
    fake.say(5, 5, "waiting");
    line = await open(telegram, account());
    await until("what waited", () => line!.door.texts().length === 1);
    await until("a poll", () => fake.polling());
    const rival = await open(telegram, account());
    await until("the end", () => line!.ended);
    expect(line.ended!.error).toMatchObject({ message: expect.stringContaining("Another program") });
    await rival.stop();
  });

  it("a wrong token says what to do, and no error shows a token or an address (LK-01)", async () => {
    const channel = await build(telegram, account({ token: "1:wrong-token-of-nobody" }));
    const error = (await failure(channel.check(soon()))) as AppError;
    expect(error).toMatchObject({ message: "Telegram rejected the bot token.", retry: "after-change" });
    await fake.close();
    const lost = (await failure(channel.send(to("x"), soon()))) as AppError;
    expect(JSON.stringify([error.toShape(), lost.toShape(), String(lost.cause)])).not.toMatch(/wrong-token|127\.0/);
    await fake.up();
  });
});

describe("by webhook", () => {
  const request = (headers: Record<string, string>, body: object, query = {}) => ({
    method: "POST" as const,
    headers,
    query,
    body: Buffer.from(JSON.stringify(body)),
  });
  const header = "x-telegram-bot-api-secret-token";

  it("WH-01: there is no webhook without a secret", () => {
    const parsed = telegram.config.safeParse(account({ webhook: { url: "https://lares.example/hook" } }));
    expect(parsed.success).toBe(false);
    expect(telegram.config.safeParse(account({ webhook: { url: "https://x.example", secret: "short" } })).success).toBe(
      false,
    );
  });

  it("WH-07, WH-03: only the header proves Telegram; the same update again is the same event", async () => {
    const webhook = { url: "https://lares.example/channels/telegram/main", secret: SECRET };
    line = await open(telegram, account({ webhook }));
    const { channel, door } = line;
    await until("the webhook", () => fake.webhook);
    expect(fake.webhook).toEqual(webhook);
    const from = { id: 5, first_name: "Ann" };
    const update = {
      update_id: 1,
      message: { message_id: 2, date: 1, chat: { id: 5, type: "private" }, from, text: "hi" },
    };
    for (const [headers, query] of [
      [{}, {}],
      [{ [header]: "wrong" }, {}],
      [{ [header]: `${SECRET}x` }, {}],
      [{}, { secret: SECRET, secret_token: SECRET, [header]: SECRET }],
    ] as const) {
      const error = await failure(channel.receive!(request(headers, update, query), door));
      expect(error).toMatchObject({ code: "UNAUTHORIZED" });
    }
    expect(door.events).toHaveLength(0);
    for (const extra of [{}, { a: "1" }]) {
      expect(await channel.receive!(request({ [header]: SECRET }, update, extra), door)).toMatchObject({ status: 200 });
    }
    expect(door.texts()).toEqual(["hi"]);
    door.say = "Done.";
    const press = {
      update_id: 3,
      callback_query: { id: "q9", from, data: "b1", message: { message_id: 2, chat: update.message.chat } },
    };
    const answer = await channel.receive!(request({ [header]: SECRET }, press), door);
    expect(answer.body).toEqual({ method: "answerCallbackQuery", callback_query_id: "q9", text: "Done." });
    // A 2xx is the acknowledgement: there is none when it could not be kept.
    door.before = () => {
      throw new Error("the disk is full");
    };
    await expect(channel.receive!(request({ [header]: SECRET }, { ...update, update_id: 4 }), door)).rejects.toThrow(
      "disk",
    );
  });
});

describe("out", () => {
  it("text, topic, buttons, edit, reaction, typing, delete", async () => {
    const channel = await build(telegram, account());
    const html = "<b>bold</b> &lt;tag&gt;";
    const route = { channel: "telegram", account: "main", chat: "-9", thread: "7" };
    const buttons = [{ id: "b1", label: "Yes", kind: "yes" as const }];
    const { platformId } = await channel.send(to("bold <tag>", { html, route, buttons }), soon());
    expect(fake.sent[0]).toMatchObject({
      chat: -9,
      thread: 7,
      text: "bold <tag>",
      source: html,
      buttons: [{ data: "b1" }],
    });
    const at = { route, platformId: platformId! };
    await channel.edit!(at, to("new", { html: "new<br><i>line</i>", route }), soon());
    await channel.edit!(at, to("new", { html: "new<br><i>line</i>", route }), soon());
    expect(fake.sent[0]).toMatchObject({ text: "new\nline", buttons: [], edits: 1 });
    await channel.react!(at, "👍", soon());
    await channel.typing!(route, soon());
    await channel.remove!(at, soon());
    expect(fake.reactions).toEqual([{ chat: -9, message: Number(platformId), emoji: ["👍"] }]);
    expect(fake.sent[0]!.deleted).toBe(true);
    expect(fake.calls.map((c) => c.method)).toContain("sendChatAction");
  });

  it("what Telegram cannot read as HTML arrives plainly; a group that moved is found", async () => {
    const channel = await build(telegram, account());
    await channel.send(to("plain words", { html: "<h1>broken" }), soon());
    fake.moved.set(5, -1005);
    await channel.send(to("moved words"), soon());
    expect(fake.sent.map((m) => [m.chat, m.text])).toEqual([
      [5, "plain words"],
      [-1005, "moved words"],
    ]);
  });

  it("files: with their caption in one message, else behind the text", async () => {
    const channel = await build(telegram, account());
    const files = [fileOf("a.png", "image/png", "png"), fileOf("b.txt", "text/plain", "txt")];
    await channel.send(to("here they are", { files }), soon());
    await channel.send(to("y".repeat(2000), { files: [files[1]!] }), soon());
    expect(fake.sent.map((m) => [m.text.length, m.file?.kind, m.file?.name])).toEqual([
      [13, "photo", "a.png"],
      [0, "document", "b.txt"],
      [2000, undefined, undefined],
      [0, "document", "b.txt"],
    ]);
    fake.faults.next(/sendDocument$/, "fail-before");
    expect(await failure(channel.send(to("y".repeat(2000), { files: [files[1]!] }), soon()))).toBeInstanceOf(
      SendUncertain,
    );
  });

  it("every way a send can end is recognised, and none is repeated (CHANNEL-2, TELEGRAM-2)", async () => {
    const channel = await build(telegram, account());
    const send = () => failure(channel.send(to("x"), soon()));
    fake.retryAfter = 7;
    fake.faults.next(/sendMessage$/, "limit");
    const busy = await send();
    expect(busy).toBeInstanceOf(ChannelBusy);
    expect(busy).toMatchObject({ afterMs: 7000 });
    await channel.send(to("x"), soon());
    for (const how of ["drop-after", "fail-after"] as const) {
      fake.faults.next(/sendMessage$/, how);
      expect(await send()).toBeInstanceOf(SendUncertain);
    }
    fake.blocked.add(5);
    expect(await send()).toMatchObject({ code: "CHANNEL_SEND", retry: "never" });
    await fake.down();
    // The first call finds out that the connection is gone.
    await failure(channel.check(soon()));
    expect(await send()).toMatchObject({ code: "CHANNEL_SEND", retry: "later" });
    await fake.up();
    expect(fake.sent).toHaveLength(3);
  });
});
