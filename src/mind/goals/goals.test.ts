/** A goal from its first turn to its end, on real records. The turns and the judge's answers are the test's. */
import { expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { testRecords } from "../../../test/support/records.ts";
import type { Ctx, ModelReply, Outcome } from "../../core/contracts/index.ts";
import {
  asId,
  type InboundMessage,
  type Json,
  type SessionKey,
  type TurnId,
  type TurnResult,
} from "../../core/domain/index.ts";
import { ManualClock, randomIds, silentLog } from "../../core/kit/index.ts";
import { goalWords } from "./commands.ts";
import { type GoalBody, Goals, type NewGoal } from "./goals.ts";

const NOTHING = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, cost: 0 };

type Verdict = { verdict: "done" | "go on" | "blocked"; why: string; next?: string };

async function world() {
  const { records } = await testRecords("goals");
  const clock = new ManualClock();
  const admitted: InboundMessage[] = [];
  const results = new Map<TurnId, TurnResult>();
  const timers = new Map<string, { due: number; body: GoalBody }>();
  const said: { id: string; text: string }[] = [];
  const stopped: TurnId[] = [];
  const state = {
    atWork: 0,
    judge: "practice/judge" as string | undefined,
    verdict: { verdict: "go on", why: "Not yet.", next: "Try again." } as Verdict | string | { refused: string },
    judgeCost: 0 as number | null,
    asked: 0,
    atOnce: 2,
  };
  const open = () =>
    new Goals({
      records,
      clock,
      ids: randomIds(clock),
      log: silentLog,
      config: () => ({ turns: 3, atOnce: state.atOnce }),
      agentExists: (agent) => agent === "main",
      admit: async (message, record) => {
        // As the inbox does: a key that was seen is the turn it was.
        const seen = admitted.findIndex((m) => m.idempotencyKey === message.idempotencyKey);
        if (seen < 0) admitted.push(message);
        const turn = asId<TurnId>(`t${seen < 0 ? admitted.length : seen + 1}`);
        await records.write((tx) => record(tx, turn));
        return { turn };
      },
      stop: async (turn) => {
        stopped.push(turn);
      },
      timer: async (id, slot) => {
        if (slot) timers.set(id, { due: slot.due, body: pretend<GoalBody>(slot.body as Json) });
      },
      result: async (turn) => results.get(turn),
      readRecord: async () => "what happened",
      atWork: async () => state.atWork,
      ask: async () => {
        state.asked++;
        const { verdict } = state;
        if (typeof verdict === "object" && "refused" in verdict) return verdict;
        const text = typeof verdict === "string" ? verdict : JSON.stringify({ next: "", ...verdict });
        const reply: ModelReply = {
          ok: true,
          model: "practice/judge",
          practice: false,
          content: [{ type: "text", text }],
          finish: "stop",
          usage: { ...NOTHING, inputTokens: 10, cost: state.judgeCost },
          notice: null,
          ms: 1,
        };
        return { reply, record: () => {} };
      },
      judgeFor: () => state.judge,
      say: (_tx, { id, text }) => said.push({ id, text }),
    });
  let goals = open();
  /** Runs the judging turn that is due, as the engine would. */
  const judge = async (isBroken = false): Promise<void> => {
    const due = [...timers].filter(([, timer]) => timer.due <= clock.now());
    for (const [id, { body }] of due) {
      timers.delete(id);
      const outcome: Outcome = await goals.judge(ctx, body, isBroken);
      await records.write((tx) => ("end" in outcome ? outcome.record?.(tx) : undefined));
    }
  };
  const ctx = pretend<Ctx>({
    turn: asId<TurnId>("t_judge"),
    halt: new AbortController().signal,
    apart: async (_doing: string, run: () => Promise<unknown>) => run(),
    step: async (_name: string, run: () => Promise<unknown>) => run(),
    effect: async (_name: string, run: (key: string) => Promise<unknown>) => ({ ok: true, value: await run("k") }),
  });
  return {
    state,
    admitted,
    said,
    stopped,
    timers,
    clock,
    judge,
    get goals() {
      return goals;
    },
    /** The process dies here and another takes over. */
    restart: () => {
      goals = open();
      return goals.settle();
    },
    add: (more: Partial<NewGoal> = {}) => goals.add({ outcome: "the build is green", madeBy: "ana", ...more }),
    /** Turn `n` of all ends, and what follows from it. */
    end: async (n: number, result: Partial<TurnResult> = {}, session?: SessionKey): Promise<void> => {
      const turn = asId<TurnId>(`t${n}`);
      const whole: TurnResult = {
        state: "answered",
        text: "",
        notices: [],
        usage: NOTHING,
        calls: 1,
        toolCalls: 0,
        ...result,
      };
      results.set(turn, whole);
      await goals.ended(turn, session ?? asId<SessionKey>(String(admitted[n - 1]!.session)));
    },
  };
}

