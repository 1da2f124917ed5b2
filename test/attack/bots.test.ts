/** Two bots that answer each other are stopped by count, however they pace themselves, and a restart does not start them again. */
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Lares, startLares, startModel, until } from "../support/index.ts";

const CHANNEL_TOKEN = "a-token-of-the-program";
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A bot on the other side of a channel: two messages for each answer, so that it never looks like strict turns. */
async function otherBot(lares: Lares, most: number) {
  const socket = new WebSocket(`${lares.url.replace("http", "ws")}/ws`);
  const outcomes: string[] = [];
  const answers: string[] = [];
  let welcome = false;
  let sent = 0;
  const send = (frame: object) => socket.readyState === socket.OPEN && socket.send(JSON.stringify(frame));
  const say = () => {
    if (sent >= most) return;
    const id = `${process.hrtime.bigint()}`;
    sent++;
    send({ type: "inbound_message", id, userId: "robot", isBot: true, content: `message ${id}` });
  };
  socket.on("error", () => {});
  socket.on("message", (data) => {
    const frame = JSON.parse(String(data)) as { type: string; id: string; outcome?: string; content?: string };
    welcome ||= frame.type === "res";
    if (frame.type === "ack") outcomes.push(frame.outcome ?? "");
    if (frame.type !== "outbound_message") return;
    answers.push(frame.content ?? "");
    send({ type: "ack", id: frame.id });
    say();
    say();
  });
  await new Promise<void>((resolve) => socket.once("open", () => resolve()));
  const params = { role: "channel", channelId: "main", token: CHANNEL_TOKEN };
  send({ type: "req", id: "1", method: "connect", params });
  closing.push(async () => socket.close());
  await until("the channel to be connected", () => welcome);
  return { say, outcomes, answers, sent: () => sent, close: () => socket.close() };
}

test("two bots answering each other end after thirty messages, with one notice, also after a restart", async () => {
  const model = await startModel();
  closing.push(() => model.close());
  const account = { token: CHANNEL_TOKEN, dm: "open", bots: true };
  const lares = await startLares({ env: model.env, config: { channels: { external: { main: account } } } });
  closing.push(() => lares.dispose());
  const bot = await otherBot(lares, 100);
  bot.say();
  const count = (outcome: string) => bot.outcomes.filter((one) => one === outcome).length;
  await until("the limit", () => count("refused") > 0, { withinMs: 30_000, instead: () => bot.outcomes });
  await until("every message to be judged", () => bot.outcomes.length === bot.sent(), { instead: () => bot.outcomes });
  expect(count("admitted")).toBe(30);
  const notices = () => bot.answers.filter((text) => text.includes("30 messages an hour from another bot"));
  await until("the notice", () => notices().length > 0, { instead: () => bot.answers });
  // What the notice itself provoked is refused without another word.
  await until("quiet", () => bot.outcomes.length === bot.sent(), { instead: () => bot.outcomes });
  expect(count("admitted")).toBe(30);
  expect(notices()).toHaveLength(1);

  bot.close();
  await lares.restart();
  const again = await otherBot(lares, 3);
  again.say();
  await until("an answer after the restart", () => again.outcomes.length > 0);
  expect(again.outcomes[0]).toBe("refused");
});
