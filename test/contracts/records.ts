/**
 * The suite that every kind of records passes: what the port promises (RECORDS-1 to RECORDS-3), and what rooms rely on without asking
 * which database is underneath: values, order of texts, the functions of SQL they use.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Records, SqlValue } from "../../src/core/contracts/index.ts";

export interface OpenRecords extends Records {
  close(): void | Promise<void>;
}

export interface RecordsFactory {
  /** Empty records, and a way to open the same ones again. */
  make(): Promise<() => Promise<OpenRecords>>;
  dispose(): Promise<void>;
}

const NOTE = "INSERT INTO tool_change (folder, times) VALUES (?, ?) ON CONFLICT (folder) DO NOTHING";
const COUNT =
  "INSERT INTO tool_change (folder, times) VALUES (?, 1) ON CONFLICT (folder) DO UPDATE SET times = tool_change.times + 1";
const TIMES = "SELECT times FROM tool_change WHERE folder = ?";
const ALL = "SELECT folder, times FROM tool_change ORDER BY folder";
/** Always refused: the second insert meets the first. */
const TWICE = "INSERT INTO tool_change (folder, times) VALUES (?, 0)";

export function recordsContract(name: string, start: () => Promise<RecordsFactory>): void {
  describe(`records on ${name}`, () => {
    let factory: RecordsFactory;
    let again: () => Promise<OpenRecords>;
    let records: OpenRecords;

    beforeAll(async () => {
      factory = await start();
      again = await factory.make();
      records = await again();
    });
    afterAll(async () => {
      await records?.close();
      await factory?.dispose();
    });

    const empty = () => records.write((tx) => tx.run("DELETE FROM tool_change"));
    const times = async (folder: string) => (await records.get<{ times: number }>(TIMES, folder))?.times;

    describe("writes", () => {
      it("are there when the promise resolves, also for those who open the records next (RECORDS-1, POSTGRES-4)", async () => {
        await empty();
        await records.write((tx) => tx.run(NOTE, "kept", 7));
        expect(await records.committed.all(ALL)).toEqual([{ folder: "kept", times: 7 }]);
        await records.close();
        records = await again();
        expect(await records.all(ALL)).toEqual([{ folder: "kept", times: 7 }]);
      });

      it("hold whole or not at all: a refused statement takes the others of its write with it (RECORDS-1)", async () => {
        await empty();
        const refused = records.write((tx) => {
          tx.run(NOTE, "a", 1);
          tx.run(TWICE, "a");
          tx.run(NOTE, "b", 1);
        });
        await expect(refused).rejects.toThrow();
        expect(await records.all(ALL)).toEqual([]);
      });

      it("before and after a refused one hold, in their order (POSTGRES-7)", async () => {
        await empty();
        const made = [
          records.write((tx) => tx.run(COUNT, "a")),
          records.write((tx) => {
            tx.run(COUNT, "b");
            tx.run(TWICE, "a");
          }),
          records.write((tx) => tx.run("UPDATE tool_change SET times = times * 10 WHERE folder = ?", "a")),
          records.write((tx) => tx.run(COUNT, "a")),
        ];
        const ends = await Promise.allSettled(made);
        expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
        expect(await records.all(ALL)).toEqual([{ folder: "a", times: 11 }]);
      });

      it("whose change throws hold nothing, and reject with what was thrown; each change is called once", async () => {
        await empty();
        let calls = 0;
        const bug = new Error("a bug of the caller's");
        const thrown = records.write((tx) => {
          calls++;
          tx.run(NOTE, "a", 1);
          throw bug;
        });
        await expect(thrown).rejects.toBe(bug);
        await records.write(() => void calls++);
        expect(calls).toBe(2);
        expect(await records.all(ALL)).toEqual([]);
      });

      it("take effect in the order of the calls, whatever of it is awaited, lazy or refused (RECORDS-2)", async () => {
        const call = fc.record({
          folder: fc.constantFrom("a", "b"),
          does: fc.constantFrom("count", "double", "refused", "throws"),
          lazy: fc.boolean(),
          next: fc.constantFrom("nothing", "awaits", "reads"),
        });
        const run = fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
          await empty();
          await records.write((tx) => ["a", "b"].map((folder) => tx.run(NOTE, folder, 0)));
          const expected: Record<string, number> = { a: 0, b: 0 };
          for (const { folder, does, lazy, next } of calls) {
            const done = records.write(
              (tx) => {
                if (does === "double") tx.run("UPDATE tool_change SET times = times * 2 WHERE folder = ?", folder);
                else tx.run(COUNT, folder);
                if (does === "refused") tx.run(TWICE, folder);
                if (does === "throws") throw new Error("refused");
              },
              { lazy },
            );
            done.catch(() => {});
            if (does === "count") expected[folder]! += 1;
            if (does === "double") expected[folder]! *= 2;
            if (next === "awaits") await done.catch(() => {});
            if (next === "reads") expect(await times(folder)).toBe(expected[folder]);
          }
          expect(await records.all(ALL)).toEqual(["a", "b"].map((folder) => ({ folder, times: expected[folder] })));
        });
        await fc.assert(run, { numRuns: 15 });
      });

      it("that are lazy are there without anybody asking for them", async () => {
        await empty();
        await records.write((tx) => tx.run(NOTE, "lazy", 1), { lazy: true });
        expect(await records.committed.all(ALL)).toHaveLength(1);
      });

      it("of the same row by idempotent statements change nothing the second time (RECORDS-3)", async () => {
        await empty();
        for (const times of [1, 2]) await records.write((tx) => tx.run(NOTE, "same", times));
        expect(await times("same")).toBe(1);
      });
    });

    describe("reads", () => {
      it("see what was written before them, though nobody awaited it (RECORDS-2)", async () => {
        await empty();
        void records.write((tx) => tx.run(NOTE, "a", 1));
        void records.write((tx) => tx.run(NOTE, "b", 2), { lazy: true });
        expect(await records.all(ALL)).toEqual([
          { folder: "a", times: 1 },
          { folder: "b", times: 2 },
        ]);
      });

      it("of what is committed show a write no sooner than it is durable, and then at once", async () => {
        await empty();
        const done = records.write((tx) => tx.run(NOTE, "a", 1));
        // Asked in the same breath, before anything can have been committed.
        const early = records.committed.all(ALL);
        await done;
        expect(await records.committed.all(ALL)).toHaveLength(1);
        expect((await early).length).toBeLessThanOrEqual(1);
      });

      it("give undefined or nothing when there is no row", async () => {
        await empty();
        expect(await records.get(ALL)).toBeUndefined();
        expect(await records.committed.get(ALL)).toBeUndefined();
        expect(await records.all(ALL)).toEqual([]);
      });

      it("reject what isn't SQL, and go on", async () => {
        await expect(records.all("SELECT nothing FROM nowhere")).rejects.toThrow();
        await expect(records.committed.get("SELEKT")).rejects.toThrow();
        expect(await records.get("SELECT 1 AS one FROM meta")).toEqual({ one: 1 });
      });
    });

    describe("values", () => {
      it.each<[string, SqlValue]>([
        ["nothing", null],
        ["an empty text", ""],
        ["quotes, a question mark and a dollar", `it's "?" and $1 -- ?`],
        ["letters of all kinds", "ä ß 字 \u{1f600} e\u0301 \u{e000}"],
        ["lines", "a\nb\r\n\tc\\n"],
      ])("come back as they were: %s", async (_what, value) => {
        await records.write((tx) => {
          tx.run("DELETE FROM session WHERE key = 'v'");
          tx.run(
            "INSERT INTO session (key, agent, title, created_at, updated_at) VALUES ('v', 'what?', ?, 0, 0)",
            value,
          );
        });
        expect(await records.get("SELECT title, agent FROM session WHERE key = 'v'")).toEqual({
          title: value,
          agent: "what?",
        });
      });

      it.each([0, 1, -1, 1_700_000_000_000, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER])(
        "come back as they were: %i",
        async (value) => {
          await empty();
          await records.write((tx) => tx.run(NOTE, "n", value));
          expect(await times("n")).toBe(value);
        },
      );

      it.each([0.1, -2.5, 1e-9, 12_345.678])("come back as they were: %d", async (dollars) => {
        await records.write((tx) => {
          tx.run("DELETE FROM budget_spent");
          tx.run("INSERT INTO budget_spent (kind, name, day, dollars) VALUES ('all', '', '', ?)", dollars);
        });
        expect(await records.get("SELECT dollars FROM budget_spent")).toEqual({ dollars });
      });

      it("come back as they were: bytes", async () => {
        const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
        await records.write((tx) => {
          tx.run("DELETE FROM memory_vector");
          tx.run("INSERT INTO memory_vector (model, seq, bytes) VALUES ('m', 1, ?)", bytes);
        });
        const row = await records.get<{ bytes: Uint8Array }>("SELECT bytes FROM memory_vector");
        expect([...row!.bytes]).toEqual([...bytes]);
      });

      it("with a NUL in the text stop nothing, and what stands before it is kept", async () => {
        await empty();
        await records.write((tx) => tx.run(NOTE, "a\0b", 1));
        const row = await records.get<{ folder: string }>(ALL);
        // One driver of SQLite reads a text up to there; PostgreSQL takes none, so a mark stands in its place.
        expect(["a", "a\0b", "a\u{fffd}b"]).toContain(row!.folder);
      });

      it("that are counted and summed are numbers, and truths are 1 and 0", async () => {
        await empty();
        const sums = `SELECT COUNT(*) AS n, SUM(times) AS s, MAX(times) AS m, COALESCE(SUM(times), 0) AS z,
          EXISTS (SELECT 1 FROM tool_change WHERE times = 2) AS two FROM tool_change`;
        expect(await records.get(sums)).toEqual({ n: 0, s: null, m: null, z: 0, two: 0 });
        await records.write((tx) => [1, 2].map((times) => tx.run(NOTE, `f${times}`, times)));
        expect(await records.get(sums)).toEqual({ n: 2, s: 3, m: 2, z: 3, two: 1 });
      });
    });

    describe("texts", () => {
      it("are ordered and compared by their bytes (POSTGRES-2)", async () => {
        await empty();
        const sorted = ["", "A", "Z", "a", "a:1", "a:9", "a;", "z", "ä", "\u{e000}", "\u{10ffff}"];
        await records.write((tx) => [...sorted].reverse().map((folder, n) => tx.run(NOTE, folder, n)));
        const read = await records.all<{ folder: string }>(ALL);
        expect(read.map(({ folder }) => folder)).toEqual(sorted);
        const range = "SELECT folder FROM tool_change WHERE folder >= ? AND folder < ? ORDER BY folder";
        expect(await records.all(range, "a:", "a:\u{10ffff}")).toEqual([{ folder: "a:1" }, { folder: "a:9" }]);
        expect(await records.get("SELECT MAX(folder) AS last FROM tool_change")).toEqual({ last: "\u{10ffff}" });
      });

      it.each<[string, unknown]>([
        ["instr('hello', 'l')", 3],
        ["instr('hello', 'x')", 0],
        ["length('a字b')", 3],
        ["octet_length('a字b')", 5],
        ["lower('AÄ')", "aÄ"],
        ["substr('hello', 2, 3)", "ell"],
        ["substr('hello', length('hello') - 1)", "lo"],
        ["replace('a b c', ' ', '')", "abc"],
        ["trim('  a ')", "a"],
        ["'a' || ':' || 'b'", "a:b"],
        ["7 / 2", 3],
        [`json_extract('{"a":{"b":"c"}}', '$.a.b')`, "c"],
        [`json_extract('{"a":null}', '$.a')`, null],
        [`json_extract('{}', '$.a.b')`, null],
        [`json_extract('["x","y"]', '$[1]')`, "y"],
        [`json_extract('{"a":[{"b":"c"}]}', '$.a[0].b')`, "c"],
        [`CASE WHEN 'a' IS NOT DISTINCT FROM NULL THEN 1 ELSE 0 END`, 0],
      ])("are worked on alike: %s", async (expression, value) => {
        expect(await records.get(`SELECT ${expression} AS value FROM meta`)).toEqual({ value });
      });

      it("in a list that is handed in are found, and numbers too", async () => {
        await empty();
        await records.write((tx) => ["a", "b", "c"].map((folder, n) => tx.run(NOTE, folder, n)));
        const named = "SELECT folder FROM tool_change WHERE folder IN (SELECT value FROM json_each(?)) ORDER BY folder";
        expect(await records.all(named, JSON.stringify(["c", "a", "it's"]))).toEqual([
          { folder: "a" },
          { folder: "c" },
        ]);
        expect(await records.all(named, "[]")).toEqual([]);
        const counted =
          "SELECT folder FROM tool_change WHERE times IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) ORDER BY folder";
        expect(await records.all(counted, "[1,2]")).toEqual([{ folder: "b" }, { folder: "c" }]);
      });

      it("become JSON and are read from it", async () => {
        const row = await records.get<{ made: string }>(
          `SELECT json_object('a', 'x', 'b', json('{"c":1}'), 'd', NULL) AS made FROM meta`,
        );
        expect(JSON.parse(row!.made)).toEqual({ a: "x", b: { c: 1 }, d: null });
        const listed = await records.all(
          `SELECT json_extract(c.value, '$.id') AS id FROM meta, json_each('{"r":[{"id":"1"},{"id":"2"}]}', '$.r') c`,
        );
        expect(listed).toEqual([{ id: "1" }, { id: "2" }]);
      });
    });

    describe("closed", () => {
      it("refuse with a code, and lose nothing that was handed in before", async () => {
        await empty();
        const last = records.write((tx) => tx.run(NOTE, "last", 1));
        const closing = records.close();
        await last;
        await closing;
        await expect(records.write((tx) => tx.run(NOTE, "late", 1))).rejects.toMatchObject({ code: "NOT_READY" });
        await expect(records.get(ALL)).rejects.toMatchObject({ code: "NOT_READY" });
        records = await again();
        expect(await records.all(ALL)).toEqual([{ folder: "last", times: 1 }]);
      });
    });
  });
}
