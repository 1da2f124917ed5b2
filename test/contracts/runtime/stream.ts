/** What is wrong with a run's events, as sentences. Pure: the same rules for a live adapter, a replayed transcript and a recorded run. */
import { nextPlace, type RunEvent, type RunPlace, type RunRequest } from "../../../src/core/contracts/index.ts";

export interface Whole {
  /** False for a run that was parked or is still open: it has no `done`. */
  ended: boolean;
}

export function faultsIn(
  events: readonly RunEvent[],
  request: Pick<RunRequest, "run" | "attempt" | "lastSeq">,
  whole: Whole = { ended: true },
): string[] {
  const faults: string[] = [];
  let place: RunPlace = { attempt: request.attempt, seq: request.lastSeq, ended: false };
  const calls = new Set<string>();
  const results = new Set<string>();
  const asks = new Map<string, "open" | "answered">();
  if (events[0] && events[0].body.type !== "run_started") faults.push(`RUNTIME-2: it begins with ${name(events[0])}`);
  for (const event of events) {
    const { body } = event;
    if (event.run !== request.run) faults.push(`RUNTIME-1: ${name(event)} belongs to the run ${event.run}`);
    const next = nextPlace(place, event);
    if (typeof next === "string") faults.push(`RUNTIME-1: ${name(event)} is ${next}`);
    else place = next;
    if (event !== events[0] && body.type === "run_started") faults.push(`RUNTIME-2: ${name(event)} is a second start`);
    if (body.type === "tool_call") {
      if (calls.has(body.call)) faults.push(`RUNTIME-5: ${name(event)} announces ${body.call} again`);
      calls.add(body.call);
    }
    if (body.type === "tool_result") {
      if (!calls.has(body.call)) faults.push(`RUNTIME-5: ${name(event)} is of ${body.call}, which nobody called`);
      if (results.has(body.call)) faults.push(`RUNTIME-5: ${name(event)} is a second result of ${body.call}`);
      results.add(body.call);
    }
    if (body.type === "ask") {
      if (asks.has(body.ask)) faults.push(`RUNTIME-6: ${name(event)} asks ${body.ask} again`);
      if (body.about.kind === "tool" && !calls.has(body.about.call))
        faults.push(`RUNTIME-5: ${name(event)} asks about ${body.about.call}, which nobody called`);
      if (body.about.kind === "tool" && results.has(body.about.call))
        faults.push(`RUNTIME-6: ${name(event)} asks about ${body.about.call}, which is done`);
      asks.set(body.ask, "open");
    }
    if (body.type === "answered") {
      if (asks.get(body.ask) !== "open") faults.push(`RUNTIME-6: ${name(event)} answers ${body.ask}, which isn't open`);
      asks.set(body.ask, "answered");
    }
    if (body.type === "usage" && Object.values(body.usage).some((n) => n !== null && n < 0))
      faults.push(`RUNTIME-7: ${name(event)} is less than nothing`);
  }
  if (whole.ended && !place.ended) faults.push("RUNTIME-2: it never ends with done");
  if (place.ended)
    for (const [ask, state] of asks) if (state === "open") faults.push(`RUNTIME-6: ${ask} is open after the end`);
  return faults;
}

function name({ seq, body }: RunEvent): string {
  return `event ${seq} (${body.type})`;
}
