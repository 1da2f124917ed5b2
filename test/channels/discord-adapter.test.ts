/** Discord's adapter by itself against the fake: resume, zombies, forgotten sessions, presses, every way a send can end. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChannelBusy, type PlatformEvent, SendUncertain } from "../../src/core/contracts/index.ts";
import { discord } from "../../src/edges/channels/discord/config.ts";
import { type DiscordFake, startDiscord } from "../fakes/discord/index.ts";
import { until } from "../support/index.ts";
import { build, bytesOf, failure, fileOf, filesOf, type Line, open, outgoing, soon, testDoor } from "./door.ts";

const DM = "71";
const ROOM = "61";
const ANN = "51";
let fake: DiscordFake;
let line: Line | undefined;
beforeEach(async () => {
  fake = await startDiscord();
  fake.direct.add(DM);
});
afterEach(async () => {
  await line?.stop();
  line = undefined;
  await fake.close();
});
const account = (more: object = {}) => ({ token: fake.token, apiUrl: `${fake.url}/api`, ...more });
const connect = async (door = testDoor(), more = {}) => {
  const opened = await open(discord, account(more), door);
  await until("the session", () => fake.listening() === 1 || opened.ended);
  return opened;
};
const to = (text: string, more = {}) => outgoing("discord", ROOM, text, more);

describe("in", () => {
  it("tells messages, edits, reactions, presses, threads and files apart, and who is meant; never hears itself", async () => {
    line = await connect();
    const { door, channel } = line;
    fake.threads.set("62", ROOM);
    const ann = { id: ANN, username: "ann", global_name: "Ann" };
    const first = fake.say(DM, ann, "hello");
    fake.say(ROOM, ann, `<@${fake.bot.id}> hi`);
    fake.say("62", ann, `<@${fake.bot.id}> in a thread`);
    fake.say(ROOM, ann, "aside");
    const { body } = { body: { author: fake.bot, id: "1", channel_id: ROOM, content: "my words" } };
    fake.say(ROOM, ann, "to you", { type: 19, referenced_message: body });
    fake.say(ROOM, ann, "to him", { type: 19, referenced_message: { ...body, author: { id: "52" }, content: "his" } });
    fake.say(ROOM, { id: "99", bot: true }, "beep");
    fake.say(ROOM, { id: "98", username: "Ann" }, "posing", { webhook_id: "98" });
    fake.say(ROOM, ann, "Ann pinned a message", { type: 6 });
    fake.edit(first, "hello!");
    fake.react(ROOM, ANN, first, "👍");
    fake.sendFile(DM, ann, { name: "n.txt", type: "text/plain", bytes: Buffer.from("inside") });
    await channel.send(to("ask", { buttons: [{ id: "b1", label: "Yes", kind: "yes" }] }), soon());
    fake.press(ann, "Yes");
    await until("the callback", () => fake.callbacks.length === 1);
    door.say = "Already answered.";
    fake.press(ann, "Yes");
    await until("the second callback", () => fake.callbacks.length === 2);
    const said = (text: string) => door.events.find((e) => e.kind === "message" && e.text === text);
    const kind = (k: PlatformEvent["kind"]) => door.events.find((e) => e.kind === k);
    expect(said("hello")).toMatchObject({ chat: { id: DM, kind: "direct" }, sender: { id: ANN, name: "Ann" } });
    expect(Math.abs(said("hello")!.at! - Date.now())).toBeLessThan(60_000);
    expect(said("hi")).toMatchObject({ addressed: true, chat: { id: ROOM, kind: "group" } });
    expect(said("in a thread")).toMatchObject({ addressed: true, chat: { id: ROOM, thread: "62" } });
    // Without the privileged intent Discord shows nothing of what is not for the bot.
    expect(said("aside")).toBeUndefined();
    const quotes = door.events.flatMap((e) => (e.kind === "message" && e.quote ? [e] : []));
    expect(quotes).toMatchObject([
      { addressed: true, quote: { text: "my words" } },
      { quote: { text: "his", sender: "52" } },
    ]);
    expect(quotes[0]!.quote).not.toHaveProperty("sender");
    expect(door.events.filter((e) => e.sender.isBot).map((e) => e.sender.id)).toEqual(["99", "98"]);
    expect(kind("edit")).toMatchObject({ message: first, text: "hello!" });
    expect(kind("reaction")).toMatchObject({ emoji: "👍", message: first, sender: { id: ANN } });
    expect(kind("button")).toMatchObject({ button: "b1", sender: { id: ANN } });
    expect(fake.callbacks).toMatchObject([{ type: 6 }, { type: 4, data: { content: "Already answered.", flags: 64 } }]);
    expect(door.events.some((e) => e.sender.id === fake.bot.id)).toBe(false);
    const [remote] = filesOf(door.events.find((e) => "files" in e));
    expect(fake.downloads).toEqual([]);
    expect(await bytesOf(await remote!.open(soon()))).toBe("inside");
  });

  it("resumes across restarts from what is durable, and what was not taken comes again (DISCORD-1)", async () => {
    const door = testDoor();
    line = await connect(door);
    fake.say(DM, ANN, "one");
    await until("one", () => door.texts().length === 1);
    door.before = () => {
      throw new Error("the disk is full");
    };
    fake.say(DM, ANN, "two");
    await until("the end", () => line!.ended?.error);
    fake.say(DM, ANN, "three");
    const again = testDoor(door.position);
    line = await connect(again);
    await until("both", () => again.texts().length === 2);
    expect(again.texts()).toEqual(["two", "three"]);
    expect([fake.identifies, fake.resumes]).toEqual([1, 1]);
  });

  it("asked to reconnect, cut, or not answered by a zombie, it resumes at once and misses nothing", async () => {
    fake.heartbeatMs = 30;
    line = await connect();
    const { door } = line;
    const goesOn = async (word: string, breakIt: () => void) => {
      const before = fake.resumes;
      breakIt();
      fake.say(DM, ANN, word);
      await until(`a resume after ${word}`, () => fake.resumes > before && door.texts().includes(word));
    };
    await goesOn("asked", () => fake.askReconnect());
    await goesOn("cut", () => fake.cutSockets());
    fake.zombie = true;
    fake.say(DM, ANN, "unheard");
    await until("the zombie to be left", () => fake.resumes === 3);
    fake.zombie = false;
    await until("what it kept back", () => door.texts().includes("unheard"));
    expect(door.beats).toBeGreaterThan(1);
    expect(fake.identifies).toBe(1);
    expect(line.ended).toBeUndefined();
  });

  it("when Discord forgot the session, the chats are read back before what comes now (DISCORD-2)", async () => {
    const door = testDoor();
    line = await connect(door);
    fake.say(DM, ANN, "before");
    fake.say(ROOM, ANN, `<@${fake.bot.id}> before`);
    await until("both", () => door.texts().length === 2);
    await line.stop();
    fake.forgetSessions();
    fake.say(DM, ANN, "missed one");
    fake.say(DM, ANN, "missed two");
    fake.say(ROOM, ANN, `<@${fake.bot.id}> missed`);
    const again = testDoor(door.position);
    line = await connect(again);
    fake.say(DM, ANN, "now");
    await until("all", () => again.texts().length === 4);
    const direct = again.events.filter((e) => e.chat.id === DM);
    expect(direct.map((e) => (e as { text: string }).text)).toEqual(["missed one", "missed two", "now"]);
    expect(again.events.find((e) => e.chat.id === ROOM)).toMatchObject({ chat: { kind: "group" }, addressed: true });
    expect(fake.identifies).toBe(2);
  });

  it("a wrong token and refused intents say what to do", async () => {
    const channel = await build(discord, account({ token: "a-wrong-token-of-nobody" }));
    const error = await failure(channel.check(soon()));
    expect(error).toMatchObject({ message: "Discord rejected the bot token.", retry: "after-change" });
    expect(String(error)).not.toContain("a-wrong-token");
    line = await connect(testDoor(), { groups: { [ROOM]: { allow: ["*"], mention: false } } });
    fake.say(ROOM, ANN, "heard without a name");
    await until("it", () => line!.door.texts().includes("heard without a name"));
    fake.closeWith(4014);
    await until("the end", () => line!.ended?.error);
    expect(line.ended!.error).toMatchObject({ hint: expect.stringContaining("Message Content Intent") });
  });
});

describe("out", () => {
  it("text, thread, buttons, edit, reaction, typing, delete, files; nobody is pinged", async () => {
    const channel = await build(discord, account());
    const route = { channel: "discord", account: "main", chat: ROOM, thread: "62" };
    const buttons = [{ id: "b1", label: "Yes", kind: "yes" as const }];
    const { platformId } = await channel.send(to("@everyone", { route, buttons }), soon());
    expect(fake.sent[0]).toMatchObject({
      channel: "62",
      components: [{ components: [{ custom_id: "b1", style: 3 }] }],
    });
    expect(fake.calls.find((c) => c.route === "create")!.params).toMatchObject({ allowed_mentions: { parse: [] } });
    const at = { route, platformId: platformId! };
    await channel.edit!(at, to("new", { route }), soon());
    expect(fake.sent[0]).toMatchObject({ content: "new", components: [] });
    await channel.react!(at, "👍", soon());
    await channel.typing!(route, soon());
    await channel.remove!(at, soon());
    expect(fake.reactions).toEqual([{ channel: "62", message: platformId, emoji: "👍" }]);
    expect(fake.sent[0]!.deleted).toBe(true);
    await channel.send(
      to("files", { files: [fileOf("a.txt", "text/plain", "A"), fileOf("b.txt", "text/plain", "B")] }),
      soon(),
    );
    expect(fake.sent[1]!.files.map((f) => [f.name, String(f.bytes)])).toEqual([
      ["a.txt", "A"],
      ["b.txt", "B"],
    ]);
  });

  it("every way a send can end is told apart; a repeated one is one message; what may be there is looked for (DISCORD-3)", async () => {
    const channel = await build(discord, account());
    const send = (text = "x") => failure(channel.send(to(text), soon()));
    fake.retryAfter = 0.7;
    fake.faults.next(/\/messages$/, "limit");
    const busy = await send();
    expect(busy).toBeInstanceOf(ChannelBusy);
    expect(busy).toMatchObject({ afterMs: 700 });
    fake.faults.next(/\/messages$/, "drop-before");
    expect(await send()).toBeInstanceOf(SendUncertain);
    expect(await channel.find!(to("x"), soon())).toBeNull();
    fake.faults.next(/\/messages$/, "fail-after");
    expect(await send()).toBeInstanceOf(SendUncertain);
    const there = fake.sent[0]!.id;
    expect(await channel.send(to("x"), soon())).toEqual({ platformId: there });
    expect(await channel.find!(to("x"), soon())).toBe(there);
    // Where Discord no longer shows the nonce, the same words are no proof either way.
    delete fake.sent[0]!.nonce;
    expect(await channel.find!(to("x"), soon())).toBeUndefined();
    expect(await send("y".repeat(2001))).toMatchObject({ retry: "never", message: expect.stringContaining("50035") });
    expect(fake.sent).toHaveLength(1);
  });
});
