/** A call that became a task, as its turn sees it: it waits, goes on with what a person said, and reads the result. */
import { type AfterWait, OutcomeUnknown, type ToolPlace, type ToolResult } from "../../../../core/contracts/index.ts";
import { assertNever, type JsonObject, type QuestionAnswer, toJson } from "../../../../core/domain/index.ts";
import { visible } from "../../escape.ts";
import { labelled } from "../../web/outside.ts";
import { type Collected, nextStep, respond } from "../call/collect.ts";
import { addressTool } from "../listed/names.ts";
import type { OfferedTool } from "../servers.ts";
import type { LostBecause, McpTasks } from "./tasks.ts";
import type { CreatedTask } from "./wire.ts";

export interface TaskPort {
  tasks: Pick<McpTasks, "follow" | "found" | "end" | "answer" | "giveUp">;
  /** How long a task of this server may take. */
  mostMs(server: string): number;
  definition(server: string): string;
  /** The folders a server may use. */
  /** The folders a server may use, as it learns from us. */
  roots(server: string): readonly { uri: string; name: string }[];
}

/** What a question of a task needs to go on, stored with the parked turn. */
export type AskedByTask = { task: string; collected: Collected; asked: string };

type TaskWait = { on: string; deadline: number };

export async function startTask(
  port: TaskPort,
  { offered, place, key }: { offered: OfferedTool; place: ToolPlace; key: string },
  task: CreatedTask,
): Promise<ToolResult> {
  const { server, tool } = offered;
  const definition = port.definition(server);
  const given = { key, server, tool: tool.name, task, definition, place, mostMs: port.mostMs(server) };
  const wait = await port.tasks.follow(given);
  if (wait) return waitFor(offered, wait);
  throw new OutcomeUnknown(`${addressTool(server, tool.name)} works on too many calls at once.`);
}

/** After a crash. Undefined: the call became no task, as far as anybody knows. */
export async function findTask(port: TaskPort, offered: OfferedTool, key: string): Promise<ToolResult | undefined> {
  const wait = await port.tasks.found(key);
  return wait && waitFor(offered, wait);
}

function waitFor({ server, tool }: OfferedTool, wait: TaskWait): ToolResult {
  const text = `${addressTool(server, tool.name)} works on this in the background. The answer takes this place when it's ready.`;
  return { text, origin: "own", wait };
}

export async function endTask(
  port: TaskPort,
  { server, tool }: OfferedTool,
  place: ToolPlace,
  on: string,
): Promise<AfterWait> {
  const address = addressTool(server, tool.name);
  const found = await port.tasks.end(place.caller.turn, on);
  if (!found) return lost(address, "forgotten");
  const { key, end, record } = found;
  switch (end.kind) {
    case "answered": {
      const { text } = await labelled({ label: `Answer of ${address}`, text: end.text, place, key });
      return { text, origin: "outside", isError: end.isError, record };
    }
    case "refused": {
      const { text } = await labelled({ label: `${address} failed`, text: end.why, place, key });
      return { text, origin: "outside", isError: true, record };
    }
    case "lost":
      return { ...lost(address, end.why), record };
    case "asks":
      return { ...(await askNext(port, server, { task: key, collected: end.collected })), record };
    default:
      return assertNever(end);
  }
}

/** A person has answered, or hasn't in time. */
export async function goOnWithTask(
  port: TaskPort,
  offered: OfferedTool,
  { task, collected, asked }: AskedByTask,
  answer: QuestionAnswer,
): Promise<ToolResult> {
  const { server } = offered;
  if (answer.action === "cancel") {
    await port.tasks.giveUp(task);
    const late = `${server} asked something and nobody answered in time, so the call was given up.`;
    return { text: late, isError: true, origin: "own", notice: late };
  }
  respond(collected, asked, answer);
  const next = await askNext(port, server, { task, collected });
  if ("ask" in next) return next;
  return "wait" in next ? waitFor(offered, next.wait) : next;
}

type AfterAnswer =
  | Required<Pick<ToolResult, "text" | "ask">>
  | { text: string; wait: TaskWait }
  | { text: string; isError: true; origin: "own"; notice: string };

/** The next question, or on with the task once everything it wanted to know is there. */
async function askNext(
  port: TaskPort,
  server: string,
  { task, collected }: Omit<AskedByTask, "asked">,
): Promise<AfterAnswer> {
  const step = nextStep(server, collected, { roots: port.roots(server), maySample: false });
  if (step.kind === "ask") {
    const state: AskedByTask = { task, collected, asked: step.key };
    const { shown, form } = step;
    return { text: "It asks a person something before it goes on.", ask: { shown, form, state: toJson(state) } };
  }
  const wait = await port.tasks.answer(task, collected.responses as JsonObject);
  if (wait) return { text: "It goes on.", wait };
  const text = `${server} is no longer waiting for an answer.`;
  return { text, isError: true, origin: "own", notice: text };
}

const WHY: Record<LostBecause, string> = {
  forgotten: "the server no longer knows about it",
  nonsense: "the server said nothing about it that makes sense",
  late: "it took too long, and Lares cancelled it",
  changed: "the server was removed or its settings were changed meanwhile",
};

/** As with any call whose outcome nobody knows: the model must look before it repeats it. */
function lost(address: string, why: LostBecause): AfterWait {
  const said = `What came of ${visible(address)} isn't known: ${WHY[why]}.`;
  return {
    text: `${said} It may or may not have happened. Look before you repeat it.`,
    origin: "own",
    isError: true,
    notice: said,
  };
}