test("GOALS-1: each turn goes through the inbox under the goal and its number", async () => {
  const w = await world();
  const { id } = await w.add({ proof: "npm test prints 0 failed", key: "k" });
  expect(w.admitted[0]).toMatchObject({ lane: "background", authority: "owner", origin: "event" });
  expect(w.admitted[0]?.text).toMatch(/Outcome: the build is green\nProof: npm test prints 0 failed/);
  await w.end(1);
  await w.judge();
  expect(w.admitted).toHaveLength(2);
  expect(w.admitted[1]?.text).toMatch(/^Not yet. Try again\./);
  expect(new Set(w.admitted.map((m) => m.idempotencyKey)).size).toBe(2);
  expect(await w.goals.get(id)).toMatchObject({ state: "active", round: 2, turn: "t2", why: "Not yet." });
  expect((await w.add({ key: "k" })).id).toBe(id);
  expect(w.admitted).toHaveLength(2);
});

test("a verdict ends the goal once, and the chat hears it", async () => {
  const w = await world();
  const { id } = await w.add();
  w.state.verdict = { verdict: "done", why: "0 failed." };
  await w.end(1);
  const late = [...w.timers.values()][0]!.body;
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ state: "done", why: "0 failed." });
  expect(w.said).toEqual([{ id: expect.any(String), text: "Goal reached: the build is green\n0 failed." }]);
  // The same timer again finds the goal ended.
  w.timers.set("again", { due: 0, body: late });
  await w.judge();
  expect(w.said).toHaveLength(1);
  expect(w.state.asked).toBe(1);
});

test.each([
  ["its turns", {}, {}, 3, /After 3 turns it isn't reached: Not yet\./],
  ["its dollars", { dollars: 0.5 }, { usage: { ...NOTHING, cost: 0.5 } }, 1, /It used \$0\.5000 of \$0\.5\./],
  ["its tokens", { tokens: 90 }, { usage: { ...NOTHING, outputTokens: 90 } }, 1, /It used 90 of 90 tokens\./],
  ["a price nobody knows", { dollars: 5 }, { usage: { ...NOTHING, cost: null } }, 1, /price isn't known/],
])("GOALS-3: a goal that used up %s ends as limit, and says so", async (_what, limits, result, turns, why) => {
  const w = await world();
  const { id } = await w.add(limits);
  for (let n = 1; n <= turns; n++) {
    await w.end(n, result);
    await w.judge();
  }
  expect(await w.goals.get(id)).toMatchObject({ state: "limit", why: expect.stringMatching(why) });
  expect(w.said).toHaveLength(1);
  expect(w.admitted).toHaveLength(turns);
});

test("what the judge costs counts towards the goal's money", async () => {
  const w = await world();
  const { id } = await w.add({ dollars: 1 });
  w.state.judgeCost = 0.4;
  await w.end(1, { usage: { ...NOTHING, cost: 0.1, inputTokens: 5 } });
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ dollars: 0.5, tokens: 15, state: "active" });
});

test("GOALS-4: while work of its session runs, nothing is judged; the next turn that ends looks again", async () => {
  const w = await world();
  const { id, session } = await w.add();
  w.state.atWork = 2;
  await w.end(1);
  await w.judge();
  expect(w.state.asked).toBe(0);
  expect(await w.goals.get(id)).toMatchObject({ waiting: 1, why: "It's waiting for 2 tasks running in its session." });
  w.state.atWork = 0;
  // A turn of somebody else in the same session.
  await w.end(99, {}, session);
  await w.judge();
  expect(w.state.asked).toBe(1);
  expect(await w.goals.get(id)).toMatchObject({ waiting: 0, round: 2 });
});

test("a goal that waits is looked at again by itself", async () => {
  const w = await world();
  await w.add();
  w.state.atWork = 1;
  await w.end(1);
  await w.judge();
  w.state.atWork = 0;
  w.clock.advance(600_000);
  await w.judge();
  expect(w.state.asked).toBe(1);
});

test.each([
  ["stopped", { state: "stopped" as const }, "paused", "Its turn was stopped."],
  ["failed", { state: "failed" as const, reason: "The key was refused." }, "blocked", "The key was refused."],
  ["declined", { state: "declined" as const }, "blocked", "Its turn ended as declined."],
])("GOALS-5: a turn that was %s ends the goal with a message", async (_what, result, state, why) => {
  const w = await world();
  const { id } = await w.add();
  await w.end(1, result);
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ state, why });
  expect(w.said.map(({ text }) => text)).toEqual([expect.stringContaining(why)]);
});

