/** Silence in a group that hears everything, and progress lines of long work, on a fake Telegram. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTelegram, type TelegramFake } from "../fakes/telegram/index.ts";
import { heldCommand, type Lares, requestsWith, startLares, startModel, until } from "../support/index.ts";

const OWNER = { id: 42, first_name: "Ann" };
const HEARS_ALL = -100;
const MENTIONED = -200;

let fake: TelegramFake;
let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  [fake, model] = await Promise.all([startTelegram(), startModel()]);
  const account = { token: fake.token, apiUrl: fake.url, paceMs: 0, dm: "allowlist", owners: ["42"] };
  const groups = {
    [HEARS_ALL]: { allow: ["42"], mention: false, tools: ["read"] },
    [MENTIONED]: { allow: ["42"], mention: true },
  };
  lares = await startLares({
    env: model.env,
    config: {
      policy: { mode: "record" },
      outbox: { firstRetryMs: 20, mostRetryMs: 200, progressAfterSeconds: 0.3 },
      channels: { telegram: { main: { ...account, groups } } },
    },
  });
  await until("a poll", () => fake.polling());
}, 30_000);
afterAll(async () => {
  await lares?.dispose();
  await Promise.all([fake?.close(), model?.close()]);
});

const shown = (chat: number) => fake.sent.filter((m) => !m.deleted && m.chat === chat).map((m) => m.text);
const toolsFor = (text: string) => requestsWith(model, text)[0]!.tools;
const turnOf = (text: string) =>
  until(`the end of ${text}`, async () => {
    const { turns } = await lares.rpc("turns.list", { limit: 20 });
    const session = turns.find((one) => one.session.includes(String(HEARS_ALL)))?.session;
    if (!session) return undefined;
    const { messages } = await lares.rpc("chat.history", { session });
    const said = messages.find((m) => JSON.stringify(m.content).includes(text));
    const turn = said && turns.find((one) => one.turn === said.turn);
    return turn?.endedAt ? { turn, messages } : undefined;
  });

describe("a group", () => {
  test("that hears everything may be answered with silence: nothing is sent, and the history says so", async () => {
    fake.say(HEARS_ALL, OWNER, '#hush say:I agree tool:stay_silent {"reason":"small talk"}');
    const { turn, messages } = await turnOf("#hush");
    expect(turn.state).toBe("silent");
    expect(toolsFor("#hush")).toContain("stay_silent");
    expect(requestsWith(model, "#hush")[0]!.system).toContain("call `stay_silent`");
    const parts = messages.flatMap((m) => m.content);
    expect(parts).toContainEqual(expect.objectContaining({ type: "tool-call", name: "stay_silent" }));
    expect(parts).toContainEqual(expect.objectContaining({ type: "tool-result", text: "Done. Nothing was sent." }));
    expect(shown(HEARS_ALL)).toEqual([]);
    // The next message finds a history every provider takes.
    fake.say(HEARS_ALL, OWNER, "#speak say:here I am");
    await until("an answer", () => shown(HEARS_ALL).includes("here I am"));
    expect(shown(HEARS_ALL)).toEqual(["here I am"]);
  });

  test("that hears everything sees no word of an answer the agent then keeps to itself", async () => {
    const before = fake.sent.length;
    fake.say(HEARS_ALL, OWNER, '#doubt gap:200 say:I think I agree tool:stay_silent {"reason":"small talk"}');
    const { turn } = await turnOf("#doubt");
    expect(turn.state).toBe("silent");
    // Also none that was deleted again: people are notified of it.
    expect(fake.sent.slice(before)).toEqual([]);
  });

  test("where the bot must be named does not offer it", async () => {
    const name = `@${fake.bot.username}`;
    const entities = [{ type: "mention", offset: 0, length: name.length }];
    fake.say(MENTIONED, OWNER, `${name} #named say:yes`, { entities });
    await until("an answer", () => shown(MENTIONED).includes("yes"));
    expect(toolsFor("#named")).not.toContain("stay_silent");
    expect(requestsWith(model, "#named")[0]!.system).not.toContain("stay_silent");
  });
});

describe("long work", () => {
  test("is named with its time in one message that the answer replaces, over a kill too", async () => {
    const held = heldCommand(lares.workspace(), "long");
    fake.say(42, OWNER, `#long tool:exec ${JSON.stringify({ command: held.command })} then: say:done at last`);
    await held.begun();
    await until("a progress line", () => shown(42).find((text) => /^Working: exec .+ \(\d+ s\)$/.test(text)));
    const first = shown(42);
    expect(first).toHaveLength(1);
    await until("the time to go on", () => shown(42)[0] !== first[0]);
    await lares.kill9();
    await lares.start();
    held.release();
    await until("the answer", () => shown(42).includes("done at last"));
    expect(shown(42)).toEqual(["done at last"]);
  }, 60_000);
});

describe("a slow model", () => {
  test("is said to be at work, with the time, in one message that the answer replaces", async () => {
    fake.say(42, OWNER, "#slow delay:4000 say:thought it over");
    await until("a line about it", () => shown(42).find((text) => /^Still working \(\d+ s\)$/.test(text)));
    await until("the answer", () => shown(42).includes("thought it over"));
    expect(shown(42).filter((text) => /working|over/.test(text))).toEqual(["thought it over"]);
  });
});
