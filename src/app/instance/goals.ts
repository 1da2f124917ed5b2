/** Joins the goals: the inbox for their turns, the budget and the models for their judge. */

import type { Models, Records } from "../../core/contracts/index.ts";
import type { TurnId } from "../../core/domain/index.ts";
import type { Clock, IdMaker, Log } from "../../core/kit/index.ts";
import type { Processes } from "../../edges/tools/index.ts";
import type { Inbox } from "../../flow/inbox/index.ts";
import type { Outbox } from "../../flow/outbox/index.ts";
import type { TurnEnds } from "../../flow/turns/index.ts";
import type { EmbeddedEngine } from "../../ground/engine/index.ts";
import type { AgentFolders } from "../../mind/agents/index.ts";
import type { BudgetedModel } from "../../mind/budget/index.ts";
import { readTurnRecord } from "../../mind/context/index.ts";
import { chooseJudge, Goals, type GoalsConfig } from "../../mind/goals/index.ts";
import type { Children } from "../../mind/sub-agents/index.ts";

export function makeGoals(parts: {
  records: Records;
  clock: Clock;
  ids: IdMaker;
  log: Log;
  config: () => GoalsConfig;
  agentModel: (agent: string) => string | undefined;
  models: Models;
  agents: AgentFolders;
  inbox: Inbox;
  outbox: Outbox;
  engine: EmbeddedEngine;
  paid: BudgetedModel;
  turnEnds: TurnEnds;
  children: Children;
  processes: Processes;
  stop: (turn: TurnId, why: string) => Promise<void>;
}): Goals {
  const { records, clock, ids, log, config, models } = parts;
  return new Goals({
    records,
    clock,
    ids,
    config,
    log: log.child("goals"),
    agentExists: (agent) => parts.agents.exists(agent),
    admit: (message, record) => parts.inbox.admit(message, record),
    stop: parts.stop,
    timer: (id, slot) => parts.engine.schedule(id, slot),
    result: async (turn) => (await parts.turnEnds.read(turn))?.result,
    readRecord: (turn) => readTurnRecord(records, turn),
    async atWork(session) {
      const processes = (await parts.processes.list(session)).filter((one) => one.endedAt === null);
      return processes.length + (await parts.children.awaited(session)).length;
    },
    ask: (call, signal) => parts.paid.call({ ...call, call: 0 }, signal),
    judgeFor: (agent) => chooseJudge({ models, config, agentModel: parts.agentModel }, agent),
    say: (tx, { id, turn, session, route, text }) =>
      parts.outbox.intend(tx, { answer: id, turn, session, route, text }),
  });
}
