import type { ToolCaller } from "../../core/contracts/index.ts";
import { asId, eventKeys, type TurnId } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { SystemEvents } from "./events.ts";

type ClaimedWait = { what: "agents" | "process"; ids?: string[]; on: string; caller: ToolCaller };

/** What a turn can wait for, by the keys of the events that will tell of it. */
export function makeWaitPort(parts: {
  clock: Clock;
  events: Pick<SystemEvents, "claim" | "collect">;
  /** Keys of the events that will tell of a session's sub-agents. */
  awaited(session: string, ids?: readonly string[]): Promise<readonly string[]>;
  /** Ids of a session's background processes that still run. */
  running(session: string): Promise<readonly string[]>;
}) {
  const { clock, events } = parts;
  return {
    clock,
    async claim({ what, ids, on, caller }: ClaimedWait) {
      const keys =
        what === "agents"
          ? await parts.awaited(caller.session, ids)
          : (await parts.running(caller.session)).filter((id) => !ids || ids.includes(id)).map(eventKeys.process);
      return (await events.claim(asId<TurnId>(caller.turn), on, keys)).length;
    },
    async collect(on: string, caller: ToolCaller) {
      const { missing, outside, ...came } = await events.collect(asId<TurnId>(caller.turn), on);
      return { ...came, origin: outside ? ("outside" as const) : ("own" as const), missing: missing.length };
    },
  };
}
