import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRecords } from "../../src/ground/records/index.ts";
import { recordsContract } from "./records.ts";

recordsContract("SQLite", async () => {
  const dir = mkdtempSync(join(tmpdir(), "lares-records-"));
  return {
    async make() {
      return () =>
        openRecords(join(dir, "lares.db"), (error) => {
          throw error;
        });
    },
    async dispose() {
      rmSync(dir, { recursive: true, force: true });
    },
  };
});
