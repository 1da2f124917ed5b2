import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/ground/records/postgres/connect.ts";
import { translate } from "../../src/ground/records/postgres/dialect.ts";
import { type PostgresOptions, PostgresRecords } from "../../src/ground/records/postgres/index.ts";
import { migrate } from "../../src/ground/records/postgres/schema.ts";
import { needs } from "../support/index.ts";
import { Postgres, postgresBin } from "../support/postgres.ts";
import { SilentProxy } from "./records/silent-proxy.ts";
import { statementsIn } from "./records/statements.ts";
import { recordsContract } from "./records.ts";

const NOTE = "INSERT INTO tool_change (folder, times) VALUES (?, ?)";
const COUNT =
  "INSERT INTO tool_change (folder, times) VALUES (?, 1) ON CONFLICT (folder) DO UPDATE SET times = tool_change.times + 1";
const ALL = "SELECT folder, times FROM tool_change ORDER BY folder";
const PLAIN = { tenant: "local", statementTimeoutMs: 30_000, connectTimeoutMs: 5000 };

describe.skipIf(!needs("pg_ctlcluster", "records on PostgreSQL", postgresBin() !== undefined))(
  "with a real server",
  () => {
    let postgres: Postgres;
    /** Made once: most tests only need the tables. */
    let shared: string;

    beforeAll(async () => {
      postgres = await Postgres.start();
      shared = postgres.database();
      await (await PostgresRecords.open(shared)).close();
    });
    afterAll(() => postgres?.dispose());

    async function open(url = shared, options?: PostgresOptions): Promise<PostgresRecords> {
      const records = await PostgresRecords.open(url, options);
      onTestFinished(() => records.close());
      return records;
    }

    async function client(url: string) {
      const one = await connect({ url, ...PLAIN });
      onTestFinished(() => one.end());
      return one;
    }

    recordsContract("PostgreSQL", async () => ({
      make: async () => () => PostgresRecords.open(shared),
      dispose: async () => {},
    }));

    it("takes every statement of the stores that can be read without running them", async () => {
      const one = await client(shared);
      const refused: string[] = [];
      const found = statementsIn(storesBelow("src"));
      for (const { file, sql } of found) {
        await one.query(`PREPARE s AS ${translate(sql)}`).then(
          () => one.query("DEALLOCATE s"),
          (error: Error) => refused.push(`${file}: ${error.message}\n${sql}`),
        );
      }
      expect(refused).toEqual([]);
      // Far fewer would mean that they are no longer found.
      expect(found.length).toBeGreaterThan(350);
    });

    describe("tenants", () => {
      it("use the same names without meeting, also in statements that ask for no tenant (POSTGRES-1, POSTGRES-3)", async () => {
        const [ann, bob] = [await open(shared, { tenant: "ann" }), await open(shared, { tenant: "bob" })];
        await ann.write((tx) => tx.run(COUNT, "same"));
        for (const _ of [1, 2]) await bob.write((tx) => tx.run(COUNT, "same"));
        expect(await ann.all(ALL)).toEqual([{ folder: "same", times: 1 }]);
        expect(await bob.all(ALL)).toEqual([{ folder: "same", times: 2 }]);
        await bob.write((tx) => tx.run("UPDATE tool_change SET times = 9"));
        await bob.write((tx) => tx.run("DELETE FROM tool_change"));
        expect(await ann.all(ALL)).toEqual([{ folder: "same", times: 1 }]);
        expect(await bob.all(ALL)).toEqual([]);
        await expect(
          bob.write((tx) => tx.run("INSERT INTO tool_change (folder, times, tenant) VALUES ('x', 1, 'ann')")),
        ).rejects.toThrow(/row-level security/);
      });

      it("guard every table, and are part of every key", () => {
        const name = new URL(shared.replace("@/", "@x/")).pathname.slice(1);
        const open = postgres.sql(
          "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)",
          name,
        );
        expect(open).toBe("lares_schema");
        const keys = postgres.sql(
          "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND indexdef LIKE 'CREATE UNIQUE%' AND indexdef NOT LIKE '%tenant)%'",
          name,
        );
        expect(keys).toBe("");
      });

      it("with names that need quoting are refused", async () => {
        await expect(PostgresRecords.open(shared, { tenant: "a -c b=c" })).rejects.toMatchObject({
          code: "CONFIG_INVALID",
        });
      });
    });

    describe("the database", () => {
      it("is made once when two open it at the same time", async () => {
        const url = postgres.database();
        const both = await Promise.all([open(url), open(url)]);
        await Promise.all(both.map((one) => one.write((tx) => tx.run(COUNT, "a"))));
        expect(await both[0]!.all(ALL)).toEqual([{ folder: "a", times: 2 }]);
      });

      it("of an earlier Lares is brought up to date, with every tenant's rows", async () => {
        const url = postgres.database();
        const old = await client(url);
        // Before the table's newest columns.
        await migrate(old, 5);
        await old.query("INSERT INTO session (key, agent, created_at, updated_at) VALUES ('k', 'a', 1, 1)");
        const records = await open(url);
        expect(await records.get("SELECT key, brief, mode FROM session")).toEqual({ key: "k", brief: 0, mode: null });
        await records.write((tx) => tx.run(COUNT, "a"));
        expect(await (await open(url, { tenant: "other" })).all("SELECT key FROM session")).toEqual([]);
      });

      it("of a newer Lares, of another program, or opened with a role that sees all rows is refused", async () => {
        const newer = await client(postgres.database());
        await migrate(newer, 1);
        await newer.query("UPDATE lares_schema SET version = 9999");
        await expect(migrate(newer)).rejects.toMatchObject({ code: "DATABASE_NEWER" });
        const strange = await client(postgres.database());
        await strange.query("CREATE TABLE theirs (a int)");
        await expect(migrate(strange)).rejects.toMatchObject({ code: "DATABASE_UNREADABLE" });
        const boss = await client(shared.replace("lares@", "boss@"));
        await expect(migrate(boss)).rejects.toThrow(/every tenant's rows/);
      });

      it("that isn't there is said", async () => {
        const gone = PostgresRecords.open("postgres://lares@/x?host=/nowhere");
        await expect(gone).rejects.toMatchObject({ code: "STORAGE_FAILED", retry: "later" });
      });
    });

    it("sends the statements again when writers are in each other's way, and calls no change twice (POSTGRES-5)", async () => {
      const url = postgres.database();
      const both = [await open(url), await open(url)] as const;
      await both[0].write((tx) => ["a", "b"].map((folder) => tx.run(NOTE, folder, 0)));
      let calls = 0;
      const made = Array.from({ length: 30 }, (_, n) =>
        both.map((records, who) =>
          records.write((tx) => {
            calls++;
            for (const folder of (n + who) % 2 ? ["a", "b"] : ["b", "a"]) tx.run(COUNT, folder);
          }),
        ),
      );
      await Promise.all(made.flat());
      expect(calls).toBe(60);
      expect(await both[0].all(ALL)).toEqual([
        { folder: "a", times: 60 },
        { folder: "b", times: 60 },
      ]);
    });

    it("ends a statement that takes too long, and goes on", async () => {
      const records = await open(shared, { statementTimeoutMs: 100 });
      await expect(records.all("SELECT pg_sleep(30)")).rejects.toThrow(/timeout/);
      const slow = records.write((tx) => tx.run("INSERT INTO tool_change SELECT 'slow', 1 FROM pg_sleep(30)"));
      await expect(slow).rejects.toThrow(/timeout/);
      expect(await records.get("SELECT 1 AS one FROM meta")).toEqual({ one: 1 });
    });

    it.each([
      ["happened", true],
      ["did not happen", false],
    ])(
      "a commit without an answer that %s is found out: no write is lost or made twice (POSTGRES-6)",
      async (_what, reaches) => {
        const url = postgres.database();
        await (await PostgresRecords.open(url)).close();
        const proxy = await SilentProxy.start(postgres.dir);
        const records = await PostgresRecords.open(
          url.replace(encodeURIComponent(postgres.dir), encodeURIComponent(proxy.dir)),
        );
        onTestFinished(async () => {
          await records.close();
          await proxy.stop();
        });
        for (let n = 1; n <= 5; n++) {
          proxy.swallow = { commits: 1, reaches };
          await records.write((tx) => tx.run(COUNT, "a"));
          expect(await records.all(ALL)).toEqual([{ folder: "a", times: n }]);
        }
      },
    );

    it("goes on after the server was killed and started again: what was acknowledged is there, once", async () => {
      const url = postgres.database();
      const records = await open(url);
      let acknowledged = 0;
      let isOver = false;
      const writing = (async () => {
        while (!isOver) {
          const n = acknowledged + 1;
          await records.write((tx) => {
            tx.run(NOTE, `n${n}`, n);
            tx.run(COUNT, "sum");
          });
          acknowledged = n;
        }
      })();
      for (const how of ["SIGKILL", "SIGINT"] as const) {
        const before = acknowledged;
        await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(before + 3);
        await postgres.end(how);
        await postgres.start();
      }
      const before = acknowledged;
      await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(before + 3);
      isOver = true;
      await writing;
      expect(
        await records.get("SELECT COUNT(*) AS n, MAX(times) AS last FROM tool_change WHERE folder <> 'sum'"),
      ).toEqual({
        n: acknowledged,
        last: acknowledged,
      });
      expect(await records.get("SELECT times FROM tool_change WHERE folder = 'sum'")).toEqual({ times: acknowledged });
    });

    it("refuses after a while what a server that stays away can't take, and takes the next", async () => {
      const records = await open(shared, { patienceMs: 300, connectTimeoutMs: 200 });
      await postgres.end("SIGINT");
      const refused = await Promise.allSettled([
        records.write((tx) => tx.run(COUNT, "away")),
        records.committed.all(ALL),
      ]);
      await postgres.start();
      for (const one of refused) expect(one).toMatchObject({ reason: { code: "STORAGE_FAILED", retry: "later" } });
      await records.write((tx) => tx.run(COUNT, "back"));
      expect(await records.get("SELECT COUNT(*) AS n FROM tool_change WHERE folder = 'away'")).toEqual({ n: 0 });
    });
  },
);

function storesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /(^|\/)store\.ts$/.test(path) && !path.startsWith("edges/imports"))
    .map((path) => join(folder, path));
}
