/** Answers to questions as people type them where a slash belongs to the client: `approve CODE`, `yes CODE`, `no CODE`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMattermostFake } from "../fakes/mattermost/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { ircPerson, startIrc } from "../servers/irc.ts";
import { callExec, type Lares, needs, startLares, startModel, until } from "../support/index.ts";
import { connected } from "./support.ts";

const WORDS = ["approve", "yes", "no"] as const;

interface Chat {
  say(text: string): void;
  shown(): string;
}

describe.skipIf(!needs("ngircd", "answers without a slash"))("a question is answered without a slash", () => {
  const chats = new Map<string, Chat>();
  const closing: (() => unknown)[] = [];
  let lares: Lares;

  beforeAll(async () => {
    const [telegram, mattermost, irc, model] = await Promise.all([
      startTelegram(),
      startMattermostFake(),
      startIrc(),
      startModel(),
    ]);
    const ann = await ircPerson(irc.port, "ann", "#towns");
    const owner = "userann0000000000000000000";
    const dm = `dm${owner}`;
    mattermost.say(dm, owner, "from before the bot came", { name: "ann" });
    lares = await startLares({
      env: model.env,
      config: {
        channels: {
          telegram: { main: { token: telegram.token, apiUrl: telegram.url, paceMs: 0, owners: ["42"] } },
          mattermost: {
            main: { url: mattermost.url, token: mattermost.token, callback: "http://lares.test", owners: [owner] },
          },
          irc: {
            main: {
              ...{ host: "127.0.0.1", port: irc.port, tls: false, nick: "lares", join: ["#towns"], paceMs: 0 },
              owners: ["ann!~ann@127.0.0.1"],
            },
          },
        },
      },
    });
    mattermost.hosts.set("http://lares.test", lares.url);
    for (const name of ["telegram", "mattermost", "irc"]) await connected(lares, `${name}/main`);
    const texts = (all: { text: string }[]) => all.map(({ text }) => text).join("\n");
    chats.set("telegram", {
      say: (text) => void telegram.say(42, { id: 42, first_name: "Ann" }, text),
      shown: () => texts(telegram.sent.filter((m) => m.chat === 42)),
    });
    chats.set("mattermost", {
      say: (text) => void mattermost.say(dm, owner, text, { name: "ann" }),
      shown: () => mattermost.sent.map((post) => post.message).join("\n"),
    });
    chats.set("irc", {
      say: (text) => ann.say("lares", text),
      shown: () => texts(ann.heard.filter((m) => m.target === "ann")),
    });
    closing.push(
      () => lares.dispose(),
      () => ann.close(),
      () => telegram.close(),
      () => mattermost.down(),
      () => irc.stop(),
      () => model.close(),
    );
  }, 60_000);
  afterAll(async () => {
    for (const close of closing) await close();
  });

  test.each(["telegram", "mattermost", "irc"].flatMap((name) => WORDS.map((word) => [name, word] as const)))(
    "on %s with %s",
    async (name, word) => {
      const chat = chats.get(name)!;
      const file = `${name}-${word}.txt`;
      chat.say(`${callExec(`touch ${file}`)} then: say:over-${name}-${word}`);
      const asked = await until("the question", async () =>
        (await lares.rpc("approvals.list", {})).approvals.find((one) => one.shown.includes(file)),
      );
      const code = asked.id.slice(-6);
      // Where there are buttons the code stands on the page and in `lares approvals`, and works all the same.
      await until("the question in the chat", () => chat.shown().includes(file), { instead: () => chat.shown() });
      chat.say(`${word} ${code}`);
      await until("the end", () => chat.shown().includes(`over-${name}-${word}`), {
        withinMs: 30_000,
        instead: () => chat.shown().slice(-400),
      });
      expect(existsSync(join(lares.workspace(), file))).toBe(word !== "no");
      const { approvals } = await lares.rpc("approvals.list", { state: "all" });
      expect(approvals.find((one) => one.id === asked.id)).toMatchObject({
        state: word === "no" ? "denied" : "allowed",
      });
    },
  );
});
