/** Sessions as people handle them: list, get, reset, delete, export, import, prune. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callExec, type Lares, requestsWith, startLares, startModel, userTexts } from "../support/index.ts";

let model: Awaited<ReturnType<typeof startModel>>;
let lares: Lares;
beforeAll(async () => {
  model = await startModel();
  lares = await startLares({ env: model.env, config: { gateway: { http: { wait: 0.05 } }, agents: { second: {} } } });
});
afterAll(async () => {
  await lares?.dispose();
  await model?.close();
});

const notFound = { status: 404, error: { code: "NOT_FOUND" } };

/** A session with text, a tool call and an answered approval in it. */
async function talk(user: string): Promise<string> {
  await lares.chat(user, `hello from ${user}`);
  await lares.chat(user, `tool:list {"path":"."} then: say:listed`);
  const parked = await lares.chat(user, `${callExec("echo hi")} then: say:done`);
  await lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" });
  return (await lares.rpc("turns.wait", { turn: parked.turn })).session;
}

it("list and get show what was used last first, with title and counts", async () => {
  const a = await talk("lia");
  const b = (await lares.chat("leo", "the newest one")).session;
  const { sessions } = await lares.rpc("sessions.list", {});
  expect(sessions.slice(0, 2).map((s) => s.session)).toEqual([b, a]);
  expect(sessions[1]).toMatchObject({ agent: "main", title: "hello from lia" });
  expect(await lares.rpc("sessions.get", { session: a })).toEqual(sessions[1]);
  expect(sessions[1]!.messages).toBe((await lares.rpc("sessions.export", { session: a })).lines.length);
  expect((await lares.rpc("sessions.list", { search: "newest" })).sessions.map((s) => s.session)).toEqual([b]);
  expect((await lares.rpc("sessions.list", { agent: "second" })).sessions).toEqual([]);
});

it("reset: the model sees nothing of before, people still can", async () => {
  const { session } = await lares.chat("res", "before the reset");
  await lares.rpc("sessions.reset", { session });
  await lares.chat("res", "after the reset");
  expect(userTexts(requestsWith(model, "after the reset")[0]!)).toEqual(["after the reset"]);
  const { messages } = await lares.rpc("chat.history", { session });
  expect(JSON.stringify(messages)).toContain("before the reset");
  await lares.restart();
  await lares.chat("res", "after the restart");
  expect(userTexts(requestsWith(model, "after the restart")[0]!)).toEqual(["after the reset", "after the restart"]);
});

it("/new does the same from the chat", async () => {
  await lares.chat("fresh", "before /new");
  await lares.chat("fresh", "/new");
  await lares.chat("fresh", "afterwards");
  expect(userTexts(requestsWith(model, "afterwards")[0]!)).toEqual(["afterwards"]);
});

it("delete: nothing is left; a parked turn of it ends, and its approval with it", async () => {
  const session = await talk("del");
  const parked = await lares.chat("del", `${callExec("echo never >> del.txt")} then: say:x`);
  const { messages } = await lares.rpc("sessions.get", { session });
  expect((await lares.rpc("sessions.delete", { session })).messages).toBeGreaterThanOrEqual(messages);
  await expect(lares.rpc("sessions.get", { session })).rejects.toMatchObject(notFound);
  await expect(lares.rpc("sessions.export", { session })).rejects.toMatchObject(notFound);
  await expect(lares.rpc("sessions.delete", { session })).rejects.toMatchObject(notFound);
  await expect(lares.rpc("turns.get", { turn: parked.turn })).rejects.toMatchObject(notFound);
  await expect(
    lares.rpc("approvals.resolve", { id: parked.approval!.id, decision: "allow-once" }),
  ).rejects.toMatchObject({ error: { code: /NOT_FOUND|ALREADY_ANSWERED/ } });
  const { turn } = await lares.chat("del", "a new life");
  expect(userTexts(requestsWith(model, "a new life")[0]!)).toEqual(["a new life"]);
  expect((await lares.rpc("turns.list", { session })).turns.map((t) => t.turn)).toEqual([turn]);
});

