/**
 * A runtime is tried out: two runs on a scripted model, in an empty folder, of which everything that is seen to work is a proof.
 *
 * TRIAL-1: what wasn't tried is no proof, and neither is what a run that failed didn't show.
 * TRIAL-2: nothing but the script's own commands runs, and those write two words into the trial's own folder.
 */
import { randomBytes } from "node:crypto";
import type {
  RunAsk,
  RunEvent,
  RunSession,
  RunToken,
  RuntimeCapabilities,
  RuntimeSkill,
} from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import type { TrialHeard, TrialMarks } from "./script.ts";
import { trialWords as words } from "./words.ts";

/** What a trial saw of one capability. */
export interface SeenInTrial {
  skill: RuntimeSkill;
  worked: boolean;
  note?: string;
}

export interface TrialParts {
  clock: Clock;
  can: RuntimeCapabilities;
  marks: TrialMarks;
  heard: TrialHeard;
  /** As people know it. */
  title: string;
  /** Whether a file of this name is in the trial's folder. */
  exists(name: string): boolean;
  /** Opens one of its runs. */
  open(text: string, resume: RunToken | null): Promise<{ session: RunSession; release(): Promise<void> }>;
}

export function makeMarks(): TrialMarks {
  const mark = (name: string) => `${name}-${randomBytes(4).toString("hex")}`;
  return {
    first: mark("trial"),
    second: mark("again"),
    steer: mark("meanwhile"),
    note: "note.txt",
    allowed: "allowed.txt",
    denied: "denied.txt",
  };
}

/** Without a word until then, an interruption was none: the run is ended from outside soon after. */
const INTERRUPT_MS = 8000;

interface FirstRun {
  texts: number;
  usage: number;
  calls: Set<string>;
  asked: Set<string>;
  /** It asked about the command that it may run, and hadn't run it by then. */
  hasWaited: boolean;
  token: RunToken | null;
  trouble: string | null;
}

export async function tryOut(parts: TrialParts): Promise<SeenInTrial[]> {
  const first = await watchFirst(parts);
  if (parts.heard.requests === 0)
    throw new AppError("CONFLICT", { message: words.noRequest(parts.title, first.trouble), retry: "later" });
  const second = await watchSecond(parts, first.token);
  return judge(parts, first, second).filter(({ skill }) => parts.can[skill].proof !== "absent");
}

async function watchFirst(parts: TrialParts): Promise<FirstRun> {
  const { marks, exists } = parts;
  const seen: FirstRun = {
    texts: 0,
    usage: 0,
    calls: new Set(),
    asked: new Set(),
    hasWaited: false,
    token: null,
    trouble: null,
  };
  const { session, release } = await parts.open(words.first(marks.first), null);
  try {
    for await (const { body } of session.events(0)) {
      if (body.type === "text") seen.texts++;
      else if (body.type === "usage") seen.usage += body.usage.inputTokens + body.usage.outputTokens;
      else if (body.type === "tool_call") seen.calls.add(body.call);
      else if (body.type === "checkpoint") seen.token = body.token;
      else if (body.type === "error") seen.trouble = body.text;
      else if (body.type === "ask") {
        if (body.about.kind === "tool") seen.asked.add(body.about.call);
        seen.hasWaited ||= isAbout(body.about, marks.allowed) && !exists(marks.allowed);
        await answer(parts, session, body);
      } else if (body.type === "done") break;
    }
  } finally {
    await release();
  }
  return seen;
}

function isAbout(about: RunAsk, mark: string): boolean {
  return about.kind === "tool" && JSON.stringify([about.input, about.summary]).includes(mark);
}

async function answer(
  { marks, can }: TrialParts,
  session: RunSession,
  { ask, about }: Extract<RunEvent["body"], { type: "ask" }>,
): Promise<void> {
  if (about.kind === "question") return void (await session.answer(ask, { kind: "deny", reason: words.noPerson }));
  // Before the yes, so that it comes while the run goes on.
  if (isAbout(about, marks.allowed) && can.steer.proof !== "absent")
    await session.say(words.steer(marks.steer), "steer");
  const isDenied = isAbout(about, marks.denied);
  await session.answer(ask, isDenied ? { kind: "deny", reason: words.denied } : { kind: "allow" });
}

interface SecondRun {
  /** Undefined: it didn't come that far. */
  interrupted?: boolean;
}

async function watchSecond(parts: TrialParts, token: RunToken | null): Promise<SecondRun> {
  const { clock, marks, can } = parts;
  const opened = await parts.open(words.second(marks.second), token).catch((error: unknown) => {
    // Its conversation couldn't be found again: that is what the trial says.
    if (error instanceof AppError) return undefined;
    throw error;
  });
  if (!opened) return {};
  const { session, release } = opened;
  let stoppedAt: number | undefined;
  try {
    for await (const { body } of session.events(0)) {
      if (body.type === "text" && stoppedAt === undefined) {
        stoppedAt = clock.now();
        await session.stop(can.interrupt.proof === "absent" ? "hard" : "soft");
      }
      if (body.type === "ask") await session.answer(body.ask, { kind: "deny", reason: words.denied });
      if (body.type !== "done") continue;
      if (stoppedAt === undefined) return {};
      return { interrupted: body.outcome === "stopped" && clock.now() - stoppedAt < INTERRUPT_MS };
    }
    return {};
  } finally {
    await release();
  }
}

/** TRIAL-1 */
function judge(parts: TrialParts, first: FirstRun, { interrupted }: SecondRun): SeenInTrial[] {
  const { can, heard, exists, marks } = parts;
  const seen: SeenInTrial[] = [{ skill: "proxy", worked: true }];
  const add = (skill: RuntimeSkill, worked: boolean, note: string) =>
    seen.push(worked ? { skill, worked } : { skill, worked, note });
  const least = can.stream.proof !== "absent" && can.stream.value === "token" ? 2 : 1;
  if (first.texts > 0) add("stream", first.texts >= least, words.oneBlock);
  if (first.texts > 0) add("usage", first.usage > 0, words.noUsage);
  if (first.calls.size > 0) {
    const why = judgeAsking(parts, first);
    add("approvals", why === undefined, why ?? "");
    if (exists(marks.allowed)) add("steer", heard.steered, words.notSteered);
  }
  if (first.token !== null && heard.hasSecond) {
    add("resume", heard.remembers, words.forgot);
    add("home", heard.remembers, words.forgot);
  }
  if (interrupted !== undefined) add("interrupt", interrupted, words.notInterrupted);
  return seen;
}

/** Why it can't be relied on to ask; undefined: it asked, and did only what was allowed. */
function judgeAsking({ can, exists, marks }: TrialParts, { calls, asked, hasWaited }: FirstRun): string | undefined {
  if (exists(marks.denied)) return words.didDenied;
  if (asked.size === 0 || (exists(marks.allowed) && !hasWaited)) return words.didUnasked;
  const { approvals } = can;
  const isEvery = approvals.proof !== "absent" && approvals.value.covers === "every-call";
  if (isEvery && [...calls].some((call) => !asked.has(call))) return words.asksSome;
  return exists(marks.allowed) ? undefined : words.didNotDo;
}
