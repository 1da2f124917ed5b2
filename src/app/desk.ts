/** What tools see of the house: a job made in a chat answers in that chat; a session sees its own subtree. */

import {
  type AgentId,
  AppError,
  type Authority,
  asId,
  eventKeys,
  type Origin,
  type SessionKey,
  sourceKeys,
  type TurnId,
} from "../core/domain/index.ts";
import type { Clock } from "../core/kit/index.ts";
import type { Rung } from "../edges/hooks/index.ts";
import type { ProcessExit, Processes, ScheduleDesk, SessionDesk, WaitDesk } from "../edges/tools/index.ts";
import type { SystemEvent, SystemEvents } from "../flow/events/index.ts";
import type { Sessions } from "../flow/sessions/index.ts";
import type { TurnEnds } from "../flow/turns/index.ts";
import { inWords, type JobView, PAST_GRACE_MS, type Schedules, wallWords } from "../mind/schedule/index.ts";
import type { ChildReport, Children, TeamsConfig } from "../mind/teams/index.ts";
import type { Spotted } from "../mind/watch/index.ts";

export function scheduleDesk(
  schedules: Schedules,
  personOf: (turn: string) => Promise<string | undefined>,
): ScheduleDesk {
  const zoneOf = async ({ turn }: { turn: string }) => schedules.findZone(await personOf(turn));
  const shown = ({ name, when, next, zone: of }: JobView) => ({
    ...{ name, words: inWords(when, of) },
    // On the person's clock, as the words are.
    next: next === undefined ? null : `${wallWords(next, of)}, ${of}`,
  });
  const mayPlan = async ({ turn, session }: { turn: string; session: string }) => {
    const cause = await schedules.jobBehind(asId<TurnId>(turn), session);
    if (!cause || cause.mayPlan) return;
    throw new AppError("TOOL_INPUT", {
      message: `This is a run of the job "${cause.name}", and jobs can't create jobs.`,
      hint: "The owner can allow it with mayPlan: true.",
    });
  };
  const mine = async (name: string, agent: string): Promise<JobView> => {
    const job = await schedules.get(name).catch(() => undefined);
    if (job?.name === name && job.agent === agent && job.kind === "work" && !job.declared) return job;
    throw new AppError("TOOL_INPUT", {
      message: `You have no schedule "${name}".`,
      hint: "schedule_list shows their names.",
    });
  };
  return {
    graceMs: PAST_GRACE_MS,
    async settle({ in: span, at, every, cron, name }, caller) {
      const zone = name === undefined ? await zoneOf(caller) : (await mine(name, caller.agent)).zone;
      const given = { in: span, at, every, cron };
      return schedules.findMoment({
        zone,
        ...(Object.fromEntries(Object.entries(given).filter(([, v]) => v)) as object),
      });
    },
    async preview({ text, caller, ...when }) {
      await mayPlan(caller);
      const { agent, route } = caller;
      const session = sessionFor(when.quiet, caller.session);
      await schedules.checkRoom(agent, caller.turn);
      const zone = await zoneOf(caller);
      return schedules.rehearse({ ...when, zone, prompt: text, agent, session, route, createdBy: "" });
    },
    async own(name, agent) {
      await mine(name, agent);
    },
    async add({ key, text, caller, ...when }) {
      const createdBy = `tool ${key}`;
      // The same call again, after a crash, is the same job.
      const known = await schedules.madeBy(createdBy);
      if (known) return shown(known);
      await mayPlan(caller);
      const { agent, route } = caller;
      const session = sessionFor(when.quiet, caller.session);
      const zone = await zoneOf(caller);
      const job = { ...when, zone, prompt: text, agent, session, route, createdBy, madeIn: caller.turn };
      return shown(await schedules.addInTurn(job));
    },
    async list(agent) {
      const { jobs, total } = await schedules.page({ agent, limit: 50 });
      return {
        jobs: jobs.map((job) => ({
          ...shown(job),
          prompt: job.prompt,
          enabled: job.enabled,
          origin: originOfJob(job),
        })),
        total,
      };
    },
    async remove(name, agent) {
      await schedules.remove((await mine(name, agent)).id);
    },
    async previewUpdate(name, { text: _text, paused, ...when }, caller) {
      await mayPlan(caller);
      const job = await mine(name, caller.agent);
      const words = Object.values(when).some((one) => one !== undefined)
        ? schedules.preview({ zone: job.zone, ...when }, 1).words
        : inWords(job.when, job.zone);
      return `${words}${paused === undefined ? "" : paused ? ", paused" : ", not paused"}.`;
    },
    async update(name, { text, paused, ...when }, caller) {
      await mayPlan(caller);
      const { id } = await mine(name, caller.agent);
      const change = {
        ...(text === undefined ? {} : { prompt: text }),
        ...(paused === undefined ? {} : { enabled: !paused }),
      };
      return shown(await schedules.update(id, { ...when, ...change }));
    },
    async previewSnooze(name, later, caller) {
      await mayPlan(caller);
      const job = await mine(name, caller.agent);
      return schedules.preview({ zone: job.zone, ...later }, 1).words;
    },
    async snooze(name, later, caller, key) {
      await mayPlan(caller);
      return shown(await schedules.snooze((await mine(name, caller.agent)).id, later, key));
    },
  };
}

