/**
 * A call that waited for a person has one result: in its own place when no model was sent the interim one, else in one later message.
 * What was sent once never changes.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HistoryMessage } from "../../src/core/protocol/index.ts";
import {
  envelopes,
  type Lares,
  requestsWith,
  startLares,
  startModel,
  toolResults,
  until,
  userTexts,
} from "../support/index.ts";
import fc, { SEED } from "../support/property.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  const config = { policy: { mode: "ask" }, gateway: { http: { wait: 0.05 } } };
  lares = await startLares({ env: model.env, config });
}, 30_000);
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const exec = (word: string) => `tool:exec ${JSON.stringify({ command: `echo ${word}-$((1+1))` })}`;
const WAITING = /^Waiting for a person's approval/;

interface Case {
  name: string;
  turn: string;
  session: string;
  /** In the order of the calls. */
  approvals: string[];
}

/** A turn that waits for an answer to each of its calls. */
async function begin(name: string, words: readonly string[]): Promise<Case> {
  const parked = await lares.chat(name, `#${name}# ${words.map(exec).join(" ")} then: say:done`);
  const { approvals } = await lares.rpc("approvals.list", {});
  const mine = approvals.filter((one) => one.turn === parked.turn);
  const of = (word: string) => mine.find((one) => one.shown.includes(`echo ${word}-`))!.id;
  return { name, turn: parked.turn, session: parked.session, approvals: words.map(of) };
}

const allow = (id: string) => lares.rpc("approvals.resolve", { id, decision: "allow-once" });
/** Dozens of commands wait for one workspace. */
const ended = async ({ turn }: Case) =>
  until(
    "the turn to end",
    async () => {
      const now = await lares.rpc("turns.get", { turn });
      return now.state === "answered" ? now : undefined;
    },
    { withinMs: 60_000 },
  );
const sentFor = ({ name }: Case) => requestsWith(model, `#${name}#`);
const history = async ({ session }: Case) => (await lares.rpc("chat.history", { session })).messages;
const outcomes = (messages: HistoryMessage[]) => messages.filter((m) => m.meta?.kind === "outcome");

/** Every request of the session begins with all of the one before it. */
function checkStable(one: Case): void {
  const requests = sentFor(one);
  for (const [i, request] of requests.entries()) {
    const before = requests[i - 1]?.messages ?? [];
    expect(request.messages.slice(0, before.length), `${one.name}, request ${i}`).toEqual(before);
  }
}

/** Each call's output is read exactly once: in its place, or in a later message behind an interim result that was sent. */
async function checkOneResult(one: Case, words: readonly string[]): Promise<void> {
  const last = sentFor(one).at(-1)!;
  const results = toolResults(last);
  expect(results).toHaveLength(words.length);
  for (const [i, word] of words.entries()) {
    const said = userTexts(last).filter((text) => text.includes(`${word}-2`));
    if (!WAITING.test(results[i]!.text)) {
      expect(results[i]!.text).toContain(`${word}-2`);
      expect(said).toEqual([]);
    } else expect(said).toHaveLength(1);
    // A sentence that no request carried stands nowhere.
    const wasSent = sentFor(one).some((request) => WAITING.test(toolResults(request)[i]?.text ?? ""));
    expect(WAITING.test(results[i]!.text)).toBe(wasSent);
  }
  const late = results.filter(({ text }) => WAITING.test(text)).length;
  expect(outcomes(await history(one))).toHaveLength(late);
}

