/** Schedules on the real engine and records, with a clock moved by hand; a "kill" leaves the engine without a stop. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import fc from "../../../test/support/property.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import { noHooks } from "../../core/contracts/index.ts";
import { AppError, type InboundMessage, type Json, type TurnId, type TurnResult } from "../../core/domain/index.ts";
import { ManualClock, makeBus, noCrash, noGuard, randomIds, silentLog } from "../../core/kit/index.ts";
import { EmbeddedEngine } from "../../ground/engine/index.ts";
import { openRecords, type SqliteRecords } from "../../ground/records/index.ts";
import { MOST_JOBS_PER_TURN, MOST_OPEN_JOBS, Schedules, type SlotBody } from "./index.ts";

const START = Date.parse("2026-11-15T10:00:00Z");
const MIN = 60_000;
const HOUR = 3_600_000;

/** One life of the process on a home. What ran is remembered outside, as the world would. */
class Life {
  records!: SqliteRecords;
  engine!: EmbeddedEngine;
  schedules!: Schedules;
  readonly home: string;
  readonly clock: ManualClock;
  readonly ran: { key: string; text: string; at: number }[];
  readonly unknown = new Set<string>();
  /** A turn that was held ends well. */
  finish!: (turn: TurnId) => Promise<void>;
  outcome: Partial<TurnResult> = { state: "answered" };
  hasKey = true;
  /** The turn is over before whoever admitted it hears of it, as after a crash between the two. */
  isSlow = false;
  readonly files = new Map<string, string>();
  readonly told: string[] = [];
  /** Answers that were given up. */
  readonly lost = new Map<TurnId, string>();
  readonly removed: string[] = [];
  /** Turns do their work and stay open, as parked ones do. */
  holdsTurns = false;
  /** Approvals that turns wait for. */
  readonly questions = new Map<TurnId, string>();
  readonly admitted: InboundMessage[] = [];

  constructor(home: string, clock: ManualClock, ran: Life["ran"]) {
    this.home = home;
    this.clock = clock;
    this.ran = ran;
  }

  async open(): Promise<this> {
    const { clock } = this;
    const ids = randomIds(clock);
    this.records = await openRecords(join(this.home, "lares.db"), (error) => this.engine.lose(error));
    const places = { interactive: 50, scheduled: 50, background: 50 };
    this.engine = new EmbeddedEngine({
      records: this.records,
      clock,
      ids,
      crash: noCrash,
      guard: noGuard,
      log: silentLog,
      places,
    });
    const results = new Map<string, TurnResult>();
    this.finish = async (turn) => {
      results.set(turn, pretend<TurnResult>({ state: "answered", text: "", notices: [] }));
      await this.schedules.ended(turn);
    };
    this.schedules = new Schedules({
      records: this.records,
      clock,
      ids,
      bus: makeBus(),
      hooks: noHooks,
      log: silentLog,
      zone: () => "Europe/Lisbon",
      recipient: async (_agent, { channel }) => `a chat on ${channel}`,
      timer: (id, slot) => this.engine.schedule(id, slot),
      admit: async (m: InboundMessage) => {
        this.admitted.push(m);
        const body = { kind: "message", text: m.text, key: m.idempotencyKey! };
        const message = { id: `key:${m.idempotencyKey}`, session: m.session!, lane: "scheduled" as const, body };
        const accepted = await this.engine.accept(message);
        if (this.isSlow) await this.rest();
        return accepted;
      },
      crash: noCrash,
      obstacle: ({ agent, route, model }) => {
        const missing = (message: string) => new AppError("BAD_REQUEST", { message });
        if (agent !== "main") return missing(`There is no agent "${agent}".`);
        if (route && route.channel !== "webhook") return missing("Nothing can be delivered there.");
        return model === undefined || this.hasKey ? undefined : missing("There is no key.");
      },
      question: async (turn) => this.questions.get(turn),
      withdraw: async (isMeant, because) => {
        const codes: string[] = [];
        for (const [turn, code] of this.questions) {
          const { session } = this.admitted.at(-1)!;
          if (await isMeant({ turn, session: session! })) codes.push(code);
        }
        if (codes.length) this.told.push(because);
        return codes;
      },
      files: {
        mark: async (_agent, path) => this.files.get(path) ?? null,
        leave: async (_agent, name, text) => {
          this.files.set(name, text);
          return name;
        },
      },
      tell: (_tx, word) => void this.told.push(word.text),
      lost: async (of) =>
        [...this.lost]
          .filter(([turn]) => !("turn" in of) || of.turn === turn)
          .map(([turn, error]) => ({ turn, error })),
      wake: () => {},
      removeSession: async (session) => {
        this.removed.push(session);
        return true;
      },
      turn: async (turn) => {
        const result = results.get(turn);
        const open = this.questions.has(turn) ? "parked" : "running";
        return { state: result?.state ?? open, result };
      },
    });
    await this.engine.start({
      version: "1",
      segment: async (ctx, input) => {
        const body = input.body as SlotBody | { kind: "message"; key: string; text: string };
        if (body.kind === "slot") return this.schedules.fire(ctx, body);
        const done = await ctx.effect(
          "work",
          async () => {
            this.ran.push({ key: body.key, text: body.text, at: clock.now() });
            return null;
          },
          { repeat: "never" },
        );
        // Killed between intent and act: the engine says so, and nobody runs it again.
        if ("unknown" in done && !this.ran.some((r) => r.key === body.key)) this.unknown.add(body.key);
        if (this.holdsTurns) return { end: null as Json };
        results.set(input.turn, { state: "answered", text: "", notices: [], ...this.outcome } as TurnResult);
        return { end: null as Json };
      },
      settled: (turn: TurnId) => void this.schedules.ended(turn).catch(() => {}),
    });
    await this.schedules.settle();
    return this;
  }

