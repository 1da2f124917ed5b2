/**
 * What every channel must do, as a function of its platform: the real program, a real or a labelled fake platform, the scripted
 * model. An adapter is supported when it passes. Each adapter has a file in test/channels/ that calls `channelContract(rig)`.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { directiveScript } from "../fakes/model-server/index.ts";
import { callExec, type Lares, requestsWith, startLares, startModel, until, userTexts } from "../support/index.ts";

export interface Person {
  /** The platform's stable id, as the adapter reports it. */
  id: string;
  name: string;
}

/** One message of the bot as people see it now: edits applied, deleted ones gone. */
export interface Shown {
  id: string;
  text: string;
  /** Labels of its buttons. */
  buttons?: string[];
}

export interface Platform {
  /** The account's fields for lares.yaml, without who may talk. */
  account: Record<string, unknown>;
  owner: Person;
  /** Somebody who is on no list; absent where the platform vouches for its people. */
  stranger?: Person;
  /** People there choose the name they are shown by: a stranger then poses as the owner (CH-01). */
  freeNames?: boolean;
  /** A group the bot is in, with the owner and the stranger as members. */
  group?: string;
  /** What the platform really does, which decides what is expected of us. */
  has: {
    /** What was not acknowledged is delivered again after a restart. Without it a message in flight is lost with the process. */
    redelivers: boolean;
    /** A repeated send with the same key is one message. */
    dedupes: boolean;
    edits: boolean;
    buttons: boolean;
    /** Longest message in the adapter's own unit; a long answer of about two and a half of these is tried. */
    limit: number;
  };
  /** After every start: where Lares listens now, for platforms that call us; also where a test waits until it is connected. */
  attach(lares: Lares): Promise<void>;
  /** Somebody writes to the bot: directly, or in the group. Resolves when the platform has it, not when Lares has. */
  say(from: Person, text: string, where?: { group?: boolean; addressed?: boolean }): Promise<void>;
  /** The bot's messages in that person's direct chat, or in the group. */
  shown(where: Person | "group"): Promise<Shown[]>;
  press?(from: Person, message: Shown, label: string): Promise<void>;
  /** The next n sends are refused by the platform's rate limit. */
  refuseSends?(n: number): void;
  /** The platform sends something of a shape nobody knows, with this text in it. */
  garble?(text: string): void;
  close(): Promise<void>;
}

export interface ChannelRig {
  /** As in lares.yaml. */
  name: string;
  start(): Promise<Platform>;
}

/** For a whole start on a machine that does much else. */
const PATIENCE_MS = 60_000;
const NOTE = /could not confirm/;
const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms, undefined));

