/** What becomes of a heartbeat's warning that says nothing or does not come alone. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../support/index.ts";
import { ANN, startTelegramRig, type TelegramRig } from "./telegram.ts";

let rig: TelegramRig;
beforeAll(async () => {
  const heartbeat = { every: "30m", deliver: { channel: "telegram", account: "bot", chat: String(ANN.id) } };
  rig = await startTelegramRig({
    files: { "agents/main/HEARTBEAT.md": "# Look after\n\n- the boiler\n" },
    config: { agents: { main: { heartbeat } } },
  });
});
afterAll(() => rig?.stopAll());

test.each([
  ["a wrong field", '{"msg":"the boiler is cold"}', 'field "text" is missing or empty'],
  ["no field", "{}", 'field "text" is missing or empty'],
  ["no JSON", "{the boiler", "the arguments are not valid JSON"],
])("a heartbeat warning with %s is refused with the reason, and the next one is sent", async (how, raw, why) => {
  // A slot is known by its minute.
  rig.clock.advance(60_000);
  const warning = `The boiler is cold, said with ${how}.`;
  const heard = () => rig.fake.sent.filter(({ text }) => text === warning).length;
  let calls = 0;
  rig.model.use((request) => {
    if (!request.tools.includes("heartbeat_tell")) return { text: "ok" };
    const call = calls++ === 0 ? raw : JSON.stringify({ text: warning });
    return { toolCalls: [{ name: "heartbeat_tell", raw: call }] };
  });
  await rig.after(() => void rig.rpc("heartbeat.run", { agent: "main" }));
  const second = rig.last();
  expect(second.messages.at(-1)!.role).toBe("tool");
  expect(JSON.stringify(second.messages.at(-1))).toContain(
    JSON.stringify(`Nothing was sent, because ${why}`).slice(1, -1),
  );
  await until("the warning", () => heard() > 0);
  expect([calls, heard()]).toEqual([2, 1]);
});

test("a call beside a heartbeat warning is run and answered, and the warning is sent when it comes alone", async () => {
  rig.clock.advance(60_000);
  const warning = "The boiler is cold, said alone.";
  const heard = () => rig.fake.sent.filter(({ text }) => text === warning).length;
  const tell = { name: "heartbeat_tell", input: { text: warning } };
  let calls = 0;
  rig.model.use((request) => {
    if (!request.tools.includes("heartbeat_tell")) return { text: "ok" };
    return { toolCalls: calls++ === 0 ? [{ name: "list", input: { path: "." } }, tell] : [tell] };
  });
  await rig.after(() => void rig.rpc("heartbeat.run", { agent: "main" }));
  const { parts } = rig.last().messages.at(-1)!;
  const results = parts.flatMap((part) => (part.type === "tool-result" ? [part.text] : []));
  expect(results).toHaveLength(2);
  expect(results[0]).not.toContain("Not done");
  expect(results[1]).toBe("Not done: this ends the turn, so call it alone, after your other calls.");
  await until("the warning", () => heard() > 0);
  expect([calls, heard()]).toEqual([2, 1]);
});

test("the next heartbeat reads a result for every call of the one before", async () => {
  rig.clock.advance(60_000);
  rig.model.use(() => ({ toolCalls: [{ name: "heartbeat_quiet", input: {} }] }));
  const first = await rig.rpc("heartbeat.run", { agent: "main" });
  const { session } = await rig.rpc("turns.get", { turn: first.turn! });
  await until("its end", async () => (await rig.rpc("turns.get", { turn: first.turn! })).state === "silent");
  const { messages } = await rig.rpc("chat.history", { session });
  const text = JSON.stringify(messages);
  expect(text.match(/"heartbeat_quiet"/g)?.length ?? 0).toBeGreaterThan(1);
  expect(text).toContain("Done. Nothing was sent.");
});
