/** Tools on the board: see tasks, add one, comment on one, hand in the one you work on. */
import { z } from "zod";
import type { Tool, ToolPlace } from "../../../core/contracts/index.ts";
import type { Acceptance, Assignee, Handoff, JsonObject, Origin } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visible, visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import { added, addTask, commented, commentOn, EMPTY, HAND_IN, HANDED_IN, LOOK, showTasks } from "./words.ts";

type Caller = ToolPlace["caller"];

/** What these tools need from the rest of Lares. Each throws TOOL_INPUT for what isn't there or isn't allowed. */
export interface BoardPort {
  /** Open and recent tasks, by priority. */
  list(caller: Caller): Promise<{
    origin: Origin;
    tasks: { number: number; title: string; state: string; who?: string }[];
  }>;
  /** One task, with what proves it done and what was said. */
  get(task: string): Promise<object>;
  /** `key` again is the same task. */
  create(given: {
    key: string;
    title: string;
    description?: string;
    acceptance?: Acceptance;
    assignee?: Assignee;
    parent?: string;
    needs?: readonly string[];
    team?: string;
    caller: Caller;
  }): Promise<{ number: number; state: string }>;
  /** `key` again is the same comment. */
  comment(task: string, text: string, key: string, caller: Caller): Promise<{ number: number }>;
  /** Counts when the caller's turn ends. */
  handIn(result: string, handoff: Handoff, caller: Caller): Promise<void>;
}

const ref = z.string().min(1).max(64);
const lines = z.array(z.string().min(1).max(1000)).max(20).default([]);
const nothing = z.strictObject({});
const getInput = z.strictObject({ task: ref });
const createInput = z.strictObject({
  title: z.string().min(1).max(200),
  description: z.string().max(16_000).optional(),
  check: z.string().min(1).max(4000).optional(),
  file: z.string().min(1).max(1000).optional(),
  agent: z.string().min(1).max(64).optional(),
  role: z.string().min(1).max(64).optional(),
  person: z.string().min(1).max(128).optional(),
  team: z.string().min(1).max(64).optional(),
  parent: ref.optional(),
  needs: z.array(ref).max(20).optional(),
});
const commentInput = z.strictObject({ task: ref, text: z.string().min(1).max(8000) });
const handInInput = z.strictObject({
  result: z.string().min(1).max(16_000),
  done: lines,
  open: lines,
  next: lines,
  commands: lines,
  evidence: lines,
  warnings: lines,
});

const OURS = { result: "own", failure: "own" } as const;
const said = (description: string): JsonObject => ({ type: "string", description });
const list = (description: string): JsonObject => ({ type: "array", items: { type: "string" }, description });
const task = said("its number on the board");

export function createBoardTools(port: BoardPort): Tool[] {
  return [listTasks(port), getTask(port), createTask(port), commentTask(port), handIn(port)];
}

function listTasks(port: BoardPort): Tool {
  return {
    spec: {
      name: "board_list",
      description: "List the tasks on the board, with who has each and how it stands.",
      input: { type: "object", properties: {} },
    },
    repeat: "safe",
    words: { result: "outside", failure: "own" },
    async plan(input) {
      parseInput("board_list", nothing, input);
      return { tool: "board_list", risk: "read", targets: [], shown: LOOK, binding: {} };
    },
    async run(_input, { caller }) {
      const { origin, tasks } = await port.list(caller);
      return tasks.length === 0 ? { text: EMPTY, origin: "own" } : { text: showTasks(tasks), origin };
    },
  };
}

function getTask(port: BoardPort): Tool {
  return {
    spec: {
      name: "board_get",
      description: "Read one task of the board: what is to be done, what proves it done, what was said.",
      input: { type: "object", properties: { task }, required: ["task"] },
    },
    repeat: "safe",
    words: { result: "outside", failure: "own" },
    async plan(input) {
      const given = parseInput("board_get", getInput, input);
      return { tool: "board_get", risk: "read", targets: [given.task], shown: LOOK, binding: given };
    },
    async run(input) {
      return { text: JSON.stringify(await port.get(parseInput("board_get", getInput, input).task), null, 1) };
    },
  };
}

