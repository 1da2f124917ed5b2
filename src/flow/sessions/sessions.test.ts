/** Sessions as people handle them, on real records. */

import { expect, test } from "vitest";
import { testRecords } from "../../../test/support/records.ts";
import { noHooks } from "../../core/contracts/index.ts";
import { asId, type HistoryEntry, type SessionKey, type TurnId } from "../../core/domain/index.ts";
import { ManualClock, makeBus, noCrash } from "../../core/kit/index.ts";
import { eraseHistory, insertImported } from "../../mind/context/index.ts";
import { Sessions } from "./index.ts";

const KEY = asId<SessionKey>("agent:main:web:one");

async function world(over: Partial<ConstructorParameters<typeof Sessions>[0]> = {}) {
  const { records } = await testRecords("sessions");
  const clock = new ManualClock();
  const removed: string[] = [];
  const sessions = new Sessions({
    records,
    clock,
    crash: noCrash,
    bus: makeBus(),
    hooks: noHooks,
    resume: async () => "unknown",
    running: () => undefined,
    forget: () => {},
    erase: async () => {},
    files: { of: async () => ["f_1"], remove: async (ids) => void removed.push(...ids) },
    addImported: (tx, line) => insertImported(tx, line, 1),
    erasers: [eraseHistory],
    resetters: [],
    ended: async () => {},
    ...over,
  });
  const say = (...texts: string[]) => sessions.import({ session: KEY, agent: "main" }, texts.map(entry));
  return { sessions, clock, removed, say };
}

const entry = (text: string, i: number): HistoryEntry => ({
  session: KEY,
  seq: i + 1,
  id: `m_${i}`,
  turn: asId<TurnId>(`t_${i}`),
  role: "user",
  content: [{ type: "text", text }],
  at: i,
});

test("one without a title is called after the first line of its first message, cut to a row", async () => {
  const { sessions, say } = await world();
  await say(`${"long ".repeat(30)}\nsecond line`, "more");
  const { title, messages } = await sessions.get(KEY);
  expect(title).toHaveLength(60);
  expect(title).toMatch(/^long long .*…$/);
  expect(messages).toBe(2);
});

test("a name replaces that, and both are found by a search", async () => {
  const { sessions, say } = await world();
  await say("about taxes");
  await sessions.rename(KEY, "Letters");
  expect((await sessions.get(KEY)).title).toBe("Letters");
  const found = async (search: string) => (await sessions.list({ search, limit: 10 })).map(({ session }) => session);
  expect(await found("LETTERS")).toEqual([KEY]);
  expect(await found("taxes")).toEqual([KEY]);
  expect(await found("weather")).toEqual([]);
});

test("the history comes page by page from the end, in order", async () => {
  const { sessions, say } = await world();
  await say("one", "two", "three");
  const page = await sessions.history({ session: KEY, limit: 2 });
  expect(page.more).toBe(true);
  expect(page.messages.map(({ content }) => content)).toEqual([
    [{ type: "text", text: "two" }],
    [{ type: "text", text: "three" }],
  ]);
  const rest = await sessions.history({ session: KEY, before: page.messages[0]!.seq, limit: 2 });
  expect(rest).toMatchObject({ more: false, messages: [{ id: "m_0" }] });
});

test("importing twice changes nothing", async () => {
  const { say } = await world();
  expect(await say("one", "two")).toEqual({ imported: 2, skipped: 0 });
  expect(await say("one", "two")).toEqual({ imported: 0, skipped: 2 });
});

test("what was exported goes in under another name beside the original", async () => {
  const { sessions, say } = await world();
  await say("one");
  const copy = asId<SessionKey>("agent:main:web:copy");
  const lines = await sessions.export(KEY);
  expect(await sessions.import({ session: copy, agent: "main" }, lines)).toEqual({ imported: 1, skipped: 0 });
  expect((await sessions.export(copy))[0]).toMatchObject({ session: copy, content: [{ type: "text", text: "one" }] });
});

test("deleting takes the messages and the files with it; the next question says what to do", async () => {
  const { sessions, say, removed } = await world();
  await say("one", "two");
  expect(await sessions.delete(KEY)).toBe(2);
  expect(removed).toEqual(["f_1"]);
  await expect(sessions.get(KEY)).rejects.toMatchObject({ code: "NOT_FOUND", hint: "See them: lares sessions list" });
});

test("what nobody used for long is named first and goes when that is meant", async () => {
  const { sessions, say, clock } = await world();
  await say("one");
  await clock.advance(10_000);
  expect(await sessions.prune(60_000, true)).toEqual([]);
  expect(await sessions.prune(5000, true)).toEqual([KEY]);
  expect((await sessions.get(KEY)).messages).toBe(1);
  expect(await sessions.prune(5000, false)).toEqual([KEY]);
  await expect(sessions.get(KEY)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