describe("an answered approval", () => {
  it("puts the result in the call's place when no model has read the interim one, over a kill too (TURNS-3)", async () => {
    const one = await begin("plain", ["first"]);
    await lares.kill9();
    await lares.start();
    await allow(one.approvals[0]!);
    await ended(one);
    const last = sentFor(one).at(-1)!;
    expect(toolResults(last)).toEqual([{ text: expect.stringMatching(/^first-2\n\[exit 0/), isError: false }]);
    expect(userTexts(last)).toHaveLength(1);
    expect(outcomes(await history(one))).toEqual([]);
    const results = (await history(one)).find((m) => m.role === "tool")!;
    expect(Object.values(results.meta!.approvals!)).toEqual(one.approvals);
  });

  it("says a no in the call's place, with the reason", async () => {
    const one = await begin("denied", ["never"]);
    await lares.rpc("approvals.resolve", { id: one.approvals[0]!, decision: "deny", reason: "not today" });
    await ended(one);
    const text = expect.stringMatching(/^Denied by owner\. It was not run\. They said: not today$/);
    expect(toolResults(sentFor(one).at(-1)!)).toEqual([{ text, isError: true }]);
  });

  it("comes as a later message, under a line of ours, when another message was answered meanwhile", async () => {
    const one = await begin("between", ["late"]);
    await lares.chat(one.name, "say:meanwhile");
    await allow(one.approvals[0]!);
    await ended(one);
    const last = sentFor(one).at(-1)!;
    expect(toolResults(last)).toEqual([{ text: expect.stringMatching(WAITING), isError: false }]);
    expect(envelopes(last).at(-1)).toMatch(
      / · Outcome of exec "[^"\]]*late[^"\]]*" that waited for approval: allowed, exit 0\]$/,
    );
    expect(userTexts(last).at(-1)).toMatch(/^Allowed by owner\.\nlate-2\n/);
    checkStable(one);
    await checkOneResult(one, ["late"]);
  });

  it("that nobody gave before the turn was stopped is withdrawn in the call's place", async () => {
    const one = await begin("stopped", ["unasked"]);
    await lares.rpc("chat.abort", { turn: one.turn });
    await until("the turn to stop", async () => (await lares.rpc("turns.get", { turn: one.turn })).state === "stopped");
    await lares.chat(one.name, "say:next");
    const [result] = toolResults(sentFor(one).at(-1)!);
    expect(result).toEqual({ text: expect.stringMatching(/^Withdrawn: .* It was not run\.$/), isError: true });
    expect(outcomes(await history(one))).toEqual([]);
  });
});

type Move = "first" | "second" | "message" | "restart";
const WORDS = ["first", "second"] as const;

async function play(one: Case, move: Exclude<Move, "restart">): Promise<void> {
  if (move === "message") await lares.chat(one.name, "say:heard");
  else await allow(one.approvals[WORDS.indexOf(move)]!);
}

function orders<T>(all: readonly T[]): T[][] {
  if (all.length < 2) return [[...all]];
  return all.flatMap((one, i) => orders(all.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}

describe("whatever comes in between", () => {
  it("each call has one result and nothing that was sent changes: all orders of two answers, a message and a kill (CONTEXT-6)", async () => {
    const all = orders<Move>(["first", "second", "message", "restart"]);
    const cases = await Promise.all(all.map((_, i) => begin(`order-${i}`, WORDS)));
    const run = (moves: (order: Move[]) => Move[]) =>
      Promise.all(
        cases.map(async (one, i) => {
          for (const move of moves(all[i]!)) if (move !== "restart") await play(one, move);
        }),
      );
    await run((order) => order.slice(0, order.indexOf("restart")));
    await lares.kill9();
    await lares.start();
    await run((order) => order.slice(order.indexOf("restart") + 1));
    await Promise.all(cases.map(ended));
    for (const one of cases) {
      checkStable(one);
      await checkOneResult(one, WORDS);
    }
  }, 120_000);

  it(`the same when they fall into each other, seed ${SEED}`, async () => {
    let n = 0;
    const moves = fc.shuffledSubarray<Exclude<Move, "restart">>(["first", "second", "message"], { minLength: 3 });
    const lives = fc.array(fc.record({ moves, kills: fc.boolean() }), { minLength: 4, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lives, async (given) => {
        const cases = await Promise.all(given.map(() => begin(`mixed-${n++}`, WORDS)));
        const playing = cases.flatMap((one, i) => given[i]!.moves.map((move) => play(one, move).catch(() => {})));
        if (given.some(({ kills }) => kills)) {
          await lares.kill9();
          await Promise.all(playing);
          await lares.start();
        }
        await Promise.all(playing);
        // What the kill cut off is said again.
        for (const one of cases) {
          const { approvals } = await lares.rpc("approvals.list", {});
          for (const { id, turn } of approvals) if (turn === one.turn) await allow(id).catch(() => {});
        }
        await Promise.all(cases.map(ended));
        for (const one of cases) {
          checkStable(one);
          await checkOneResult(one, WORDS);
        }
      }),
      { numRuns: 4 },
    );
  }, 180_000);
});
