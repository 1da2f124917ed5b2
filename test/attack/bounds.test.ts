/** Nothing that others send or ask for is without a bound: each case sends too much of one thing and looks at the gateway meanwhile. */
import { afterEach, describe, expect, test } from "vitest";
import { type Lares, startLares, startModel, toolResults } from "../support/index.ts";
import { allowedStall, watched } from "./watching.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function house(config: object = {}): Promise<{ lares: Lares; model: Awaited<ReturnType<typeof startModel>> }> {
  const model = await startModel();
  closing.push(() => model.close());
  const lares = await startLares({ env: model.env, config });
  closing.push(() => lares.dispose());
  return { lares, model };
}

describe("tool calls of one reply", () => {
  test("200 commands in one reply run a few at a time, and the gateway answers all the while", async () => {
    const { lares, model } = await house({ policy: { mode: "record" } });
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : {
            toolCalls: Array.from({ length: 200 }, (_, i) => ({
              name: "exec",
              input: { command: `sleep 0.2; echo number ${i}` },
            })),
          },
    );
    await lares.chat("warm", "hello");
    const most = await allowedStall(lares);
    const { value, worstMs } = await watched("200 × exec", lares, () => lares.chat("owner", "go"));
    expect(value.response).toBe("done");
    expect(worstMs).toBeLessThan(most);
    const results = toolResults(model.requests.at(-1)!);
    expect(results).toHaveLength(200);
    const ran = results.slice(0, 100);
    for (const [i, { text }] of ran.entries())
      expect(text).toContain(`number ${i}
`);
    for (const { text, isError } of results.slice(100)) {
      expect(isError).toBe(true);
      expect(text).toContain("only the first 100 tool calls of a reply are run");
    }
  });

  test("25 conversations with 8 commands each at the same moment stall nobody", async () => {
    const { lares, model } = await house({ policy: { mode: "record" } });
    model.use((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "done" }
        : { toolCalls: Array.from({ length: 8 }, () => ({ name: "exec", input: { command: "sleep 0.5" } })) },
    );
    const most = await allowedStall(lares);
    const { value, worstMs } = await watched("25 × 8 × exec", lares, () =>
      Promise.all(Array.from({ length: 25 }, (_, i) => lares.chat(`person-${i}`, "go"))),
    );
    expect(value.map(({ response }) => response)).toEqual(value.map(() => "done"));
    expect(worstMs).toBeLessThan(most);
  });
});
