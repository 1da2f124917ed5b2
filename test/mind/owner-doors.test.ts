/** One session that the owner enters by several doors (`routing.scope: main`): what was frozen stays, and each change of door is said. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { env, startRig, TOKEN } from "./rig.ts";
import { ANN, BO, startTelegramRig, type TelegramRig } from "./telegram.ts";

let rig: TelegramRig;
beforeAll(async () => {
  rig = await startTelegramRig({ config: { routing: { scope: "main" } } });
});
afterAll(() => rig?.stopAll());

const terminalSays = (url: string, message: string) =>
  fetch(`${url}/rpc/chat.send`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "x-lares-face": "terminal" },
    body: JSON.stringify({ message }),
  });
const inTerminal = (message: string): Promise<SeenRequest> => rig.after(() => terminalSays(rig.url, message));

test("the owner who comes in by another door reads along already: the system prompt and the tools stay", async () => {
  const first = await rig.say(ANN.id, ANN, "K1");
  expect(first.system).toContain("Chat: Telegram");
  rig.clock.advance(1000);
  const [second, third] = [await inTerminal("K2"), await rig.say(ANN.id, ANN, "K3")];
  for (const next of [second, third]) {
    expect(JSON.stringify(next.messages)).toContain("K1");
    expect(next.system).toBe(first.system);
    expect(next.tools).toEqual(first.tools);
  }
  expect(env(second)).toBe('[13:09 · "owner" (owner) · in the terminal (plain text)]');
  expect(env(third)).toBe('[13:09 · "Ann Lee" (owner) · on Telegram (files up to 52 MB)]');
});

test("somebody else who comes in is a new reader, for whom the prompt is made again", async () => {
  const before = rig.last();
  const request = await rig.say(BO.id, BO, "K4");
  expect(JSON.stringify(request.messages)).toContain("K1");
  expect(request.system).not.toBe(before.system);
  expect(request.system).toContain("somebody the owner has accepted");
});

test("a format is promised only where it is known: not for the terminal, which shows marks as typed, nor for a program", async () => {
  const other = await startRig();
  try {
    await other.rpc("chat.send", { message: "hello", user: "a-program" });
    expect(other.last().system).toContain("Chat: a program over HTTP, direct");
    expect(other.last().system).toContain("Format: another program shows your answer, so plain text is safest.");
    await terminalSays(other.url, "hello");
    expect(other.last().system).toContain("Chat: the terminal, direct");
    expect(other.last().system).toContain("Format: Markdown marks are shown as typed, so write plain text.");
    expect(other.last().system).not.toContain("tables work");
  } finally {
    await other.stop();
  }
});
