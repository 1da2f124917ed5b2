import { expect, test } from "vitest";
import { pretend } from "../../../test/support/pretend.ts";
import { testRecords } from "../../../test/support/records.ts";
import { type AttentionParts, countAttention, dismissAll, dismissAttention, listAttention } from "./attention.ts";
import type { StoredKind } from "./store.ts";

type Row = { kind: StoredKind; at: number; a?: string; b?: unknown; turn?: string; same?: string };

/** Rows as their owners' queries would return them. */
function query(rows: Row[], kind: StoredKind): string {
  const mine = rows.map((row, i) => ({ ...row, i })).filter((row) => row.kind === kind);
  const text = (value: string | undefined) => (value === undefined ? "NULL" : `'${value.replaceAll("'", "''")}'`);
  const values = mine.map(({ at, a, b, turn, same, i }) => {
    const raw = b === undefined || typeof b === "string" ? b : JSON.stringify(b);
    return `SELECT '${kind}:${i}' AS id, ${at} AS at, NULL AS session, 'main' AS agent, ${text(turn)} AS turn, ${text(a)} AS a, ${text(raw as string | undefined)} AS b, ${text(same)} AS same`;
  });
  return values.length
    ? values.join(" UNION ALL ")
    : "SELECT '' AS id, 0 AS at, '' AS session, '' AS agent, '' AS turn, '' AS a, '' AS b, '' AS same WHERE 0";
}

async function world(rows: Row[], more: Partial<AttentionParts> = {}) {
  const { records } = await testRecords("attention");
  const happened = {
    turn: query(rows, "turn"),
    effect: query(rows, "effect"),
    delivery: query(rows, "delivery"),
    job: query(rows, "job"),
  };
  const parts: AttentionParts = {
    db: records.committed,
    happened,
    write: (work) => records.write(work),
    approvals: { list: async () => [], countPending: async () => 0 },
    watches: async () => [],
    accounts: () => [],
    problems: [],
    now: 1000,
    ...more,
  };
  return parts;
}

test("nothing needs anybody", async () => {
  expect(await listAttention(await world([]), { limit: 10 })).toEqual({ items: [], total: 0 });
});

test.each<[string, Row, object]>([
  [
    "a turn with its reason",
    { kind: "turn", at: 1, a: "failed", b: { reason: "The key was refused.", failure: "auth" } },
    { text: "The key was refused.", state: "failed", failure: "auth" },
  ],
  ["a turn without one", { kind: "turn", at: 1, a: "failed" }, { text: "The turn failed.", state: "failed" }],
  [
    "a message that may have arrived",
    { kind: "delivery", at: 1, a: "uncertain", b: { route: { channel: "telegram", account: "bot" }, error: null } },
    { text: "A message to telegram/bot may or may not have arrived." },
  ],
  [
    "a message that didn't",
    { kind: "delivery", at: 1, a: "failed", b: { route: { channel: "irc", account: "a" }, error: "No such nick." } },
    { text: "A message to irc/a was not delivered: No such nick." },
  ],
  ["a job", { kind: "job", at: 1, a: "report", b: "No model." }, { text: 'The job "report" failed: No model.' }],
  ["a job without a reason", { kind: "job", at: 1, a: "x" }, { text: 'The job "x" failed: no reason was recorded' }],
])("%s is put in a sentence", async (_what, row, words) => {
  const { items, total } = await listAttention(await world([row]), { limit: 10 });
  expect(items).toEqual([expect.objectContaining({ ...words, dismissible: true, agent: "main", kind: row.kind })]);
  expect(total).toBe(1);
});

