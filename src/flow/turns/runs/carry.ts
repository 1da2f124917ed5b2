/**
 * A turn that another runtime carries out, in place of our own loop: its prompt is taken from the inbox, each stretch of the run is an
 * effect, each question of the runtime is judged as our own calls are, and its end is a turn's end.
 *
 * TURNS-16: the prompt is recorded, and its messages leave the inbox, before the run is opened.
 * TURNS-17: nothing that a runtime asked about is answered with yes before the gate, or a person whom the gate asked, said so; and what
 *     a person is shown is judged again before the yes goes out.
 */
import { resolve } from "node:path";
import {
  CANCEL,
  type Outcome,
  type RunAnswer,
  type SegmentInput,
  type ToolPlace,
  type Wake,
  type WorktreeReport,
} from "../../../core/contracts/index.ts";
import {
  type Authority,
  assertNever,
  fromJson,
  leastTrusted,
  stepNames,
  type TurnFailure,
} from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import { carriesOutside, type Ending, finish, userMessage } from "../finish.ts";
import { askAboutContext, checkAnswer } from "../hooked.ts";
import { type JudgedCall, judge } from "../judge.ts";
import { newWaiting } from "../park.ts";
import { makePlace } from "../place.ts";
import type { IntakeMessage, RunReply, RunStop, TurnParts } from "../ports.ts";
import type { RunProgress } from "../progress.ts";
import { parkNow, type TurnRun } from "../run.ts";
import { stillAsShown } from "../run-tool.ts";
import { sumUsage } from "../store.ts";
import {
  CHANGED_AFTER_APPROVAL,
  commitMessage,
  denied,
  deniedBy,
  NO_QUESTIONS,
  NOT_ANSWERED,
  OTHER_BODY,
  runDenied,
  runRefused,
  runSaidNothing,
  runUnknown,
  STOPPED,
  tellTree,
} from "../words.ts";
import { toCall, withAskedTools } from "./asked.ts";
import { answerText, toLines, toText } from "./lines.ts";
import { listOwn, runAllowed, useOwn, withOnDemand } from "./own.ts";
import { makeShow } from "./show.ts";
import { spokenText, steerRun } from "./steer.ts";

type OtherBody = { runtime: string; title: string };
export type CarriedTurn = TurnRun & { p: { run: RunProgress } };
type RunAnswers = readonly RunReply[];

type RunEnd = Exclude<RunStop, { why: "asks" | "calls" }>;

/** Of the conversation before, for a runtime that doesn't know it. */
const MOST_BEFORE = 16_000;

/** Without a body: the agent had one when the turn began, and the settings have changed since. */
export async function carry(
  plain: TurnParts,
  run: TurnRun,
  body: OtherBody | undefined,
  input: SegmentInput,
): Promise<Outcome> {
  const given = withOnDemand(plain);
  if (!body) {
    await given.bodies.runs.ended(run.turn);
    return finish(given, run, { state: "failed", text: "", reason: OTHER_BODY });
  }
  const begun = run.p.run ? { ...run, p: { ...run.p, run: run.p.run } } : await begin(given, run);
  if ("end" in begun) return finish(given, run, begun.end);
  const { repository } = begun.p.run;
  const parts = withAskedTools(
    repository === undefined ? given : inWorktree(given, given.bodies.worktree(run.session, repository)),
    body,
  );
  const carried: CarriedTurn = Object.assign(run, { p: Object.assign(run.p, { run: begun.p.run }) });
  for (const { authority } of await parts.bodies.runs.meanwhile(run.turn))
    run.p.authority = leastTrusted(run.p.authority, authority);
  let answers = await hearAnswer(run.p.run?.asking?.own ? given : parts, carried, input.wake);
  if (answers === "stopped") return stopped(parts, carried, body);
  for (;;) {
    const n = carried.p.run.n++;
    const stop = await drive(parts, carried, body, { n, answers, place: makePlace(given, run) });
    if (stop.why !== "asks" && stop.why !== "calls") return end(parts, carried, body, stop);
    const decided = stop.why === "asks" ? await decide(parts, carried, stop, n) : await useOwn(given, carried, stop, n);
    if ("outcome" in decided) return decided.outcome;
    answers = [decided.answer];
  }
}

