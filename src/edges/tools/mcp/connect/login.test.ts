/** A login whose server never answers; the others are in test/flows/mcp-login.test.ts. */
import { expect, test } from "vitest";
import { ManualClock } from "../../../../core/kit/index.ts";
import { McpLogin } from "./login.ts";

test("a login whose server never answers ends in a sentence", async () => {
  const clock = new ManualClock();
  let kept: string | undefined;
  const login = new McpLogin({
    server: "sky",
    url: "https://sky.example/mcp",
    oauth: undefined,
    clock,
    store: {
      read: () => kept,
      async write(text) {
        kept = text;
      },
    },
    redirect: () => "http://127.0.0.1:7717/mcp/login/done",
    fetch: (_to, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        setTimeout(() => clock.advance(60_000), 0);
      }),
  });
  await expect(login.begin()).rejects.toMatchObject({
    code: "NOT_READY",
    message: "You aren't logged in to sky: its login didn't answer in time.",
    hint: "Try again: lares mcp login sky",
  });
});