/** A reminder comes back into the conversation it was made in. A check that mostly says nothing would only fill that with silence. */
function sessionFor(isQuiet: boolean | undefined, own: string): string {
  return isQuiet ? "isolated" : own;
}

export function sessionDesk(
  children: Children,
  sessions: Sessions,
  watch: TurnEnds,
  visibility: () => TeamsConfig["visibility"],
  hasReadOutside: (session: SessionKey) => Promise<boolean>,
): SessionDesk {
  return {
    spawn: (given) => children.spawn(given),
    send: (given) => children.send(given),
    stop: (session, caller) => children.end(session, caller),
    async list(caller) {
      const rows = await children.list(caller.session);
      const own = await Promise.all(
        rows.map(async (row) => ({
          session: row.session,
          task: row.task.split("\n")[0]!.slice(0, 120),
          state: (await watch.read(row.turn))?.result?.state ?? "running",
          // The task is what this session itself asked for.
          origin: "own" as const,
        })),
      );
      if (visibility() === "tree") return own;
      const only = visibility() === "agent" ? { agent: caller.agent } : {};
      const others = (await sessions.list({ limit: 50, ...only })).filter(
        (one) => one.session !== caller.session && !own.some((row) => row.session === one.session),
      );
      // Titles of other conversations are what somebody wrote there.
      const titled = others.map(({ session, title }) => ({ session, task: title ?? "", state: "a session" }));
      return [...own, ...titled.map((one) => ({ ...one, origin: "outside" as const }))];
    },
    async history(session, limit, caller) {
      if (!(await children.mayRead(caller, session))) {
        throw new AppError("TOOL_INPUT", {
          message: `You have no sub-agent "${session}".`,
          hint: "sessions_list shows them.",
        });
      }
      const { messages } = await sessions.history({ session, limit });
      const isOwn = (await children.isBelow(caller.session, session)) && !(await hasReadOutside(asId(session)));
      return {
        origin: isOwn ? "own" : "outside",
        messages: messages.map((m) => ({
          role: m.role,
          text: m.content.map((part) => ("text" in part ? part.text : `[${part.name}]`)).join(""),
        })),
      };
    },
  };
}

/** A job's name and prompt are the owner's or the agent's, unless another program's folder brought them. */
function originOfJob({ createdBy }: JobView): Origin {
  return createdBy.startsWith("import ") ? "outside" : "own";
}

/** What tells a session of a background process's end. The same process is told once (PROCESS-4). */
export function exitEvent({ id, agent, session, route, label, body }: ProcessExit, authority: Authority): SystemEvent {
  return {
    key: eventKeys.process(id),
    kind: "process",
    source: sourceKeys.process(id),
    session: asId<SessionKey>(session),
    agent: asId<AgentId>(agent),
    ...{ route, label, body },
    // What it says is data: it may not change what Lares keeps.
    authority,
    outside: true,
    must: true,
  };
}

/** What tells a session of a webhook. Whatever it says comes from outside (I12). */
export function hookEvent({ hook, ...rung }: Rung): SystemEvent {
  return { ...rung, kind: "hook", source: sourceKeys.hook(hook), authority: "outside", lane: "scheduled" };
}

/** What tells a session that something watched is new. It comes from outside (I12). */
export function spottedEvent({ watch, ...spotted }: Spotted): SystemEvent {
  return { ...spotted, kind: "watch", source: sourceKeys.watch(watch), authority: "outside", lane: "scheduled" };
}

/** What a turn can wait for, by the keys of the events that will tell of it. */
export function waitDesk(parts: {
  clock: Clock;
  events: SystemEvents;
  children: Children;
  processes: Processes;
}): WaitDesk {
  const { clock, events, children, processes } = parts;
  return {
    clock,
    async claim({ what, ids, on, caller }) {
      const running = async () =>
        (await processes.list(caller.session)).filter((one) => one.endedAt === null).map((one) => one.id);
      const keys =
        what === "agents"
          ? await children.awaited(caller.session, ids)
          : (await running()).filter((id) => !ids || ids.includes(id)).map(eventKeys.process);
      return (await events.claim(asId<TurnId>(caller.turn), on, keys)).length;
    },
    async collect(on, caller) {
      const { missing, outside, ...came } = await events.collect(asId<TurnId>(caller.turn), on);
      return { ...came, origin: outside ? "outside" : "own", missing: missing.length };
    },
  };
}

/** What tells a parent's session of its sub-agent. */
export function childEvent({ child, ...told }: ChildReport): SystemEvent {
  return { ...told, kind: "child", source: sourceKeys.session(child), must: true };
}