/** What the turn is about, out of the inbox (TURNS-16). */
async function begin(parts: TurnParts, run: TurnRun): Promise<{ p: { run: RunProgress } } | { end: Ending }> {
  const { ctx, p, turn, session } = run;
  const taken: { messages: IntakeMessage[] } = { messages: [] };
  const prompt = await ctx.step<TakenPrompt>(
    stepNames.runPrompt,
    async () => {
      const by = { turn, call: 0, route: JSON.stringify(run.route) };
      const { messages, interrupted } = await parts.intake.next(session, by, ctx.halt);
      if (interrupted) return { stop: true, text: "", authority: "owner", tainted: false };
      taken.messages = messages;
      const isAsked = messages.length > 0 && parts.hooks.answers("context.building");
      const hooked = isAsked ? await askAboutContext(parts, run, 0, messages) : {};
      const notes = (hooked.notes ?? []).map(({ text }) => text);
      return {
        text: [...messages.map(spokenText), ...notes].join("\n\n"),
        authority: leastTrusted("owner", ...messages.map((m) => m.authority)),
        tainted: notes.length > 0 || messages.some(carriesOutside),
        ...defined({ declined: hooked.deny }),
        ...truthy({ heard: parts.hooks.answers("answer.ready") }),
        ...defined({ repository: await findRepository(parts, run) }),
      };
    },
    (tx, { declined, stop }) => {
      if (declined !== undefined || stop) return;
      for (const m of taken.messages) {
        parts.intake.take(tx, m.turn, turn, 0);
        parts.history.append(tx, { session, turn, ...userMessage(m) });
      }
    },
  );
  if (prompt.stop) return { end: { state: "stopped", text: "", reason: STOPPED } };
  if (prompt.declined !== undefined) return { end: { state: "declined", text: "", reason: prompt.declined } };
  p.authority = leastTrusted(p.authority, prompt.authority);
  p.tainted ||= prompt.tainted;
  p.tookOwn = true;
  const { text, heard, repository } = prompt;
  return { p: { run: { n: 0, text, granted: [], ...truthy({ heard }), ...defined({ repository }) } } };
}

type TakenPrompt = {
  text: string;
  authority: Authority;
  tainted: boolean;
  declined?: string;
  heard?: true;
  repository?: string;
  /** A newer message wants this turn out of its way. */
  stop?: true;
};

/** Named by its whole path, or as a folder of the workspace. */
async function findRepository(parts: TurnParts, run: TurnRun): Promise<string | undefined> {
  const named = await parts.bodies.repository(run.agent, run.session);
  return named === undefined ? undefined : resolve(makePlace(parts, run).workspace, named);
}

/** The same, with the worktree in place of the workspace: what the runtime asks is judged as something in there. */
function inWorktree(parts: TurnParts, workspace: string): TurnParts {
  const { tools } = parts;
  return { ...parts, tools: { ...tools, place: (caller) => ({ ...tools.place(caller), workspace }) } };
}

