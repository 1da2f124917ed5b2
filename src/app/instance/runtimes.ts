/** Agents whose body is another runtime. Built with the instance, loaded when the first of them has a turn. */
import { homedir } from "node:os";
import { type AgentId, readTeamSession } from "../../core/domain/index.ts";
import { scriptedRelays } from "../../edges/models/index.ts";
import { listTrials, loadHost, makeRuntimeFinder, type RuntimeHost } from "../../edges/runtimes/index.ts";
import { openRunMachine } from "../../edges/tools/index.ts";
import { readRepository } from "../../edges/worktrees/index.ts";
import { loadRunToolFace, type RunToolFace } from "../../faces/gateway/index.ts";
import { Runs } from "../../flow/runs/index.ts";
import { lastRecordedCall, recordUsage, type TurnParts } from "../../flow/turns/index.ts";
import { taskRuntime } from "../../mind/board/index.ts";
import { lastHold, ProxiedCalls } from "../../mind/budget/index.ts";
import { callerPrompt } from "../../mind/prompt/index.ts";
import { spawnedRepository, spawnedRuntime } from "../../mind/sub-agents/index.ts";
import type { Built } from "./intake.ts";

export interface Runtimes {
  runs: Runs;
  bodies: TurnParts["bodies"];
  /** Where runs live on this machine; loads it. */
  host(): Promise<RuntimeHost>;
  /** At the start: ends what an earlier life left. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export function buildRuntimes({ parts, ground, workshop, mind, late }: Built): Runtimes {
  const { config, clock, crash, log, models, home, version, redact } = parts;
  const { records } = ground;
  let made: Promise<RuntimeHost> | undefined;
  let face: Promise<RunToolFace> | undefined;
  const lastCall = async (turn: Parameters<typeof lastHold>[1]) =>
    Math.max(await lastRecordedCall(records, turn), await lastHold(records, turn));
  const load = () =>
    loadHost({
      ...openRunMachine({ userHome: homedir(), home, sandbox: workshop.sandbox }),
      home,
      clock,
      models: { relay: models.relay, list: () => models.list(), scripted: scriptedRelays(clock) },
      records,
      crash,
      ledger: new ProxiedCalls({ budget: mind.budget, records, clock, recordUsage, lastCall }),
      config: () => config.runtimes,
      serveTools: async (...asked) => {
        face ??= loadRunToolFace({ version, log: log.child("runtimes"), redact });
        return (await face).serve(...asked);
      },
      log: log.child("runtimes"),
    });
  const host = () => {
    made ??= load();
    return made;
  };
  const runs = new Runs({
    records,
    clock,
    crash,
    recordUsage,
    lastCall,
    log: log.child("runs"),
    host,
    worktrees: mind.worktrees,
  });
  const instructions = async (agent: AgentId) =>
    callerPrompt(await workshop.agents.promptFiles(agent, { forOwner: false }));
  return {
    runs,
    host,
    bodies: {
      runs,
      instructions,
      find: makeRuntimeFinder(config),
      chosen: async (session) =>
        (readTeamSession(session) ? late.rooms.get().memberIn(session)?.runtime : undefined) ??
        (await taskRuntime(records, session)) ??
        (await spawnedRuntime(records, session)),
      repository: async (agent, session) =>
        (await spawnedRepository(records, session)) ?? readRepository(config.agents[agent]?.repository, homedir()),
      worktree: (session, repository) => mind.worktrees.place({ line: session, repository }),
    },
    async sweep() {
      await runs.sweep();
      const left = await listTrials(records);
      if (left.length > 0) await (await host()).sweepTrials(left);
    },
    close: async () => (await made)?.close(),
  };
}
