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

const PLATFORMS = ["telegram", "mattermost", "irc"] as const;

/** A chat with the bot, as one person sees it. */
interface Chat {
  say(text: string): void;
  shown(): string;
}
/** The owner's chat, and that of somebody who may talk to the bot and nothing more. */
type Chats = Record<"owner" | "guest", Chat>;

describe.skipIf(!needs("ngircd", "answers without a slash"))("a question is answered without a slash", () => {
  const chats = new Map<string, Chats>();
  const closing: (() => unknown)[] = [];
  let lares: Lares;

  beforeAll(async () => {
    const [telegram, mattermost, irc, model] = await Promise.all([
      startTelegram(),
      startMattermostFake(),
      startIrc(),
      startModel(),
    ]);
    const [ann, eve] = [await ircPerson(irc.port, "ann", "#towns"), await ircPerson(irc.port, "eve", "#towns")];
    const [owner, guest] = ["userann0000000000000000000", "usereve0000000000000000000"];
    mattermost.say(`dm${owner}`, owner, "from before the bot came", { name: "ann" });
    mattermost.say(`dm${guest}`, guest, "from before the bot came", { name: "eve" });
    lares = await startLares({
      env: model.env,
      config: {
        channels: {
          telegram: {
            main: { token: telegram.token, apiUrl: telegram.url, paceMs: 0, owners: ["42"], allow: ["43"] },
          },
          mattermost: {
            main: {
              ...{ url: mattermost.url, token: mattermost.token, callback: "http://lares.test" },
              owners: [owner],
              allow: [guest],
            },
          },
          irc: {
            main: {
              ...{ host: "127.0.0.1", port: irc.port, tls: false, nick: "lares", join: ["#towns"], paceMs: 0 },
              owners: ["ann!~ann@127.0.0.1"],
              allow: ["eve!~eve@127.0.0.1"],
            },
          },
        },
      },
    });
    mattermost.hosts.set("http://lares.test", lares.url);
    for (const name of PLATFORMS) await connected(lares, `${name}/main`);
    const texts = (all: { text: string }[]) => all.map(({ text }) => text).join("\n");
    const onTelegram = (id: number, first_name: string): Chat => ({
      say: (text) => void telegram.say(id, { id, first_name }, text),
      shown: () => texts(telegram.sent.filter((m) => m.chat === id)),
    });
    const onMattermost = (id: string, name: string): Chat => ({
      say: (text) => void mattermost.say(`dm${id}`, id, text, { name }),
      shown: () =>
        mattermost.sent
          .filter((post) => post.channel_id === `dm${id}`)
          .map((post) => post.message)
          .join("\n"),
    });
    const onIrc = (person: typeof ann, name: string): Chat => ({
      say: (text) => person.say("lares", text),
      shown: () => texts(person.heard.filter((m) => m.target === name)),
    });
    chats.set("telegram", { owner: onTelegram(42, "Ann"), guest: onTelegram(43, "Eve") });
    chats.set("mattermost", { owner: onMattermost(owner, "ann"), guest: onMattermost(guest, "eve") });
    chats.set("irc", { owner: onIrc(ann, "ann"), guest: onIrc(eve, "eve") });
    closing.push(
      () => lares.dispose(),
      () => ann.close(),
      () => eve.close(),
      () => telegram.close(),
      () => mattermost.down(),
      () => irc.stop(),
      () => model.close(),
    );
  }, 60_000);
  afterAll(async () => {
    for (const close of closing) await close();
  });

  /** Has the agent ask whether it may create a file, and waits until the question is in the owner's chat. */
  const question = async (chat: Chat, file: string, over: string) => {
    chat.say(`${callExec(`touch ${file}`)} then: say:${over}`);
    const { id } = await until("the question", async () =>
      (await lares.rpc("approvals.list", {})).approvals.find((one) => one.shown.includes(file)),
    );
    // Where there are buttons the code stands on the page and in `lares approvals`, and works all the same.
    await until("the question in the chat", () => chat.shown().includes(file), { instead: () => chat.shown() });
    return { id, code: id.slice(-6) };
  };
  const state = async (id: string) =>
    (await lares.rpc("approvals.list", { state: "all" })).approvals.find((one) => one.id === id)!.state;
  /** Says it, and gives what the bot then wrote. */
  const reply = async (chat: Chat, text: string, wanted: RegExp) => {
    const before = chat.shown().length;
    chat.say(text);
    const more = () => chat.shown().slice(before);
    await until(`an answer to "${text}"`, () => wanted.test(more()), { instead: more });
  };
  const isThere = (file: string) => existsSync(join(lares.workspace(), file));

  test.each(PLATFORMS.flatMap((name) => WORDS.map((word) => [name, word] as const)))(
    "on %s with %s",
    async (name, word) => {
      const { owner } = chats.get(name)!;
      const file = `${name}-${word}.txt`;
      const { id, code } = await question(owner, file, `over-${name}-${word}`);
      await reply(owner, `${word} ${code}`, new RegExp(`over-${name}-${word}`));
      expect(isThere(file)).toBe(word !== "no");
      expect(await state(id)).toBe(word === "no" ? "denied" : "allowed");
    },
  );

  test.each(PLATFORMS)(
    "on %s a wrong code gets a sentence, a guest may not answer, and the first answer stands",
    async (name) => {
      const { owner, guest } = chats.get(name)!;
      const file = `${name}-once.txt`;
      const { id, code } = await question(owner, file, `over-${name}-once`);

      await reply(owner, "yes zz9zz9", /There is no open approval "zz9zz9"/);
      for (const word of WORDS) await reply(guest, `${word} ${code}`, /You can.t answer approvals here/);
      expect(await state(id)).toBe("pending");
      expect(isThere(file)).toBe(false);

      await reply(owner, `yes ${code}`, new RegExp(`over-${name}-once`));
      expect(isThere(file)).toBe(true);
      await reply(owner, `yes ${code}`, /This approval is allowed .* and can't be answered again/);
      await reply(owner, `no ${code}`, /This approval is allowed .* and can't be answered again/);
      expect(await state(id)).toBe("allowed");
    },
  );
});
