/** One list of everything that will wake an agent. */
import { expect, test } from "vitest";
import { listWakes } from "./index.ts";
import type { Waiting } from "./wakes.ts";

const NOW = 1000;
const nothing: Waiting = {
  parked: async () => [],
  slots: async () => [],
  hooks: () => [],
  watches: async () => [],
  goals: async () => [],
  children: async () => [],
  processes: async () => [],
  events: async () => [],
};

test("where nothing waits there is nothing", async () => {
  expect(await listWakes(nothing, NOW)).toEqual([]);
});

test("the next comes first, and what may come at any time last, whatever kind it is", async () => {
  const slot = { agent: "main", words: "every day", problem: null };
  const wakes = await listWakes(
    {
      ...nothing,
      hooks: () => [{ name: "shop", scheme: "github", agent: "main", session: "s" }],
      slots: async () => [
        { ...slot, name: "late", due: 5000, kind: "work" },
        { ...slot, name: "heartbeat", due: 2000, kind: "beat" },
      ],
      children: async () => [
        { turn: "t", session: "child", parent: "s", agent: "main", task: "look\n  it up", deadline: 3000 },
      ],
    },
    NOW,
  );
  expect(wakes.map(({ kind, at }) => [kind, at])).toEqual([
    ["heartbeat", 2000],
    ["agent", 3000],
    ["schedule", 5000],
    ["hook", undefined],
  ]);
  expect(wakes[1]).toMatchObject({ about: "a sub-agent's result: look it up", session: "s" });
});

test("a watch that is overdue comes now; one that is paused has no time and says why", async () => {
  const seen = { about: "example.com", agent: "main" };
  const watches = async () => [
    { ...seen, name: "overdue", next: 0 },
    { ...seen, name: "stopped", next: 0, isPaused: true, error: "Paused: it stopped Lares twice." },
  ];
  const wakes = await listWakes({ ...nothing, watches }, NOW);
  expect(wakes.map(({ name, at, problem }) => [name, at, problem])).toEqual([
    ["overdue", NOW, undefined],
    ["stopped", undefined, "Paused: it stopped Lares twice."],
  ]);
});

test("only goals that are worked on will wake somebody, and each says how far it is", async () => {
  const goal = { agent: "main", session: "s", turn: null, why: null, round: 2, most_turns: 20 };
  const goals = async () => [
    { ...goal, id: "g_1", outcome: "ship it", state: "active" },
    { ...goal, id: "g_2", outcome: "done before", state: "done" },
  ];
  expect(await listWakes({ ...nothing, goals }, NOW)).toEqual([
    { kind: "goal", name: "g_1", about: "ship it (turn 2 of 20)", agent: "main", session: "s" },
  ]);
});
