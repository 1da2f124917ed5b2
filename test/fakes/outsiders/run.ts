/**
 * The platforms' own libraries talk to the fakes: what grammY, Slack's SDK and discord.js accept as the platform is not only our
 * reading of it. The libraries are no dependencies of Lares; this is run by hand when a fake changes.
 *
 *   npm i --prefix DIR --ignore-scripts grammy @slack/socket-mode @slack/web-api @discordjs/core @discordjs/rest @discordjs/ws
 *   npx tsx test/fakes/outsiders/run.ts DIR
 *
 * Documentation: https://grammy.dev/ref/core/bot
 * Documentation: https://tools.slack.dev/node-slack-sdk/socket-mode
 * Documentation: https://discord.js.org/docs/packages/core/main
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { until } from "../../support/index.ts";
import { startDiscord } from "../discord/index.ts";
import { startSlack } from "../slack/index.ts";
import { startTelegram } from "../telegram/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: the libraries are not here when this is type-checked
type Foreign = any;
const load = createRequire(`${resolve(process.argv[2] ?? ".")}/`) as (name: string) => Foreign;

await telegram();
await slack();
await discord();
process.exit(0);

async function telegram(): Promise<void> {
  const { Bot, InlineKeyboard, InputFile } = load("grammy");
  const fake = await startTelegram();
  const bot = new Bot(fake.token, { client: { apiRoot: fake.url } });
  bot.on("message:text", (ctx: Foreign) =>
    ctx.reply("<b>hi</b>", { parse_mode: "HTML", reply_markup: new InlineKeyboard().text("Yes", "y1") }),
  );
  bot.on("callback_query", async (ctx: Foreign) => {
    await ctx.answerCallbackQuery("ok");
    await ctx.editMessageText("done");
  });
  bot.on("message:document", async (ctx: Foreign) => {
    await ctx.getFile();
    await ctx.replyWithDocument(new InputFile(Buffer.from("abc"), "a.txt"));
  });
  void bot.start();
  fake.say(5, 5, "hello");
  await until("the reply", () => fake.sent[0]?.text === "hi");
  fake.press(5, "Yes");
  await until("the edit", () => fake.sent[0]!.text === "done" && fake.answered.length === 1);
  fake.sendFile(5, 5, { name: "x.txt", type: "text/plain", bytes: Buffer.from("q") });
  await until("the file", () => String(fake.sent[1]?.file?.bytes) === "abc");
  await until("the offset", () => fake.pending() === 0);
  await bot.stop();
  await fake.close();
  console.log("telegram: grammY polls, replies, edits, answers a button, sends a file");
}

async function slack(): Promise<void> {
  const { SocketModeClient } = load("@slack/socket-mode");
  const { WebClient } = load("@slack/web-api");
  const fake = await startSlack();
  fake.ackMs = 300;
  const clientOptions = { slackApiUrl: `${fake.url}/api/` };
  const web = new WebClient(fake.botToken, clientOptions);
  const client = new SocketModeClient({ appToken: fake.appToken, clientOptions });
  const button = { type: "button", action_id: "a", value: "v1", text: { type: "plain_text", text: "Yes" } };
  client.on("message", async ({ ack, event, retry_num }: Foreign) => {
    if (event.text === "late" && !retry_num) return;
    await ack();
    if (event.bot_id) return;
    const blocks = [{ type: "actions", elements: [button] }];
    await web.chat.postMessage({ channel: event.channel, text: `re: ${event.text}`, thread_ts: event.ts, blocks });
  });
  client.on("interactive", async ({ ack, body }: Foreign) => {
    await ack();
    await web.chat.update({ channel: body.channel.id, ts: body.message.ts, text: body.actions[0].value, blocks: [] });
  });
  await client.start();
  fake.say("C1", "U1", "hello");
  await until("the reply", () => fake.sent[0]?.text === "re: hello");
  fake.press("U1", "Yes");
  await until("the edit", () => fake.sent[0]!.text === "v1");
  fake.say("C1", "U1", "late");
  await until("the second try", () => fake.sent[1]?.text === "re: late");
  await web.files.uploadV2({ channel_id: "C1", filename: "a.txt", content: "abc" });
  await until("the file", () => fake.sent[2]?.files);
  fake.disconnect("refresh_requested");
  await until("a new connection", () => fake.calls.filter((c) => c.method === "apps.connections.open").length === 2);
  fake.say("C1", "U1", "again");
  await until("the last reply", () => fake.sent[3]?.text === "re: again");
  await client.disconnect();
  await fake.close();
  console.log("slack: the SDK connects, acks, is retried, replies, edits, uploads, reconnects when asked");
}

async function discord(): Promise<void> {
  const { REST } = load("@discordjs/rest");
  const { WebSocketManager } = load("@discordjs/ws");
  const { Client } = load("@discordjs/core");
  const fake = await startDiscord();
  fake.direct.add("55");
  const rest = new REST({ version: "10", api: `${fake.url}/api` }).setToken(fake.token);
  const gateway = new WebSocketManager({ token: fake.token, intents: (1 << 9) | (1 << 12) | (1 << 15), rest });
  const client = new Client({ rest, gateway });
  client.on("MESSAGE_CREATE", async ({ data, api }: Foreign) => {
    if (data.author.bot) return;
    const components = [{ type: 1, components: [{ type: 2, style: 1, label: "Yes", custom_id: "y1" }] }];
    const nonce = data.id.slice(-8);
    const content = `re: ${data.content}`;
    await api.channels.createMessage(data.channel_id, { content, nonce, enforce_nonce: true, components });
  });
  client.on("INTERACTION_CREATE", async ({ data, api }: Foreign) => {
    await api.interactions.deferMessageUpdate(data.id, data.token);
    await api.channels.editMessage(data.channel_id, data.message.id, { content: "pressed", components: [] });
  });
  await gateway.connect();
  fake.say("55", "1", "hello");
  await until("the reply", () => fake.sent[0]?.content === "re: hello");
  fake.press("1", "Yes");
  await until("the edit", () => fake.sent[0]!.content === "pressed" && fake.callbacks.length === 1);
  fake.askReconnect();
  await until("the resume", () => fake.resumes === 1);
  fake.say("55", "1", "again");
  await until("the second reply", () => fake.sent[1]?.content === "re: again");
  await gateway.destroy();
  await fake.close();
  console.log("discord: discord.js identifies, replies, edits, answers a button, resumes when asked");
}
