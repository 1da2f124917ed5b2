import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { NO_USAGE, type Usage } from "../../core/domain/index.ts";
import { ManualClock } from "../../core/kit/index.ts";
import { openRecords, type SqliteRecords } from "../../ground/records/index.ts";
import { Budget, type BudgetsConfig, budgetsConfig, type Reservation } from "./index.ts";

/** A dollar a thousand tokens, so that figures can be read: a call is set aside for 1000 of output and its input. */
const PRICE = { input: 1000, output: 1000, cacheRead: 1000, cacheWrite: 1000 };
const MOST_OUTPUT = 1000;
const never = new AbortController().signal;

interface World {
  budget: Budget;
  records: SqliteRecords;
  clock: ManualClock;
  file: string;
}

async function world(
  config: Parameters<typeof budgetsConfig.parse>[0],
  given: { file?: string; price?: typeof PRICE | null; clock?: ManualClock } = {},
): Promise<World> {
  const file = given.file ?? join(newHome(), "lares.db");
  const records = await openRecords(file, (error) => {
    throw error;
  });
  onTestFinished(() => records.close());
  const clock = given.clock ?? new ManualClock();
  const parsed: BudgetsConfig = budgetsConfig.parse(config);
  const price = given.price === undefined ? PRICE : given.price;
  const model = () => ({ price, maxOutput: MOST_OUTPUT });
  const budget = await Budget.open({ records, clock, config: () => parsed, model });
  return { budget, records, clock, file };
}

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "lares-budget-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

let calls = 0;
function planned(more: { agent?: string; session?: string; turn?: string; call?: number; words?: number } = {}) {
  const { agent = "main", session = "s", turn = `t${calls++}`, call = 0, words = 0 } = more;
  return { turn, call, agent, session, request: { system: "abc".repeat(words), tools: [], messages: [] } };
}

async function reserved(budget: Budget, call = planned()): Promise<Reservation> {
  const got = await budget.reserve(call, never);
  if ("refused" in got) throw new Error(got.refused);
  return got;
}

const using = (tokens: number, cost: number | null = tokens / 1000): Usage => ({
  ...NO_USAGE,
  outputTokens: tokens,
  cost,
});

async function spend(w: World, tokens: number, call = planned()): Promise<string[]> {
  const hold = await reserved(w.budget, call);
  const warnings = hold.settle(using(tokens));
  await w.records.write((tx) => hold.record(tx));
  return warnings;
}

async function total(w: World) {
  const [all] = await w.budget.use({ agent: "main", session: "s" });
  return all!;
}

test("a call that could pass the cap is refused with a sentence that says how much is used and what to change", async () => {
  const w = await world({ perDay: { dollars: 2 } });
  await spend(w, 1500);
  const got = await w.budget.reserve(planned({ words: 100 }), never);
  expect(got).toEqual({
    refused: expect.stringMatching(
      /^The budget for today does not allow another model call: \$1\.50 of \$2\.00 used, and this call may need up to \$1\.\d\d\. Wait until tomorrow, or raise budgets\.perDay\.dollars\.$/,
    ),
  });
  expect((await total(w)).reserved.dollars).toBe(0);
});

test("after the answer only what was used stays, in memory and in the records", async () => {
  const w = await world({ perDay: { dollars: 10 } });
  const hold = await reserved(w.budget);
  expect((await total(w)).reserved.dollars).toBeCloseTo(1, 1);
  expect(await w.records.get("SELECT COUNT(*) AS n FROM budget_hold")).toEqual({ n: 1 });
  hold.settle(using(300));
  await w.records.write((tx) => hold.record(tx));
  expect(await total(w)).toMatchObject({
    spent: { dollars: 0.3, tokens: 300, calls: 1 },
    reserved: { dollars: 0, tokens: 0 },
  });
  expect(await w.records.get("SELECT COUNT(*) AS n FROM budget_hold")).toEqual({ n: 0 });
  const rows = await w.records.all("SELECT kind, name, dollars, tokens, calls FROM budget_spent ORDER BY kind");
  expect(rows).toEqual([
    { kind: "agent", name: "main", dollars: 0.3, tokens: 300, calls: 1 },
    { kind: "all", name: "", dollars: 0.3, tokens: 300, calls: 1 },
    { kind: "session", name: "s", dollars: 0.3, tokens: 300, calls: 1 },
  ]);
});