  /** The process is gone; nothing was drained. */
  async kill(): Promise<Life> {
    this.engine.lose(new AppError("NOT_READY", { message: "killed" }));
    this.records.close();
    const next = new Life(this.home, this.clock, this.ran);
    for (const key of this.unknown) next.unknown.add(key);
    return next.open();
  }

  /** Lets everything that is due come to rest. */
  async rest(): Promise<void> {
    await comeToRest(this.records);
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.rest();
  }
}

const homes: string[] = [];
const newHome = () => {
  const home = mkdtempSync(join(tmpdir(), "lares-schedule-"));
  homes.push(home);
  return home;
};
const begin = () => new Life(newHome(), new ManualClock(START), []).open();
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

describe("an agent that adds jobs without end", () => {
  const job = (n: number, madeIn: string) => ({
    agent: "main",
    name: `job ${n}`,
    in: "2 hours",
    prompt: "look",
    createdBy: `tool ${n}`,
    madeIn,
  });

  test("is stopped in its turn, also when its calls come at once, and told how to go on", async () => {
    const life = await begin();
    const calls = Array.from({ length: 50 }, (_, n) => life.schedules.addInTurn(job(n, "turn 1")));
    const done = await Promise.allSettled(calls);
    expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(MOST_JOBS_PER_TURN);
    await expect(life.schedules.checkRoom("main", "turn 1")).rejects.toMatchObject({
      message: expect.stringContaining(String(MOST_JOBS_PER_TURN)),
      hint: expect.stringContaining("every, cron"),
    });
    await life.schedules.addInTurn(job(50, "turn 2"));
  });

  test("is stopped at the most it may have open; another agent and people are not", async () => {
    const life = await begin();
    for (let n = 0; n < MOST_OPEN_JOBS; n++)
      await life.schedules.addInTurn(job(n, `turn ${Math.floor(n / MOST_JOBS_PER_TURN)}`));
    await expect(life.schedules.addInTurn(job(900, "late"))).rejects.toMatchObject({
      message: expect.stringContaining(String(MOST_OPEN_JOBS)),
      hint: expect.stringContaining("schedule_remove"),
    });
    await life.schedules.checkRoom("other", "late");
    await life.schedules.add({ in: "2 hours", prompt: "look", createdBy: "a person" });
    await life.schedules.remove("job 0");
    await life.schedules.remove("job 1");
    await life.schedules.addInTurn(job(902, "late"));
  });
});