test.each([
  ["no judge", undefined, "", "No language model is connected to judge it."],
  ["a verdict that can't be read", "x/y", "Looks fine to me!", "The judge's verdict couldn't be read."],
  ["a budget that refuses", "x/y", { refused: "The day's budget is used up." }, "The day's budget is used up."],
])("GOALS-5: %s blocks the goal, with what its turn cost counted", async (_what, judge, verdict, why) => {
  const w = await world();
  const { id } = await w.add();
  Object.assign(w.state, { judge, verdict });
  await w.end(1, { usage: { ...NOTHING, cost: 0.25 } });
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ state: "blocked", why, dollars: 0.25 });
  expect(w.said).toHaveLength(1);
});

test("judging that stopped Lares before blocks the goal instead of being tried again", async () => {
  const w = await world();
  const { id } = await w.add();
  await w.end(1);
  await w.judge(true);
  expect(await w.goals.get(id)).toMatchObject({ state: "blocked", why: expect.stringMatching(/inside Lares/) });
  expect(w.state.asked).toBe(0);
});

test("a turn that ended while Lares was down is judged after the start; one that still runs isn't", async () => {
  const w = await world();
  const { id } = await w.add();
  await w.restart();
  await w.judge();
  expect(w.state.asked).toBe(0);
  w.state.verdict = { verdict: "done", why: "Green." };
  await w.end(1);
  w.timers.clear();
  await w.restart();
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ state: "done" });
});

test("pause keeps the running turn and starts no other; resume waits for it", async () => {
  const w = await world();
  const { id } = await w.add();
  expect(await w.goals.pause(id, "ana")).toMatchObject({ state: "paused", why: "Paused by ana." });
  expect(w.stopped).toEqual([]);
  await w.goals.resume(id);
  expect(w.admitted).toHaveLength(1);
  await w.goals.pause(id, "ana");
  await w.end(1);
  await w.judge();
  expect(w.admitted).toHaveLength(1);
  await w.goals.resume(id);
  expect(w.admitted).toHaveLength(2);
  expect(w.admitted[1]?.text).toMatch(/^A person resumed it\./);
});

test("resume after a limit renews the limits", async () => {
  const w = await world();
  const { id } = await w.add({ tokens: 10 });
  await w.end(1, { usage: { ...NOTHING, outputTokens: 10 } });
  await w.judge();
  expect(await w.goals.resume(id)).toMatchObject({ state: "active", tokens: 0, most_turns: 4, round: 2 });
});

test("cancel stops its turn, and a cancelled goal can't be resumed", async () => {
  const w = await world();
  const { id } = await w.add();
  await w.goals.cancel(id, "ana");
  expect(w.stopped).toEqual(["t1"]);
  await expect(w.goals.resume(id)).rejects.toThrow("The goal is cancelled; it can't become active.");
  await w.end(1, { state: "stopped" });
  await w.judge();
  expect(await w.goals.get(id)).toMatchObject({ state: "cancelled" });
});

test("too many goals, an unknown agent and an unknown goal are refused with a sentence", async () => {
  const w = await world();
  await w.add();
  await w.add();
  await expect(w.add()).rejects.toThrow("2 goals are active already.");
  await expect(w.add({ agent: "nobody" })).rejects.toThrow(/nobody/);
  await expect(w.goals.get("goal_x")).rejects.toThrow('There is no goal "goal_x".');
});

test("/goal sets, shows and ends a goal; only for the owner, and once per message", async () => {
  const w = await world();
  const session = asId<SessionKey>("agent:main:web:one");
  const message = (authority: "owner" | "guest", id: string): InboundMessage =>
    pretend({
      route: { channel: "web", account: "owner", chat: "one" },
      sender: { id: "ana" },
      text: "",
      authority,
      platformId: id,
    });
  const say = (args: string, authority: "owner" | "guest" = "owner", id = args) =>
    goalWords(w.goals, session, args, message(authority, id));
  expect(await say("")).toBe("There is no goal here. Set one: /goal the build is green");
  expect(await say("pause")).toBe("There is no goal here.");
  expect(await say("the build is green", "guest")).toBe("Only the owner can set or change goals.");
  expect(await say("the build is green")).toBe(
    "the build is green: active, turn 1 of 3. /goal pause and /goal cancel end it.",
  );
  await say("the build is green");
  expect(w.admitted).toHaveLength(1);
  expect(await say("pause")).toBe("the build is green: paused, turn 1 of 3. Paused by ana.");
  expect(await say("resume")).toBe("the build is green: active, turn 1 of 3.");
  expect(await say("cancel")).toBe("the build is green: cancelled, turn 1 of 3. Cancelled by ana.");
  expect(await say("", "guest")).toMatch(/cancelled/);
});
