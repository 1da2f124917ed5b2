/** One segment of a turn at work: what it knows, and the ways it ends or goes on waiting. */

import type { Outcome } from "../../core/contracts/index.ts";
import type { Given, ReplyRoute, Terms, TurnId } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { park } from "./park.ts";
import { type At, makePlace } from "./place.ts";
import type { IntakeMessage, TurnParts } from "./ports.ts";
import type { AskedCall, Progress } from "./progress.ts";

/** What the engine stores for a turn. It may be read by a later version, so fields are only ever added. */
export type Body =
  | {
      kind: "message";
      agent: string;
      person: string;
      route: ReplyRoute;
      model: string | null;
      given?: Given;
      tools?: string[];
      terms?: Terms;
      replaces?: TurnId;
    }
  | { kind: "command"; agent: string; route: ReplyRoute; reply: string; stop?: { turns: TurnId[]; why: string } };

/** Text that people have seen and that no record has yet. */
export interface Saying {
  call: number;
  text: string;
  model?: string;
}

export interface TurnRun extends At {
  p: Progress;
  model: string | null;
  given: Given | undefined;
  terms: Terms;
  own: IntakeMessage | undefined;
  began: number;
  /** What the model call under way has said so far; gone once it is recorded. */
  saying: Saying | undefined;
}

export async function parkNow(parts: TurnParts, run: TurnRun, fresh: AskedCall[]): Promise<Outcome> {
  const { route, p, turn } = run;
  // Waiting for a person doesn't count against the turn's time.
  p.activeMs += parts.clock.now() - run.began;
  if (!fresh.length) return park(parts, run, p, route, fresh, route);
  const [askedAt, asker] = await Promise.all([
    parts.questions.where(turn, route, p.authority),
    parts.questions.asker(turn, p.authority),
  ]);
  const named = asker ? fresh.map((one) => ({ ...one, because: `${asker} ${one.because}` })) : fresh;
  return park(parts, run, p, route, named, askedAt);
}

/** Tool results cut to what the window can take; the full text goes to a file that the model can read. */
export function shortened<T extends { id: string; text: string }>(
  parts: TurnParts,
  run: TurnRun,
  results: readonly T[],
): Promise<T[]> {
  const { turn, session, agent, model } = run;
  const { spillDir, workspace } = makePlace(parts, run);
  return parts.room.cap({ turn, session, agent, model, spillDir, workspace }, results);
}

/** Whose budget a call counts against, beside its agent's and session's. */
export function spentFor({ job, budget }: Terms) {
  return job === undefined ? {} : { schedule: { id: job, ...defined({ caps: budget }) } };
}
