/** An agent whose body is the fake ACP agent, and the scenarios of the crash sweep in which Lares dies while it works (RUNS-1 to RUNS-4, TURNS-16). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Lares } from "./lares.ts";
import { processesTagged } from "./processes.ts";
import { until } from "./until.ts";

const AGENT = fileURLToPath(new URL("../fakes/acp-agent/agent.mjs", import.meta.url));

/** As a person describes it under `runtimes` in lares.yaml. */
export function describeFake(quirks = "", more: object = {}) {
  return {
    title: "The fake",
    command: process.execPath,
    args: [AGENT],
    resume: "load",
    env: { LARES_FAKE_HOME: "{home}/fake", LARES_FAKE_QUIRKS: quirks },
    ...more,
  };
}

/** What makes the fake do something. */
export const orders = {
  say: (words: string) => JSON.stringify({ do: "say", words }),
  act: (mark: string, words: string) => JSON.stringify({ do: "act", mark, words }),
  use: (tool: string, input: object, more: object = {}) => JSON.stringify({ do: "use", tool, input, ...more }),
  detach: (mark: string, words: string) => JSON.stringify({ do: "detach", mark, words }),
  forever: (words: string) => JSON.stringify({ do: "forever", words }),
};

export function readMarks(lares: Lares, agent: string): string[] {
  const file = join(lares.home, "runtimes", "homes", agent, "fake", "fake", "marks");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** The fake acts once and answers. `says`: something else is said to it while it works. */
export function carriedTurn(says = false) {
  const text = orders.act("one", "It is done.");
  const more = orders.say("And that too.");
  const answer = says ? "And that too." : "It is done.";
  return {
    config: () => ({
      agents: { other: { runtime: "fake" } },
      runtimes: { fake: describeFake("slow") },
    }),
    async provoke({ lares }: { lares: Lares }) {
      const first = lares.chat("ana", text, { agent: "other", key: "run" });
      // It is awaited later, and the process may be gone by then.
      first.catch(() => {});
      if (says) {
        const isAsking = async () => (await lares.rpc("turns.list", {})).turns.some(({ state }) => state === "running");
        await until("the run", isAsking);
        await lares.chat("ana", more, { agent: "other", key: "more" });
      }
      await first;
    },
    async settle({ lares }: { lares: Lares }) {
      const done = await until(
        "the answer",
        async () => {
          const got = await lares.chat("ana", text, { agent: "other", key: "run" });
          return got.state === "answered" || got.state === "failed" ? got : undefined;
        },
        { withinMs: 20_000 },
      );
      if (says) {
        // In this turn, or in a separate one: it is answered once.
        const told = await until("the other answer", async () => {
          const got = await lares.chat("ana", more, { agent: "other", key: "more" });
          return got.state === "answered" || got.state === "joined" ? got : undefined;
        });
        expect(told.state === "joined" ? done.response : told.response).toContain(answer);
      } else expect(done).toMatchObject({ state: "answered", response: answer });
      expect(readMarks(lares, "other")).toEqual(["one yes"]);
      expect(processesTagged("LARES_RUN", done.turn)).toEqual([]);
    },
  };
}
