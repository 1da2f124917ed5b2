/** Sub-agents on the real engine and records; a "kill" leaves the engine without a stop. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { CANCEL, Stopped } from "../../core/contracts/index.ts";
import { AppError, asId, type Json, type SessionKey, type TurnId, type TurnResult } from "../../core/domain/index.ts";
import { ManualClock, noCrash, randomIds, silentLog } from "../../core/kit/index.ts";
import { EmbeddedEngine } from "../../ground/engine/index.ts";
import { openRecords, type SqliteRecords } from "../../ground/records/index.ts";
import { Children, type DeadlineBody, teamsConfig } from "./index.ts";

const ROUTE = { channel: "http", account: "owner", chat: "ana" };
const PARENT = { agent: "main", session: "agent:main:main", turn: "t_parent", route: ROUTE };

/** One life of the process. `told` is what the parent's session was given, over all lives. */
class Life {
  records!: SqliteRecords;
  engine!: EmbeddedEngine;
  children!: Children;
  readonly results: Map<string, TurnResult>;
  readonly told: string[];
  readonly home: string;
  readonly clock: ManualClock;
  /** Children work until this is called. */
  release: () => void = () => {};
  private work: Promise<void>;

  constructor(home: string, clock: ManualClock, told: string[] = [], results = new Map<string, TurnResult>()) {
    this.home = home;
    this.clock = clock;
    this.told = told;
    this.results = results;
    this.work = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async open(): Promise<this> {
    const { clock } = this;
    this.records = await openRecords(join(this.home, "lares.db"), (error) => this.engine.lose(error));
    const places = { interactive: 50, scheduled: 50, background: 50 };
    const ids = randomIds(() => clock.now());
    this.engine = new EmbeddedEngine({ records: this.records, clock, ids, crash: noCrash, log: silentLog, places });
    this.children = new Children({
      records: this.records,
      clock,
      config: () => teamsConfig.parse({ atOnce: 3, depth: 2 }),
      admit: (m) =>
        this.engine.accept({
          id: m.idempotencyKey!,
          session: m.session!,
          lane: m.lane ?? "interactive",
          body: { kind: "message", text: m.text, child: m.session!.startsWith("sub:") },
        }),
      // What the events room promises: durable, once for each key, the record with it.
      tell: async (told, record) => {
        await this.records.write(record);
        await this.engine.accept({
          id: told.key,
          session: told.session,
          lane: "interactive",
          body: { kind: "message", text: `[${told.label}]\n${told.body}`, child: false },
        });
      },
      hasReadOutside: async () => false,
      stop: async (turn) => void (await this.engine.resume(turn, { id: `stop:${turn}`, name: CANCEL, value: null })),
      timer: (id, slot) => this.engine.schedule(id, slot),
      agentExists: (agent) => agent === "main",
      result: async (turn) => this.results.get(turn),
    });
    await this.engine.start({
      version: "1",
      segment: async (ctx, input) => {
        const body = input.body as { kind: "message"; text: string; child: boolean } | DeadlineBody;
        if (body.kind === "child-deadline") {
          await this.children.overdue(body);
          return { end: null as Json };
        }
        const result: TurnResult = {
          state: "answered",
          text: `did: ${body.text}`,
          notices: [],
        } as unknown as TurnResult;
        if (body.child) {
          try {
            const stopped = new Promise((_, reject) =>
              ctx.stopping.addEventListener("abort", () => reject(new Stopped())),
            );
            await ctx.step("work", () => Promise.race([this.work.then(() => null), stopped]) as Promise<null>);
          } catch (error) {
            if (!(error instanceof Stopped)) throw error;
            Object.assign(result, { state: "stopped", text: "", reason: "Stopped." });
          }
        } else this.told.push(body.text);
        this.results.set(input.turn, result);
        return { end: null as Json };
      },
      settled: (turn: TurnId) => void this.children.ended(turn).catch(() => {}),
    });
    await this.children.settle();
    return this;
  }

  async kill(): Promise<Life> {
    this.engine.lose(new AppError("NOT_READY", { message: "killed" }));
    this.records.close();
    return new Life(this.home, this.clock, this.told, this.results).open();
  }

  async until(done: () => boolean | Promise<boolean>): Promise<void> {
    for (let i = 0; i < 2000; i++) {
      if (await done()) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error("it never came to that");
  }
}

const homes: string[] = [];
const begin = () => {
  const home = mkdtempSync(join(tmpdir(), "lares-teams-"));
  homes.push(home);
  return new Life(home, new ManualClock()).open();
};
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});
const spawn = (life: Life, key: string, caller = PARENT) => life.children.spawn({ key, task: `task ${key}`, caller });

