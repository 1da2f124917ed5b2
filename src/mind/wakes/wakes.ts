/** What will wake an agent besides people, gathered from every room that waits for something. */

import { isOwnWait } from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import type { Result } from "../../core/protocol/index.ts";

type ListedWake = Result<"wakes.list">["wakes"][number];

/** Of each kind; a list nobody reads to its end. */
const MOST = 100;

/** What waits for something, room by room; each gives at most so many as asked for. */
export interface Waiting {
  /** Turns that wait, with the first of what would wake them. */
  parked(
    most: number,
  ): Promise<readonly { turn: string; session: string; agent: string; deadline: number | null; on: string }[]>;
  slots(most: number): Promise<
    readonly {
      name: string;
      agent: string;
      due: number;
      kind: "beat" | "work";
      words: string;
      problem: string | null;
    }[]
  >;
  hooks(): readonly { name: string; scheme: string; agent: string; session: string; lastAt?: number | undefined }[];
  watches(): Promise<
    readonly {
      name: string;
      about: string;
      agent: string;
      next: number;
      lastAt?: number | undefined;
      error?: string | undefined;
      isPaused?: boolean | undefined;
    }[]
  >;
  goals(most: number): Promise<
    readonly {
      id: string;
      outcome: string;
      agent: string;
      session: string;
      turn: string | null;
      round: number;
      most_turns: number;
      why: string | null;
      state: string;
    }[]
  >;
  children(
    most: number,
  ): Promise<
    readonly { turn: string; session: string; parent: string; agent: string; task: string; deadline: number }[]
  >;
  processes(
    most: number,
  ): Promise<readonly { id: string; session: string; agent: string; command: string; madeAt: number }[]>;
  events(most: number): Promise<readonly { session: string; agent: string; n: number; at: number }[]>;
}

/** The next first; then what may come at any time. */
export async function listWakes(waiting: Waiting, now: number): Promise<ListedWake[]> {
  const [slots, watches, goals, parked, children, processes, events] = await Promise.all([
    waiting.slots(MOST),
    waiting.watches(),
    waiting.goals(MOST),
    waiting.parked(MOST),
    waiting.children(MOST),
    waiting.processes(MOST),
    waiting.events(MOST),
  ]);
  const wakes: ListedWake[] = [
    ...slots.map(({ name, agent, due, words, problem, ...slot }): ListedWake => {
      const kind = slot.kind === "beat" ? "heartbeat" : "schedule";
      return { kind, name, about: words, agent, at: due, ...truthy({ problem }) };
    }),
    ...waiting.hooks().map(({ name, scheme, agent, session, lastAt }): ListedWake => {
      const about = `POST /hooks/${name} (${scheme})`;
      return { kind: "hook", name, about, agent, session, ...defined({ lastAt }) };
    }),
    ...watches.map(({ name, about, agent, next, lastAt, error, isPaused }): ListedWake => {
      const known = defined({ lastAt, problem: error || undefined });
      // What is paused has no next time.
      const at = isPaused ? {} : { at: Math.max(next, now) };
      return { kind: "watch", name, about, agent, ...at, ...known };
    }),
    ...parked.map(({ turn, session, agent, deadline, on }): ListedWake => {
      const about = isOwnWait(on)
        ? "a turn waits for something it started, or for a time"
        : "a turn waits for a person";
      const at = deadline === null ? {} : { at: deadline };
      return { kind: "parked", name: turn, about, agent, session, turn, ...at };
    }),
    ...children.map(({ turn, session, parent, agent, task, deadline }): ListedWake => {
      const about = `a sub-agent's result: ${line(task)}`;
      return { kind: "agent", name: session, about, agent, session: parent, turn, at: deadline };
    }),
    ...processes.map(({ id, session, agent, command, madeAt }): ListedWake => {
      const about = `the end of a background process: ${line(command)}`;
      return { kind: "process", name: id, about, agent, session, lastAt: madeAt };
    }),
    ...goals
      .filter((goal) => goal.state === "active")
      .map(({ id, outcome, agent, session, turn, round, most_turns, why }): ListedWake => {
        const about = `${line(outcome)} (turn ${round} of ${most_turns})`;
        return {
          kind: "goal",
          name: id,
          about,
          agent,
          session,
          ...truthy({ turn, problem: why }),
        };
      }),
    ...events.map(({ session, agent, n, at }): ListedWake => {
      const about = n === 1 ? "an event that is about to be reported" : `${n} events that are about to be reported`;
      return { kind: "event", name: session, about, agent, session, at };
    }),
  ];
  return wakes.sort((a, b) => (a.at ?? Number.POSITIVE_INFINITY) - (b.at ?? Number.POSITIVE_INFINITY));
}

function line(text: string): string {
  return text.replace(/\s+/g, " ").trim().slice(0, 120);
}
