/** What the offline embedder needs is not held by Lares: its process comes with the first text, and goes with Lares. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { notRun, residentMb, startLares, until } from "../support/index.ts";

const isLinux = process.platform === "linux";
if (!isLinux) notRun("the memory of the embedder's process", "Run it on Linux, which has /proc.");

const isThere = (pid: number) => {
  try {
    // A process that has ended and was not asked for yet is still listed.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

it.skipIf(!isLinux)(
  "while vectors are made Lares stays below 250 MB, and killed it leaves no embedder behind",
  async () => {
    const lares = await startLares({});
    try {
      const { pid } = await lares.rpc("status", {});
      for (let i = 0; i < 40; i++)
        await lares.rpc("memory.add", {
          text: `Number ${i} is in the ${["red", "blue"][i % 2]} drawer of house ${i * 3}`,
        });
      let most = 0;
      await until(
        "the vectors",
        async () => {
          most = Math.max(most, residentMb(pid));
          const { vectors } = await lares.rpc("memory.status", {});
          return vectors !== undefined && vectors.done >= 40;
        },
        { withinMs: 90_000 },
      );
      expect(most).toBeLessThan(250);
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
      const embedder = children.find((child) =>
        readFileSync(`/proc/${child}/cmdline`, "utf8").includes("lares-embedder"),
      );
      expect(embedder).toBeDefined();
      await lares.kill9();
      await until("the embedder to end", () => !isThere(embedder!));
    } finally {
      await lares.dispose();
    }
  },
  150_000,
);
