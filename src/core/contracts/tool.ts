/**
 * A tool: schema, one line of description, what repeating it means, how risky it is, and a run function.
 *
 * T1: `run` throws AppError("TOOL_INPUT" | "PATH_OUTSIDE" | …) for what the model did wrong; the text goes back to the model.
 * T2: `run` obeys `signal` and leaves no child process behind when it aborts.
 * T3: what `plan` says is what `run` does: the gate judges and the person sees the plan.
 */
import type { Json, JsonObject } from "../domain/json.ts";
import type { ToolSpec } from "./model.ts";

export interface ToolPlace {
  /** The agent's folder; file tools stay inside its workspace. */
  agentDir: string;
  workspace: string;
  /** Where whole outputs are kept when the result was cut. */
  spillDir: string;
}

/** What a tool is about to do, in words the gate can judge and a person can read. */
export interface ActionPlan {
  tool: string;
  /** `read` looks inside the workspace only; everything else asks until a rule says otherwise. */
  risk: "read" | "write" | "exec" | "network" | "state";
  /** Canonical targets: paths for file tools, argv for exec, hosts for the net. */
  targets: string[];
  /** Exactly what will happen, one block of text, rendered from what will run. */
  shown: string;
  /** Everything the approval is bound to: argv, cwd, environment, contents. */
  binding: JsonObject;
  /** Why the workspace rule does not cover it, when it does not. */
  outside?: string;
}

export interface ToolResult {
  /** What the model reads. Capped at capture; the whole is on disk when it was cut. */
  text: string;
  isError?: boolean;
  /** For people: exit code, bytes, path, diff. */
  meta?: JsonObject;
}

export interface Tool {
  spec: ToolSpec;
  /** `never`: an unknown outcome is reported, not repeated. `safe`: reading again is harmless. */
  repeat: "never" | "with-key" | "safe";
  /** Checks the input and says what would happen. Throws TOOL_INPUT for input that makes no sense. */
  plan(input: Json, place: ToolPlace): Promise<ActionPlan>;
  run(input: Json, place: ToolPlace, key: string, signal: AbortSignal): Promise<ToolResult>;
  /** After a crash: what the far side says happened, if it can say. */
  probe?(input: Json, place: ToolPlace, key: string): Promise<ToolResult | undefined>;
}
