/** A newcomer without any key: chat, tools and approvals work offline, and it says that it is no language model. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Lares, startLares } from "../support/index.ts";

let lares: Lares;
beforeAll(async () => {
  lares = await startLares({ config: { gateway: { http: { wait: 0.05 } } } });
});
afterAll(() => lares?.dispose());

describe("the practice model", () => {
  it("answers at once and labels every answer", async () => {
    const answer = await lares.chat("new", "hello");
    expect(answer).toMatchObject({ status: 200, state: "answered", practice: true });
    expect(answer.response.length).toBeGreaterThan(10);
    expect((await lares.rpc("status", {})).model).toMatchObject({ practice: true });
    const { models } = await lares.rpc("models.list", {});
    expect(models.filter((m) => m.practice)).toHaveLength(1);
  });

  it('"run echo hi" asks, and after the yes the answer contains hi', async () => {
    const parked = await lares.chat("run", "run echo hi", { key: "run-1" });
    expect(parked).toMatchObject({ status: 202, state: "parked" });
    expect(parked.approval!.shown).toContain("echo hi");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    const end = await lares.rpc("turns.wait", { turn: parked.turn });
    expect(end).toMatchObject({ state: "answered", practice: true });
    expect(end.response).toMatch(/^hi$/m);
    expect((await lares.chat("run", "run echo hi", { key: "run-1" })).response).toBe(end.response);
  });

  it("and after the no it says that it was not run", async () => {
    const parked = await lares.chat("no", "run echo hi");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "deny", reason: "not today" });
    const end = await lares.rpc("turns.wait", { turn: parked.turn });
    expect(end.response).toMatch(/not run/);
    expect(end.response).toContain("not today");
  });

  it("reads and lists in the workspace without asking", async () => {
    const parked = await lares.chat("files", "create file hello.txt with Good morning");
    await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
    await lares.rpc("turns.wait", { turn: parked.turn });
    expect(await lares.chat("files", "read hello.txt")).toMatchObject({ state: "answered", status: 200 });
    expect((await lares.chat("files", "read hello.txt")).response).toContain("Good morning");
    expect((await lares.chat("files", "list files")).response).toContain("hello.txt");
  });
});
