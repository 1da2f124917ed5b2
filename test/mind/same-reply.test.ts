/** Calls of one reply that depend on each other. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ config: { sandbox: { backend: "none" } } });
});
afterAll(() => rig?.stop());

test("process list beside exec in the background shows what was just started", async () => {
  rig.model.use((request) =>
    request.messages.at(-1)!.role === "user"
      ? {
          toolCalls: [
            { name: "exec", input: { command: "sleep 20", background: true } },
            { name: "process", input: { action: "list" } },
          ],
        }
      : { text: "done" },
  );
  await rig.chat("both", "start it and look");
  const results = rig
    .last()
    .messages.at(-1)!
    .parts.flatMap((part) => (part.type === "tool-result" ? [part.text] : []));
  const [, id] = /background as (p_\w+)/.exec(results[0] ?? "") ?? [];
  expect(id).toBeDefined();
  expect(results[1]).toContain(`${id}`);
  expect(results[1]).toContain("sleep 20");
  await rig.rpc("chat.send", { session: "agent:main:http:owner:both", message: "/stop" }).catch(() => {});
});
