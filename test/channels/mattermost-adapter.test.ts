/** What is Mattermost's own: a stream that acknowledges nothing, posts found by their key, presses nobody signs. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Channel } from "../../src/core/contracts/index.ts";
import { type MattermostFake, startMattermostFake } from "../fakes/mattermost/index.ts";
import { until } from "../support/index.ts";
import { bytes, file, MemoryDoor, message, now, open, type Running, run, slowFile, thrown } from "./memory-door.ts";

const ANN = "userann0000000000000000000";
const DM = "dmann000000000000000000000";
const TOWN = "town0000000000000000000000";
const PRESS = [{ id: "b0123456789abcdef", label: "Allow once", kind: "yes" as const }];
let fake: MattermostFake;
let door: MemoryDoor;
let channel: Channel;
let life: Running | undefined;

beforeEach(async () => {
  fake = await startMattermostFake();
  door = new MemoryDoor();
  channel = await open("mattermost", { url: fake.url, token: fake.token, callback: "http://lares.test/" });
  fake.say(DM, ANN, "from before");
  fake.say(TOWN, ANN, "from before", { type: "O" });
});
afterEach(async () => {
  await life?.stop();
  await fake.down();
});

async function listen(): Promise<void> {
  const before = fake.calls.length;
  life = run(channel, door);
  await until("the stream", () => fake.stream.connected === 1 && door.position !== undefined);
  await until("the channels", () => fake.calls.slice(before).some((call) => call.endsWith("/users/me/channels")));
}

describe("in", () => {
  it("what comes while the stream is cut, or the server restarted, is read over REST, once and in order", async () => {
    await listen();
    fake.say(DM, ANN, "m0");
    await door.heard(1);
    for (const forget of [false, true]) {
      fake.stream.cut(forget);
      expect(await life!.ended).toBeInstanceOf(Error);
      for (let i = 0; i < 30; i++) fake.say(i % 2 ? DM : TOWN, ANN, `m${door.events.length + i}`, { type: "O" });
      await listen();
      await door.heard(forget ? 61 : 31);
    }
    fake.say(DM, ANN, "m61");
    await door.heard(62);
    expect(door.texts).toEqual(Array.from({ length: 62 }, (_, i) => `m${i}`));
  });

  it("a hole in the stream's numbers ends the connection, and the missing is read", async () => {
    await listen();
    fake.say(DM, ANN, "before");
    await door.heard(1);
    fake.stream.lose();
    fake.say(DM, ANN, "after the hole");
    expect(await life!.ended).toMatchObject({ message: expect.stringContaining("skipped") });
    await listen();
    await door.heard(2);
    expect(door.texts).toEqual(["before", "after the hole"]);
  });

  it("what could not be taken is read again", async () => {
    await listen();
    door.trouble = 1;
    fake.say(DM, ANN, "once more");
    expect(await life!.ended).toMatchObject({ message: "the disk is full" });
    await listen();
    await door.heard(1);
    expect(door.texts).toEqual(["once more"]);
  });

  it("CH-01: a post of a webhook or a bot is theirs, never that of the person whose id it carries", async () => {
    await listen();
    fake.say(TOWN, ANN, "@lares obey", { props: { from_webhook: "true", override_username: "ann" } });
    fake.say(TOWN, ANN, "@lares beep", { props: { from_bot: "true" } });
    fake.say(TOWN, "evil", "@lares hello", { name: ANN });
    await door.heard(3);
    expect(door.events.map((e) => [e.sender.id, e.sender.isBot ?? false])).toEqual([
      [`webhook:${ANN}`, true],
      [ANN, true],
      ["evil", false],
    ]);
  });

  it("CH-07: a file is named and not fetched until somebody opens it", async () => {
    await listen();
    fake.file(DM, ANN, { name: "plan.txt", type: "text/plain", data: Buffer.from("the plan") });
    await door.heard(1);
    const [attached] = door.one("message").files!;
    expect(attached).toMatchObject({ name: "plan.txt", mediaType: "text/plain", bytes: 8 });
    expect(fake.calls.some((call) => call.includes("/files/"))).toBe(false);
    expect(await bytes(await attached!.open(now()))).toBe("the plan");
  });

  it("mentions, threads, edits, reactions; notes of the server and own posts are nothing", async () => {
    await listen();
    const mine = await channel.send(message({ chat: TOWN }, "my own"), now());
    fake.say(TOWN, ANN, "@lares-two hello");
    fake.say(TOWN, ANN, "hey @lares, hello");
    fake.say(TOWN, ANN, "in my thread", { root: mine.platformId! });
    fake.say(TOWN, ANN, "joined", { postType: "system_join_channel" });
    const post = fake.say(TOWN, ANN, "first");
    fake.edit(post, "second");
    fake.react(mine.platformId!, ANN, "+1");
    await door.heard(6);
    const messages = door.events.filter((e) => e.kind === "message");
    expect(messages.map((e) => [e.text, e.addressed, e.chat.thread])).toEqual([
      ["@lares-two hello", false, undefined],
      ["hey hello", true, undefined],
      ["in my thread", true, mine.platformId],
      ["first", false, undefined],
    ]);
    expect(door.one("edit")).toMatchObject({ message: post, text: "second" });
    expect(door.one("reaction")).toMatchObject({ message: mine.platformId, emoji: "👍", sender: { id: ANN } });
  });

  it("WH-01, WH-03, WH-07: a press counts only with what we put into that button in that chat, and once", async () => {
    const { platformId } = await channel.send(message({ chat: DM }, "May I?", { buttons: PRESS }), now());
    const post = fake.sent.find((p) => p.id === platformId)!;
    const [{ actions }] = post.props.attachments as [{ actions: { integration: { url: string; context: object } }[] }];
    expect(actions[0]!.integration.url).toBe("http://lares.test/channels/mattermost/main");
    const press = (body: object) =>
      channel.receive!({ method: "POST", headers: {}, query: {}, body: Buffer.from(JSON.stringify(body)) }, door);
    const good = {
      user_id: ANN,
      channel_id: DM,
      post_id: post.id,
      trigger_id: "t",
      context: actions[0]!.integration.context,
    };
    expect(await press(good)).toMatchObject({ status: 200 });
    expect(door.one("button")).toMatchObject({ button: PRESS[0]!.id, sender: { id: ANN }, message: post.id });
    expect(await press(good)).toMatchObject({ status: 200 });
    for (const bad of [
      { ...good, channel_id: TOWN },
      { ...good, context: { ...good.context, button: "another" } },
      { ...good, context: { ...good.context, chat: TOWN }, channel_id: TOWN },
      { ...good, context: { ...good.context, proof: "00" } },
      { ...good, context: {} },
    ]) {
      expect(await thrown(press(bad))).toMatchObject({ code: "UNAUTHORIZED" });
    }
    expect(door.events).toHaveLength(1);
  });
});

it("a slow file holds up its own chat and no other", async () => {
  await listen();
  await slowFile(door, {
    file: () => fake.file(DM, ANN, { name: "slow.txt", type: "text/plain", data: Buffer.from("x") }),
    behind: (text) => fake.say(DM, ANN, text),
    elsewhere: (text) => fake.say("dmother0000000000000000000", "sam", text),
  });
});

describe("out", () => {
  it("a send that may have been taken is found by its key, also after the server forgot; else it surely is not there", async () => {
    fake.faults.next(/POST .*posts$/, "drop-after");
    const lost = message({ chat: DM }, "lost answer");
    expect((await thrown(channel.send(lost, now())))?.name).toBe("SendUncertain");
    fake.forget();
    expect(await channel.find!(lost, now())).toBe(fake.sent[0]!.id);
    expect(await channel.find!(message({ chat: DM }, "x", { key: "other" }), now())).toBeNull();
  });

  it("two tries at once are one post", async () => {
    const [a, b] = [
      await channel.send(message({ chat: DM }, "x"), now()),
      await channel.send(message({ chat: DM }, "x"), now()),
    ];
    expect(a).toEqual(b);
    expect(fake.sent).toHaveLength(1);
  });

  it("refusals are told apart; files, threads, edits, reactions, typing, removal", async () => {
    fake.faults.next(/POST .*posts$/, "limit");
    expect(await thrown(channel.send(message({ chat: DM }, "x"), now()))).toMatchObject({
      name: "ChannelBusy",
      afterMs: 1000,
    });
    expect(await thrown(channel.send(message({ chat: "nowhere" }, "x"), now()))).toMatchObject({ retry: "never" });
    const wrong = await open("mattermost", { url: fake.url, token: "another-token" });
    expect(await thrown(wrong.check(now()))).toMatchObject({
      hint: expect.stringContaining("lares channels add mattermost"),
    });
    expect(await channel.check(now())).toEqual({ id: fake.me, name: "lares" });
    const files = [file("b.txt", "text/plain", "text")];
    const sent = await channel.send(
      message({ chat: DM, thread: "root1" }, "with a file", { files, buttons: PRESS }),
      now(),
    );
    expect(fake.sent[0]).toMatchObject({ message: "with a file", root_id: "root1", file_ids: [expect.any(String)] });
    const at = { route: message({ chat: DM }, "").route, platformId: sent.platformId! };
    await channel.edit!(at, message({ chat: DM }, "answered"), now());
    expect(fake.sent[0]).toMatchObject({ message: "answered", props: { attachments: [] } });
    await channel.react!(at, "✅", now());
    expect(fake.reactions).toMatchObject([{ emoji_name: "white_check_mark" }]);
    await channel.typing!(at.route, now());
    expect(fake.typing).toEqual([DM]);
    await channel.remove!(at, now());
    expect(fake.sent).toEqual([]);
  });
});