function createTask(port: BoardPort): Tool {
  return {
    spec: {
      name: "board_create",
      description:
        "Add a task to the board for an agent, a role or a person; it is done in the background, and checked. Its result comes as a message.",
      input: {
        type: "object",
        properties: {
          title: said("one line"),
          description: said("all they need to know"),
          check: said("a command; the task is done when it succeeds"),
          file: said("or a file in the workspace that must be there"),
          agent: said("who does it"),
          role: said("or any member with this role"),
          person: said("or a person"),
          team: said("a team's name"),
          parent: said("the task it is a part of"),
          needs: list("tasks that must be done first"),
        },
        required: ["title"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input) {
      const given = parseInput("board_create", createInput, input);
      const who = given.agent ?? given.role ?? given.person;
      return {
        tool: "board_create",
        risk: "state",
        targets: [who ?? ""],
        shown: addTask(
          visibleLine(given.title),
          who === undefined ? undefined : visibleLine(who),
          [given.description, given.check].flatMap((text) => (text === undefined ? [] : [visible(text)])).join("\n"),
        ),
        binding: given as JsonObject,
      };
    },
    async run(input, { caller }, key) {
      const { check, file, agent, role, person, ...rest } = parseInput("board_create", createInput, input);
      const made = await port.create({
        ...defined(rest),
        title: rest.title,
        key,
        caller,
        ...defined({ acceptance: readProof(check, file), assignee: readAssignee(agent, role, person) }),
      });
      return { text: added(made.number, made.state), meta: made };
    },
  };
}

function readProof(command: string | undefined, path: string | undefined): Acceptance | undefined {
  if (command !== undefined) return { kind: "command", command };
  return path === undefined ? undefined : { kind: "file", path };
}

function readAssignee(
  agent: string | undefined,
  role: string | undefined,
  person: string | undefined,
): Assignee | undefined {
  if (agent !== undefined) return { kind: "agent", name: agent };
  if (role !== undefined) return { kind: "role", name: role };
  return person === undefined ? undefined : { kind: "person", name: person };
}

function commentTask(port: BoardPort): Tool {
  return {
    spec: {
      name: "board_comment",
      description: "Add a comment to a task of the board. People and its worker read it; it decides nothing.",
      input: { type: "object", properties: { task, text: said("what to say") }, required: ["task", "text"] },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input) {
      const given = parseInput("board_comment", commentInput, input);
      const shown = commentOn(visibleLine(given.task), visible(given.text));
      // Comments decide nothing: whether a task is done is checked by what was agreed on.
      return { tool: "board_comment", risk: "read", targets: [given.task], shown, binding: given };
    },
    async run(input, { caller }, key) {
      const given = parseInput("board_comment", commentInput, input);
      const { number } = await port.comment(given.task, given.text, key, caller);
      return { text: commented(number), meta: { number } };
    },
  };
}

function handIn(port: BoardPort): Tool {
  return {
    spec: {
      name: "board_hand_in",
      description: "Hand in the task you are working on: its result, and what the next one should know.",
      input: {
        type: "object",
        properties: {
          result: said("what was asked for"),
          done: list("what is done"),
          open: list("what isn't"),
          next: list("what to do next"),
          commands: list("commands worth knowing"),
          evidence: list("where the proof is"),
          warnings: list("what to look out for"),
        },
        required: ["result"],
      },
    },
    repeat: "with-key",
    words: OURS,
    async plan(input) {
      const given = parseInput("board_hand_in", handInInput, input);
      // It claims nothing by itself: the check follows.
      return { tool: "board_hand_in", risk: "read", targets: [], shown: HAND_IN, binding: given as JsonObject };
    },
    async run(input, { caller }) {
      const { result, ...handoff } = parseInput("board_hand_in", handInInput, input);
      await port.handIn(result, handoff, caller);
      return { text: HANDED_IN };
    },
  };
}
