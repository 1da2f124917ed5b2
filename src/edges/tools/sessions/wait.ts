/**
 * `wait`: the turn parks until sub-agents or background processes of this session have ended, or a time is over. Nothing is held
 * meanwhile, and the session stays usable; what came is read in this turn.
 */
import { z } from "zod";
import type { ActionPlan, AfterWait, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import { type Json, waitNames } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { parseInput } from "../input.ts";
import { NOTHING_CAME, NOTHING_TO_WAIT_FOR, stillRunning, TIME_IS_UP, waitFor, waiting, waitingFor } from "./words.ts";

export interface WaitPort {
  clock: Clock;
  /** From now on these come to this turn under the name `on`. Returns how many; 0: nothing of it is still to come. */
  claim(given: {
    what: "agents" | "process";
    ids?: string[];
    on: string;
    caller: ToolPlace["caller"];
  }): Promise<number>;
  /** What came, and how many did not. */
  collect(on: string, caller: ToolPlace["caller"]): Promise<AfterWait & { missing: number }>;
}

const waitInput = z.strictObject({
  for: z.enum(["agents", "process", "time"]),
  ids: z.array(z.string().min(1).max(512)).min(1).max(32).optional(),
  seconds: z.number().positive().max(86_400).optional(),
});

/** As long as a sub-agent lives. */
export const DEFAULT_S = 1800;
export const TIME_S = 60;

export function createWait(port: WaitPort): Tool {
  const run = async (input: Json, place: ToolPlace, key: string): Promise<ToolResult> => {
    const given = parseInput("wait", waitInput, input);
    const seconds = given.seconds ?? (given.for === "time" ? TIME_S : DEFAULT_S);
    const wait = { on: waitNames.own(key), deadline: port.clock.now() + seconds * 1000 };
    if (given.for === "time") return { text: waiting(seconds), wait };
    const ids = given.ids ? { ids: given.ids } : {};
    const count = await port.claim({ what: given.for, ...ids, on: wait.on, caller: place.caller });
    if (count === 0) return { text: NOTHING_TO_WAIT_FOR };
    return {
      text: waitingFor(count, seconds),
      wait,
    };
  };
  return {
    spec: {
      name: "wait",
      description: `Do nothing until your sub-agents or background commands have ended, or a time has passed. Use it only when there is nothing else to do: you are notified anyway.`,
      input: {
        type: "object",
        properties: {
          for: { enum: ["agents", "process", "time"], description: "what to wait for" },
          ids: { type: "array", items: { type: "string" }, description: "only these" },
          seconds: { type: "number", description: `at most; default ${DEFAULT_S}, for time ${TIME_S}` },
        },
        required: ["for"],
      },
    },
    repeat: "with-key",
    words: { result: "own", failure: "own" },
    async plan(input): Promise<ActionPlan> {
      const given = parseInput("wait", waitInput, input);
      return {
        tool: "wait",
        risk: "read",
        targets: [given.for],
        shown: waitFor(given.for),
        binding: { ...given },
      };
    },
    run,
    probe: async (input, place, key) => ({ ok: await run(input, place, key) }),
    async after(input, place, { on }): Promise<AfterWait> {
      if (parseInput("wait", waitInput, input).for === "time") return { text: TIME_IS_UP, origin: "own" };
      const { missing, text, ...rest } = await port.collect(on, place.caller);
      const late = missing ? stillRunning(missing) : "";
      return { ...rest, text: [text, late].filter(Boolean).join("\n\n") || NOTHING_CAME };
    },
  };
}
