/** "Always" settles identical questions that wait; those that change the same file still run, one after the other. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Lares, startModel, until } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = new Lares({ env: model.env, config: { policy: { mode: "ask" } } });
  await lares.start();
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const pending = async () =>
  (await lares.rpc("approvals.list", {})).approvals.filter(({ state }) => state === "pending");

/** Three conversations ask for the very same call; one gets "always". */
async function askThrice(name: string, call: string): Promise<string[]> {
  const message = `${call} then: say:{results}`;
  const users = [1, 2, 3].map((n) => `${name}${n}`);
  for (const user of users) void lares.chat(user, message, { key: user }).catch(() => {});
  const asked = await until("three questions", async () => {
    const all = await pending();
    return all.length === 3 ? all : undefined;
  });
  await lares.rpc("approvals.resolve", { id: asked[0]!.id, decision: "allow-always" });
  return Promise.all(
    users.map((user) =>
      until(`the answer to ${user}`, async () => {
        const { state, response } = await lares.chat(user, message, { key: user });
        return state === "answered" ? String(response) : undefined;
      }),
    ),
  );
}

it.each([
  ["write", 'tool:write {"path":"same.txt","content":"x"}', "same.txt", "x"],
  ["exec", 'tool:exec {"command":"echo x >> log.txt"}', "log.txt", "x\nx\nx\n"],
])("%s: all of them ran, none is asked again (APPROVALS-4)", async (name, call, file, content) => {
  for (const answer of await askThrice(name, call)) expect(answer).not.toContain("Not run");
  expect(await pending()).toEqual([]);
  expect(readFileSync(join(lares.workspace(), file), "utf8")).toBe(content);
});
