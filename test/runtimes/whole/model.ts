/**
 * The model of a task: it writes a little, does one thing in the world, and says that it is done. Told that it was interrupted, it looks first
 * whether the thing has happened, as a careful model does. What it does next follows from the conversation alone, so it outlives every
 * process.
 */
import type { NormalRequest, Reply, ScriptedCall } from "../../fakes/model-server/index.ts";
import { textOf } from "../../fakes/model-server/index.ts";

/** How far the model was asked to go: `acts` when it wrote and called its tool, `ends` when it says that it is done. */
export type TaskStep = "acts" | "ends";

export const askFor = (task: string) => `Please do ${task} now.`;
export const doneWith = (task: string) => `${task} is done.`;
export const markOf = (task: string) => `mark.${task}.`;
/** A mark that is there. A command that names its pattern, as some results do, has left none. */
const hasMark = (text: string, task: string) => new RegExp(`\\bmark\\.${task}\\.(?!XXXXXX)\\w{6}`).test(text);
/** Left by a command that is about to leave its mark. */
export const begunWith = (task: string) => `begun.${task}`;

const TASK = /Please do (task-[a-z0-9-]+) now\./;
const INTERRUPTED = "check whether it already happened";

/** Tools for commands, and the field that takes the command. */
const SHELLS: Readonly<Record<string, string>> = {
  Bash: "command",
  exec_command: "cmd",
  bash: "command",
  terminal: "command",
  exec: "command",
};

/** Commands whose last one leaves the mark. A shell that asks about single programs only gets them one by one. */
function commandsOf(shell: string, task: string): string[] {
  const mark = `mktemp -p . ${markOf(task)}XXXXXX`;
  if (shell === "exec") return ["sleep 2", mark];
  // Hermes asks only about what it finds dangerous.
  const danger = shell === "terminal" ? "; rm -rf ./none" : "";
  return [`touch ${begunWith(task)}; sleep 1; ${mark}${danger}`];
}

/** Long enough to be killed in the middle. */
const SLOWLY = { pieces: 12, gapMs: 60 };

export class TaskModel {
  private readonly asked = new Map<string, Set<TaskStep>>();

  /** Whether the model was asked for this step of a task. */
  isAsked(task: string, step: TaskStep): boolean {
    return this.asked.get(task)?.has(step) ?? false;
  }

  isKnown(task: string): boolean {
    return this.asked.has(task);
  }

  reply(request: NormalRequest): Reply {
    const shell = Object.keys(SHELLS).find((name) => request.tools.includes(name));
    const at = request.messages.findLastIndex((one) => one.role === "user" && TASK.test(textOf(one)));
    // For a title, a summary or a warm-up.
    if (shell === undefined || at < 0) return { text: "Some words." };
    const text = textOf(request.messages[at]!);
    const task = TASK.exec(text)![1]!;
    const results = request.messages
      .slice(at)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-result" ? [part] : [])));
    const commands = [...(text.includes(INTERRUPTED) ? ["ls"] : []), ...commandsOf(shell, task)];
    const isDone = results.some((one) => hasMark(one.text, task));
    const next = commands[results.length];
    if (isDone || next === undefined) {
      this.note(task, "ends");
      return { text: `Some more words, slowly, so that it takes a while, and then: ${doneWith(task)}`, ...SLOWLY };
    }
    this.note(task, "acts");
    return { text: "Some words first, slowly, before anything is done.", toolCalls: [call(shell, next)], ...SLOWLY };
  }

  private note(task: string, step: TaskStep): void {
    const steps = this.asked.get(task) ?? new Set();
    this.asked.set(task, steps.add(step));
  }
}

function call(shell: string, command: string): ScriptedCall {
  return { name: shell, input: { [SHELLS[shell]!]: command, description: "a part of the task" } };
}