describe("export and import", () => {
  it("export, delete, import, export gives identical lines, and the conversation goes on", async () => {
    const session = await talk("trip");
    const { lines } = await lares.rpc("sessions.export", { session });
    expect(new Set(lines.map((l) => l.role))).toEqual(new Set(["user", "assistant", "tool"]));
    for (const line of lines)
      expect(line).toMatchObject({ session, id: expect.any(String), timestamp: expect.any(String) });
    await lares.rpc("sessions.delete", { session });
    expect(await lares.rpc("sessions.import", { session, lines })).toMatchObject({
      imported: lines.length,
      skipped: 0,
    });
    expect((await lares.rpc("sessions.export", { session })).lines).toEqual(lines);
    await lares.chat("trip", "and on it goes");
    expect(userTexts(requestsWith(model, "and on it goes")[0]!)).toContain("hello from trip");
  });

  it("importing twice changes nothing", async () => {
    const session = await talk("twice");
    const { lines } = await lares.rpc("sessions.export", { session });
    expect(await lares.rpc("sessions.import", { session, lines })).toMatchObject({
      imported: 0,
      skipped: lines.length,
    });
    expect((await lares.rpc("sessions.export", { session })).lines).toEqual(lines);
  });

  it("into another home, under another key", async () => {
    const session = await talk("move");
    const { lines } = await lares.rpc("sessions.export", { session });
    const elsewhere = await startLares({ env: model.env });
    try {
      expect(await elsewhere.rpc("sessions.import", { session, lines })).toMatchObject({ imported: lines.length });
      expect((await elsewhere.rpc("sessions.export", { session })).lines).toEqual(lines);
    } finally {
      await elsewhere.dispose();
    }
    const other = "agent:main:copy";
    expect(await lares.rpc("sessions.import", { session: other, lines })).toMatchObject({ imported: lines.length });
    const copy = (await lares.rpc("sessions.export", { session: other })).lines;
    expect(copy.map((l) => l.content)).toEqual(lines.map((l) => l.content));
  });

  it("lines that are wrong are refused whole: nothing is stored", async () => {
    const session = "agent:main:broken-import";
    const good = {
      session,
      seq: 1,
      id: "m1",
      turn: "t1",
      role: "user",
      content: [{ type: "text", text: "x" }],
      timestamp: new Date().toISOString(),
    };
    for (const bad of [
      { ...good, role: "wizard" },
      { ...good, timestamp: "yesterday" },
      { ...good, content: "x" },
    ]) {
      const answer = await lares.request("POST", "/rpc/sessions.import", {
        body: { lines: [good, { ...bad, id: "m2" }] },
      });
      expect(answer.status).toBe(400);
    }
    await expect(lares.rpc("sessions.get", { session })).rejects.toMatchObject(notFound);
  });
});

it("prune deletes what was not used for long, never what waits; a dry run only tells", async () => {
  const old = (await lares.chat("old", "long ago")).session;
  const parked = await lares.chat("waits", `${callExec("echo x")} then: say:y`);
  const none = await lares.rpc("sessions.prune", { olderThanDays: 1 });
  expect(none.sessions).toEqual([]);
  const dry = await lares.rpc("sessions.prune", { olderThanDays: 0, dryRun: true });
  expect(dry).toMatchObject({ deleted: false });
  expect(dry.sessions).toContain(old);
  expect(dry.sessions).not.toContain(parked.session);
  expect((await lares.rpc("sessions.get", { session: old })).messages).toBe(2);
  await lares.rpc("sessions.prune", { olderThanDays: 0 });
  await expect(lares.rpc("sessions.get", { session: old })).rejects.toMatchObject(notFound);
  expect((await lares.rpc("sessions.get", { session: parked.session })).session).toBe(parked.session);
});