/** One stretch, as an effect: its intent raises the attempt, and a crash in it is followed by the next one. */
async function drive(
  parts: TurnParts,
  run: CarriedTurn,
  { runtime }: OtherBody,
  { n, answers, place }: { n: number; answers: RunAnswers; place: ToolPlace },
): Promise<RunStop> {
  const { ctx, turn, session, agent, p } = run;
  const { runs, instructions } = parts.bodies;
  const { workspace, roots = [] } = place;
  const { repository } = p.run;
  const act = async (): Promise<RunStop> => {
    const show = makeShow(parts, run, p.run.heard === true);
    const stopSteering = steerRun(parts, run);
    try {
      return await runs.drive({
        turn,
        session,
        agent,
        runtime,
        workspace,
        answers,
        show,
        text: p.run.text,
        repository: repository === undefined ? null : { path: repository, within: [workspace, ...roots] },
        tools: listOwn(parts, run),
        instructions: [await instructions(agent), run.given?.instructions ?? ""].filter(Boolean).join("\n\n"),
        model: run.model ?? parts.agentModel(agent) ?? parts.models.primary().id,
        trust: p.authority === "owner" && !p.tainted ? "own" : "outside",
        before: () => tellBefore(parts, run),
        signal: ctx.signal,
        stopping: ctx.stopping,
      });
    } finally {
      await stopSteering();
    }
  };
  const done = await ctx.effect<RunStop>(stepNames.run(n), () => ctx.apart("asks", act), {
    repeat: "safe",
    ready: async () => {
      await ctx.apart("waits", () => runs.ready(turn));
      return undefined;
    },
    intend: (tx) => runs.intend(tx, { turn, session, agent, runtime }),
  });
  if ("ok" in done) return done.ok;
  await runs.ended(turn);
  return { why: "ended", outcome: "unknown", text: "", error: null };
}

async function tellBefore(parts: TurnParts, { session, agent, turn, given }: TurnRun): Promise<string> {
  const { messages } = await parts.history.build(session, agent, { given, turn });
  // The last is what this turn is about, which is said by itself.
  return toText([...(given?.history ?? []), ...messages.slice(0, -1)], MOST_BEFORE);
}

/** The gate's word on what the runtime asks (TURNS-17). */
async function decide(
  parts: TurnParts,
  run: CarriedTurn,
  stop: Extract<RunStop, { why: "asks" }>,
  n: number,
): Promise<{ answer: RunAnswers[number] } | { outcome: Outcome }> {
  const { ctx, p } = run;
  const { ask, about, attempt, expires } = stop;
  if (about.kind === "question")
    return { answer: { ask, about: about.text, answer: { kind: "deny", reason: NO_QUESTIONS } } };
  const call = toCall(about, `run-${n}`);
  const j = await ctx.step<JudgedCall>(stepNames.runAsk(n), () => judge(parts, run, call, p));
  const answered = (answer: RunAnswer) => ({ answer: { ask, about: about.summary, answer } });
  if (j.verdict === "allow") return answered({ kind: "allow" });
  if (j.verdict !== "ask") return answered({ kind: "deny", reason: denied(j.because, j.instead) });
  // An attempt that died may not have heard the yes; the same action of its successor doesn't need another.
  const granted = p.run.granted.find((one) => one.hash === j.hash && one.attempt < attempt);
  if (granted) {
    p.run.granted = p.run.granted.filter((one) => one !== granted);
    return answered({ kind: "allow" });
  }
  const waiting = newWaiting(parts, run, call, { ...j, ...defined({ until: expires ?? j.until }) }, n);
  p.waiting.push(waiting);
  p.run.asking = { ask, attempt, about: about.summary };
  return { outcome: await parkNow(parts, run, [{ ...waiting, because: j.because, rule: j.rule }]) };
}

/** What woke the turn, as an answer to what the runtime asks. */
async function hearAnswer(parts: TurnParts, run: CarriedTurn, wake: Wake): Promise<RunAnswers | "stopped"> {
  const { p } = run;
  const { asking } = p.run;
  const [waiting] = p.waiting;
  if (wake.why === "event" && wake.events.some((event) => event.name === CANCEL)) return "stopped";
  if (!asking || !waiting) return [];
  p.waiting = [];
  delete p.run.asking;
  const { ask, about, attempt } = asking;
  const deny = (reason: string): RunAnswers => [
    asking.own
      ? { call: ask, about, result: { text: reason, isError: true } }
      : { ask, about, answer: { kind: "deny", reason } },
  ];
  if (wake.why !== "event") {
    await parts.records.write((tx) => parts.questions.close(tx, waiting.approval, "expired"));
    return deny(NOT_ANSWERED);
  }
  const event = wake.events.find((one) => one.name === parts.questions.event(waiting.approval));
  const said =
    event && fromJson<{ decision: string; by: string; reason: string | null; because?: string }>(event.value);
  if (!said) return deny(NOT_ANSWERED);
  if (said.decision === "deny") return deny(deniedBy(said.by, said));
  if (!(await stillAsShown(parts, run, waiting))) return deny(CHANGED_AFTER_APPROVAL);
  if (asking.own) return [{ call: ask, about, result: await runAllowed(parts, run, waiting) }];
  p.run.granted.push({ hash: waiting.hash, attempt });
  return [{ ask, about, answer: { kind: "allow" } }];
}

