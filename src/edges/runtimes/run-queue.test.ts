import { expect, test } from "vitest";
import fc from "../../../test/support/property.ts";
import { nextPlace, RUN_START, type RunEvent, type RunEventBody, type RunPlace } from "../../core/contracts/index.ts";
import { ManualClock } from "../../core/kit/index.ts";
import { RunQueue } from "./index.ts";

const parts = () => ({ run: "r", attempt: 1, lastSeq: 0, clock: new ManualClock() });
const DONE: RunEventBody = { type: "done", outcome: "finished", text: "" };
const text = (words: string): RunEventBody => ({ type: "text", text: words });
const notice = (words: string): RunEventBody => ({ type: "notice", text: words });

async function readAll(queue: RunQueue, afterSeq = 0): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of queue.events(afterSeq)) all.push(event);
  return all;
}

/** What a reader can tell: control events in order, and the text between them as one. */
function meaning(bodies: readonly RunEventBody[]): unknown[] {
  const all: unknown[] = [];
  let open: { type: "text" | "thinking"; text: string } | undefined;
  for (const body of bodies) {
    const isText = body.type === "text" || body.type === "thinking";
    if (isText && open?.type === body.type) open.text += body.text;
    else if (isText) {
      open = { type: body.type, text: body.text };
      all.push(open);
    } else {
      open = undefined;
      all.push(body);
    }
  }
  return all;
}

test("QUEUE-2: pieces of text that nobody has read become one event, and a control event keeps its place between them", async () => {
  const queue = new RunQueue(parts());
  for (const body of [text("a"), text("b"), notice("n"), text("c"), text("d"), DONE]) queue.push(body);
  const all = await readAll(queue);
  expect(all.map(({ seq, body }) => [seq, body])).toEqual([
    [1, text("ab")],
    [2, notice("n")],
    [3, text("cd")],
    [4, DONE],
  ]);
});

test("a piece that a reader has seen doesn't grow any more", async () => {
  const queue = new RunQueue(parts());
  queue.push(text("a"));
  const reader = queue.events(0);
  expect((await reader.next()).value).toMatchObject({ seq: 1, body: text("a") });
  queue.push(text("b"));
  expect((await reader.next()).value).toMatchObject({ seq: 2, body: text("b") });
});

test("QUEUE-3: an event that was handed out and not recorded is handed out again to the next reader, whose coming ends the first", async () => {
  const queue = new RunQueue(parts());
  for (const word of ["a", "b", "c"]) queue.push(notice(word));
  const first = queue.events(0);
  await first.next();
  await first.next();
  const second = queue.events(1);
  expect((await second.next()).value).toMatchObject({ seq: 2 });
  expect(await first.next()).toEqual({ done: true, value: undefined });
  queue.push(DONE);
  expect((await second.next()).value).toMatchObject({ seq: 3 });
  await expect(queue.events(0).next()).rejects.toThrow("those from 3 on are here");
});

test("QUEUE-4: what comes after done is refused, also a second done", async () => {
  const queue = new RunQueue(parts());
  expect([queue.push(DONE), queue.push(DONE), queue.push(text("late"))]).toEqual([true, false, false]);
  expect(await readAll(queue)).toHaveLength(1);
});

test("QUEUE-1, RUNTIME-3: a full queue loses nothing: it says so until a reader has made room", async () => {
  const queue = new RunQueue({ ...parts(), bounds: { events: 3, characters: 1000, merged: 10 } });
  for (let i = 0; i < 5; i++) queue.push(notice(String(i)));
  expect(queue.isFull).toBe(true);
  let hasRoom = false;
  const room = queue.room().then(() => {
    hasRoom = true;
  });
  const reader = queue.events(0);
  for (let i = 0; i < 3; i++) {
    expect(hasRoom).toBe(false);
    await reader.next();
  }
  await reader.next();
  await room;
  queue.push(DONE);
  expect((await reader.next()).value).toMatchObject({ seq: 5 });
  expect((await reader.next()).value).toMatchObject({ seq: 6, body: DONE });
});

test("text that a slow reader leaves lying counts by its characters", () => {
  const queue = new RunQueue({ ...parts(), bounds: { events: 100, characters: 50, merged: 20 } });
  for (let i = 0; i < 5; i++) queue.push(text("0123456789"));
  expect(queue.isFull).toBe(true);
});

test("a run that is parked ends its reader without done, and a new attempt counts on", async () => {
  const queue = new RunQueue({ ...parts(), attempt: 2, lastSeq: 7 });
  queue.push(notice("a"));
  queue.end();
  expect((await readAll(queue, 7)).map(({ attempt, seq }) => [attempt, seq])).toEqual([[2, 8]]);
});

const anyBody = fc.oneof(
  fc.record({ type: fc.constantFrom("text" as const, "thinking" as const), text: fc.string({ maxLength: 6 }) }),
  fc.record({ type: fc.constant("notice" as const), text: fc.string({ maxLength: 3 }) }),
  fc.record({ type: fc.constant("tool_result" as const), call: fc.string(), isError: fc.boolean(), text: fc.string() }),
);

test("everything that is pushed while readers come, stop before recording and go is recorded once, in order, without a gap", async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ push: anyBody }) },
    { weight: 3, arbitrary: fc.constant("read" as const) },
    { weight: 1, arbitrary: fc.constant("reader dies" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const queue = new RunQueue({ ...parts(), bounds: { events: 5, characters: 30, merged: 12 } });
      const pushed: RunEventBody[] = [];
      const recorded: RunEvent[] = [];
      let place: RunPlace = RUN_START;
      let reader = queue.events(0);
      let waiting: Promise<IteratorResult<RunEvent, void>> | undefined;
      const record = ({ value }: IteratorResult<RunEvent, void>) => {
        if (!value) return;
        const next = nextPlace(place, value);
        if (typeof next === "string") throw new Error(`${next}: ${JSON.stringify(value)}`);
        place = next;
        recorded.push(value);
      };
      for (const one of steps) {
        if (one === "reader dies") {
          // It may have been handed an event that it never recorded.
          waiting = undefined;
          reader = queue.events(place.seq);
        } else if (one === "read") {
          waiting ??= reader.next();
          if (queue.isFull) {
            record(await waiting);
            waiting = undefined;
          }
        } else {
          pushed.push(one.push);
          queue.push(one.push);
        }
      }
      pushed.push(DONE);
      queue.push(DONE);
      if (waiting) record(await waiting);
      for (let next = await reader.next(); !next.done; next = await reader.next()) record(next);
      expect(place.ended).toBe(true);
      expect(meaning(recorded.map(({ body }) => body))).toEqual(meaning(pushed));
    }),
    { numRuns: 300 },
  );
});
