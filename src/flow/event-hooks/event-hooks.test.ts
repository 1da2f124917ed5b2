import { expect, test } from "vitest";
import type { HookPayload, HookSource, Records, Tx } from "../../core/contracts/index.ts";
import { ManualClock, noCrash, silentLog } from "../../core/kit/index.ts";
import { EventHooks } from "./event-hooks.ts";

/** Records that count: nothing may be asked of them without a hook. */
function open() {
  const count = { reads: 0, writes: 0 };
  const reads = {
    dialect: "sqlite" as const,
    async get<T>(): Promise<T | undefined> {
      count.reads++;
      return undefined;
    },
    async all<T>(): Promise<T[]> {
      count.reads++;
      return [];
    },
  };
  const ran: string[] = [];
  const tx: Tx = { dialect: "sqlite", run: (sql) => void ran.push(sql) };
  const records: Records = {
    ...reads,
    committed: reads,
    async write(change) {
      count.writes++;
      change(tx);
    },
  };
  const hooks = new EventHooks({ records, clock: new ManualClock(), crash: noCrash, log: silentLog });
  return { hooks, tx, ran, count };
}

const source = (more: Partial<HookSource>): HookSource => ({
  name: "a",
  events: [{ event: "tool.planned" }],
  call: async () => undefined,
  ...more,
});
const facts: Omit<HookPayload<"turn.ended">, "event" | "id" | "at"> = {
  ...{ agent: "main", session: "s", turn: "t", state: "answered", text: "hi", toolCalls: 0 },
};
const planned = {
  ...{ agent: "main", session: "s", turn: "t", call: "c", tool: "exec", input: {}, risk: "exec", shown: "" },
  verdict: "allow" as const,
};
const signal = new AbortController().signal;

test("without hooks nothing is built, written or read, and nobody is asked (HOOKED-4)", () => {
  const { hooks, tx, ran, count } = open();
  hooks.observers.start();
  hooks.record(tx, "turn.ended", "t", () => {
    throw new Error("facts are built for nobody");
  });
  expect(hooks.answers("tool.planned")).toBe(false);
  expect(hooks.observes("turn.ended")).toBe(false);
  expect([ran, count]).toEqual([[], { reads: 0, writes: 0 }]);
});

test("what somebody observes is written in the caller's transaction, and no longer once they are gone (HOOKED-6)", () => {
  const { hooks, tx, ran } = open();
  const remove = hooks.add(source({ events: [{ event: "turn.ended" }] }));
  hooks.record(tx, "turn.ended", "t", () => facts);
  expect(ran).toEqual([expect.stringContaining("INSERT INTO hook_event")]);
  remove();
  hooks.record(tx, "turn.ended", "t", () => facts);
  expect(ran).toHaveLength(1);
});

test("hooks are asked side by side, each within its time, also one that doesn't obey its signal (HOOKED-5)", async () => {
  const { hooks } = open();
  const events = [{ event: "tool.planned" as const, timeoutMs: 50 }];
  for (const name of ["a", "b", "c"]) hooks.add(source({ name, events, call: () => new Promise(() => {}) }));
  const { deny } = await hooks.ask("tool.planned", "k", planned, signal);
  expect(deny).toMatch(/"a" failed: it didn't answer within 0.05 s.*"b".*"c"/);
  expect(hooks.health("a")).toMatchObject({ calls: 1, failures: 1 });
});

test("a stopped turn doesn't wait for its hooks", async () => {
  const { hooks } = open();
  hooks.add(source({ call: () => new Promise(() => {}) }));
  const stop = new AbortController();
  const asked = hooks.ask("tool.planned", "k", planned, stop.signal);
  stop.abort(new Error("stopped"));
  await expect(asked).rejects.toThrow("stopped");
});

test("a name that is taken, an unknown event and a mode that doesn't exist are refused", () => {
  const { hooks } = open();
  hooks.add(source({}));
  expect(() => hooks.add(source({}))).toThrow(/already a hook named "a"/);
  const events = [{ event: "turn.ended" as const, mode: "answer" as const }];
  expect(() => hooks.add(source({ name: "b", events }))).toThrow(/can't answer turn.ended/);
  const made = JSON.parse('[{"event":"no.such"}]') as HookSource["events"];
  expect(() => hooks.add(source({ name: "c", events: made }))).toThrow(/"no.such", which is not an event/);
});

test("an event that isn't durable when its observer looks is heard as soon as it is, without another event (HOOKED-7)", async () => {
  const row = { seq: 1, id: "e", event: "turn.ended", at: 1, facts: "{}" };
  let isDurable = false;
  const place = { seq: 0 };
  const reads = (sees: () => boolean) => ({
    dialect: "sqlite" as const,
    get: async <T>(sql: string) => (sql.includes("COUNT") ? { n: sees() && place.seq < 1 ? 1 : 0 } : place) as T,
    all: async <T>(_sql: string, from: unknown) => (sees() && Number(from) < 1 ? [row] : []) as T[],
  });
  const tx: Tx = {
    dialect: "sqlite",
    run(sql, _source, seq) {
      if (sql.includes("INTO hook_place")) place.seq = Number(seq);
    },
  };
  const records: Records = {
    ...reads(() => true),
    committed: reads(() => isDurable),
    write: async (change) => change(tx),
  };
  const clock = new ManualClock();
  const hooks = new EventHooks({ records, clock, crash: noCrash, log: silentLog });
  const heard: string[] = [];
  const call = async (event: string) => void heard.push(event);
  hooks.add(source({ events: [{ event: "turn.ended" }], call }));
  hooks.observers.start();
  const pass = async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
    clock.advance(25);
    for (let i = 0; i < 40; i++) await Promise.resolve();
  };
  await pass();
  await pass();
  expect(heard).toEqual([]);
  isDurable = true;
  await pass();
  await pass();
  expect(heard).toEqual(["turn.ended"]);
  await hooks.observers.stop();
});
