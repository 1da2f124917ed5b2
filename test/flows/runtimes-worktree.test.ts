/** Work of another runtime on a git repository: in a worktree, on a separate branch (RUNS-6). */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { modelEnv, scratch, startLares, startModel, until } from "../support/index.ts";
import { needs } from "../support/not-run.ts";
import { describeFake, makeRepository, orders } from "../support/run-crashes.ts";

async function start(agent: object, config: object = {}) {
  const code = scratch("code");
  onTestFinished(() => rmSync(code, { recursive: true, force: true }));
  const repository = join(code, "app");
  const git = makeRepository(repository);
  const model = await startModel();
  onTestFinished(() => model.close());
  const lares = await startLares({
    env: modelEnv(model.url),
    config: {
      gateway: { http: { wait: 5 } },
      agents: { main: { roots: [code], ...agent }, coder: { runtime: "fake", roots: [code], repository } },
      runtimes: { fake: describeFake() },
      ...config,
    },
  });
  onTestFinished(() => lares.dispose());
  return { lares, repository, git };
}

const ready = needs("bwrap", "worktrees of runtimes") && needs("git", "worktrees of runtimes");

describe.skipIf(!ready)("work on a repository", () => {
  test("happens on a branch beside your own files, turn after turn, and its settings are out of reach", async () => {
    const { lares, repository, git } = await start({});
    writeFileSync(join(repository, "a.txt"), "mine\n");
    const first = await lares.chat("ana", orders.change("b.txt", "b\n", "done"), { agent: "coder" });
    // It reads the history, and the sandbox keeps the repository's settings from it.
    expect(first).toMatchObject({ state: "answered" });
    expect(first.response).toContain("done: first, closed");
    const [branch] = git("for-each-ref", "--format=%(refname:short)", "refs/heads/lares").split("\n");
    const turn = await lares.rpc("turns.get", { turn: first.turn });
    expect(turn.notices).toEqual([`Branch ${branch} of ${repository}: 1 new commit, 1 file changed (+1 −0).`]);
    expect(git("show", `${branch}:b.txt`)).toBe("b");
    const second = await lares.chat("ana", orders.change("c.txt", "c\n", "again"), { agent: "coder" });
    expect(second.response).toContain("first, closed");
    expect(git("log", "--format=%s", branch!).split("\n")).toHaveLength(3);
    expect(git("branch", "--show-current")).toBe("main");
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("mine\n");
    expect(existsSync(join(repository, "b.txt"))).toBe(false);
    expect(readdirSync(join(lares.home, "worktrees"))).toEqual([]);
    // Where there is no repository, the turn says so.
    rmSync(join(repository, ".git"), { recursive: true });
    const none = await lares.chat("ana", orders.say("hi"), { agent: "coder" });
    expect(none).toMatchObject({ state: "failed", reason: expect.stringContaining("isn't in a git repository") });
  });

  test("a sub-agent's report names the branch; our own loop gets no worktree", async () => {
    const { lares, repository, git } = await start({}, { policy: { allow: { sessions_spawn: ["fake"] } } });
    const spawn = (input: object) => `tool:sessions_spawn ${JSON.stringify(input)} then: say:asked`;
    const history = async (session: string) => JSON.stringify((await lares.rpc("chat.history", { session })).messages);
    const task = orders.change("b.txt", "b\n", "made");
    const asked = await lares.chat("owner", spawn({ task, runtime: "fake", repository }));
    await until("its report", async () => (await history(asked.session)).includes("made: first, closed"));
    const [branch] = git("for-each-ref", "--format=%(refname:short)", "refs/heads/lares").split("\n");
    expect(await history(asked.session)).toContain(`Branch ${branch} of`);
    const refused = await lares.chat("owner", spawn({ task: "x", repository }));
    expect(await history(refused.session)).toContain("worktree is for work of another runtime");
  });
});