export function channelContract(rig: ChannelRig): void {
  describe(`${rig.name}: the channel contract`, () => {
    let platform: Platform;
    let model: Awaited<ReturnType<typeof startModel>>;
    let lares: Lares;

    const config = () => ({
      outbox: { firstRetryMs: 20, mostRetryMs: 200 },
      channels: {
        [rig.name]: {
          main: {
            ...platform.account,
            ...(platform.stranger ? { dm: "pairing", owners: [platform.owner.id] } : {}),
            ...(platform.group ? { groups: { [platform.group]: { allow: [platform.owner.id] } } } : {}),
          },
        },
      },
    });
    const texts = async (where: Person | "group") => (await platform.shown(where)).map((m) => m.text);
    const shows = (where: Person | "group", what: string | RegExp) =>
      until(`"${what}" to be shown`, async () => (await texts(where)).some((t) => t.match(what)), {
        instead: async () => (await texts(where)).map((t) => t.slice(0, 80)),
      });
    const count = async (where: Person | "group", what: string | RegExp) =>
      (await texts(where)).filter((t) => t.match(what)).length;
    const restart = async (env: Record<string, string> = {}) => {
      await lares.start(env);
      await platform.attach(lares);
    };

    beforeAll(async () => {
      [platform, model] = await Promise.all([rig.start(), startModel()]);
      lares = await startLares({ env: model.env, config: config() });
      await platform.attach(lares);
    });
    afterAll(async () => {
      await lares?.dispose();
      await Promise.all([platform?.close(), model?.close()]);
    });

    test("messages are answered in their chat, once, in order", async () => {
      for (const word of ["alpha", "beta", "gamma"]) {
        await platform.say(platform.owner, `say:${rig.name} ${word}`);
        await shows(platform.owner, word);
      }
      const seen = (await texts(platform.owner)).filter((t) => t.includes(rig.name));
      expect(seen.map((t) => t.replace(`${rig.name} `, "").trim())).toEqual(["alpha", "beta", "gamma"]);
      const { channels } = await lares.rpc("channels.list", {});
      expect(channels[0]).toMatchObject({ name: `${rig.name}/main`, state: "ok", connected: true, sending: true });
    });

    // Declared only for `npm run bench -- --channels`, which runs nothing else of this.
    if (process.env.LARES_BENCH_CHANNELS)
      test("latency", () => measureLatency(process.env.LARES_BENCH_CHANNELS!), 300_000);

    /** From the platform's event to the model's request. */
    async function measureLatency(file: string): Promise<void> {
      const times: number[] = [];
      const one = async (word: string) => {
        const at = Date.now();
        await platform.say(platform.owner, `say:${word}`);
        const request = await until("the request", () => requestsWith(model, `say:${word}`)[0], {
          instead: async () => (await texts(platform.owner)).slice(-3),
        });
        await shows(platform.owner, word);
        return Math.max(0, request.at - at);
      };
      for (let i = 0; i < 32; i++) {
        // Strictly in turns and at once is how bots talk to each other, and they are stopped after ten: now and then somebody reads.
        if (i % 8 === 7) await pause(2200);
        const took = await one(`lat-${i}-${rig.name}`);
        // The first ones load what is loaded once.
        if (i >= 4) times.push(took);
      }
      appendFileSync(file, `${JSON.stringify({ channel: rig.name, times })}\n`);
    }

    test("CH-01: a stranger gets a code and nothing else, under whatever name; let in, they may talk", async () => {
      const { stranger } = platform;
      if (!stranger) return;
      await platform.say(
        platform.freeNames ? { ...stranger, name: platform.owner.id } : stranger,
        "say:stranger-secret",
      );
      await shows(stranger, /code is [A-Z0-9]{8}/);
      expect(requestsWith(model, "stranger-secret")).toHaveLength(0);
      const code = /code is ([A-Z0-9]{8})/.exec((await texts(stranger)).join("\n"))![1]!;
      const { pending } = await lares.rpc("channels.pending", {});
      expect(pending).toMatchObject([{ code, sender: stranger.id, name: `${rig.name}/main` }]);
      await lares.rpc("channels.approve", { code });
      await shows(stranger, /You are in/);
      await platform.say(stranger, "say:let-in");
      await shows(stranger, "let-in");
    });

    test("a long answer arrives whole, within the platform's limit", async () => {
      const { limit } = platform.has;
      if (limit > 20_000) return;
      // 39,000 characters: a longer answer isn't sent whole (`MOST_CHARACTERS`).
      const words = Array.from(
        { length: Math.min(Math.ceil((limit * 2.5) / 6), 6500) },
        (_, i) => `w${String(i).padStart(4, "0")}`,
      );
      await platform.say(platform.owner, "say:marker-before-long");
      await shows(platform.owner, "marker-before-long");
      const before = (await platform.shown(platform.owner)).length;
      // Scripted here and not by the message: the platform would not take so long a message.
      const script = directiveScript();
      model.use((request) =>
        request.messages.at(-1)?.role === "user" && userTexts(request as never).at(-1) === "long please"
          ? { text: words.join(" ") }
          : script(request),
      );
      await platform.say(platform.owner, "long please");
      await shows(platform.owner, words.at(-1)!);
      const parts = (await texts(platform.owner)).slice(before);
      expect(parts.length).toBeGreaterThan(1);
      expect(parts.join(" ").match(/w\d{4}/g)).toEqual(words);
    });

    test("the platform asks for a pause: the answer comes later, once", async () => {
      if (!platform.refuseSends) return;
      platform.refuseSends(2);
      await platform.say(platform.owner, "say:after-a-pause");
      await shows(platform.owner, "after-a-pause");
      expect(await count(platform.owner, "after-a-pause")).toBe(1);
    });

    test("what cannot be read is passed over, counted, and named once in the log without its content", async () => {
      if (!platform.garble) return;
      for (const word of ["secret-of-nobody-1", "secret-of-nobody-2"]) platform.garble(word);
      await platform.say(platform.owner, "say:behind-the-garbled");
      await shows(platform.owner, "behind-the-garbled");
      const { channels } = await lares.rpc("channels.list", {});
      expect(channels[0]).toMatchObject({ state: "ok", unreadable: 2 });
      const { lines } = await lares.rpc("logs.tail", { level: "warn" });
      const told = lines.filter((line) => /could not be read/.test(line.what));
      expect(told).toMatchObject([{ facts: { kind: expect.stringMatching(/./), id: expect.stringMatching(/./) } }]);
      expect(JSON.stringify(lines)).not.toContain("secret-of-nobody");
      expect((await lares.request("GET", "/metrics")).text).toContain(
        `lares_channel_unreadable_total{channel="${rig.name}/main"} 2`,
      );
    });

    test("what must be asked is asked there, answered there, done once; the question shows who answered", async () => {
      await platform.say(platform.owner, `${callExec("echo asked-and-done > done.txt")} then: say:it is done`);
      const asked = await until("the question", async () =>
        (await platform.shown(platform.owner)).find((m) => /May I do this/.test(m.text)),
      );
      if (platform.has.buttons) {
        expect(asked.buttons).toEqual(["Allow once", "Always allow", "Deny"]);
        await platform.press!(platform.owner, asked, "Allow once");
      } else {
        // On IRC a question is several lines.
        const all = async () => (await texts(platform.owner)).join("\n");
        const code = await until("the code", async () => /approve (\w+)/.exec(await all())?.[1]);
        // As it is shown: without a slash, which some clients would keep to themselves.
        await platform.say(platform.owner, `approve ${code}`);
      }
      await shows(platform.owner, "it is done");
      expect(readFileSync(join(lares.workspace(), "done.txt"), "utf8")).toBe("asked-and-done\n");
      if (platform.has.edits && platform.has.buttons) await shows(platform.owner, /Allowed once by/);
    });

    test("CH-05: in a group only who may there, and only when it is addressed; let in by direct message is not enough", async () => {
      if (!platform.group) return;
      if (platform.stranger)
        await platform.say(platform.stranger, "say:let-in-elsewhere", { group: true, addressed: true });
      await platform.say(platform.owner, "say:not-for-you", { group: true });
      await platform.say(platform.owner, "say:for-you", { group: true, addressed: true });
      await shows("group", "for-you");
      expect(await count("group", "not-for-you")).toBe(0);
      expect([...requestsWith(model, "not-for-you"), ...requestsWith(model, "let-in-elsewhere")]).toEqual([]);
    });

    test("kill -9 after receipt, after commit, and during the send: nothing lost, nothing twice", async () => {
      const word = "killed-three-times";
      const say = () => platform.say(platform.owner, `say:${word}`);
      // One message dies all three deaths. Each life finds what the last one left, so it may be over before it is ready.
      const die = async (point: string, act = async () => {}) => {
        lares.spawn({ LARES_CRASH_AT: point });
        let isGone = false;
        void lares.gone.then(() => {
          isGone = true;
        });
        const served = lares.ready(PATIENCE_MS).then(() => platform.attach(lares));
        // Whoever lives and does not connect is said to, instead of being waited for.
        const failed = (error: unknown) => {
          if (!isGone) throw error;
        };
        await Promise.race([lares.gone, served.then(act, failed)]);
        await until(`the end at ${point}`, () => Promise.race([lares.gone, pause(1000)]), { withinMs: PATIENCE_MS });
      };
      // Everything before it is settled, so that the kill hits the message it is meant for.
      await until("quiet", async () => (await lares.rpc("status", {})).deliveries.waiting === 0);
      await lares.kill9();
      const { redelivers, dedupes } = platform.has;
      if (redelivers) await die("channel.heard", say);
      await die("channel.taken", redelivers ? undefined : say);
      await die("send.after");
      await restart();
      await shows(platform.owner, word);
      // Something after it proves that nothing is still on its way.
      await platform.say(platform.owner, "say:the end of it");
      await shows(platform.owner, "the end of it");
      // Where the platform has no idempotency the person is told, once; elsewhere there is nothing to tell.
      if (!dedupes) await shows(platform.owner, new RegExp(`could not confirm[\\s\\S]*${word}`));
      const seen = (await texts(platform.owner)).filter((t) => t.includes(word));
      const marked = seen.filter((t) => NOTE.test(t)).length;
      expect({ plain: seen.length - marked, marked }).toEqual({ plain: 1, marked: dedupes ? 0 : 1 });
      expect(requestsWith(model, `say:${word}`).length).toBeGreaterThan(0);
      // Four starts of the program, on a machine that may be busy.
    }, 120_000);

    test("CH-03: with an empty list, and what was granted taken back, nobody may talk: not even who did before", async () => {
      const { stranger, owner } = platform;
      if (!stranger) return;
      const { people } = await lares.rpc("channels.people", {});
      for (const { name, sender, context } of people) await lares.rpc("channels.revoke", { name, sender, context });
      const closed = { ...platform.account, dm: "allowlist", allow: [], owners: [], groups: {} };
      await lares.rpc("config.set", { path: `channels.${rig.name}.main`, value: closed as never });
      await platform.attach(lares);
      for (const person of [owner, stranger]) {
        const heardAt = async () => (await lares.rpc("channels.list", {})).channels[0]!.heardAt ?? 0;
        const before = await heardAt();
        const shown = (await platform.shown(person)).length;
        await platform.say(person, "say:nobody-may");
        await until("it to be heard", async () => (await heardAt()) > before);
        expect(await platform.shown(person)).toHaveLength(shown);
      }
      expect(requestsWith(model, "nobody-may")).toEqual([]);
    });
  });
}
