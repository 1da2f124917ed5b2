import { expect, it } from "vitest";
import { Queue } from "./queue.ts";

/** Everything the loop gets, and what ended it. */
async function drain(queue: Queue<string>): Promise<{ got: string[]; error: unknown }> {
  const got: string[] = [];
  try {
    for await (const one of queue.items()) got.push(one);
  } catch (error) {
    return { got, error };
  }
  throw new Error("a queue ends by throwing");
}

it("gives what is pushed, before and while somebody waits, in order", async () => {
  const queue = new Queue<string>();
  queue.push("a");
  const items = queue.items();
  expect((await items.next()).value).toBe("a");
  const next = items.next();
  queue.push("b");
  queue.push("c");
  expect((await next).value).toBe("b");
  expect((await items.next()).value).toBe("c");
});

it("what came before the end is still given, then the first error is thrown", async () => {
  const queue = new Queue<string>();
  queue.push("a");
  queue.end(new Error("closed"));
  queue.end(new Error("reset"));
  const { got, error } = await drain(queue);
  expect(got).toEqual(["a"]);
  expect(error).toEqual(new Error("closed"));
});

it("an end reaches a loop that is waiting", async () => {
  const queue = new Queue<string>();
  const drained = drain(queue);
  queue.end(new Error("closed"));
  expect((await drained).error).toEqual(new Error("closed"));
});
