/** The program the records tests kill: `records-driver.ts lock|migrate <home>`. */
import { join } from "node:path";
import { lockHome, MIGRATIONS } from "../../src/ground/records/index.ts";
import { openHomeDatabase } from "../../src/ground/records/open.ts";

const [, , what, home] = process.argv as [string, string, string, string];
process.on("message", () => {});

if (what === "lock") {
  await lockHome(home);
  process.send?.("locked");
} else {
  // A further migration that does not end before the parent has seen it at work.
  (MIGRATIONS as string[]).push(`
    CREATE TABLE half (n INTEGER, filler TEXT);
    INSERT INTO half WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000000)
      SELECT n, hex(randomblob(200)) FROM c`);
  await openHomeDatabase(join(home, "lares.db"));
  process.send?.("migrated");
}
