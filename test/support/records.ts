import { rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openRecords, type SqliteRecords } from "../../src/ground/records/index.ts";
import { scratch } from "./scratch.ts";

/** Real records in a home of their own, closed and removed when the test ends. A lost commit fails the test. */
export async function testRecords(name: string): Promise<{ records: SqliteRecords; home: string }> {
  const home = scratch(name);
  const records = await openRecords(join(home, "lares.db"), (error) => {
    throw error;
  });
  onTestFinished(async () => {
    await records.close();
    rmSync(home, { recursive: true, force: true });
  });
  return { records, home };
}
