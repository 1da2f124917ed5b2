import { describe, expect, test } from "vitest";
import {
  type BoardState,
  legalMoves,
  moveTask,
  TASK_MOVERS,
  TASK_MOVES,
  TASK_STATES,
  type TaskMove,
  type TaskMover,
} from "./board.ts";

/** Every legal move, written out once more by hand: state → mover → moves. Everything that isn't here must be refused. */
const LEGAL: Readonly<Record<BoardState, Partial<Record<TaskMover, string>>>> = {
  draft: { person: "publish cancel", creator: "publish cancel" },
  ready: { person: "shelve block cancel", creator: "shelve cancel", member: "claim", lares: "claim ask block" },
  claimed: {
    person: "release block cancel",
    creator: "cancel",
    member: "start release block",
    lares: "start park release block lose",
  },
  running: {
    person: "release block cancel",
    creator: "cancel",
    member: "park hand_in release block",
    lares: "park hand_in release block lose",
  },
  verifying: {
    person: "accept reject release block cancel",
    creator: "cancel",
    lares: "park accept reject release block lose",
  },
  waiting: {
    person: "hand_in accept reject release block cancel",
    creator: "cancel",
    lares: "resume recheck release block lose",
  },
  blocked: { person: "shelve accept unblock cancel", creator: "unblock cancel" },
  unknown: { person: "accept settle cancel" },
  done: {},
  cancelled: {},
};

const LEADS: Readonly<Record<TaskMove, BoardState>> = {
  publish: "ready",
  shelve: "draft",
  claim: "claimed",
  ask: "waiting",
  start: "running",
  park: "waiting",
  resume: "running",
  recheck: "verifying",
  hand_in: "verifying",
  accept: "done",
  reject: "ready",
  release: "ready",
  block: "blocked",
  unblock: "ready",
  lose: "unknown",
  settle: "ready",
  cancel: "cancelled",
};

describe("the table of moves (TASK-1)", () => {
  const all = TASK_STATES.flatMap((state) => TASK_MOVERS.map((who) => ({ state, who })));

  test.each(all)("$state, by $who", ({ state, who }) => {
    const legal = (LEGAL[state][who] ?? "").split(" ").filter(Boolean);
    expect(legalMoves(state, who).toSorted()).toEqual(legal.toSorted());
    for (const move of TASK_MOVES) {
      const found = moveTask(state, move, who);
      if (legal.includes(move)) expect(found).toEqual({ to: LEADS[move] });
      else expect((found as { refused: string }).refused).toMatch(/^(A task that is|Only ).+\.$/);
    }
  });

  test("a refusal says who could, or that nobody can", () => {
    expect(moveTask("unknown", "settle", "lares")).toEqual({
      refused: "Only a person can have a task that is unknown settled.",
    });
    expect(moveTask("done", "claim", "member")).toEqual({ refused: "A task that is done can't be claimed." });
  });

  test("only a person moves an unknown task (TASK-2)", () => {
    for (const who of TASK_MOVERS) if (who !== "person") expect(legalMoves("unknown", who)).toEqual([]);
  });

  test("only Lares after a check, or a person, makes a task done (TASK-3)", () => {
    const done = all.filter(({ state, who }) => legalMoves(state, who).some((move) => LEADS[move] === "done"));
    expect(new Set(done.map(({ who }) => who))).toEqual(new Set(["person", "lares"]));
    expect(done.filter(({ who }) => who === "lares").map(({ state }) => state)).toEqual(["verifying"]);
  });
});
