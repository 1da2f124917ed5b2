/** Handlers of the methods about time and policy. */
import type { Json } from "../core/domain/index.ts";
import type { Result } from "../core/protocol/index.ts";
import type { Handlers } from "../faces/gateway/index.ts";
import { inWords, type JobView, type Slot } from "../mind/schedule/index.ts";
import type { HandlerParts } from "./handlers.ts";

type TimeHandlers = Pick<Handlers, (`schedule.${string}` & keyof Handlers) | "policy.explain">;

export function makeTimeHandlers(parts: Pick<HandlerParts, "house">): TimeHandlers {
  const schedules = () => parts.house().schedules;
  return {
    "schedule.list": async () => ({ jobs: (await schedules().list()).map(wire) }),
    "schedule.preview": async (given) => schedules().preview(given, 5),
    async "schedule.add"({ deliver, idempotencyKey: _key, ...given }, caller) {
      return wire(await schedules().add({ ...given, route: deliver ?? null, createdBy: caller.principal.id }));
    },
    async "schedule.update"({ id, deliver, idempotencyKey: _key, ...change }) {
      return wire(await schedules().update(id, { ...change, ...(deliver === undefined ? {} : { route: deliver }) }));
    },
    async "schedule.remove"({ id }) {
      await schedules().remove(id);
      return { removed: true };
    },
    async "policy.explain"({ command, agent }) {
      const found = await parts.house().explainCommand(command, agent);
      return { ...found, parts: found.parts as unknown as Json[] };
    },
    "schedule.run": ({ id }) => schedules().run(id),
    "schedule.history": async ({ id, limit }) => ({
      slots: (await schedules().history(id, limit ?? 50)).map(wireSlot),
    }),
  };
}

function wire(job: JobView): Result<"schedule.list">["jobs"][number] {
  const { id, name, agent, prompt, session, zone, enabled, declared, catchUp, failures, next, last, recent } = job;
  return {
    ...{ id, name, agent, prompt, session, zone, enabled, declared, catchUp, failures },
    words: inWords(job.when, job.zone),
    ...(next === undefined ? {} : { next }),
    ...(last ? { last: wireSlot(last) } : {}),
    recent: recent.map(wireSlot),
  };
}

function wireSlot(slot: Slot): Result<"schedule.history">["slots"][number] {
  return {
    due: slot.due,
    state: slot.state,
    ...(slot.reason ? { reason: slot.reason } : {}),
    ...(slot.turn ? { turn: slot.turn } : {}),
    ...(slot.started_at === null ? {} : { startedAt: slot.started_at }),
    ...(slot.ended_at === null ? {} : { endedAt: slot.ended_at }),
  };
}
