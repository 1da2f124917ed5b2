/** Eight chats on four channels at once, one model that answers out of order: nothing crosses over, order is kept per chat. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDiscord } from "../fakes/discord/index.ts";
import { startMatrixFake } from "../fakes/matrix/index.ts";
import { startSlack } from "../fakes/slack/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { type Lares, startLares, startModel, until } from "../support/index.ts";

const ROUNDS = Number(process.env.LARES_INTERLEAVE ?? 8);
const people = { telegram: [41, 42], slack: ["U0ANN", "U0BOB"], discord: ["500000000000000041", "500000000000000042"] };
const MATRIX = ["@ann:fake.test", "@bob:fake.test"];

let lares: Lares;
let model: Awaited<ReturnType<typeof startModel>>;
let chats: { name: string; say(text: string): void | Promise<void>; shown(): string[] }[] = [];
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  const [telegram, slack, discord, matrix] = await Promise.all([
    startTelegram(),
    startSlack(),
    startDiscord(),
    startMatrixFake(),
  ]);
  model = await startModel();
  closers.push(
    () => telegram.close(),
    () => slack.close(),
    () => discord.close(),
    () => matrix.down(),
    () => model.close(),
  );
  const direct = (id: string) => id.replace(/^5/, "7");
  for (const id of people.discord) discord.direct.add(direct(id));
  const rooms = MATRIX.map((id) => `!dm-${id.slice(1)}`);
  for (const [i, id] of MATRIX.entries()) matrix.say(rooms[i]!, id, "from before");
  chats = [
    ...people.telegram.map((id) => ({
      name: `telegram-${id}`,
      say: (text: string) => void telegram.say(id, { id, first_name: "P" }, text),
      shown: () => telegram.sent.filter((m) => m.chat === id && !m.deleted).map((m) => m.text),
    })),
    ...people.slack.map((id) => ({
      name: `slack-${id}`,
      say: (text: string) => void slack.say(`D${id.slice(1)}`, id, text),
      shown: () => slack.sent.filter((m) => m.channel === `D${id.slice(1)}` && !m.deleted).map((m) => m.text),
    })),
    ...people.discord.map((id) => ({
      name: `discord-${id}`,
      say: (text: string) => void discord.say(direct(id), { id, username: "P" }, text),
      shown: () => discord.sent.filter((m) => m.channel === direct(id) && !m.deleted).map((m) => m.content),
    })),
    ...MATRIX.map((id, i) => ({
      name: `matrix-${i}`,
      say: (text: string) => void matrix.say(rooms[i]!, id, text),
      shown: () => matrix.sent.filter((m) => m.room === rooms[i]).map((m) => m.text),
    })),
  ];
  lares = await startLares({
    env: model.env,
    config: {
      routing: { mode: "followup" },
      channels: {
        telegram: {
          main: { token: telegram.token, apiUrl: telegram.url, paceMs: 0, owners: people.telegram.map(String) },
        },
        slack: {
          main: {
            botToken: slack.botToken,
            appToken: slack.appToken,
            apiUrl: `${slack.url}/api`,
            paceMs: 0,
            owners: people.slack,
          },
        },
        discord: { main: { token: discord.token, apiUrl: `${discord.url}/api`, paceMs: 0, owners: people.discord } },
        matrix: { main: { homeserver: matrix.url, token: matrix.token, owners: MATRIX } },
      },
    },
  });
  await until("every line to be up", async () => {
    const { channels } = await lares.rpc("channels.list", {});
    return channels.length === 4 && channels.every((c) => c.state === "ok");
  });
});
afterAll(async () => {
  await lares?.dispose();
  await Promise.all(closers.map((close) => close()));
});

test("8 chats on 4 channels under load: 0 cross deliveries, order kept per chat", async () => {
  const wanted = (name: string) => Array.from({ length: ROUNDS }, (_, i) => `${name} ${i} here`);
  for (let i = 0; i < ROUNDS; i++) {
    for (const [n, chat] of chats.entries())
      await chat.say(`delay:${((i * 7 + n * 13) % 5) * 8} say:${chat.name} ${i} here`);
  }
  for (const chat of chats) {
    await until(`all answers in ${chat.name}`, () => chat.shown().some((t) => t.includes(` ${ROUNDS - 1} here`)), {
      withinMs: 25_000,
      instead: () => chat.shown(),
    });
  }
  for (const chat of chats)
    expect({ chat: chat.name, shown: chat.shown() }).toEqual({ chat: chat.name, shown: wanted(chat.name) });
});
