/** Joins the board: the inbox for its turns, agents as members, outbox and files for its receipts. */
import { asId } from "../../core/domain/index.ts";
import { makeRuntimeChoice } from "../../edges/runtimes/index.ts";
import { taskEvent } from "../../flow/events/index.ts";
import { authorityIn } from "../../flow/inbox/index.ts";
import { findDelivered } from "../../flow/outbox/index.ts";
import { hasUnknownEffect } from "../../flow/turns/index.ts";
import { makeReader } from "../../ground/config/index.ts";
import { readTurnState } from "../../ground/engine/index.ts";
import { Board, BoardWork, chooseCritic, fileReceipt } from "../../mind/board/index.ts";
import { listTaskMembers } from "../../mind/teams/index.ts";
import type { Built, BuiltIntake } from "./intake.ts";

export function makeBoard(built: Built & { intake: BuiltIntake }): { board: Board; work: BoardWork } {
  const { parts, ground, workshop, intake } = built;
  const { clock, ids, crash, bus, log, models } = parts;
  const { records, turnEnds, agentModel } = ground;
  const config = makeReader(parts.config, "board");
  const board = new Board({ records, clock, ids, bus, config });
  const work = new BoardWork({
    board,
    records,
    clock,
    crash,
    config,
    log: log.child("board"),
    members: () => listTaskMembers(workshop.agents.names(), workshop.teams.list()),
    defaultAgent: makeReader(parts.config, "routing", "defaultAgent"),
    admit: (message, record) => intake.inbox.admit(message, record),
    stop: ground.stopTurn,
    result: async (turn) => (await turnEnds.read(turn))?.result,
    standing: (turn) => readTurnState(records, turn),
    hasUnknown: (turn) => hasUnknownEffect(records, turn),
    runtime: makeRuntimeChoice(parts.config),
    tell: (told, record) => intake.events.tell(taskEvent(told), record),
    authorityIn: (session) => authorityIn(records, session),
    file: (agent, path) => fileReceipt(workshop.agents.place(asId(agent)).workspace, path),
    delivered: (turn) => findDelivered(records, turn),
    critic: (agent, isWanted) => chooseCritic({ models, config, agentModel }, agent, isWanted),
  });
  return { board, work };
}