describe("a job", () => {
  test("set for later runs once, at its time, in a session of its own", async () => {
    const life = await begin();
    const job = await life.schedules.add({ in: "2 minutes", prompt: "drink water", createdBy: "t" });
    await life.pass(MIN);
    expect(life.ran).toHaveLength(0);
    await life.pass(MIN + 5);
    expect(life.ran).toMatchObject([{ text: expect.stringContaining("drink water") }]);
    await life.pass(HOUR);
    expect(life.ran).toHaveLength(1);
    const [slot] = await life.schedules.history(job.name, 5);
    expect(slot).toMatchObject({ state: "done" });
  });

  test("whose turn ended before its slot knew it ends with it all the same", async () => {
    const life = await begin();
    life.isSlow = true;
    await life.schedules.add({ in: "1 minute", prompt: "look", createdBy: "t", name: "look" });
    await life.pass(MIN);
    await life.rest();
    expect(await life.schedules.history("look", 5)).toMatchObject([{ state: "done" }]);
  });

  test("that repeats makes each slot ahead and runs each once", async () => {
    const life = await begin();
    const job = await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    expect(job.next).toBe(START + HOUR);
    for (let i = 0; i < 5; i++) await life.pass(HOUR);
    expect(life.ran.map((r) => r.key)).toEqual([1, 2, 3, 4, 5].map((n) => `slot:${job.id}:${START + n * HOUR}`));
    expect((await life.schedules.list())[0]!.next).toBe(START + 6 * HOUR);
  });

  test("overdue after a stop runs at the start; the missed ones are recorded with the reason (SCHEDULE-3)", async () => {
    let life = await begin();
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    life.engine.lose(new AppError("NOT_READY", { message: "down" }));
    life.records.close();
    life.clock.advance(3 * HOUR + 10 * MIN);
    life = await new Life(life.home, life.clock, life.ran).open();
    await life.rest();
    expect(life.ran).toHaveLength(1);
    const slots = await life.schedules.history("look", 10);
    expect(slots.map((s) => s.state)).toEqual(["pending", "done", "missed", "missed"]);
    expect(slots[2]!.reason).toMatch(/not running|slept/);
  });

  test("that is paused is skipped with a record, and comes back when it is resumed", async () => {
    const life = await begin();
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    await life.schedules.update("look", { enabled: false });
    await life.pass(3 * HOUR);
    expect(life.ran).toHaveLength(0);
    const resumed = await life.schedules.update("look", { enabled: true });
    expect(resumed.next).toBe(START + 4 * HOUR);
    await life.pass(HOUR);
    expect(life.ran).toHaveLength(1);
  });

  test("whose run waits for an approval is skipped until that is answered: one open question a job (SCHEDULE-7)", async () => {
    const life = await begin();
    const job = await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    life.holdsTurns = true;
    await life.pass(HOUR);
    const [first] = (await life.schedules.history("look", 5)).filter((slot) => slot.turn);
    life.questions.set(first!.turn!, "abc123");
    await life.pass(HOUR);
    await life.pass(HOUR);
    const waiting = await life.schedules.history("look", 5);
    expect(waiting.map((slot) => slot.state)).toEqual(["pending", "skipped", "skipped", "parked"]);
    expect(waiting[1]!.reason).toBe("The previous run is still waiting for approval (abc123).");
    expect((await life.schedules.get("look")).last).toMatchObject({ state: "parked", approval: "abc123" });
    // Answered: the run ends, and the next slot runs again.
    life.questions.clear();
    life.holdsTurns = false;
    await life.finish(first!.turn!);
    await life.pass(HOUR);
    expect((await life.schedules.history("look", 1))[0]!.due).toBe(job.next! + 4 * HOUR);
    expect((await life.schedules.history("look", 5)).map((slot) => slot.state)).toEqual([
      ...["pending", "done", "skipped", "skipped", "done"],
    ]);
  });

  test("that somebody starts twice asks once, and is shown as waiting", async () => {
    const life = await begin();
    await life.schedules.add({ every: "1 day", prompt: "look", createdBy: "t", name: "look" });
    life.holdsTurns = true;
    const [first, second] = await Promise.allSettled([life.schedules.run("look"), life.schedules.run("look")]);
    const { turn } = (first as PromiseFulfilledResult<{ turn: TurnId }>).value;
    expect(second).toMatchObject({ reason: { code: "CONFLICT", message: '"look" is already running.' } });
    life.questions.set(turn, "abc123");
    await expect(life.schedules.run("look")).rejects.toMatchObject({
      message: 'The last run of "look" is still waiting for your approval (abc123).',
      hint: expect.stringContaining("lares approve abc123"),
    });
    expect(life.admitted).toHaveLength(1);
    expect((await life.schedules.get("look")).last).toMatchObject({ state: "parked", approval: "abc123" });
    expect((await life.schedules.history("look", 1))[0]).toMatchObject({ state: "pending" });
    expect((await life.schedules.history("look", 2))[1]).toMatchObject({ state: "parked", approval: "abc123" });
    // Answered: it can be started again.
    life.questions.clear();
    life.holdsTurns = false;
    await life.finish(turn);
    await life.schedules.run("look");
    expect(life.admitted).toHaveLength(2);
  });

  test("that runs once leaves the list when it is over; its history stays and its name is free", async () => {
    let life = await begin();
    await life.schedules.add({ in: "5 minutes", prompt: "drink", createdBy: "t", name: "water" });
    await life.schedules.add({ every: "1 day", prompt: "look", createdBy: "t", name: "look" });
    const names = async (finished: boolean) =>
      (await life.schedules.page({ limit: 10, finished })).jobs.map((job) => job.name);
    expect(await names(false)).toEqual(["water", "look"]);
    await life.pass(5 * MIN);
    life = await life.kill();
    expect(await names(false)).toEqual(["look"]);
    expect(await names(true)).toEqual(["look", "water"]);
    expect((await life.schedules.page({ limit: 10 })).total).toBe(1);
    expect(await life.schedules.history("water", 5)).toMatchObject([{ state: "done" }]);
    await life.schedules.add({ in: "1 hour", prompt: "drink more", createdBy: "t", name: "water" });
    expect(await names(false)).toEqual(["water", "look"]);
    expect(await life.schedules.history("water", 5)).toMatchObject([{ state: "pending" }, { state: "done" }]);
    // What nobody will look at any more goes after its time.
    await life.pass(HOUR);
    life.clock.advance(100 * 24 * HOUR);
    await life.schedules.sweep();
    expect(await names(true)).toEqual(["look"]);
  });

  test("that runs once and failed for good stays on the list", async () => {
    const life = await begin();
    life.outcome = { state: "failed", failure: "unknown-outcome", reason: "nobody knows" };
    await life.schedules.add({ in: "5 minutes", prompt: "drink", createdBy: "t", name: "water" });
    await life.pass(5 * MIN);
    expect(await life.schedules.page({ limit: 10 })).toMatchObject({ jobs: [{ name: "water" }] });
  });

  test.each([
    ["whose script ended with a code", { failure: "script", reason: "exit code 3" }, {}],
    ["that was denied, or not answered in time", { failure: "not-allowed", reason: "denied" }, {}],
    ["whose script took too long", { failure: "timeout", reason: "too long" }, { script: "sleep 9" }],
  ] as const)("that runs once and %s is not run again: that is its result (SCHEDULE-18)", async (_what, how, given) => {
    const life = await begin();
    life.outcome = { state: "failed", ...how };
    const job = "script" in given ? given : { prompt: "drink" };
    await life.schedules.add({
      in: "5 minutes",
      ...job,
      createdBy: "t",
      name: "once",
      route: { channel: "webhook", account: "a", chat: "c" },
    });
    for (let i = 0; i < 60; i++) await life.pass(MIN);
    expect(life.ran).toHaveLength(1);
    const [shown] = (await life.schedules.page({ limit: 10 })).jobs;
    expect(shown).toMatchObject({ name: "once", last: { state: "failed", reason: how.reason } });
    expect(shown!.next).toBeUndefined();
    // A second failure, which would be told, doesn't come.
    expect(life.told).toEqual([
      expect.stringMatching(/"once" failed: .* It isn't tried again\. .*schedule run "once"/),
    ]);
  });

  test("that runs once and failed for a reason that passes is tried again", async () => {
    const life = await begin();
    life.outcome = { state: "failed", failure: "timeout", reason: "too long" };
    await life.schedules.add({ in: "5 minutes", prompt: "drink", createdBy: "t", name: "once" });
    await life.pass(5 * MIN);
    life.outcome = { state: "answered" };
    await life.pass(30_000);
    expect(life.ran).toHaveLength(2);
  });

  test("is put off: what runs once comes again, what repeats keeps its times and comes once more, over a kill", async () => {
    let life = await begin();
    await life.schedules.add({ in: "5 minutes", prompt: "drink", createdBy: "t", name: "water" });
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    await life.pass(5 * MIN);
    const again = await life.schedules.snooze("water", { in: "10 minutes" }, "k1");
    const beside = await life.schedules.snooze("look", { in: "10 minutes" }, "k2");
    expect((await life.schedules.snooze("look", { in: "10 minutes" }, "k2")).id).toBe(beside.id);
    life = await life.kill();
    expect(again).toMatchObject({ name: "water", next: START + 15 * MIN });
    expect(beside.name).toMatch(/^look, again /);
    await life.pass(10 * MIN);
    expect(life.ran.map((run) => run.text.replace(/.*\] /, ""))).toEqual(["drink", "drink", "look"]);
    expect((await life.schedules.get("look")).next).toBe(START + HOUR);
    await expect(life.schedules.snooze("look", { at: "every day" }, "k3")).rejects.toThrow(/time repeats/);
  });

  test("a single run that isn't due yet is not pulled forward by a snooze: it keeps its time and says which one to give", async () => {
    const life = await begin();
    const { next, zone } = await life.schedules.add({ in: "20 hours", prompt: "drink", createdBy: "t", name: "water" });
    for (const given of [{ in: "1 hour" }, { at: "in 1 hour" }])
      await expect(life.schedules.snooze("water", given, "k")).rejects.toThrow(/isn't due until/);
    expect((await life.schedules.get("water")).next).toBe(next);
    const refusal = await life.schedules.snooze("water", { in: "1 hour" }, "k").catch((error: AppError) => error.hint);
    const time = /"(.+)"/.exec(String(refusal))![1]!;
    expect((await life.schedules.snooze("water", { at: time, zone }, "k")).next).toBe(next! + HOUR);
  });

  test("of Lares' own that is set otherwise keeps its id and what it did", async () => {
    const life = await begin();
    const given = { name: "heartbeat:main", kind: "beat" as const, prompt: "look" };
    await life.schedules.ensure({ ...given, every: "30 minutes", createdBy: "v1" });
    await life.pass(30 * MIN);
    const before = await life.schedules.get("heartbeat:main");
    await life.schedules.ensure({ ...given, every: "1 hour", createdBy: "v2" });
    const after = await life.schedules.get("heartbeat:main");
    expect(after).toMatchObject({ id: before.id, next: START + 90 * MIN, recent: [{ state: "skipped" }] });
    expect(before.recent).toHaveLength(1);
  });

  test("that fails waits longer each time, is paused after five, and is not forgotten", async () => {
    const life = await begin();
    life.outcome = { state: "failed", reason: "no key" };
    await life.schedules.add({ every: "10 seconds", prompt: "look", createdBy: "t", name: "look" });
    for (let i = 0; i < 400; i++) await life.pass(10_000);
    expect(life.ran).toHaveLength(5);
    const gaps = life.ran.slice(1).map((r, i) => r.at - life.ran[i]!.at);
    expect(gaps).toEqual([30_000, 60_000, 300_000, 900_000]);
    const [job] = await life.schedules.list();
    expect(job).toMatchObject({ enabled: false, failures: 5, last: { state: "failed", reason: "no key" } });
  });

  test.each([
    [{ at: "2020-01-01", prompt: "x" }, /past/],
    [{ cron: "nonsense", prompt: "x" }, /isn't a cron expression/],
    [{ in: "1 hour", prompt: "x", agent: "nobody" }, /no agent/],
    [{ in: "1 hour", prompt: "x", route: { channel: "fax", account: "a", chat: "c" } }, /Nothing can be delivered/],
  ])("%j is refused when it is made, and nothing is kept", async (given, words) => {
    const life = await begin();
    await expect(life.schedules.add(pretend({ ...given, createdBy: "t" }))).rejects.toThrow(words);
    expect(await life.schedules.list()).toEqual([]);
  });

  test("is found page by page, the next due first and what will not come last, whatever runs meanwhile", async () => {
    const life = await begin();
    for (const [i, name] of ["f", "a", "e", "b", "d", "c"].entries()) {
      await life.schedules.add({ every: `${i + 1} hours`, prompt: "look", createdBy: "t", name });
    }
    await life.schedules.add({ in: "30 minutes", prompt: "look", createdBy: "t", name: "once" });
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "paused", enabled: false });
    const first = await life.schedules.page({ limit: 3, finished: true });
    expect(first).toMatchObject({ total: 8, planned: 7 });
    // The first one runs and goes to the end of the list.
    await life.pass(31 * MIN);
    const found = first.jobs.map((job) => job.name);
    for (let { cursor } = first; cursor; ) {
      const page = await life.schedules.page({ limit: 3, finished: true, cursor });
      found.push(...page.jobs.map((job) => job.name));
      cursor = page.cursor as string;
    }
    expect(found).toEqual(["once", "f", "a", "e", "b", "d", "c", "once", "paused"]);
    expect((await life.schedules.page({ limit: 9, search: "PAUS" })).jobs).toMatchObject([{ name: "paused" }]);
    expect(await life.schedules.page({ limit: 9, agent: "other" })).toEqual({ jobs: [], total: 0, planned: 0 });
    await expect(life.schedules.page({ limit: 9, cursor: "x" })).rejects.toThrow(/isn't a cursor/);
    // Lares' own jobs are nobody's work.
    await life.schedules.ensure({
      every: "1 hour",
      prompt: "look",
      createdBy: "t",
      name: "heartbeat:main",
      kind: "beat",
    });
    expect((await life.schedules.list({ kind: "beat" })).map((job) => job.name)).toEqual(["heartbeat:main"]);
    expect((await life.schedules.page({ limit: 1, finished: true })).total).toBe(8);
    expect(await life.schedules.list()).toHaveLength(8);
    const { jobs, left } = await life.schedules.calendar(START, START + 3 * HOUR + 1);
    expect([jobs.map(({ job }) => job.name), left]).toEqual([["f", "a", "e"], 0]);
  });

  test("declared in the file follows the file", async () => {
    const life = await begin();
    const one = {
      name: "a",
      every: "1 hour",
      prompt: "x",
      session: "isolated",
      catchUp: "once",
      enabled: true,
    } as const;
    await life.schedules.declare([one]);
    const [before] = await life.schedules.list();
    await life.schedules.declare([one]);
    expect((await life.schedules.list())[0]).toEqual(before);
    await life.schedules.declare([{ ...one, prompt: "y" }]);
    expect((await life.schedules.list())[0]).toMatchObject({ id: before!.id, prompt: "y" });
    await life.schedules.declare([]);
    expect(await life.schedules.list()).toEqual([]);
  });
});

describe("what it needs and gets", () => {
  test("a missing key is found without a run, told at once, and told again only when it changes (SCHEDULE-5)", async () => {
    const life = await begin();
    const route = { channel: "webhook", account: "a", chat: "c" };
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look", route });
    life.hasKey = false;
    for (let i = 0; i < 3; i++) await life.pass(HOUR);
    expect(life.ran).toHaveLength(0);
    const slots = (await life.schedules.history("look", 10)).filter((s) => s.state === "failed");
    expect(slots.map((s) => s.reason)).toEqual(Array(3).fill("There is no key."));
    expect(life.told).toEqual([expect.stringMatching(/"look" failed: There is no key/)]);
    life.hasKey = true;
    await life.pass(HOUR);
    expect((await life.schedules.list())[0]).toMatchObject({ failures: 0, last: { state: "done" } });
    life.hasKey = false;
    await life.pass(HOUR);
    expect(life.told).toHaveLength(2);
  });

  test("a watched file that did not change is a skipped slot; changed, it runs once", async () => {
    const life = await begin();
    life.files.set("in.txt", "1");
    const condition = { changed: "in.txt" };
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look", condition });
    await life.pass(HOUR);
    life.files.set("in.txt", "2");
    await life.pass(HOUR);
    await life.pass(HOUR);
    const states = (await life.schedules.history("look", 10)).reverse().map((s) => [s.state, s.reason]);
    expect(states.slice(0, 3)).toEqual([
      ["skipped", "in.txt did not change."],
      ["done", null],
      ["skipped", "in.txt did not change."],
    ]);
  });

  test("times that pass while it waits after a failure have a record that says how far it goes", async () => {
    const life = await begin();
    life.outcome = { state: "failed", reason: "overloaded", failure: "overload" };
    await life.schedules.add({ every: "10 seconds", prompt: "look", createdBy: "t", name: "look" });
    await life.pass(10_000);
    const [next, waits, first] = await life.schedules.history("look", 5);
    expect(first).toMatchObject({ state: "failed", due: START + 10_000 });
    expect(waits).toMatchObject({ state: "skipped", due: START + 20_000, reason: expect.stringMatching(/until 2026/) });
    expect(next).toMatchObject({ state: "pending", due: START + 40_000 });
  });

  test("an outcome nobody knows is not tried again; a run's session goes when its time is over", async () => {
    const life = await begin();
    life.outcome = { state: "failed", reason: "Outcome unknown", failure: "unknown-outcome" };
    await life.schedules.add({ in: "1 minute", script: "pay", createdBy: "t", name: "pay", keepHours: 2 });
    await life.pass(2 * MIN);
    await life.pass(2 * HOUR);
    expect(life.ran).toHaveLength(1);
    expect(await life.schedules.sweep()).toBe(1);
    expect(life.removed).toEqual([expect.stringMatching(/^cron:job\w*:run:/)]);
    expect(await life.schedules.sweep()).toBe(0);
  });

  test("each message says its due time and terms; another job's output comes along as outside text", async () => {
    const life = await begin();
    life.outcome = { state: "answered", text: "42" };
    await life.schedules.add({ every: "1 hour", script: "count", createdBy: "t", name: "count" });
    const wishes = { input: "count", thinking: "high", timeoutS: 60, budget: { dollars: 1 } } as const;
    await life.schedules.add({ every: "90 minutes", prompt: "tell", createdBy: "t", name: "tell", ...wishes });
    await life.pass(HOUR);
    await life.pass(30 * MIN);
    const [script, told] = life.admitted;
    expect(script).toMatchObject({ terms: { script: "count", keeps: "failures", timeoutMs: 600_000 } });
    const text = 'Scheduled: "tell", due 2026-11-15 11:30; your answer is stored and sent to nobody';
    expect(told).toMatchObject({
      text: "tell",
      about: { label: { kind: "schedule", text, of: "tell" } },
      more: [{ label: { text: 'Output of "count"' }, text: "42", isMaterial: true }],
      outside: true,
      terms: { thinking: "high", timeoutMs: 60_000, budget: { dollars: 1 } },
    });
  });
});

describe("the clock", () => {
  test.each([
    ["once", ["missed", "missed", "missed", "missed", "missed", "missed", "missed", "missed", "done"]],
    ["all", Array(9).fill("done")],
    ["skip", Array(9).fill("missed")],
  ] as const)("a lid closed for nine hours, %s: every hour has its end", async (catchUp, ends) => {
    const life = await begin();
    await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look", catchUp });
    await life.pass(9 * HOUR + 5 * MIN);
    for (let i = 0; i < 20; i++) await life.rest();
    const slots = (await life.schedules.history("look", 20)).reverse();
    expect(slots.map((s) => s.state)).toEqual([...ends, "pending"]);
    expect(slots.at(-1)!.due).toBe(START + 10 * HOUR);
  });

  test("set back, nothing runs a second time; set on, what was jumped over is said", async () => {
    const life = await begin();
    const job = await life.schedules.add({ every: "1 hour", prompt: "look", createdBy: "t", name: "look" });
    for (let i = 0; i < 3; i++) await life.pass(HOUR);
    await life.pass(-2 * HOUR);
    for (let i = 0; i < 2; i++) await life.pass(HOUR);
    expect(life.ran).toHaveLength(3);
    await life.pass(HOUR);
    await life.pass(5 * HOUR);
    const slots = (await life.schedules.history("look", 20)).reverse().filter((s) => s.state !== "pending");
    expect(slots.map((s) => s.due)).toEqual(slots.map((_, i) => START + (i + 1) * HOUR));
    expect(slots.map((s) => s.state)).toEqual([...Array(4).fill("done"), ...Array(4).fill("missed"), "done"]);
    expect(life.ran.map((r) => r.key)).toEqual(
      slots.filter((s) => s.state === "done").map((s) => `slot:${job.id}:${s.due}`),
    );
  });

  /** Times that no clock shows on one day of the year, or that it shows twice. */
  const turns: [zone: string, cron: string][] = [
    ["Europe/Lisbon", "30 1 * * *"],
    ["America/New_York", "30 2 * * *"],
    ["Australia/Lord_Howe", "45 1 * * *"],
    ["Australia/Lord_Howe", "15 2 * * *"],
    ["America/Santiago", "30 0 * * *"],
    ["Africa/Casablanca", "30 2 * * *"],
  ];
  test("a year in five zones of times that clock changes touch: each day once", async () => {
    const from = Date.parse("2026-01-01T12:00:00Z");
    const life = await new Life(newHome(), new ManualClock(from), []).open();
    const jobs = new Map<string, string>();
    for (const [zone, cron] of turns) {
      const name = `${zone} ${cron}`;
      jobs.set(name, zone);
      await life.schedules.add({ cron, zone, prompt: "look", createdBy: "t", name, catchUp: "skip" });
    }
    const zones = [...new Set(jobs.values())];
    // From due time to due time around every clock change; with LARES_WHOLE_YEAR all year, else the rest is slept through.
    const end = from + 365 * 24 * HOUR;
    const isNear = (at: number) =>
      process.env.LARES_WHOLE_YEAR !== undefined ||
      zones.some((zone) => offset(at - 30 * HOUR, zone) !== offset(at + 30 * HOUR, zone));
    for (;;) {
      const due = Math.min(...(await life.schedules.list()).map((job) => job.next!));
      if (due >= end) break;
      let to = due;
      while (to < end && !isNear(to)) to += 24 * HOUR;
      await life.pass(Math.min(to, end) - life.clock.now());
    }
    await life.rest();
    for (const [name, zone] of jobs) {
      const slots = (await life.schedules.history(name, 1000)).reverse().filter((s) => s.state !== "pending");
      const days = slots.map((s) => new Date(s.due).toLocaleDateString("en-CA", { timeZone: zone }));
      expect(new Set(days).size, name).toBe(days.length);
      expect(days.length, name).toBe(365);
      expect(slots.filter((s) => s.state === "done").length, name).toBeGreaterThanOrEqual(
        process.env.LARES_WHOLE_YEAR ? 365 : 15,
      );
      for (const s of slots) expect(["done", "missed"], `${name} ${s.due}`).toContain(s.state);
    }
    const keys = life.ran.map((r) => r.key);
    expect(new Set(keys).size).toBe(keys.length);
  }, 300_000);
});

/** Minutes a zone is ahead of UTC. */
function offset(at: number, zone: string): number {
  const wall = new Date(new Date(at).toLocaleString("en-US", { timeZone: zone }));
  return Math.round(
    (wall.getTime() - new Date(new Date(at).toLocaleString("en-US", { timeZone: "UTC" })).getTime()) / MIN,
  );
}

test("each slot exactly once or explicitly missed, over random kills, sleeps and clock jumps (SCHEDULE-1, property) (SCHEDULE-2)", async () => {
  const event = fc.oneof(
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 3 * HOUR }) }),
    fc.record({ do: fc.constant("kill" as const), ms: fc.integer({ min: 0, max: 9 * HOUR }) }),
    fc.record({ do: fc.constant("back" as const), ms: fc.integer({ min: 1, max: HOUR }) }),
    fc.record({ do: fc.constant("kill-at-fire" as const), ms: fc.integer({ min: 0, max: 5 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), async (events) => {
      let life = await begin();
      const job = await life.schedules.add({ every: "30 minutes", prompt: "look", createdBy: "t", name: "look" });
      for (const e of events) {
        if (e.do === "pass") await life.pass(e.ms);
        else if (e.do === "back") await life.pass(-e.ms);
        else if (e.do === "kill") {
          life.clock.advance(e.ms);
          life = await life.kill();
        } else {
          const due = (await life.schedules.list())[0]!.next!;
          life.clock.advance(Math.max(due - life.clock.now(), 0));
          for (let i = 0; i < e.ms; i++) await new Promise((resolve) => setImmediate(resolve));
          life = await life.kill();
        }
      }
      life = await life.kill();
      await life.pass(31 * MIN);
      const keys = life.ran.map((r) => r.key);
      expect(new Set(keys).size).toBe(keys.length);
      const slots = (await life.schedules.history("look", 1000)).reverse();
      const closed = slots.filter((s) => s.state !== "pending");
      // From the first slot on there is a row for every half hour, and no row between.
      expect(closed.map((s) => s.due)).toEqual(closed.map((_, i) => START + (i + 1) * 30 * MIN));
      for (const s of closed) {
        if (s.state === "missed" || s.state === "skipped") expect(s.reason).toBeTruthy();
        else expect([...keys, ...life.unknown]).toContain(`slot:${job.id}:${s.due}`);
      }
      life.engine.lose(new AppError("NOT_READY", { message: "done" }));
      life.records.close();
    }),
    { numRuns: Number(process.env.LARES_PROPERTY_RUNS ?? 40) },
  );
}, 180_000);
