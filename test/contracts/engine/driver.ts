/**
 * The program a test kills: opens an engine on a home, does what its plan says, and tells the parent. The plan comes as the
 * third argument: `driver.ts <factory module> <home> <plan as JSON>`.
 */

import { join } from "node:path";
import type { EngineEvent } from "../../../src/core/contracts/index.ts";
import { asId, type Json, type LaneClass, type ScheduleId, type TurnId } from "../../../src/core/domain/index.ts";
import { faultsAt, ManualClock, systemClock } from "../../../src/core/kit/index.ts";
import { pretend } from "../../support/pretend.ts";
import { type EngineFactory, type Script, scriptedApp, session, until, World } from "./world.ts";

export type Act =
  | { accept: Script; session: string; lane?: LaneClass }
  | { resume: string; event: EngineEvent }
  | { schedule: string; due: number; session: string; script: Script }
  | { advance: number }
  /** SIGKILL to itself, before anything that waits for the event loop happens. */
  | { kill: true }
  | { parked: string }
  | { ended: string[] }
  /** Tells the parent, then goes on. */
  | { tell: string };

export interface Plan {
  acts: Act[];
  /** A clock moved by `advance`, starting here; the machine's own clock when absent. */
  clock?: number;
}

async function main(): Promise<void> {
  const [, , module, home, planText] = process.argv as [string, string, string, string, string];
  const { factory } = (await import(module)) as { factory: EngineFactory };
  const plan = JSON.parse(planText) as Plan;
  const clock = plan.clock === undefined ? systemClock : new ManualClock(plan.clock);
  const opened = await factory.open(home, { clock, crash: faultsAt({ crashAt: process.env.LARES_CRASH_AT }) });
  const world = new World(join(home, "witness"));
  await opened.engine.start(scriptedApp(world, opened));
  const turns = new Map<string, TurnId>();

  for (const act of plan.acts) {
    if ("accept" in act) {
      const { turn } = await opened.engine.accept({
        id: act.accept.name,
        session: session(act.session),
        lane: act.lane ?? "interactive",
        body: pretend<Json>(act.accept),
      });
      turns.set(act.accept.name, turn);
      // The sender knows now: from here on this message must not be lost.
      world.say({ what: "ack", name: act.accept.name, turn, session: act.session });
    } else if ("resume" in act) {
      await opened.engine.resume(turns.get(act.resume)!, act.event);
    } else if ("schedule" in act) {
      await opened.engine.schedule(asId<ScheduleId>(act.schedule), {
        due: act.due,
        session: session(act.session),
        body: pretend<Json>(act.script),
      });
    } else if ("advance" in act) {
      (clock as ManualClock).advance(act.advance);
    } else if ("kill" in act) {
      process.kill(process.pid, "SIGKILL");
      for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    } else if ("parked" in act) {
      await until(`${act.parked} parks`, () => world.of(act.parked, "parked").length > 0);
    } else if ("ended" in act) {
      await until(`${act.ended} end`, () => act.ended.every((name) => world.of(name, "ended").length > 0), 1);
    } else {
      process.send?.(act.tell);
    }
  }
}

// Held by the channel to the parent until it is killed.
process.on("message", () => {});
await main();
