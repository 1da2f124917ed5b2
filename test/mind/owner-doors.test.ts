/** One session that the owner enters by several doors (`routing.scope: main`): what was frozen stays, and each change of door is said. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SeenRequest } from "../fakes/model-server/index.ts";
import { TOKEN } from "./rig.ts";
import { ANN, BO, startTelegramRig, type TelegramRig } from "./telegram.ts";

let rig: TelegramRig;
beforeAll(async () => {
  rig = await startTelegramRig({ config: { routing: { scope: "main" } } });
});
afterAll(() => rig?.stopAll());

const inTerminal = (message: string): Promise<SeenRequest> =>
  rig.after(() =>
    fetch(`${rig.url}/rpc/chat.send`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        "x-lares-face": "terminal",
      },
      body: JSON.stringify({ message }),
    }),
  );

test("the owner who comes in by another door reads along already: the system prompt and the tools stay", async () => {
  const first = await rig.say(ANN.id, ANN, "K1");
  expect(first.system).toContain("Chat: Telegram");
  rig.clock.advance(1000);
  for (const next of [await inTerminal("K2"), await rig.say(ANN.id, ANN, "K3")]) {
    expect(JSON.stringify(next.messages)).toContain("K1");
    expect(next.system).toBe(first.system);
    expect(next.tools).toEqual(first.tools);
  }
});

test("somebody else who comes in is a new reader, for whom the prompt is made again", async () => {
  const before = rig.last();
  const request = await rig.say(BO.id, BO, "K4");
  expect(JSON.stringify(request.messages)).toContain("K1");
  expect(request.system).not.toBe(before.system);
  expect(request.system).toContain("somebody the owner let in");
});
