/** Handlers of `schedule.*`. */

import { idempotencyKeys } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";
import {
  asGiven,
  type GivenWhen,
  inWords,
  type JobSettings,
  type JobView,
  type NewJob,
  type ShownSlot,
} from "../../mind/schedule/index.ts";
import type { Asks, MethodParts, Methods } from "./parts.ts";

/** As much of an output as a list shows. */
const SHOWN_OUTPUT = 500;

export function makeScheduleMethods(parts: Asks<"schedules"> & Pick<MethodParts, "clock">): Methods<"schedule"> {
  const schedules = () => parts.instance().schedules;
  return {
    async "schedule.list"({ limit = 100, ...q }) {
      const page = await schedules().page({ ...q, limit });
      return { ...page, jobs: page.jobs.map(wire) };
    },
    "schedule.get": async ({ id }) => wire(await schedules().get(id)),
    "schedule.preview": async (given) => schedules().preview(given, 5),
    async "schedule.calendar"({ from, to }) {
      const found = await schedules().calendar(from, to);
      return {
        left: found.left,
        jobs: found.jobs.map(({ job, times, more }) => ({
          id: job.id,
          name: job.name,
          times,
          more,
          words: inWords(job.when, job.zone),
        })),
      };
    },
    // The wire says `deliver`, the room says `route`: null means that the answer stays in the history.
    async "schedule.add"({ deliver, idempotencyKey: _key, ...given }, caller) {
      const settings = { ...given, route: deliver ?? null, createdBy: caller.principal.id } as NewJob;
      return wire(await schedules().add(settings));
    },
    async "schedule.update"({ id, deliver, idempotencyKey: _key, ...change }) {
      // Left out, the route stays as it is.
      const settings = { ...change, ...defined({ route: deliver }) } as GivenWhen & JobSettings;
      return wire(await schedules().update(id, settings));
    },
    async "schedule.snooze"({ id, idempotencyKey, ...given }, caller) {
      const key = idempotencyKey ?? idempotencyKeys.snooze(caller.principal.id, parts.clock.now());
      return wire(await schedules().snooze(id, given as Pick<GivenWhen, "at" | "in" | "zone">, key));
    },
    async "schedule.remove"({ id }) {
      const withdrawn = await schedules().remove(id);
      return { removed: true, ...(withdrawn.length ? { withdrawn } : {}) };
    },
    "schedule.run": ({ id }) => schedules().run(id),
    "schedule.history": async ({ id, limit }) => ({
      slots: (await schedules().history(id, limit ?? 50)).map(wireSlot),
    }),
  };
}

/** A job as clients see it: with its schedule in words, and without the fields that are null. */
function wire(job: JobView): Result<"schedule.list">["jobs"][number] {
  const { id, name, agent, prompt, session, zone, enabled, declared, catchUp, failures, next, last, recent } = job;
  const { timeoutS, bestEffort, deleteAfterRun, keepHours, alertAfter, mayPlan, quiet } = job;
  const { script, condition, input, model, thinking, budget, route } = job;
  return {
    id,
    name,
    agent,
    prompt,
    session,
    zone,
    enabled,
    declared,
    catchUp,
    failures,
    timeoutS,
    bestEffort,
    deleteAfterRun,
    keepHours,
    alertAfter,
    mayPlan,
    quiet,
    words: inWords(job.when, job.zone),
    when: { kind: job.when.kind, text: asGiven(job.when) },
    ...defined({
      script: script ?? undefined,
      condition: condition ?? undefined,
      input: input ?? undefined,
      model: model ?? undefined,
      thinking: thinking ?? undefined,
      budget: budget ?? undefined,
      deliver: route ?? undefined,
      next,
    }),
    ...(last ? { last: wireSlot(last) } : {}),
    recent: recent.map(wireSlot),
  };
}

function wireSlot(slot: ShownSlot): Result<"schedule.history">["slots"][number] {
  return {
    due: slot.due,
    state: slot.state,
    ...("approval" in slot ? { approval: slot.approval } : {}),
    ...truthy({ reason: slot.reason, turn: slot.turn }),
    ...(slot.output ? { output: slot.output.slice(0, SHOWN_OUTPUT) } : {}),
    ...defined({ startedAt: slot.started_at ?? undefined, endedAt: slot.ended_at ?? undefined }),
  };
}