test("settling the same call twice counts it once", async () => {
  const w = await world({});
  const hold = await reserved(w.budget);
  hold.settle(using(300));
  hold.settle(using(300));
  await w.records.write((tx) => hold.record(tx));
  await w.records.write((tx) => hold.record(tx));
  expect((await total(w)).spent.calls).toBe(1);
  expect(await w.records.get("SELECT calls FROM budget_spent WHERE kind = 'all'")).toEqual({ calls: 1 });
});

test("a warning says when dollars are counted at an assumed price", async () => {
  const w = await world({ perDay: { dollars: 1 }, unknownPricePerMillion: 100 }, { price: null });
  const hold = await reserved(w.budget);
  expect(hold.settle(using(9000, null))).toEqual([
    "90 % of the budget for today is used: $0.90 of $1.00. The model's price isn't known, so it is counted at $100 per million tokens (budgets.unknownPricePerMillion).",
  ]);
});

test("dollars at an assumed price are mentioned although the current model's price is known, also after a restart", async () => {
  const config = { perDay: { dollars: 1 }, unknownPricePerMillion: 100 };
  const w = await world(config, { price: null });
  const first = await reserved(w.budget);
  expect(first.settle(using(4000, null))).toEqual([]);
  await w.records.write((tx) => first.record(tx));
  expect((await total(w)).spent).toMatchObject({ dollars: 0.4, assumed: 0.4 });
  // The second one was sent and never answered: what it set aside is assumed, too.
  await reserved(w.budget, planned({ words: 1000 }));
  await w.records.write(() => {});
  const again = await world(config, { file: w.file, price: { ...PRICE, input: 1, output: 1, cacheWrite: 1 } });
  expect((await total(again)).spent.assumed).toBeCloseTo(0.5, 2);
  const hold = await reserved(again.budget);
  const assumed =
    "$0.50 of that is assumed, because a model's price wasn't known when it was called (budgets.unknownPricePerMillion).";
  expect(hold.settle({ ...using(1), cost: 0.4 })).toEqual([
    `90 % of the budget for today is used: $0.90 of $1.00. ${assumed}`,
  ]);
  await again.records.write((tx) => hold.record(tx));
  const dear = await world(config, { file: w.file });
  const refused = await dear.budget.reserve(planned(), never);
  expect(refused).toEqual({ refused: expect.stringContaining(`up to $1.00. ${assumed} Wait until tomorrow`) });
});

test("a scope is mentioned once when four fifths of it are used, also after a restart", async () => {
  const w = await world({ perDay: { dollars: 10 }, perSession: { calls: 100 } });
  expect(await spend(w, 1000)).toEqual([]);
  for (let i = 0; i < 6; i++) await spend(w, 1000);
  expect(await spend(w, 1000)).toEqual(["80 % of the budget for today is used: $8.00 of $10.00."]);
  expect(await spend(w, 500)).toEqual([]);
  const again = await world({ perDay: { dollars: 10 } }, { file: w.file });
  expect(await spend(again, 100)).toEqual([]);
});

test("agent, session and schedule have budgets of their own, and another one's is not touched", async () => {
  const w = await world({
    perDay: {},
    perSession: { calls: 2 },
    perSchedule: { calls: 1 },
    agents: { poor: { perDay: { calls: 1 } } },
  });
  const at = (agent: string, session: string) => planned({ agent, session });
  await spend(w, 1, at("poor", "a"));
  expect(await w.budget.reserve(at("poor", "b"), never)).toMatchObject({
    refused: expect.stringContaining('agent "poor"'),
  });
  await spend(w, 1, at("main", "c"));
  await spend(w, 1, at("main", "c"));
  expect(await w.budget.reserve(at("main", "c"), never)).toMatchObject({
    refused: expect.stringContaining("this session"),
  });
  await spend(w, 1, at("main", "cron:news:run:1"));
  expect(await w.budget.reserve(at("main", "cron:news:run:2"), never)).toMatchObject({
    refused: expect.stringContaining('schedule "news"'),
  });
  await spend(w, 1, at("main", "cron:other:run:1"));
});