async function stopped(parts: TurnParts, run: CarriedTurn, body: OtherBody): Promise<Outcome> {
  const { runs } = parts.bodies;
  await runs.stop(run.turn);
  await runs.ended(run.turn);
  return end(parts, run, body, { why: "ended", outcome: "stopped", text: "", error: null });
}

async function end(parts: TurnParts, run: CarriedTurn, body: OtherBody, stop: RunEnd): Promise<Outcome> {
  const { p, turn } = run;
  const events = await parts.bodies.runs.events(turn);
  p.usage = await sumUsage(parts.records, turn);
  p.model = events.findLast((one) => one.type === "run_started")?.model ?? p.model;
  p.toolCalls = events.filter((one) => one.type === "tool_call").length;
  if (p.run.repository !== undefined) p.notices.push(...(await leaveTree(parts, run)));
  const text = String(parts.scrub(answerText(events) || (stop.why === "ended" ? stop.text : "")));
  const lines = fromJson<ReturnType<typeof toLines>>(parts.scrub(JSON.parse(JSON.stringify(toLines(events)))));
  const ending = toEnding(body, stop, text);
  if (ending.state === "answered" && p.run.heard) {
    const checked = await checkAnswer(parts, run, { text, isLast: true });
    if (typeof checked === "object")
      return finish(parts, run, { state: "declined", text: "", reason: checked.deny, lines });
  }
  return finish(parts, run, { ...ending, lines });
}

/** What came of its worktree, in sentences. */
async function leaveTree(parts: TurnParts, { ctx, turn, agent, p }: CarriedTurn): Promise<string[]> {
  const report = await ctx.step<WorktreeReport | null>(
    stepNames.runLeft,
    async () => (await parts.bodies.runs.leave(turn, commitMessage(agent, p.run.text))) ?? null,
  );
  return report ? tellTree(report) : [];
}

function toEnding({ title }: OtherBody, stop: RunEnd, text: string): Ending {
  const trouble = stop.why === "failed" ? stop.trouble : stop.error;
  const why = trouble && [trouble.text, trouble.hint ?? ""].filter(Boolean).join(" ");
  const fail = (reason: string, failure: TurnFailure): Ending => ({ state: "failed", text: "", reason, failure });
  if (stop.why === "failed") return fail(why ?? runSaidNothing(title), trouble?.failure ?? "unknown");
  switch (stop.outcome) {
    case "finished":
      return text === ""
        ? fail(why ?? runSaidNothing(title), trouble?.failure ?? "unknown")
        : { state: "answered", text };
    case "out-of-room":
      return text === "" ? fail(why ?? runSaidNothing(title), "limit") : { state: "answered", text, cut: true };
    case "refused":
      return { state: "declined", text: "", reason: why ?? runRefused(title) };
    case "rejected":
      return text === "" ? { state: "declined", text: "", reason: runDenied(title) } : { state: "answered", text };
    case "stopped":
      return { state: "stopped", text: "", reason: STOPPED };
    case "unknown":
      return fail([runUnknown(title), why ?? ""].filter(Boolean).join(" "), "unknown-outcome");
    case "failed":
      return fail(why ?? runSaidNothing(title), trouble?.failure ?? "unknown");
    default:
      return assertNever(stop.outcome);
  }
}
