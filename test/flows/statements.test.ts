/**
 * What a turn asks of the database, counted by the program itself: a read that somebody adds to every turn is seen here, and not
 * only by whoever measures the whole. The numbers are what was measured, with each of a turn's three transactions on its own (on an
 * idle machine some share a commit); lower them when you save some.
 */
import { expect, onTestFinished, test } from "vitest";
import { type Lares, startLares, startModel, until } from "../support/index.ts";

const TURNS = 20;

test.each([
  ["a message over /chat", 36, (lares: Lares) => lares.chat("ann", "hello")],
  ["a message over RPC", 36, (lares: Lares) => lares.rpc("chat.send", { message: "hello", user: "ann" })],
  ["a message with a key", 39, (lares: Lares, n: number) => lares.chat("ann", "hello", { key: `k${n}` })],
  ["a turn with one tool call", 58, (lares: Lares) => lares.chat("ann", 'tool:list {"path":"."} then: say:done')],
])("%s takes at most %i statements", { timeout: 60_000 }, async (_what, most, send) => {
  const model = await startModel();
  const lares = await startLares({ env: model.env });
  onTestFinished(async () => {
    await lares.dispose();
    await model.close();
  });
  for (let n = 0; n < 5; n++) await send(lares, n);
  const before = await settled(lares);
  for (let n = 0; n < TURNS; n++) await send(lares, 100 + n);
  const perTurn = ((await settled(lares)) - before) / TURNS;
  expect(perTurn).toBeLessThanOrEqual(most);
  // Far fewer would mean that they are not counted.
  expect(perTurn).toBeGreaterThan(most / 2);
});

/** The count when what goes on after a turn is done: asking costs the same each time. */
async function settled(lares: Lares): Promise<number> {
  const steps: number[] = [];
  let last = await ran(lares);
  await until("the database to be left alone", async () => {
    const now = await ran(lares);
    steps.push(now - last);
    last = now;
    return steps.length >= 5 && new Set(steps.slice(-5)).size === 1;
  });
  return last - steps.length * steps.at(-1)!;
}

async function ran(lares: Lares): Promise<number> {
  const { text } = await lares.request("GET", "/metrics");
  return Number(/^lares_statements_total (\d+)$/m.exec(text)![1]);
}
