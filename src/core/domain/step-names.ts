/**
 * Names of the steps that the journal records. A replay compares them, so their bytes never change; what a step does is read from its
 * name here and travels on as a field (`does` of `turns.get`).
 */

/** Steps whose names say only what kind they are, and then whose they are. */
const PLAIN = [
  "judge",
  "rewind",
  "recheck",
  "replan",
  "after",
  "compact",
  "compacted",
  "summary",
  "hook",
  "run",
] as const;

/** What a step does. `call` is the number of a model call, or the id of a tool call. */
export type StepWork =
  | { kind: "model"; call: number }
  | { kind: "tool"; tool: string; call: string }
  /** `thinking` and `notice`: of another runtime, from what is recorded of its run. */
  | { kind: (typeof PLAIN)[number] | "thinking" | "notice" | "other" };

export const stepNames = {
  model: (call: number) => `model:${call}`,
  /** `round`: of a call that goes on after a question; its steps follow one another. */
  tool: (tool: string, call: string, round?: number) =>
    round === undefined ? `tool:${tool}:${call}` : `tool:${tool}:${call}:${round}`,
  /** All calls of one reply are judged in one step. */
  judge: (call: number) => `judge:${call}`,
  /** A job's script has one call at a time. It is judged again when it is no longer what a person was shown. */
  judgeScript: (call: string, isAgain: boolean) => `judge:${call}${isAgain ? ":again" : ""}`,
  /** An edited message undoes what its turn did. */
  rewind: "rewind",
  /** Whether a call is still what was shown, and what it would do if not. */
  recheck: (approval: string) => `recheck:${approval}`,
  replan: (approval: string) => `replan:${approval}`,
  /** What came of a wait. */
  after: (call: string) => `after:${call}`,
  compact: (n: number) => `compact:${n}`,
  compacted: (n: number) => `compacted:${n}`,
  summary: (n: number) => `summary:${n}`,
  /** What hooks say to the results of a reply, or to an answer. */
  hooked: (about: "results" | "answer", key: string) => `hook:${about}:${key}`,
  /** Of a turn that another runtime carries out: its prompt, a stretch of the run, and the gate's word on what it asks. */
  runPrompt: "run:prompt",
  run: (n: number) => `run:${n}`,
  runAsk: (n: number) => `judge:run-${n}`,
  /** What it left in its worktree. */
  runLeft: "run:left",
  /** Of a due slot: whether it runs, and that it was handed to the inbox. */
  decide: (due: number) => `decide:${due}`,
  admit: (due: number) => `admit:${due}`,
} as const;

/** A tool as people and rules name it: `files/read` for `files__read` of a server. */
export function showToolName(name: string): string {
  return name.replace("__", "/");
}

/** SQL: whether the step of this name is a call of a tool, with the id that a model gave it. */
export function isToolStepSql(name: string, tool: string, id: string): string {
  return `instr(${name} || ':', 'tool:${tool}:' || ${id} || ':') = 1`;
}

/** SQL: whether the step of this name is a call of a model. */
export function isModelStepSql(name: string): string {
  return `${name} LIKE 'model:%'`;
}

export function readStepName(name: string): StepWork {
  const [head, first = "", ...rest] = name.split(":");
  if (head === "model" && /^\d+$/.test(first)) return { kind: "model", call: Number(first) };
  if (head === "tool" && first !== "") return { kind: "tool", tool: first, call: rest.join(":") };
  return { kind: PLAIN.find((kind) => kind === head) ?? "other" };
}
