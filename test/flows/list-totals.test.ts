/** A list that is cut says how many there are, and keeps the newest. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Lares, startLares, startModel } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({
    env: model.env,
    config: { gateway: { http: { wait: 0.05 } }, sandbox: { backend: "none" } },
  });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

test("approvals, conversations and turns are counted whatever the limit", async () => {
  const asked: string[] = [];
  for (const user of ["a", "b", "c"]) {
    const message = `tool:exec ${JSON.stringify({ command: `rm -rf ${user}` })} then: say:done`;
    const { approval } = await lares.rpc("chat.send", { user, message, agent: "main" });
    asked.push(approval!.id);
  }
  const newest = await lares.rpc("approvals.list", { limit: 2 });
  expect(newest.approvals.map(({ id }) => id)).toEqual(asked.slice(1));
  expect(newest).toMatchObject({ total: 3, waiting: 3 });
  await lares.rpc("approvals.resolve", { id: asked[2]!, decision: "deny" });
  expect(await lares.rpc("approvals.list", { state: "all", limit: 1 })).toMatchObject({
    approvals: [{ id: asked[2] }],
    total: 3,
    waiting: 2,
  });
  const { session } = newest.approvals[0]!;
  expect(await lares.rpc("approvals.list", { session })).toMatchObject({ total: 1, waiting: 1 });
  expect((await lares.rpc("sessions.list", { limit: 2 })).total).toBe(3);
  expect(await lares.rpc("turns.list", { limit: 2 })).toMatchObject({ turns: [{}, {}], total: 3 });
  expect((await lares.rpc("turns.list", { session, limit: 1 })).total).toBe(1);
});
