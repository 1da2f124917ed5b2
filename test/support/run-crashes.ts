/** An agent whose body is the fake ACP agent, and the scenarios of the crash sweep in which Lares dies while it works (RUNS-1 to RUNS-4, TURNS-16). */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
  change: (file: string, content: string, words: string) => JSON.stringify({ do: "change", file, content, words }),
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

/** A repository with one commit. */
export function makeRepository(at: string): (...args: string[]) => string {
  mkdirSync(at, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Ana", "-c", "user.email=ana@example.com", ...args], {
      cwd: at,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: at, GIT_CONFIG_NOSYSTEM: "1" },
    }).trim();
  git("init", "-q", "-b", "main");
  writeFileSync(join(at, "a.txt"), "one\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  return git;
}

/** The fake works in a worktree: its work is on one branch once, and no worktree is left (WORKTREES-1, RUNS-6). */
export function treeTurn() {
  const text = orders.change("b.txt", "b\n", "Changed");
  let git: ((...args: string[]) => string) | undefined;
  return {
    config(home: string) {
      const repository = join(`${home}-code`, "app");
      git = makeRepository(repository);
      return {
        agents: { other: { runtime: "fake", roots: [repository], repository } },
        runtimes: { fake: describeFake() },
      };
    },
    async provoke({ lares }: { lares: Lares }) {
      await lares.chat("ana", text, { agent: "other", key: "tree" });
    },
    async settle({ lares }: { lares: Lares }) {
      const done = await until(
        "the answer",
        async () => {
          const got = await lares.chat("ana", text, { agent: "other", key: "tree" });
          return got.state === "answered" || got.state === "failed" ? got : undefined;
        },
        { withinMs: 20_000 },
      );
      expect(done.state).toBe("answered");
      const branches = git!("for-each-ref", "--format=%(refname:short)", "refs/heads/lares").split("\n");
      expect(branches).toHaveLength(1);
      expect(git!("log", "--format=%s", branches[0]!).split("\n")).toHaveLength(2);
      expect(git!("show", `${branches[0]}:b.txt`)).toBe("b");
      expect(git!("worktree", "list").split("\n")).toHaveLength(1);
      expect(readdirSync(join(lares.home, "worktrees"))).toEqual([]);
      rmSync(`${lares.home}-code`, { recursive: true });
    },
  };
}