test("ATTENTION-1: what is still the case stands first and can't be dismissed", async () => {
  const approval = {
    id: "ap1",
    tool: "exec",
    shown: "rm x\nmore",
    askedAt: 5,
    deadline: 9,
    agent: "main",
    session: "s",
    turn: "t",
  };
  const parts = await world([{ kind: "job", at: 900, a: "x" }], {
    approvals: { list: async () => pretend([approval]), countPending: async () => 1 },
    watches: async () => [
      { name: "fine", agent: "main" },
      { name: "feed", agent: "main", error: "404", isPaused: true },
    ],
    accounts: () => [
      { channel: "irc", account: "up", state: "up" },
      { channel: "irc", account: "deaf", state: "down", hearing: false, detail: "no route" },
      { channel: "irc", account: "mute", state: "down", sending: false },
    ],
    problems: ["A setting is wrong."],
  });
  const { items, total } = await listAttention(parts, { limit: 10 });
  expect(items.map(({ text, dismissible }) => [text, dismissible])).toEqual([
    ["main asks: rm x", false],
    ["A setting is wrong.", false],
    ["irc/deaf is not receiving: no route", false],
    ["irc/mute cannot send.", false],
    ["feed is paused: 404", false],
    ['The job "x" failed: no reason was recorded', true],
  ]);
  expect(total).toBe(6);
  await expect(dismissAttention(parts, ["problem:0"], "ana")).rejects.toThrow("still the case");
  expect(await dismissAll(parts, "ana")).toBe(1);
  expect(await countAttention(parts)).toBe(5);
});

test("pages hold every row once, newest first, also where many share a time", async () => {
  const kinds: StoredKind[] = ["turn", "job", "effect"];
  const rows = Array.from(
    { length: 23 },
    (_, i): Row => ({ kind: kinds[i % 3]!, at: 100 + (i >> 2), a: `tool:x:${i}` }),
  );
  const parts = await world(rows);
  const seen: { at: number; id: string }[] = [];
  let after: string | undefined;
  do {
    const page = await listAttention(parts, { limit: 4, after });
    expect(page.total).toBe(23);
    seen.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  expect(new Set(seen.map(({ id }) => id)).size).toBe(23);
  expect(seen).toEqual([...seen].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)));
});

test("dismissing is idempotent and lasts", async () => {
  const parts = await world([
    { kind: "job", at: 1, a: "x" },
    { kind: "job", at: 2, a: "y" },
  ]);
  await dismissAttention(parts, ["job:0"], "ana");
  await dismissAttention(parts, ["job:0"], "bob");
  expect((await listAttention(parts, { limit: 10 })).items.map(({ id }) => id)).toEqual(["job:1"]);
});

test("ATTENTION-2: turns declined for the same reason are one thing with a count, on every page and in the total", async () => {
  const declined = (at: number, same: string): Row => ({
    kind: "turn",
    at,
    a: "declined",
    b: { reason: `No ${at}.` },
    same,
  });
  const rows = [...Array.from({ length: 40 }, (_, i) => declined(i, i % 2 ? "odd" : "even")), declined(5, "odd")];
  rows.push({ kind: "turn", at: 6, a: "failed" }, { kind: "job", at: 7, a: "x" });
  const parts = await world(rows);
  const first = await listAttention(parts, { limit: 1 });
  expect(first).toMatchObject({
    total: 4,
    items: [{ id: "turn:39", count: 21, text: "No 39. 21 turns ended like this." }],
  });
  const rest = await listAttention(parts, { limit: 10, after: first.next });
  expect(rest.items.map(({ id, count }) => [id, count])).toEqual([
    ["turn:38", 20],
    ["job:42", undefined],
    ["turn:41", undefined],
  ]);
  // One more came while the list was read: it is new.
  await dismissAttention(parts, ["turn:37", "turn:38"], "ana");
  expect((await listAttention(parts, { limit: 10 })).items.map(({ id, text }) => [id, text])).toEqual([
    ["turn:39", "No 39."],
    ["job:42", 'The job "x" failed: no reason was recorded'],
    ["turn:41", "The turn failed."],
  ]);
  expect(await dismissAll(parts, "ana")).toBe(3);
  expect(await countAttention(parts)).toBe(0);
});
