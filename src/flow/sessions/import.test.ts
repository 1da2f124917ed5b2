import { expect, test } from "vitest";
import type { HistoryEntry } from "../../core/domain/index.ts";
import { noGuard } from "../../core/kit/index.ts";
import { type GivenLines, importLines } from "./import.ts";

const LINES = [
  { timestamp: "2026-01-02T03:04:05.000Z", role: "user", content: "hello", session: "agent:main:web:victim" },
  { timestamp: "2026-01-02T03:04:06.000Z", role: "assistant", content: "hi" },
];

function world() {
  const kept: { session: string; agent: string; entries: HistoryEntry[] }[] = [];
  const run = (given: Partial<GivenLines> = {}, guard = noGuard) =>
    importLines(
      {
        sessions: {
          import: async ({ session, agent }, entries) => {
            kept.push({ session, agent, entries: [...entries] });
            return { imported: entries.length, skipped: 0 };
          },
        },
        agentExists: (agent) => ["main", "ada"].includes(agent),
        defaultAgent: () => "main",
        guard,
      },
      { lines: LINES, ...given },
    );
  return { kept, run };
}

test("the caller says where lines go, never the file", async () => {
  const w = world();
  expect(await w.run({ session: "agent:ada:web:one" })).toEqual({
    session: "agent:ada:web:one",
    imported: 2,
    skipped: 0,
  });
  expect(w.kept[0]).toMatchObject({ session: "agent:ada:web:one", agent: "ada" });
  const { session } = await w.run();
  expect(session).not.toContain("victim");
});

test("the same lines again are the same session; other lines are another, and so are another agent's", async () => {
  const w = world();
  const first = await w.run();
  expect(first.session).toMatch(/^agent:main:/);
  expect((await w.run()).session).toBe(first.session);
  expect((await w.run({ lines: LINES.slice(1) })).session).not.toBe(first.session);
  expect((await w.run({ agent: "ada" })).session).toMatch(/^agent:ada:/);
});

test("the time of a line is kept as a number", async () => {
  const w = world();
  await w.run();
  expect(w.kept[0]?.entries[0]).toMatchObject({ at: Date.UTC(2026, 0, 2, 3, 4, 5), content: "hello" });
  expect(w.kept[0]?.entries[0]).not.toHaveProperty("timestamp");
});

test("lines for an agent that doesn't exist are refused, named by the caller or by the session", async () => {
  const w = world();
  await expect(w.run({ agent: "bob" })).rejects.toThrow(/bob/);
  await expect(w.run({ session: "agent:bob:web:one" })).rejects.toThrow(/bob/);
  expect(w.kept).toEqual([]);
});
