import type { ToolCaller } from "../../core/contracts/index.ts";
import { AppError, asId, type Origin, type TurnId } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { JobView, Schedules } from "./schedules.ts";
import { inWords, PAST_GRACE_MS } from "./when.ts";
import { wallWords } from "./zone.ts";

type Later = { in?: string; at?: string };
type Change = Later & { text?: string; every?: string; cron?: string; paused?: boolean };
type Planned = Later & { text: string; every?: string; cron?: string; quiet?: boolean; caller: ToolCaller };

/** What the schedule tools see: a job made in a chat answers in that chat, and an agent changes its own jobs only. */
export function makeToolPort(schedules: Schedules, personOf: (turn: string) => Promise<string | undefined>) {
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
    async settle(
      { in: span, at, every, cron, name }: Later & { name?: string; every?: string; cron?: string },
      caller: ToolCaller,
    ) {
      const zone = name === undefined ? await zoneOf(caller) : (await mine(name, caller.agent)).zone;
      const given = { in: span, at, every, cron };
      return schedules.findMoment({
        zone,
        ...(Object.fromEntries(Object.entries(given).filter(([, v]) => v)) as object),
      });
    },
    async preview({ text, caller, ...when }: Planned) {
      await mayPlan(caller);
      const { agent, route } = caller;
      const session = sessionFor(when.quiet, caller.session);
      await schedules.checkRoom(agent, caller.turn);
      const zone = await zoneOf(caller);
      return schedules.rehearse({ ...when, zone, prompt: text, agent, session, route, createdBy: "" });
    },
    async own(name: string, agent: string) {
      await mine(name, agent);
    },
    async add({ key, text, caller, ...when }: Planned & { key: string }) {
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
    async list(agent: string) {
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
    async remove(name: string, agent: string) {
      await schedules.remove((await mine(name, agent)).id);
    },
    async previewUpdate(name: string, { text: _text, paused, ...when }: Change, caller: ToolCaller) {
      await mayPlan(caller);
      const job = await mine(name, caller.agent);
      const words = Object.values(when).some((one) => one !== undefined)
        ? schedules.preview({ zone: job.zone, ...when }, 1).words
        : inWords(job.when, job.zone);
      return `${words}${paused === undefined ? "" : paused ? ", paused" : ", not paused"}.`;
    },
    async update(name: string, { text, paused, ...when }: Change, caller: ToolCaller) {
      await mayPlan(caller);
      const { id } = await mine(name, caller.agent);
      const change = {
        ...defined({ prompt: text }),
        ...(paused === undefined ? {} : { enabled: !paused }),
      };
      return shown(await schedules.update(id, { ...when, ...change }));
    },
    async previewSnooze(name: string, later: Later, caller: ToolCaller) {
      await mayPlan(caller);
      const job = await mine(name, caller.agent);
      return schedules.preview({ zone: job.zone, ...later }, 1).words;
    },
    async snooze(name: string, later: Later, caller: ToolCaller, key: string) {
      await mayPlan(caller);
      return shown(await schedules.snooze((await mine(name, caller.agent)).id, later, key));
    },
  };
}

/** A reminder comes back into the conversation it was made in. A check that mostly says nothing would only fill that with silence. */
function sessionFor(isQuiet: boolean | undefined, own: string): string {
  return isQuiet ? "isolated" : own;
}

/** A job's name and prompt are the owner's or the agent's, unless another program's folder brought them. */
function originOfJob({ createdBy }: JobView): Origin {
  return createdBy.startsWith("import ") ? "outside" : "own";
}
