import type { ToolCaller } from "../../core/contracts/index.ts";
import { AppError, asId, type Origin, type TurnId } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import type { JobView, Schedules } from "./schedules.ts";
import { inWords, PAST_GRACE_MS } from "./when.ts";
import { wallWords } from "./zone.ts";

type Later = { in?: string; at?: string };
type When = Later & { every?: string; cron?: string };
type Change = When & { text?: string; paused?: boolean };
type Planned = When & { text: string; quiet?: boolean; caller: ToolCaller };

export function makeToolPort(schedules: Schedules, findPerson: (turn: string) => Promise<string | undefined>) {
  return new ScheduleToolPort(schedules, findPerson);
}

/** What the schedule tools see: a job made in a chat answers in that chat, and an agent changes its own jobs only. */
class ScheduleToolPort {
  readonly graceMs = PAST_GRACE_MS;
  readonly #schedules: Schedules;
  readonly #findPerson: (turn: string) => Promise<string | undefined>;

  constructor(schedules: Schedules, findPerson: (turn: string) => Promise<string | undefined>) {
    this.#schedules = schedules;
    this.#findPerson = findPerson;
  }

  async settle({ in: span, at, every, cron, name }: When & { name?: string }, caller: ToolCaller) {
    const zone = name === undefined ? await this.#findZone(caller) : (await this.#requireOwn(name, caller.agent)).zone;
    const given = { in: span, at, every, cron };
    return this.#schedules.findMoment({
      zone,
      ...(Object.fromEntries(Object.entries(given).filter(([, v]) => v)) as object),
    });
  }

  async preview({ text, caller, ...when }: Planned) {
    await this.#requireMayPlan(caller);
    const { agent, route } = caller;
    const session = sessionFor(when.quiet, caller.session);
    await this.#schedules.checkRoom(agent, caller.turn);
    const zone = await this.#findZone(caller);
    return this.#schedules.rehearse({ ...when, zone, prompt: text, agent, session, route, createdBy: "" });
  }

  async own(name: string, agent: string): Promise<void> {
    await this.#requireOwn(name, agent);
  }

  async add({ key, text, caller, ...when }: Planned & { key: string }) {
    const createdBy = `tool ${key}`;
    // The same call again, after a crash, is the same job.
    const known = await this.#schedules.madeBy(createdBy);
    if (known) return show(known);
    await this.#requireMayPlan(caller);
    const { agent, route } = caller;
    const session = sessionFor(when.quiet, caller.session);
    const zone = await this.#findZone(caller);
    const job = { ...when, zone, prompt: text, agent, session, route, createdBy, madeIn: caller.turn };
    return show(await this.#schedules.addInTurn(job));
  }

  async list(agent: string) {
    const { jobs, total } = await this.#schedules.page({ agent, limit: 50 });
    const shown = jobs.map((job) => ({
      ...show(job),
      prompt: job.prompt,
      enabled: job.enabled,
      origin: originOfJob(job),
    }));
    return { jobs: shown, total };
  }

  async remove(name: string, agent: string): Promise<string[]> {
    return this.#schedules.remove((await this.#requireOwn(name, agent)).id);
  }

  async previewUpdate(name: string, { text: _text, paused, ...when }: Change, caller: ToolCaller): Promise<string> {
    await this.#requireMayPlan(caller);
    const job = await this.#requireOwn(name, caller.agent);
    const words = Object.values(when).some((one) => one !== undefined)
      ? this.#schedules.preview({ zone: job.zone, ...when }, 1).words
      : inWords(job.when, job.zone);
    if (paused === undefined) return `${words}.`;
    return `${words}, ${paused ? "paused" : "not paused"}.`;
  }

  async update(name: string, { text, paused, ...when }: Change, caller: ToolCaller) {
    await this.#requireMayPlan(caller);
    const { id } = await this.#requireOwn(name, caller.agent);
    const change = {
      ...defined({ prompt: text }),
      ...(paused === undefined ? {} : { enabled: !paused }),
    };
    return show(await this.#schedules.update(id, { ...when, ...change }));
  }

  async previewSnooze(name: string, later: Later, caller: ToolCaller): Promise<string> {
    await this.#requireMayPlan(caller);
    const job = await this.#requireOwn(name, caller.agent);
    await this.#schedules.checkPutOff(job, later);
    return this.#schedules.preview({ zone: job.zone, ...later }, 1).words;
  }

  async snooze(name: string, later: Later, caller: ToolCaller, key: string) {
    await this.#requireMayPlan(caller);
    return show(await this.#schedules.snooze((await this.#requireOwn(name, caller.agent)).id, later, key));
  }

  async #findZone({ turn }: { turn: string }): Promise<string> {
    return this.#schedules.findZone(await this.#findPerson(turn));
  }

  async #requireMayPlan({ turn, session }: { turn: string; session: string }): Promise<void> {
    const cause = await this.#schedules.jobBehind(asId<TurnId>(turn), session);
    if (!cause || cause.mayPlan) return;
    throw new AppError("TOOL_INPUT", {
      message: `This is a run of the job "${cause.name}", and jobs can't create jobs.`,
      hint: "The owner can allow it with mayPlan: true.",
    });
  }

  async #requireOwn(name: string, agent: string): Promise<JobView> {
    const job = await this.#schedules.get(name).catch(() => undefined);
    if (job?.name === name && job.agent === agent && job.kind === "work" && !job.declared) return job;
    throw new AppError("TOOL_INPUT", {
      message: `You have no schedule "${name}".`,
      hint: "schedule_list shows their names.",
    });
  }
}

function show({ name, when, next, zone }: JobView) {
  return {
    name,
    words: inWords(when, zone),
    // On the person's clock, as the words are.
    next: next === undefined ? null : `${wallWords(next, zone)}, ${zone}`,
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
