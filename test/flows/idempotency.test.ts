/**
 * A client that sends with an Idempotency-Key, loses the connection to `kill -9`, and retries: one turn, one recorded
 * answer, the same text for ever (I1, I2, ENGINE-1).
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CrashPoint } from "../../src/core/kit/index.ts";
import { type Lares, startLares, startModel, textsOf, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
beforeAll(async () => {
  model = await startModel();
  // Every request gets another text: an answer that was asked for twice and recorded twice would show.
  let n = 0;
  model.use(() => ({ text: `answer ${++n}` }));
});
afterAll(() => model?.close());

const POINTS: CrashPoint[] = [
  "accept.committed",
  "model.before",
  "model.after",
  "step.recorded",
  "end.before",
  "end.committed",
];

async function checkOneTurn(lares: Lares, session: string, text: string): Promise<void> {
  expect((await lares.rpc("turns.list", { session })).turns).toHaveLength(1);
  const { messages } = await lares.rpc("chat.history", { session });
  expect(textsOf(messages)).toEqual([
    ["user", "hello"],
    ["assistant", text],
  ]);
}

describe.concurrent("killed at", { timeout: 60_000 }, () => {
  it.each(POINTS)("%s: the retry gives the one answer", async (point) => {
    const lares = await startLares({ env: { ...model.env, LARES_CRASH_AT: point } });
    try {
      const lost = await lares.chat("client", "hello", { key: "k" }).catch((error: unknown) => error);
      expect(lost).toBeInstanceOf(TypeError);
      expect((await lares.gone).signal).toBe("SIGKILL");
      await lares.start({ LARES_CRASH_AT: "" });
      const first = await lares.chat("client", "hello", { key: "k" });
      expect(first).toMatchObject({ status: 200, state: "answered", duplicate: true });
      expect(first.response).toMatch(/^answer \d+$/);
      const again = await Promise.all([1, 2, 3].map(() => lares.chat("client", "hello", { key: "k" })));
      expect(again.map((a) => [a.turn, a.response])).toEqual(Array(3).fill([first.turn, first.response]));
      await checkOneTurn(lares, first.session, first.response);
      await lares.restart({ LARES_CRASH_AT: "" });
      const later = await lares.chat("client", "hello", { key: "k" });
      expect([later.turn, later.response]).toEqual([first.turn, first.response]);
      await checkOneTurn(lares, first.session, first.response);
    } finally {
      await lares.dispose();
    }
  });

  it("the same twice in a row, at the second life too", async () => {
    const lares = await startLares({ env: { ...model.env, LARES_CRASH_AT: "model.before" } });
    try {
      await lares.chat("client", "hello", { key: "k" }).catch(() => {});
      await lares.gone;
      // The open turn goes on at once and meets the next point before anybody asks.
      lares.spawn({ LARES_CRASH_AT: "end.before" });
      expect((await lares.gone).signal).toBe("SIGKILL");
      await lares.start({ LARES_CRASH_AT: "" });
      const answer = await lares.chat("client", "hello", { key: "k" });
      expect(answer.state).toBe("answered");
      await checkOneTurn(lares, answer.session, answer.response);
    } finally {
      await lares.dispose();
    }
  });

  it("before anything was accepted: the retry is the first", async () => {
    const lares = await startLares({ env: model.env });
    try {
      await lares.kill9();
      await expect(lares.chat("client", "hello", { key: "k" })).rejects.toThrow();
      await lares.start();
      const answer = await lares.chat("client", "hello", { key: "k" });
      expect(answer).toMatchObject({ state: "answered", duplicate: false });
      await checkOneTurn(lares, answer.session, answer.response);
    } finally {
      await lares.dispose();
    }
  });

  it("without a retry the turn is finished all the same, at once after the start", async () => {
    const lares = await startLares({ env: { ...model.env, LARES_CRASH_AT: "accept.committed" } });
    try {
      await lares.chat("client", "hello", { key: "k" }).catch(() => {});
      await lares.gone;
      await lares.start({ LARES_CRASH_AT: "" });
      const [session] = (await lares.rpc("sessions.list", {})).sessions;
      await until("the answer", async () => {
        const { turns } = await lares.rpc("turns.list", { session: session!.session });
        return turns[0]?.state === "answered";
      });
    } finally {
      await lares.dispose();
    }
  });
});
