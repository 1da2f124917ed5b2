/** Sub-agents on the real engine and records; a "kill" leaves the engine without a stop. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import { CANCEL, Stopped } from "../../core/contracts/index.ts";
import { AppError, asId, type Json, type TurnId, type TurnResult } from "../../core/domain/index.ts";
import { ManualClock, noCrash, noGuard, randomIds, silentLog } from "../../core/kit/index.ts";
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
  /** Whom each was told. */
  readonly toldTo: string[] = [];
  readonly home: string;
  readonly clock: ManualClock;
  quietSince: number | undefined;
  isGone = false;
  /** Turns that were begun and have no result. */
  readonly openTurns = new Map<TurnId, string>();
  config: object = {};
  says = (text: string) => `did: ${text}`;
  /** Children work until this is called. */
  release: () => void = () => {};
  private work!: Promise<void>;

  constructor(home: string, clock: ManualClock, told: string[] = [], results = new Map<string, TurnResult>()) {
    this.home = home;
    this.clock = clock;
    this.told = told;
    this.results = results;
    this.hold();
  }

  hold(): void {
    this.work = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async open(): Promise<this> {
    const { clock } = this;
    this.records = await openRecords(join(this.home, "lares.db"), (error) => this.engine.lose(error));
    const places = { interactive: 50, scheduled: 50, background: 50 };
    const ids = randomIds(clock);
    this.engine = new EmbeddedEngine({
      records: this.records,
      clock,
      ids,
      crash: noCrash,
      guard: noGuard,
      log: silentLog,
      places,
    });
    this.children = new Children({
      personBehind: async () => ({ standing: "known", name: "Bo" }),
      records: this.records,
      clock,
      config: () => teamsConfig.parse({ atOnce: 3, depth: 2, ...this.config }),
      admit: (m, record) =>
        this.engine.accept(
          {
            id: m.idempotencyKey!,
            session: m.session!,
            lane: m.lane ?? "interactive",
            body: {
              kind: "message",
              text: `[${m.about!.label!.text}]\n${m.text}`,
              child: m.session!.startsWith("sub:"),
            },
          },
          record,
        ),
      // What the events room promises: durable, once for each key, the record with it.
      tell: async (told, record) => {
        await this.records.write(record);
        this.toldTo.push(`${told.session}: ${told.label}`);
        await this.engine.accept({
          id: told.key,
          session: told.session,
          lane: "interactive",
          body: { kind: "message", text: `[${told.label}]\n${told.body}`, child: false },
        });
      },
      authorityIn: async () => "known" as const,
      hasReadOutside: async () => false,
      stop: async (turn) => void (await this.engine.resume(turn, { id: `stop:${turn}`, name: CANCEL, value: null })),
      timer: (id, slot) => this.engine.schedule(id, slot),
      open: async (session) => [...this.openTurns].filter(([, at]) => at === session).map(([turn]) => turn),
      agentExists: (agent) => agent === "main",
      findAgent: async (session) => (session.startsWith("agent:main:") ? "main" : undefined),
      turns: { read: async (turn) => ({ result: this.results.get(turn) }) },
      standing: async (turn) => ({
        open: !this.results.has(turn) && !this.isGone,
        parked: false,
        lastAt: this.quietSince ?? clock.now(),
      }),
    });
    await this.engine.start({
      version: "1",
      segment: async (ctx, input) => {
        const body = input.body as { kind: "message"; text: string; child: boolean } | DeadlineBody;
        if (body.kind === "child-deadline") {
          await this.children.overdue(body);
          return { end: null as Json };
        }
        this.openTurns.set(input.turn, ctx.session);
        const result: TurnResult = pretend<TurnResult>({
          state: "answered",
          text: this.says(body.text),
          notices: [],
        });
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
        this.openTurns.delete(input.turn);
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

  async settled(): Promise<void> {
    await comeToRest(this.records);
  }

  async until(done: () => boolean | Promise<boolean>): Promise<void> {
    for (let i = 0; i < 2000; i++) {
      if (await done()) return;
      await comeToRest(this.records, 1);
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

  test("asked for twice under one key is one child (SUB-AGENTS-1)", async () => {
    const life = await begin();
    const first = await spawn(life, "a");
    expect(await spawn(life, "a")).toEqual(first);
    life.release();
    await life.until(() => life.told.length === 1);
  });

  test("three at work when the process is killed: every result arrives once (SUB-AGENTS-2)", async () => {
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

  test("that ended while nobody could be told is told at the next start, once (SUB-AGENTS-2)", async () => {
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

  test("may not be too many, nor too deep (SUB-AGENTS-3)", async () => {
    const life = await begin();
    for (const key of ["a", "b", "c"]) await spawn(life, key);
    await expect(spawn(life, "d")).rejects.toThrow(/are already running/);
    const inner = { ...PARENT, session: (await life.children.list(PARENT.session))[0]!.session };
    await spawn(life, "e", inner);
    const innermost = { ...PARENT, session: (await life.children.list(inner.session))[0]!.session };
    await expect(spawn(life, "f", innermost)).rejects.toThrow(/deep/);
  });

  test("past its deadline is stopped, and that is its result, also over a restart (SUB-AGENTS-3)", async () => {
    let life = await begin();
    await spawn(life, "a");
    life = await life.kill();
    life.clock.advance(31 * 60_000);
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toContain("stopped");
  });

  test("stops when the turn that asked for it is stopped (SUB-AGENTS-4)", async () => {
    const life = await begin();
    await spawn(life, "a");
    life.results.set(PARENT.turn, pretend<TurnResult>({ state: "stopped", text: "", notices: [] }));
    await life.children.ended(asId<TurnId>(PARENT.turn));
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toContain("stopped");
  });

  const isStopped = pretend<TurnResult>({ state: "stopped", text: "", notices: [] });
  /** As a turn of the child itself asks for one. */
  const under = (child: { session: string; turn: TurnId }) => ({ ...PARENT, session: child.session, turn: child.turn });

  test("and its own helper stop with the turn at the top; each is told once, and to nobody who was stopped (SUB-AGENTS-4)", async () => {
    let life = await begin();
    const child = await spawn(life, "a");
    const helper = await spawn(life, "b", under(child));
    const other = await spawn(life, "c", { ...PARENT, turn: "t_other" });
    life.results.set(PARENT.turn, isStopped);
    await life.children.ended(asId<TurnId>(PARENT.turn));
    await life.until(() => life.told.length === 2);
    expect(life.toldTo.toSorted()).toEqual([
      `${PARENT.session}: Result of a sub-agent below one you asked for: stopped`,
      `${PARENT.session}: Result of the sub-agent you asked for: stopped`,
    ]);
    expect([child, helper, other].map(({ turn }) => life.results.get(turn)?.state)).toEqual([
      "stopped",
      "stopped",
      undefined,
    ]);
    // A turn that tells and is killed before its end is on the disk would tell again.
    await life.settled();
    life = await life.kill();
    life.release();
    await life.until(() => life.told.length === 3);
    expect(life.told[2]).toMatch(/answered[\s\S]*task c/);
  });

  test("that ended just before the stop is told as what it is; the helper it left at work stops (SUB-AGENTS-4)", async () => {
    const life = await begin();
    const child = await spawn(life, "a");
    life.release();
    await life.until(() => life.told.length === 1);
    life.hold();
    const helper = await spawn(life, "b", under(child));
    life.results.set(PARENT.turn, isStopped);
    await life.children.ended(asId<TurnId>(PARENT.turn));
    await life.until(() => life.results.has(helper.turn));
    expect(life.results.get(helper.turn)).toMatchObject({ state: "stopped" });
    await life.until(() => life.toldTo.length === 2);
    expect(life.toldTo[0]).toBe(`${PARENT.session}: Result of the sub-agent you asked for: answered`);
    expect(life.toldTo[1]).toContain(": stopped");
  });

  test("left at work by one that ended stops after a death, too, when the top was stopped (SUB-AGENTS-4)", async () => {
    let life = await begin();
    const child = await spawn(life, "a");
    life.release();
    await life.until(() => life.told.length === 1);
    life.hold();
    await spawn(life, "b", under(child));
    life.results.set(PARENT.turn, isStopped);
    life = await life.kill();
    await life.until(() => life.told.length === 2);
    expect(life.told[1]).toContain("stopped");
  });

  test("that writes to a session that writes to it has no end of ancestors", async () => {
    const life = await begin();
    life.config = { visibility: "agent" };
    const a = { ...PARENT, session: "agent:main:http:a:1" };
    const b = { ...PARENT, session: "agent:main:http:b:1" };
    await life.children.send({ key: "1", session: b.session, text: "x", caller: a });
    await life.children.send({ key: "2", session: a.session, text: "y", caller: b });
    expect(await life.children.ancestors(a.session)).toEqual(["main", "main"]);
    life.config = { visibility: "tree" };
    expect(await life.children.mayRead({ agent: "main", session: "agent:main:http:c:1" }, a.session)).toBe(false);
  });

  test("is seen by its own ancestors and by nobody else", async () => {
    const life = await begin();
    const { session } = await spawn(life, "a");
    const other = { agent: "main", session: "agent:main:http:other:1" };
    expect(await life.children.mayRead(PARENT, session)).toBe(true);
    expect(await life.children.mayRead({ agent: "main", session }, session)).toBe(true);
    expect(await life.children.mayRead({ agent: "main", session }, PARENT.session)).toBe(false);
    expect(await life.children.mayRead(other, session)).toBe(false);
    for (const deed of [
      life.children.send({ key: "s", session, text: "hello", caller: { ...PARENT, ...other } }),
      life.children.end(session, { ...PARENT, ...other }),
    ]) {
      await expect(deed).rejects.toThrow(/You have no sub-agent/);
    }
    life.config = { visibility: "agent" };
    expect(await life.children.mayRead({ agent: "main", session }, PARENT.session)).toBe(true);
    expect(await life.children.mayRead({ agent: "cook", session }, "agent:cook:main")).toBe(false);
  });

  test("stops when its parent was stopped and the process died before it heard (SUB-AGENTS-4)", async () => {
    let life = await begin();
    await spawn(life, "a");
    life.results.set(PARENT.turn, pretend<TurnResult>({ state: "stopped", text: "", notices: [] }));
    life = await life.kill();
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toContain("stopped");
  });

  test("that is quiet is reported once and goes on (SUB-AGENTS-5)", async () => {
    const life = await begin();
    await spawn(life, "a");
    life.quietSince = life.clock.now();
    for (let i = 0; i < 14; i++) {
      life.clock.advance(60_000);
      await life.settled();
    }
    expect(life.told).toHaveLength(1);
    expect(life.told[0]).toMatch(/done nothing for 10 minutes/);
    life.release();
    await life.until(() => life.told.length === 2);
    expect(life.told[1]).toContain("answered");
  });

  test("that ended and left no result is told as unknown, not waited for for ever (SUB-AGENTS-3)", async () => {
    const life = await begin();
    await spawn(life, "a");
    life.isGone = true;
    life.clock.advance(31 * 60_000);
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toMatch(/unknown[\s\S]*outcome is unknown/);
  });

  const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test("whose answer must fit a schema is asked once more when it does not, over a kill too", async () => {
    let life = await begin();
    const says = (text: string) =>
      text.startsWith("[Your answer doesn't fit, 30 min left]") ? '```json\n{"n": 3}\n```' : "three";
    life.says = says;
    await life.children.spawn({ key: "a", task: "count", result: SCHEMA, caller: PARENT });
    life = await life.kill();
    life.says = says;
    life.release();
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toMatch(/answered[\s\S]*Task: count\n\n\{"n":3\}$/);
    expect(await life.children.list(PARENT.session)).toHaveLength(1);
    life = await life.kill();
    expect(life.told).toHaveLength(1);
  });

  test("whose answer never fits is told as it is, with what is wrong", async () => {
    const life = await begin();
    life.says = () => '{"n": "three"}';
    await life.children.spawn({ key: "a", task: "count", result: SCHEMA, caller: PARENT });
    life.release();
    await life.until(() => life.told.length === 1);
    expect(life.told[0]).toMatch(/doesn't fit the schema: n must be a number[\s\S]*\{"n": "three"\}/);
    await expect(life.children.spawn({ key: "b", task: "x", result: { type: "odd" }, caller: PARENT })).rejects.toThrow(
      /isn't a JSON Schema/,
    );
  });

  test("that has ended takes more words and answers again; both results come", async () => {
    const life = await begin();
    const { session } = await spawn(life, "a");
    life.release();
    await life.until(() => life.told.length === 1);
    await life.children.send({ key: "s1", session, text: "and now this", caller: PARENT });
    await life.until(() => life.told.length === 2);
    expect(life.told[1]).toContain(
      'did: [Message from the agent main, asked by "Bo" (known), 30 min left]\nand now this',
    );
  });
});
