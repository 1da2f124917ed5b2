import { expect, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import type { CallUse, ModelDelta, ModelReply, ModelRequest } from "../../core/contracts/index.ts";
import { asId, NO_USAGE, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { ManualClock } from "../../core/kit/index.ts";
import { Budget, BudgetedModel, budgetsConfig } from "./index.ts";

const never = new AbortController().signal;
const PRICE = { input: 1000, output: 1000, cacheRead: 1000, cacheWrite: 1000 };
const REPLY: ModelReply = {
  ok: true,
  content: [{ type: "text", text: "yes" }],
  finish: "stop",
  model: "m",
  practice: false,
  notice: null,
  usage: { ...NO_USAGE, outputTokens: 100, cost: 0.1 },
  ms: 1,
};

async function world(daily: number, call: (request: ModelRequest, onDelta: (d: ModelDelta) => void) => ModelReply) {
  const { records } = await testRecords("paid");
  const clock = new ManualClock();
  const config = budgetsConfig.parse({ perDay: { dollars: daily } });
  const budget = await Budget.open({
    records,
    clock,
    config: () => config,
    model: () => ({ price: PRICE, maxOutput: 1000 }),
  });
  const seen: ModelRequest[] = [];
  const recorded: number[] = [];
  const paid = new BudgetedModel({
    budget,
    clock,
    models: {
      call: async (request, onDelta) => {
        seen.push(request);
        return call(request, onDelta);
      },
    },
    recordUsage: (_tx, { usage }) => recorded.push(usage.outputTokens),
  });
  const used = async () => (await budget.use({ agent: "main", session: "s" })).find(({ kind }) => kind === "all")!;
  return { paid, seen, recorded, records, used };
}

function planned(maxOutputTokens?: number) {
  const request: ModelRequest = {
    cacheKey: "k",
    system: "",
    tools: [],
    messages: [],
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
  };
  return { turn: asId<TurnId>("t"), call: 0, session: asId<SessionKey>("s"), agent: "main", request };
}

test("a call keeps what it used, gives back the rest, and writes down both with what came of it", async () => {
  const { paid, recorded, records, used } = await world(10, () => REPLY);
  const got = await paid.call(planned(), never);
  if ("refused" in got) throw new Error(got.refused);
  expect(got.reply).toBe(REPLY);
  expect(await used()).toMatchObject({ spent: { dollars: 0.1 }, reserved: { dollars: 0 } });
  expect(recorded).toEqual([]);
  await records.write((tx) => got.record(tx));
  expect(recorded).toEqual([100]);
});

test("a call the budget doesn't allow is refused and never made", async () => {
  const { paid, seen } = await world(0.000001, () => REPLY);
  expect(await paid.call(planned(), never)).toEqual({ refused: expect.stringContaining("budget") });
  expect(seen).toEqual([]);
});

test("the answer is limited by the request or the caller, whichever allows less", async () => {
  const { paid, seen } = await world(10, () => REPLY);
  await paid.call(planned(400), never);
  await paid.call({ ...planned(400), maxOutputTokens: 50 }, never);
  await paid.call(planned(), never);
  expect(seen.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([400, 50, undefined]);
});

test("BUDGET-5: a call that a person stopped is in the ledger with guessed tokens and their price; one that is made again isn't", async () => {
  const { records } = await testRecords("paid");
  const clock = new ManualClock();
  const config = budgetsConfig.parse({});
  const price = { ...PRICE };
  const budget = await Budget.open({ records, clock, config: () => config, model: () => ({ price, maxOutput: 1000 }) });
  const lines: unknown[] = [];
  const models = {
    call: async (_request: ModelRequest, onDelta: (d: ModelDelta) => void): Promise<ModelReply> => {
      onDelta({ type: "text", text: "x".repeat(400) });
      throw new Error("stopped");
    },
  };
  const recordUsage = (_tx: unknown, { usage, basis }: CallUse) => void lines.push({ ...usage, basis });
  const paid = new BudgetedModel({ budget, clock, models, recordUsage });
  await expect(paid.call({ ...planned(), stopping: never }, never)).rejects.toThrow("stopped");
  await records.write(() => {});
  expect(lines).toEqual([]);
  const stopping = AbortSignal.abort();
  await expect(paid.call({ ...planned(), call: 1, stopping }, never)).rejects.toThrow("stopped");
  Object.assign(price, { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
  await expect(paid.call({ ...planned(), call: 2, stopping }, never)).rejects.toThrow("stopped");
  await records.write(() => {});
  expect(lines).toMatchObject([
    { outputTokens: 100, cost: 0.101, basis: "guessed" },
    { outputTokens: 100, cost: 0, basis: "guessed" },
  ]);
});

test("an answer that nobody counted is charged like its request", async () => {
  const { paid, used } = await world(10, () => ({ ...REPLY, usage: { ...NO_USAGE, cost: null } }));
  const system = "x".repeat(4000);
  const { request, ...rest } = planned();
  await paid.call({ ...rest, request: { ...request, system } }, never);
  expect((await used()).spent.dollars).toBeGreaterThan(0);
});

test("BUDGET-5: a call that fails leaves nothing set aside and pays for what was streamed", async () => {
  const { paid, used } = await world(10, (_request, onDelta) => {
    onDelta({ type: "text", text: "x".repeat(400) });
    throw new Error("the line went dead");
  });
  await expect(paid.call(planned(), never)).rejects.toThrow("the line went dead");
  const { spent, reserved } = await used();
  expect(reserved.dollars).toBe(0);
  expect(spent.tokens).toBeGreaterThanOrEqual(100);
});