describe("a child", () => {
  test("works beside its parent and its result is a message to the parent", async () => {
    const life = await begin();
    await spawn(life, "a");
    expect(life.told).toEqual([]);
    life.release();
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toMatch(/Result of the sub-agent.*answered[\s\S]*Task: task a[\s\S]*did:/);
  });

  test("asked for twice under one key is one child (C1)", async () => {
    const life = await begin();
    const first = await spawn(life, "a");
    expect(await spawn(life, "a")).toEqual(first);
    life.release();
    await life.until(() => life.told.length === 1);
  });

  test("three at work when the process is killed: every result arrives once (C2)", async () => {
    let life = await begin();
    for (const key of ["a", "b", "c"]) await spawn(life, key);
    life = await life.kill();
    life = await life.kill();
    life.release();
    await life.until(() => life.told.length === 3);
    life = await life.kill();
    await life.until(async () => (await life.children.list(PARENT.session)).every((c) => c.told === 1));
    expect(life.told).toHaveLength(3);
    expect(new Set(life.told).size).toBe(3);
  });

  test("that ended while nobody could be told is told at the next start, once (C2)", async () => {
    let life = await begin();
    const { turn } = await spawn(life, "a");
    // Its end is durable, the process dies before the parent hears of it.
    life.children.ended = async () => {};
    life.release();
    await life.until(() => life.results.has(turn));
    life = await life.kill();
    await life.until(() => life.told.length === 1);
    life = await life.kill();
    expect(life.told).toHaveLength(1);
  });

  test("may not be too many, nor too deep (C3)", async () => {
    const life = await begin();
    for (const key of ["a", "b", "c"]) await spawn(life, key);
    await expect(spawn(life, "d")).rejects.toThrow(/already run/);
    const inner = { ...PARENT, session: (await life.children.list(PARENT.session))[0]!.session };
    await spawn(life, "e", inner);
    const innermost = { ...PARENT, session: (await life.children.list(inner.session))[0]!.session };
    await expect(spawn(life, "f", innermost)).rejects.toThrow(/deep/);
  });

  test("past its deadline is stopped, and that is its result, also over a restart (C3)", async () => {
    let life = await begin();
    await spawn(life, "a");
    life = await life.kill();
    life.clock.advance(31 * 60_000);
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toContain("stopped");
  });

  test("stops when the turn that asked for it is stopped (C4)", async () => {
    const life = await begin();
    await spawn(life, "a");
    life.results.set(PARENT.turn, { state: "stopped", text: "", notices: [] } as unknown as TurnResult);
    await life.children.ended(asId<TurnId>(PARENT.turn));
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toContain("stopped");
  });

  test("is seen by its own ancestors and by nobody else", async () => {
    const life = await begin();
    const { session } = await spawn(life, "a");
    expect(await life.children.mayRead(PARENT.session, session)).toBe(true);
    expect(await life.children.mayRead(session, session)).toBe(true);
    expect(await life.children.mayRead(session, PARENT.session)).toBe(false);
    expect(await life.children.mayRead("agent:main:http:other:1" as SessionKey, session)).toBe(false);
  });
});
