/** When things are looked at, and what a look leaves behind, on real records. */
import { expect, onTestFinished, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import type { Json } from "../../core/domain/index.ts";
import { type Guard, ManualClock, noCrash, noGuard, silentLog } from "../../core/kit/index.ts";
import { type Spotted, type Watch, Watchers } from "./watchers.ts";

const MINUTE = 60_000;

type Watched = Watch & { target: string };

const watch = (over: Partial<Watched> = {}): Watched => ({
  kind: "feed",
  everySeconds: 600,
  session: "isolated",
  target: "a",
  ...over,
});

/** What is out there is a list of numbers; the cursor is how many have been seen. */
async function world(config: Record<string, Watched>, guard: Guard = noGuard) {
  const { records } = await testRecords("watchers");
  const clock = new ManualClock();
  const there: Record<string, string[]> = {};
  const looks: { target: string; at: number; cursor: Json | null }[] = [];
  const told: Spotted[] = [];
  const state = { config, down: undefined as string | undefined };
  const open = () =>
    new Watchers<Watched>({
      records,
      clock,
      crash: noCrash,
      guard,
      log: silentLog,
      config: () => state.config,
      defaultAgent: () => "main",
      describeWatched: ({ target }) => target,
      look: async ({ target }, cursor) => {
        looks.push({ target, at: clock.now(), cursor });
        if (state.down) throw new Error(state.down);
        const all = there[target] ?? [];
        const items = cursor === null ? [] : all.slice(Number(cursor));
        return { items: items.map((id) => ({ id, label: "new", body: id })), cursor: all.length };
      },
      tell: async (spotted, record) => {
        await records.write(record);
        told.push(...spotted);
      },
    });
  let watchers = open();
  onTestFinished(() => watchers.stop());
  const rest = () => comeToRest(records);
  await watchers.start();
  await rest();
  return {
    clock,
    there,
    looks,
    told,
    state,
    rest,
    list: () => watchers.list(),
    resume: (name: string) => watchers.resume(name),
    settingsChanged: async () => {
      await watchers.start();
      await rest();
    },
    restart: async () => {
      await watchers.stop();
      watchers = open();
      await watchers.start();
      await rest();
    },
    /** In steps that no timer sleeps through. */
    pass: async (ms: number) => {
      for (let left = ms; left > 0; left -= MINUTE) {
        clock.advance(Math.min(left, MINUTE));
        await rest();
      }
    },
  };
}

test("the first check only records what exists; each new thing is reported once, with the owner's note on the last (WATCH-2)", async () => {
  const { there, told, pass } = await world({ news: watch({ prompt: "Tell me." }) });
  there.a = ["one"];
  await pass(10 * MINUTE);
  there.a.push("two", "three");
  await pass(30 * MINUTE);
  expect(told.map(({ body, note }) => [body, note])).toEqual([
    ["one", "Tell me."],
    ["two", undefined],
    ["three", "Tell me."],
  ]);
});

test("another target under the same name starts over: what is there already is no news (WATCH-2)", async () => {
  const { there, told, state, looks, settingsChanged } = await world({ news: watch() });
  there.b = ["old"];
  state.config = { news: watch({ target: "b" }) };
  await settingsChanged();
  expect(looks.at(-1)).toMatchObject({ target: "b", cursor: null });
  expect(told).toEqual([]);
});

test("nothing is looked at more often than it should be, each thing at its own pace, and a restart hurries nothing (WATCH-4)", async () => {
  const { looks, clock, pass, restart } = await world({
    often: watch({ everySeconds: 600, target: "a" }),
    seldom: watch({ everySeconds: 3600, target: "b" }),
  });
  const began = clock.now();
  await pass(25 * MINUTE);
  await restart();
  await restart();
  await pass(35 * MINUTE);
  const minutes = (target: string) =>
    looks.filter((look) => look.target === target).map(({ at }) => (at - began) / MINUTE);
  expect(minutes("a")).toEqual([0, 10, 20, 30, 40, 50, 60]);
  expect(minutes("b")).toEqual([0, 60]);
});

test("a clock that was set back a day makes nobody wait a day; one that was set back a little hurries nothing (WATCH-4)", async () => {
  const { looks, clock, settingsChanged } = await world({ news: watch() });
  clock.advance(-5 * MINUTE);
  await settingsChanged();
  expect(looks).toHaveLength(1);
  clock.advance(-24 * 60 * MINUTE);
  await settingsChanged();
  expect(looks).toHaveLength(2);
});

test("a failed look keeps the place, waits longer each time up to a bound, and says why; nothing is missed afterwards (WATCH-3)", async () => {
  const { there, told, state, looks, list, clock, pass } = await world({ news: watch() });
  there.a = ["one"];
  state.down = "no such host";
  const began = clock.now();
  await pass(200 * MINUTE);
  expect(looks.map(({ at }) => (at - began) / MINUTE)).toEqual([0, 10, 30, 70, 130, 190]);
  expect(await list()).toMatchObject([{ name: "news", error: "no such host" }]);
  state.down = undefined;
  await pass(60 * MINUTE);
  expect(told.map(({ body }) => body)).toEqual(["one"]);
  expect((await list())[0]).not.toHaveProperty("error");
});

test("what is no longer in the settings is forgotten", async () => {
  const { there, told, state, settingsChanged } = await world({ news: watch() });
  state.config = {};
  await settingsChanged();
  there.a = ["came meanwhile"];
  state.config = { news: watch() };
  await settingsChanged();
  expect(told).toEqual([]);
});

test("a watch whose looks stopped Lares is not looked at, says how to resume it, and is looked at again when somebody does", async () => {
  let convicted = true;
  const guard: Guard = {
    ...noGuard,
    suspicion: () => (convicted ? "convicted" : "none"),
    forgive: () => {
      convicted = false;
    },
  };
  const { looks, list, resume, rest } = await world({ news: watch() }, guard);
  expect(looks).toEqual([]);
  expect(await list()).toMatchObject([{ isPaused: true, error: expect.stringContaining("lares watch resume news") }]);
  expect(await resume("other")).toBe(false);
  expect(await resume("news")).toBe(true);
  await rest();
  expect(looks).toHaveLength(1);
  expect((await list())[0]).not.toHaveProperty("isPaused");
});
