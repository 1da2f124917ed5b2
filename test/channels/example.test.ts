/** The adapter that docs/CHANNELS.md tells people to begin with, by what the contract says of each of its steps. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { example } from "../../examples/adapter/config.ts";
import { startWire } from "../fakes/wire/index.ts";
import { until } from "../support/until.ts";
import { build, bytesOf, failure, filesOf, open, outgoing, soon, testDoor } from "./door.ts";

test("the example acknowledges after it was heard, fetches nothing by itself, and says what a broken send means", async () => {
  const posts: object[] = [];
  const acknowledged: number[] = [];
  let release = () => {};
  const wire = await startWire({
    handle({ path, query, headers, json }) {
      if (headers.authorization !== "Bearer right") return { status: 401, json: { error: "who are you?" } };
      if (path === "/me") return { json: { id: "b1", name: "bot" } };
      if (path === "/plan.txt") return { body: "the plan" };
      if (path === "/send") {
        posts.push(json);
        return { json: { id: `m${posts.length}` } };
      }
      const after = Number(query.get("after") ?? -1);
      if (query.has("after")) acknowledged.push(after);
      if (after < 0) return { json: { next: 0, messages: [] } };
      const from = { id: "u1", name: "Ann" };
      if (after === 0)
        return { json: { next: 1, messages: [{ id: "e1", chat: "c1", from, text: "hi", file: "/plan.txt" }] } };
      // A long poll: nothing for now.
      return undefined;
    },
    limited: () => ({ status: 429, headers: { "retry-after": "2" }, json: {} }),
  });
  const fields = { url: wire.url, token: "right" };
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const door = testDoor();
  door.before = () => slow;
  const line = await open(example, fields, door);
  await until("the first batch", () => acknowledged.length === 1);
  expect(door.position).toBe(0);
  release();
  await until("it to be acknowledged", () => acknowledged.includes(1));
  expect(door.events).toMatchObject([{ id: "e1", text: "hi", sender: { id: "u1", name: "Ann" }, addressed: true }]);
  expect(wire.calls.some((call) => call.includes("plan.txt"))).toBe(false);
  expect(await bytesOf(await filesOf(door.events[0])[0]!.open(soon()))).toBe("the plan");
  expect(door).toMatchObject({ position: 1, name: "bot" });
  await line.stop();

  expect(await line.channel.send(outgoing("example", "c1", "hello"), soon())).toEqual({ platformId: "m1" });
  expect(posts).toEqual([{ chat: "c1", text: "hello" }]);
  wire.faults.next(/send/, "limit");
  expect(await failure(line.channel.send(outgoing("example", "c1", "x"), soon()))).toMatchObject({ afterMs: 2000 });
  wire.faults.next(/send/, "drop-after");
  const lost = await failure(line.channel.send(outgoing("example", "c1", "x"), soon()));
  expect(lost).toMatchObject({ name: "SendUncertain" });
  const wrong = await build(example, { ...fields, token: "wrong" });
  expect(await failure(wrong.check(soon()))).toMatchObject({
    retry: "after-change",
    hint: expect.stringContaining("channels add"),
  });
  await wire.down();
});

test("both examples are as short as they are said to be", () => {
  const lines = (path: string) =>
    readFileSync(new URL(`../../examples/${path}`, import.meta.url), "utf8").split("\n").length - 1;
  expect(lines("adapter/example.ts")).toBeLessThanOrEqual(100);
  expect(lines("channel.py")).toBeLessThanOrEqual(60);
});
