/**
 * What every channel must do, as a function of its platform: the real program, a real or a labelled fake platform, the scripted
 * model. An adapter is supported when it passes. Each adapter has a file in test/channels/ that calls `channelContract(rig)`.
 *
 * Which sections there are for an adapter follows from its `Capabilities`: what is declared is tried. The first test fails where a
 * rig cannot try something that its adapter declares.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { directiveScript } from "../fakes/model-server/index.ts";
import { callExec, requestsWith, until, userTexts } from "../support/index.ts";
import { pretend } from "../support/pretend.ts";
import { mediaSection } from "./channel/media.ts";
import { type ChannelRig, unfit } from "./channel/platform.ts";
import { NOTE, pause, Stage } from "./channel/stage.ts";
import { streamingSection } from "./channel/streaming.ts";
import { talkSection } from "./channel/talk.ts";

export type { ChannelRig, Person, Platform, Shown } from "./channel/platform.ts";

export function channelContract(rig: ChannelRig): void {
  describe(`${rig.name}: the channel contract`, () => {
    const stage = new Stage(rig);
    beforeAll(() => stage.open());
    afterAll(() => stage.close());

    test("the rig can try every part that the adapter declares", () => {
      expect(unfit(rig.name, stage.declared, stage.platform)).toEqual([]);
    });

    test("messages are answered in their chat, once, in order", async () => {
      for (const word of ["alpha", "beta", "gamma"]) {
        await stage.platform.say(stage.owner, `say:${rig.name} ${word}`);
        await stage.shows(word);
      }
      const seen = (await stage.texts()).filter((t) => t.includes(rig.name));
      expect(seen.map((t) => t.replace(`${rig.name} `, "").trim())).toEqual(["alpha", "beta", "gamma"]);
      const { channels } = await stage.lares.rpc("channels.list", {});
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
        await stage.platform.say(stage.owner, `say:${word}`);
        const request = await until("the request", () => requestsWith(stage.model, `say:${word}`)[0], {
          instead: async () => (await stage.texts()).slice(-3),
        });
        await stage.shows(word);
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
      const { stranger } = stage.platform;
      if (!stranger) return;
      await stage.platform.say(
        stage.platform.freeNames ? { ...stranger, name: stage.owner.id } : stranger,
        "say:stranger-secret",
      );
      await stage.shows(/code is [A-Z0-9]{8}/, stranger);
      expect(requestsWith(stage.model, "stranger-secret")).toHaveLength(0);
      const code = /code is ([A-Z0-9]{8})/.exec((await stage.texts(stranger)).join("\n"))![1]!;
      const { pending } = await stage.lares.rpc("channels.pending", {});
      expect(pending).toMatchObject([{ code, sender: stranger.id, name: `${rig.name}/main` }]);
      await stage.lares.rpc("channels.approve", { code });
      await stage.shows(/You're in/, stranger);
      await stage.platform.say(stranger, "say:let-in");
      await stage.shows("let-in", stranger);
    });

    test("a long answer arrives whole, within the platform's limit", async () => {
      const { limit } = stage.can;
      if (limit > 20_000) return;
      // 39,000 characters: a longer answer isn't sent whole (`MOST_CHARACTERS`).
      const words = Array.from(
        { length: Math.min(Math.ceil((limit * 2.5) / 6), 6500) },
        (_, i) => `w${String(i).padStart(4, "0")}`,
      );
      await stage.platform.say(stage.owner, "say:marker-before-long");
      await stage.shows("marker-before-long");
      const before = (await stage.platform.shown(stage.owner)).length;
      // Scripted here and not by the message: the platform would not take so long a message.
      const script = directiveScript();
      stage.model.use((request) =>
        request.messages.at(-1)?.role === "user" && userTexts(pretend(request)).at(-1) === "long please"
          ? { text: words.join(" ") }
          : script(request),
      );
      await stage.platform.say(stage.owner, "long please");
      await stage.shows(words.at(-1)!);
      const parts = (await stage.texts()).slice(before);
      expect(parts.length).toBeGreaterThan(1);
      expect(parts.join(" ").match(/w\d{4}/g)).toEqual(words);
    });

    test("the platform asks for a pause: the answer comes later, once", async () => {
      const { refuseSends } = stage.platform;
      if (typeof refuseSends !== "function") return;
      refuseSends(2);
      await stage.platform.say(stage.owner, "say:after-a-pause");
      await stage.shows("after-a-pause");
      expect(await stage.count("after-a-pause")).toBe(1);
    });

    test("what cannot be read is passed over, counted, and named once in the log without its content (INTAKE-2)", async () => {
      const { garble } = stage.platform;
      if (typeof garble !== "function") return;
      for (const word of ["secret-of-nobody-1", "secret-of-nobody-2"]) garble(word);
      await stage.platform.say(stage.owner, "say:behind-the-garbled");
      await stage.shows("behind-the-garbled");
      const { channels } = await stage.lares.rpc("channels.list", {});
      expect(channels[0]).toMatchObject({ state: "ok", unreadable: 2 });
      const { lines } = await stage.lares.rpc("logs.tail", { level: "warn" });
      const told = lines.filter((line) => /couldn't be read/.test(line.what));
      expect(told).toMatchObject([{ facts: { kind: expect.stringMatching(/./), id: expect.stringMatching(/./) } }]);
      expect(JSON.stringify(lines)).not.toContain("secret-of-nobody");
      expect((await stage.lares.request("GET", "/metrics")).text).toContain(
        `lares_channel_unreadable_total{channel="${rig.name}/main"} 2`,
      );
    });

    test("what must be asked is asked there, answered there, done once; the question shows who answered", async () => {
      await stage.platform.say(stage.owner, `${callExec("echo asked-and-done > done.txt")} then: say:it is done`);
      const asked = await until("the question", async () =>
        (await stage.platform.shown(stage.owner)).find((m) => /May I do this/.test(m.text)),
      );
      if (stage.can.buttons) {
        expect(asked.buttons).toEqual(["Allow once", "Always allow", "Deny"]);
        await stage.platform.press!(stage.owner, asked, "Allow once");
      } else {
        // On IRC a question is several lines.
        const all = async () => (await stage.texts()).join("\n");
        const code = await until("the code", async () => /approve (\w+)/.exec(await all())?.[1]);
        // As it is shown: without a slash, which some clients would keep to themselves.
        await stage.platform.say(stage.owner, `approve ${code}`);
      }
      await stage.shows("it is done");
      expect(readFileSync(join(stage.lares.workspace(), "done.txt"), "utf8")).toBe("asked-and-done\n");
      if (stage.can.editMs !== undefined && stage.can.buttons) await stage.shows(/Allowed once by/);
    });

    test("CH-05: in a group only who may there, and only when it is addressed; let in by direct message is not enough", async () => {
      if (!stage.platform.group) return;
      if (stage.platform.stranger)
        await stage.platform.say(stage.platform.stranger, "say:let-in-elsewhere", { group: true, addressed: true });
      await stage.platform.say(stage.owner, "say:not-for-you", { group: true });
      await stage.platform.say(stage.owner, "say:for-you", { group: true, addressed: true });
      await stage.shows("for-you", "group");
      expect(await stage.count("not-for-you", "group")).toBe(0);
      expect([...requestsWith(stage.model, "not-for-you"), ...requestsWith(stage.model, "let-in-elsewhere")]).toEqual(
        [],
      );
    });

    test("kill -9 after receipt, after commit, and during the send: nothing lost, nothing twice (CHANNEL-1, INTAKE-1)", async () => {
      const word = "killed-three-times";
      const say = () => stage.platform.say(stage.owner, `say:${word}`);
      // Everything before it is settled, so that the kill hits the message it is meant for.
      await stage.quiet();
      await stage.lares.kill9();
      const { redelivers, dedupes } = stage.platform.has;
      if (redelivers) await stage.die("channel.heard", say);
      await stage.die("channel.taken", redelivers ? undefined : say);
      await stage.die("send.after");
      await stage.restart();
      await stage.shows(word);
      // Something after it proves that nothing is still on its way.
      await stage.platform.say(stage.owner, "say:the end of it");
      await stage.shows("the end of it");
      // Where the platform has no idempotency the person is told, once; elsewhere there is nothing to tell.
      if (!dedupes) await stage.shows(new RegExp(`couldn't confirm[\\s\\S]*${word}`));
      const seen = (await stage.texts()).filter((t) => t.includes(word));
      const marked = seen.filter((t) => NOTE.test(t)).length;
      expect({ plain: seen.length - marked, marked }).toEqual({ plain: 1, marked: dedupes ? 0 : 1 });
      expect(requestsWith(stage.model, `say:${word}`).length).toBeGreaterThan(0);
      // Four starts of the program, on a machine that may be busy.
    }, 120_000);

    talkSection(stage);
    streamingSection(stage);
    mediaSection(stage);

    // The last one: it closes the account.
    test("CH-03: with an empty list, and what was granted taken back, nobody may talk: not even who did before", async () => {
      const { stranger, owner } = stage.platform;
      if (!stranger) return;
      const { people } = await stage.lares.rpc("channels.people", {});
      for (const { name, sender, context } of people)
        await stage.lares.rpc("channels.revoke", { name, sender, context });
      const closed = { ...stage.platform.account, dm: "allowlist", allow: [], owners: [], groups: {} };
      await stage.lares.rpc("config.set", { path: `channels.${rig.name}.main`, value: pretend(closed) });
      await stage.platform.attach(stage.lares);
      for (const person of [owner, stranger]) {
        const shown = (await stage.platform.shown(person)).length;
        await stage.heard(() => stage.platform.say(person, "say:nobody-may"));
        expect(await stage.platform.shown(person)).toHaveLength(shown);
      }
      expect(requestsWith(stage.model, "nobody-may")).toEqual([]);
    });
  });
}
