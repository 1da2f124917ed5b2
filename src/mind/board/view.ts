/** Tasks as clients see them: rows have SQL names and nulls, the wire has camel case and leaves out what is empty. */
import { legalMoves } from "../../core/domain/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import { type Board, PRIORITIES, readAssignee } from "./board.ts";
import type { BoardTask } from "./store.ts";

type Read = Awaited<ReturnType<Board["read"]>>;
type Wire = Result<"board.get">;

const PRIORITY_NAMES = Object.keys(PRIORITIES) as (keyof typeof PRIORITIES)[];

export function showSummary(task: BoardTask): Result<"board.list">["tasks"][number] {
  const { id, number, title, state, attempt } = task;
  return {
    id,
    number,
    title,
    state,
    attempt,
    priority: PRIORITY_NAMES[task.priority] ?? "normal",
    attempts: task.most_attempts,
    ...filled({
      why: task.why,
      holder: task.holder,
      parent: task.parent,
      team: task.team,
      mission: task.mission,
      repository: task.repository,
      runtime: task.runtime,
      turn: task.turn,
      waitsFor: task.waits_for === null ? null : (JSON.parse(task.waits_for) as NonNullable<Wire["waitsFor"]>),
      assignee: readAssignee(task) ?? null,
    }),
    madeBy: task.made_by,
    madeAt: task.made_at,
    updatedAt: task.updated_at,
    stateAt: task.state_at,
    moves: legalMoves(state, "person"),
  };
}

export function showTask(read: Read): Wire {
  const { task, handoff } = read;
  return {
    ...showSummary(task),
    description: task.description,
    acceptance: JSON.parse(task.acceptance) as Wire["acceptance"],
    acceptanceHash: task.acceptance_hash,
    attachments: JSON.parse(task.attachments) as string[],
    ...filled({ dollars: task.most_dollars, tokens: task.most_tokens }),
    review: task.review === 1,
    needs: read.needs,
    dependants: read.dependants.map(({ id, number, title, state }) => ({ id, number, title, state })),
    children: read.children,
    runs: read.runs.map(showRun),
    comments: read.comments.map(({ author_kind, author, text, at }) => ({ who: author_kind, author, text, at })),
    timeline: read.moves.map(({ why, change: _change, ...move }) => ({ ...move, ...filled({ why }) })),
    verdicts: read.verdicts.map(({ seq, attempt, clean, judge, why, at }) => ({
      attempt,
      clean: clean === 1,
      by: judge,
      why,
      at,
      evidence: read.evidence.filter(({ verdict }) => verdict === seq).map(({ evidence }) => ({ ...evidence })),
    })),
    ...(handoff ? { handoff: { ...handoff, record: handoff.record as NonNullable<Wire["handoff"]>["record"] } } : {}),
  };
}

function showRun(run: Read["runs"][number]): Wire["runs"][number] {
  return {
    attempt: run.attempt,
    member: run.member,
    startedAt: run.started_at,
    ...filled({
      runtime: run.runtime,
      session: run.session,
      turn: run.turn,
      endedAt: run.ended_at,
      outcome: run.outcome,
      why: run.why,
      result: run.result,
      dollars: run.dollars,
      tokens: run.tokens,
      checkTurn: run.check_turn,
      reviewTurn: run.review_turn,
      place: run.place === null ? null : (JSON.parse(run.place) as NonNullable<Wire["runs"][number]["place"]>),
    }),
  };
}

/** Rows have nulls; the wire leaves out what is empty. */
function filled<T extends object>(of: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== null && value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
