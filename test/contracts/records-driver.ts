/** The program the records tests kill or look at: `records-driver.ts lock|migrate|write <home>`. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { lockHome, MIGRATIONS, openRecords } from "../../src/ground/records/index.ts";
import { openHomeDatabase } from "../../src/ground/records/open.ts";

const [, , what, home] = process.argv as [string, string, string, string];
process.on("message", () => {});

if (what === "lock") {
  await lockHome(home);
  process.send?.("locked");
} else if (what === "write") {
  const records = await openRecords(join(home, "lares.db"), (error) => {
    throw error;
  });
  const put = (key: string) => records.write((tx) => tx.run("INSERT INTO meta VALUES (?, 'x')", key));
  // Alone, several at once, and one that comes while the one before it is on its way to the disk.
  for (let i = 0; i < 12; i++) {
    const first = put(`${i}`).then(() => writeSync(1, `told ${i}\n`));
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, put(`${i}a`), put(`${i}b`)]);
    writeSync(1, `told ${i}b\n`);
  }
  records.close();
} else {
  // A further migration that does not end before the parent has seen it at work.
  (MIGRATIONS as string[]).push(`
    CREATE TABLE half (n INTEGER, filler TEXT);
    INSERT INTO half WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000000)
      SELECT n, hex(randomblob(200)) FROM c`);
  await openHomeDatabase(join(home, "lares.db"));
  process.send?.("migrated");
}
