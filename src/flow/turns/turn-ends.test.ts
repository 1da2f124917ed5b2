import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { asId, type TurnId } from "../../core/domain/index.ts";
import { makeBus } from "../../core/kit/index.ts";
import { openRecords, type SqliteRecords } from "../../ground/records/index.ts";
import { TurnEnds } from "./turn-ends.ts";

const clean: (() => void)[] = [];
afterEach(() => {
  for (const undo of clean.splice(0)) undo();
});

async function setUp(): Promise<{ records: SqliteRecords; watch: TurnEnds }> {
  const dir = mkdtempSync(join(tmpdir(), "lares-watch-"));
  const records = await openRecords(join(dir, "db"), (error) => {
    throw error;
  });
  clean.push(() => {
    records.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return { records, watch: new TurnEnds(records) };
}

const turn = (id: string) => asId<TurnId>(id);

function add(records: SqliteRecords, id: string, end?: object): Promise<void> {
  return records.write((tx) =>
    tx.run(
      `INSERT INTO turn (id, session, agent, person, accept_id, route, lane, state, accepted_at, result, ended_at)
       VALUES (?, 's', 'main', 'p', ?, '{"channel":"http","account":"a","chat":"c"}', 'interactive', 'queued', 1, ?, ?)`,
      id,
      id,
      end ? JSON.stringify(end) : null,
      end ? 2 : null,
    ),
  );
}

test("a caller of a turn that has ended leaves no listener behind", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1", { state: "answered", text: "hi", notices: [] });
  for (let i = 0; i < 100; i++) await watch.until(turn("t1"), "ended", new AbortController().signal);
  expect(watch.listening()).toBe(0);
});

test("a caller who waits is woken by the end and leaves no listener behind", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1");
  const waiting = watch.until(turn("t1"), "ended", new AbortController().signal);
  await expect.poll(() => watch.listening()).toBe(1);
  await records.write((tx) => tx.run("UPDATE turn SET ended_at = 5 WHERE id = 't1'"));
  watch.settled(turn("t1"));
  expect(await waiting).toMatchObject({ endedAt: 5 });
  expect(watch.listening()).toBe(0);
});

test("a message that joined another turn is followed to it, without a listener at either", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1", { state: "joined", text: "", joined: "t2", notices: [] });
  await add(records, "t2", { state: "answered", text: "both", notices: [] });
  expect(await watch.until(turn("t1"), "ended", new AbortController().signal)).toMatchObject({ id: "t2" });
  expect(watch.listening()).toBe(0);
});

test("a caller who gives up, and one who asks for a turn that is not there, leave no listener behind", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1");
  const gone = new AbortController();
  const waiting = watch.until(turn("t1"), "ended", gone.signal);
  await expect.poll(() => watch.listening()).toBe(1);
  gone.abort();
  expect(await waiting).toMatchObject({ id: "t1", endedAt: undefined });
  expect(await watch.until(turn("t9"), "ended", new AbortController().signal)).toBeUndefined();
  expect(watch.listening()).toBe(0);
});

test("when the records are lost, every caller is told", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1");
  const waiting = watch.until(turn("t1"), "ended", new AbortController().signal);
  await expect.poll(() => watch.listening()).toBe(1);
  watch.lose(new Error("the disk is gone"));
  await expect(waiting).rejects.toThrow("the disk is gone");
  expect(watch.listening()).toBe(0);
});

test("a turn that ended is read once for all who ask, and again after its session was deleted", async () => {
  const { records, watch } = await setUp();
  await add(records, "t1", { state: "answered", text: "hi", notices: [] });
  const first = await watch.read(turn("t1"));
  expect(await watch.read(turn("t1"))).toBe(first);
  await records.write((tx) => tx.run("DELETE FROM turn"));
  watch.forget();
  expect(await watch.read(turn("t1"))).toBeUndefined();
});

test("a caller waits for a turn that was accepted just now without a read, and is woken by its end, its park or the caller's leaving", async () => {
  const { records, watch } = await setUp();
  const bus = makeBus();
  const route = { channel: "http", account: "a", chat: "c" };
  const stop = watch.follow(bus);
  for (const id of ["t1", "t2", "t3"]) {
    await add(records, id);
    bus.emit({ event: "turn.accepted", session: asId("s"), turn: turn(id), text: "hi", route });
  }
  const before = records.ran;
  const leaving = new AbortController();
  const [ended, parked, left] = [
    watch.until(turn("t1"), "ended", new AbortController().signal),
    watch.until(turn("t2"), "settled", new AbortController().signal),
    watch.until(turn("t3"), "ended", leaving.signal),
  ];
  await expect.poll(() => watch.listening()).toBe(3);
  expect(records.ran).toBe(before);
  await records.write((tx) => tx.run("UPDATE turn SET ended_at = 5 WHERE id = 't1'"));
  await records.write((tx) => tx.run("UPDATE turn SET state = 'parked' WHERE id = 't2'"));
  watch.settled(turn("t1"));
  watch.settled(turn("t2"));
  leaving.abort();
  expect(await ended).toMatchObject({ endedAt: 5 });
  expect(await parked).toMatchObject({ state: "parked" });
  expect(await left).toMatchObject({ state: "queued" });
  expect(watch.listening()).toBe(0);
  stop();
});
