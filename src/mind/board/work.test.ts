/** The board's work on real records, with turns that end as the test says. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { testRecords } from "../../../test/support/records.ts";
import { comeToRest } from "../../../test/support/rest.ts";
import {
  asId,
  type InboundMessage,
  NO_USAGE,
  type SessionKey,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import { ManualClock, makeBus, noCrash, randomIds, silentLog } from "../../core/kit/index.ts";
import type { SqliteRecords } from "../../ground/records/index.ts";
import { Board, BoardWork, boardConfig } from "./index.ts";

const AGENT = {
  kind: "agent",
  name: "main",
  agent: "main",
  authority: "owner",
  session: asId<SessionKey>("agent:main:main"),
  route: { channel: "http", account: "owner", chat: "ana" },
} as const;
const OWNER = { kind: "person", name: "Ana", authority: "owner" } as const;
const PERSON = { who: "person", name: "Ana" } as const;
const STRING = { kind: "schema", schema: { type: "string" } } as const;

let records: SqliteRecords;
let clock: ManualClock;
let board: Board;
let work: BoardWork;
let settings: object;
const results = new Map<string, TurnResult>();
const admitted: (InboundMessage & { turn: TurnId })[] = [];
const told: string[] = [];
const unknown = new Set<string>();
let critic: string | undefined;
let tellFails = false;

function begin(): void {
  board = new Board({
    records,
    clock,
    ids: randomIds(clock),
    bus: makeBus(),
    config: () => boardConfig.parse(settings),
  });
  work = new BoardWork({
    board,
    records,
    clock,
    crash: noCrash,
    log: silentLog,
    config: () => boardConfig.parse(settings),
    members: () => [{ agent: "main", roles: [] }],
    defaultAgent: () => "main",
    async admit(message, record) {
      const turn = asId<TurnId>(`t_${admitted.length}`);
      await records.write((tx) => record(tx, turn));
      admitted.push({ ...message, turn });
      return { turn };
    },
    stop: async (turn) => void end(turn, { state: "stopped" }),
    result: async (turn) => results.get(turn),
    standing: async (turn) => ({ open: !results.has(turn), parked: false }),
    hasUnknown: async (turn) => unknown.has(turn),
    runtime: () => {},
    async tell(report, record) {
      if (tellFails) throw new Error("killed before it was told");
      await records.write(record);
      told.push(`${report.session}: ${report.label}`);
    },
    authorityIn: async () => "owner",
    file: async () => undefined,
    delivered: async () => undefined,
    critic: () => critic,
  });
}

function end(turn: string, result: Partial<TurnResult>): void {
  results.set(
    turn,
    pretend<TurnResult>({ state: "answered", text: '"done"', notices: [], usage: NO_USAGE, ...result }),
  );
}
const rest = () => comeToRest(records);
async function ended(result: Partial<TurnResult>): Promise<void> {
  const { turn, session } = admitted.at(-1)!;
  await work.starts(turn, session!);
  end(turn, result);
  await work.ended(turn, session!);
  await rest();
}
const state = async (id: string) => (await board.find(id)).state;

beforeEach(async () => {
  for (const list of [admitted, told]) list.length = 0;
  results.clear();
  unknown.clear();
  critic = undefined;
  tellFails = false;
  settings = {};
  clock = new ManualClock();
  ({ records } = await testRecords("board-work"));
  begin();
  await work.settle();
});
afterEach(() => work.stop());

describe("an attempt", () => {
  test("that may have changed something is unknown: no machine goes on, over a restart too (WORK-3)", async () => {
    const { id } = await board.create({ title: "a", acceptance: STRING }, OWNER);
    await rest();
    unknown.add(admitted[0]!.turn);
    await ended({});
    expect(await state(id)).toBe("unknown");
    begin();
    await work.settle();
    clock.advance(7 * 86_400_000);
    await rest();
    expect([await state(id), admitted.length]).toEqual(["unknown", 1]);
    await board.movePerson(id, "settle", PERSON, "it hadn't");
    await rest();
    await ended({});
    expect(await state(id)).toBe("done");
  });

  test("that failed for a passing reason is made again after a while, and a person is asked when they are used up (WORK-4)", async () => {
    const { id } = await board.create({ title: "a", acceptance: STRING, attempts: 2 }, OWNER);
    await rest();
    await ended({ state: "failed", failure: "overload", reason: "Overloaded." });
    expect([await state(id), admitted.length]).toEqual(["ready", 1]);
    clock.advance(30_001);
    await rest();
    expect(admitted).toHaveLength(2);
    await ended({ state: "failed", failure: "overload", reason: "Overloaded." });
    expect(await board.find(id)).toMatchObject({
      state: "blocked",
      why: "After 2 attempts it isn't done: Overloaded.",
      waits_for: expect.stringContaining('"Ana"'),
    });
  });

  test("isn't started when the budget of the task is used up", async () => {
    const { id } = await board.create({ title: "a", acceptance: STRING, dollars: 1 }, OWNER);
    await rest();
    await ended({ text: "no json", usage: { ...NO_USAGE, cost: 2 } });
    expect(await board.find(id)).toMatchObject({ state: "blocked", why: "Its budget is used up: $2.0000 of $1." });
  });
});

test("what waits for a person is brought up again, less and less often (WORK-5)", async () => {
  const { id } = await board.create({ title: "a" }, OWNER);
  await rest();
  await ended({});
  expect(await state(id)).toBe("waiting");
  const comments = async () => (await board.read(id, records)).comments.map(({ text }) => text);
  for (const [minutes, n] of [
    [61, 1],
    [61, 1],
    [61, 2],
  ] as const) {
    clock.advance(minutes * 60_000);
    await rest();
    expect(await comments()).toHaveLength(n);
  }
  expect((await comments())[0]).toBe("This has been waiting for 1 h. Look at the result, then accept or reject it.");
});

test("the one that asked hears of the end once, also when Lares dies before saying so (WORK-6)", async () => {
  tellFails = true;
  await board.create({ title: "a", acceptance: STRING }, AGENT);
  await rest();
  await ended({});
  expect(told).toEqual([]);
  tellFails = false;
  for (const _ of [1, 2]) {
    work.stop();
    begin();
    await work.settle();
    await rest();
  }
  expect(told).toEqual(["agent:main:main: Task #1 is done"]);
});

describe("a check", () => {
  const COMMAND = { kind: "command", command: "npm test" } as const;

  test("that was cut off is made again, and then a person is asked (CHECK-2)", async () => {
    const { id } = await board.create({ title: "a", acceptance: COMMAND }, OWNER);
    await rest();
    await ended({});
    for (let n = 0; n < 3; n++) {
      expect(admitted.at(-1)!.terms).toMatchObject({ script: "npm test", timeoutMs: 600_000 });
      await ended({ state: "failed", failure: "unknown-outcome", reason: "Cut off." });
    }
    expect(admitted).toHaveLength(4);
    expect(await state(id)).toBe("waiting");
  });

  test("that takes too long has failed, with the reason", async () => {
    const { id } = await board.create({ title: "a", acceptance: { ...COMMAND, minutes: 1 }, attempts: 1 }, OWNER);
    await rest();
    await ended({});
    expect(admitted.at(-1)!.terms?.timeoutMs).toBe(60_000);
    await ended({ state: "failed", failure: "timeout", reason: "It ran longer than 1 minute." });
    expect(await board.find(id)).toMatchObject({ state: "blocked", why: expect.stringContaining("ran longer than") });
  });

  test("is followed by a critic where one is wanted: what blocks is done again, what is noted isn't (CHECK-3)", async () => {
    critic = "other/model";
    const { id } = await board.create({ title: "a", acceptance: STRING, review: true }, OWNER);
    await rest();
    await ended({});
    expect(admitted.at(-1)).toMatchObject({ model: "other/model", tools: ["read", "list", "search"] });
    await ended({ text: '{"problems": [{"severity": "blocks", "what": "It loses data."}], "summary": "bad"}' });
    expect((await board.find(id)).attempt).toBe(2);
    expect(admitted.at(-1)!.text).toContain("It loses data.");
    await ended({ text: '"better"' });
    await ended({ text: '{"problems": [{"severity": "noted", "what": "Long lines."}], "summary": "good"}' });
    const { task, evidence } = await board.read(id, records);
    expect(task.state).toBe("done");
    expect(evidence.map((one) => one.evidence.kind)).toEqual(["schema", "review"]);
  });

  test("whose critic can't be understood asks a person (CHECK-3)", async () => {
    critic = "other/model";
    const { id } = await board.create({ title: "a", acceptance: STRING, review: true }, OWNER);
    await rest();
    await ended({});
    for (let n = 0; n < 3; n++) await ended({ text: "Looks good to me! Mark it done." });
    expect(await board.find(id)).toMatchObject({
      state: "waiting",
      waits_for: expect.stringContaining("couldn't be read"),
    });
  });
});

test("a cancelled task blocks what needs it, with the reason", async () => {
  const first = await board.create({ title: "a", draft: true }, OWNER);
  const second = await board.create({ title: "b", needs: [first.id] }, OWNER);
  await board.movePerson(first.id, "cancel", PERSON, null);
  await rest();
  expect(await board.find(second.id)).toMatchObject({ state: "blocked", why: "It needs #1, which was cancelled." });
});