test("a day's budget is whole again after midnight, a session's is not", async () => {
  const clock = new ManualClock(new Date(2026, 4, 5, 12).getTime());
  const w = await world({ perDay: { calls: 1 }, perSession: { calls: 2 } }, { clock });
  await spend(w, 1);
  expect(await w.budget.reserve(planned(), never)).toHaveProperty("refused");
  clock.advance(24 * 3_600_000);
  await spend(w, 1);
  clock.advance(24 * 3_600_000);
  expect(await w.budget.reserve(planned(), never)).toMatchObject({ refused: expect.stringContaining("this session") });
});

test("a deleted session's use is forgotten for the session and kept for the day", async () => {
  const w = await world({ perDay: { calls: 2 }, perSession: { calls: 1 } });
  await spend(w, 1);
  await w.records.write((tx) => tx.run("DELETE FROM budget_spent WHERE kind = 'session' AND name = 's'"));
  w.budget.forget("s");
  await spend(w, 1);
  expect(await w.budget.reserve(planned(), never)).toMatchObject({ refused: expect.stringContaining("for today") });
});

test("an unknown price counts as configured and a free model costs nothing", async () => {
  const unknown = await world({ perDay: { dollars: 0.01 }, unknownPricePerMillion: 1000 }, { price: null });
  expect(await unknown.budget.reserve(planned(), never)).toHaveProperty("refused");
  const settled = await world({ unknownPricePerMillion: 500 }, { price: null });
  const hold = await reserved(settled.budget);
  hold.settle(using(1000, null));
  expect((await total(settled)).spent.dollars).toBe(0.5);
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const practice = await world({ perDay: { dollars: 0 } }, { price: free });
  await reserved(practice.budget);
});

test("the last of a budget is used for a shorter answer before calls are refused", async () => {
  const w = await world({ perDay: { tokens: 5000 } });
  const long = { price: PRICE, maxOutput: 8000 };
  const budget = await Budget.open({
    records: w.records,
    clock: w.clock,
    config: () => budgetsConfig.parse({ perDay: { tokens: 5000 } }),
    model: () => long,
  });
  const hold = await reserved(budget);
  expect(hold.maxOutputTokens).toBeLessThanOrEqual(5000);
  expect(hold.maxOutputTokens).toBeGreaterThan(4900);
  hold.settle(using(4500));
  expect(await budget.reserve(planned(), never)).toHaveProperty("refused");
});

test("a call that only calls under way keep out waits for them instead of being refused (BUDGET-4)", async () => {
  const w = await world({ perDay: { dollars: 1.5 } });
  const first = await reserved(w.budget);
  let second: Reservation | undefined;
  const waiting = reserved(w.budget).then((hold) => {
    second = hold;
  });
  await new Promise(setImmediate);
  expect(second).toBeUndefined();
  first.settle(using(100));
  await waiting;
  expect(second).toBeDefined();
});

test("a call that waits can be stopped and leaves nothing set aside", async () => {
  const w = await world({ perDay: { dollars: 1.5 } });
  const first = await reserved(w.budget);
  const stop = new AbortController();
  const waiting = w.budget.reserve(planned(), stop.signal);
  stop.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
  first.settle(using(0));
  expect((await total(w)).reserved.dollars).toBe(0);
});

test("a call that was stopped keeps what was sent and streamed, and gives back the rest", async () => {
  const w = await world({ perDay: { dollars: 10 } });
  const hold = await reserved(w.budget, planned({ words: 500 }));
  hold.drop(40);
  await w.records.write(() => {});
  const { spent, reserved: left } = await total(w);
  expect(spent.calls).toBe(1);
  expect(spent.tokens).toBeGreaterThanOrEqual(540);
  expect(spent.tokens).toBeLessThan(600);
  expect(left.dollars).toBe(0);
  expect(await w.records.get("SELECT COUNT(*) AS n FROM budget_hold")).toEqual({ n: 0 });
});

test("a process killed between setting aside and settling leaks nothing: the next start settles it once (I10, BUDGET-3)", async () => {
  const home = newHome();
  const file = join(home, "lares.db");
  const here = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    const { openRecords } = await import(${here("../../ground/records/index.ts")});
    const { Budget, budgetsConfig } = await import(${here("./index.ts")});
    const records = await openRecords(${JSON.stringify(file)}, () => {});
    const config = budgetsConfig.parse({ perDay: { dollars: 1.6 } });
    const model = () => ({ price: ${JSON.stringify(PRICE)}, maxOutput: ${MOST_OUTPUT} });
    const clock = { now: () => ${new ManualClock().now()}, after: () => () => {} };
    const budget = await Budget.open({ records, clock, config: () => config, model });
    const request = { system: "abc".repeat(100), tools: [], messages: [] };
    await budget.reserve({ turn: "t", call: 0, agent: "main", session: "s", request }, new AbortController().signal);
    await records.write(() => {});
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => setTimeout(() => {}, 10_000));`;
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const killed = spawnSync(process.execPath, ["--import", tsx, "--input-type=module", "-e", code]);
  expect(killed.signal, String(killed.stderr)).toBe("SIGKILL");

  const w = await world({ perDay: { dollars: 1.6 } }, { file });
  const { spent, reserved: left } = await total(w);
  expect(left.dollars).toBe(0);
  // The request of about a hundred tokens may have been paid for; the thousand of an answer nobody saw come back.
  expect(spent).toMatchObject({ calls: 1 });
  expect(spent.dollars).toBeGreaterThan(0.09);
  expect(spent.dollars).toBeLessThan(0.2);
  // The turn's replay makes the same call again.
  await spend(w, 200, planned({ turn: "t", call: 0 }));
  expect((await total(w)).spent.calls).toBe(2);
  expect(await w.records.get("SELECT COUNT(*) AS n FROM budget_hold")).toEqual({ n: 0 });
});

test("whatever runs side by side, a cap is passed at most by what calls used beyond what was set aside (BUDGET-1, BUDGET-2)", async () => {
  const step = fc.record({
    session: fc.constantFrom("a", "b", "c"),
    agent: fc.constantFrom("x", "y"),
    used: fc.integer({ min: 0, max: 1400 }),
    ticks: fc.integer({ min: 0, max: 6 }),
    drops: fc.boolean(),
  });
  const w = await world({});
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 9 }), async (steps, cap) => {
      const mark = `${round++}-`;
      const config = budgetsConfig.parse({ perDay: { dollars: cap }, perSession: { dollars: cap / 2 } });
      // A day of its own for each round; the records stay open, which is most of the time this test takes.
      const clock = new ManualClock(new Date(2026, 0, 1, 12).getTime() + round * 24 * 3_600_000);
      const model = () => ({ price: PRICE, maxOutput: MOST_OUTPUT });
      const budget = await Budget.open({ records: w.records, clock, config: () => config, model });
      let excess = 0;
      let asked = 0;
      let answered = 0;
      const look = async (session: string) => {
        for (const { caps, spent, kind } of await budget.use({ agent: mark, session })) {
          expect(spent.dollars, kind).toBeLessThanOrEqual((caps.dollars ?? Number.POSITIVE_INFINITY) + excess + 1e-6);
        }
      };
      await Promise.all(
        steps.map(async (s) => {
          const session = mark + s.session;
          const got = await budget.reserve(planned({ session, agent: s.agent }), never);
          if ("refused" in got) return;
          asked++;
          for (let i = 0; i < s.ticks; i++) await Promise.resolve();
          if (s.drops) got.drop(10);
          else {
            excess += Math.max(0, s.used / 1000 - 1);
            got.settle(using(s.used));
            await w.records.write((tx) => got.record(tx));
          }
          answered++;
          await look(session);
        }),
      );
      expect(answered).toBe(asked);
      const [all] = await budget.use({ agent: mark, session: mark });
      // Nothing is left set aside, and the records say the same as the memory.
      expect(all!.reserved.dollars).toBeCloseTo(0, 9);
      await w.records.write(() => {});
      const kept = await w.records.get<{ d: number; n: number }>(
        "SELECT dollars AS d, calls AS n FROM budget_spent WHERE kind = 'all' AND day = ?",
        all!.day,
      );
      expect(kept?.d ?? 0).toBeCloseTo(all!.spent.dollars, 9);
      expect(kept?.n ?? 0).toBe(asked);
    }),
    { numRuns: 150 },
  );
});
