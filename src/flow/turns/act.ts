/**
 * Acting: what the model called is planned, judged by the gate, and run, asked or refused.
 *
 * TURNS-4: the judgement is recorded before anything runs, so a replay acts on the same judgement.
 * TURNS-5: calls of one reply run side by side, a few at a time; their results keep the order of the calls. A command that may move or
 *     link files doesn't run beside another one. A reply with more calls than the limit has the rest answered with a
 *     refusal, which the model reads.
 * TURNS-6: what touches the world is an effect (I4); what only reads is a step.
 * TURNS-7: what runs after an approval is what was shown: the plan is made again and its hash compared.
 * TURNS-8: what changes files has them for itself, and what it says is cleaned of known secrets before anything keeps it.
 */
import { createHash } from "node:crypto";
import {
  type ActionPlan,
  type Ctx,
  type EffectResult,
  failed,
  type LeftIntent,
  type Probed,
  resultOrigin,
  Stopped,
  type Tool,
  type ToolPlace,
  type ToolResult,
  type Tx,
} from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  type Json,
  type NotRun,
  type Origin,
  type ReplyRoute,
  type SessionKey,
  type ToolCallPart,
  type ToolResultPart,
  type TurnId,
} from "../../core/domain/index.ts";
import { atOnce, defined, truthy } from "../../core/kit/index.ts";
import { type BoundParts, boundParts } from "./bound.ts";
import { deniedText, suggestInstead } from "./denied.ts";
import { repeated } from "./limits.ts";
import { OneMover } from "./one-mover.ts";
import { newWaiting } from "./park.ts";
import type { HeldLock, TurnParts, TurnStanding } from "./ports.ts";
import type { Pause, Progress, WaitingCall } from "./progress.ts";

export interface At {
  ctx: Ctx;
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  segment: number;
  route: ReplyRoute;
  p: Pick<Progress, "authority">;
  /** The only tools that may be used here; without it, the agent's. */
  tools?: readonly string[] | undefined;
}

export function makePlace(parts: TurnParts, at: At): ToolPlace {
  const { agent, session, turn, route, p, tools } = at;
  return parts.tools.place({ agent, session, turn, route, authority: p.authority, ...defined({ tools }) });
}

/** What was decided about one call, as it is recorded. */
export type JudgedCall = {
  verdict: "allow" | "ask" | "deny" | "error";
  because: string;
  shown: string;
  rule: string;
  hash: string;
  /** Of a question: what the hash is made of. */
  bound?: BoundParts;
  marks?: string[];
  whole?: string;
  /** Of `because`, where the model reads it. */
  origin?: Origin;
  /** What is run and asked about instead of the call's own input. */
  input?: Json;
  /** Of a refusal: what can be done instead. */
  instead?: string;
  /** A rule allowed the settled form of a command, and this is it. */
  settled?: string;
  /** When a question about it expires at the latest. */
  until?: number;
  /** Of a command: whether it may change where names of files lead. */
  moves?: boolean;
  /** What it starts goes on after the call. */
  starts?: true;
};

/** All of a long action, for who wants to read it before saying yes. */
export function pickWhole({ whole }: ActionPlan): { whole?: string } {
  return whole === undefined ? {} : { whole };
}

const MOVED_TEXT =
  "Not run: the files that this command is about changed between the decision to allow it and its start. Call it again.";
const UNKNOWN_TEXT =
  "Outcome unknown: Lares was stopped while this ran. It may or may not have happened. Look before you repeat it.";

const CHANGED_TEXT =
  "Not run: something it would run changed between the approval and the start. Ask again if it is still wanted.";

/** The same words whatever the path: a guest learns nothing from them. */
const WRITE_A_RULE = "A rule in policy.allow.exec (lares.yaml) would let it run without asking.";

const FILES_CLOSED = "People the owner hasn't accepted can't use the workspace.";

const LOST_TEXT =
  "Outcome unclear: the lock on these files was taken away while this ran, and somebody else may have changed them since. Look before you go on.";

/** Runs one reply's calls. Returns the results in order and what waits for a person. */
export async function act(
  parts: TurnParts,
  at: At,
  calls: ToolCallPart[],
  p: Progress,
): Promise<{
  results: ToolResultPart[];
  waiting: (WaitingCall & { because: string; rule: string })[];
  pauses: Pause[];
  /** Text from outside is in the results. */
  outside: boolean;
}> {
  const n = p.call - 1;
  const { toolCalls: most, toolCallsAtOnce } = parts.limits();
  const judged = await at.ctx.step(`judge:${n}`, () =>
    atOnce(toolCallsAtOnce, calls, async (call, i) => (i < most ? judge(parts, at, call, p) : tooMany(most))),
  );
  const unasked = beyond(judged);
  const waiting: (WaitingCall & { because: string; rule: string })[] = [];
  const pauses: Pause[] = [];
  const commands = new OneMover();
  // Calls begin in their order, so whoever waits here waits only for earlier ones.
  const started: Promise<unknown>[] = [];
  let outside = false;
  const results = await atOnce(toolCallsAtOnce, calls, async (call, i): Promise<ToolResultPart> => {
    const j = judged[i]!;
    const result = (said: ToolResult, notRun?: NotRun): ToolResultPart => {
      outside ||= isFromOutside(parts, call.name, said);
      const { text, isError, images } = said;
      const part = { type: "tool-result" as const, id: call.id, name: call.name, text };
      return { ...part, ...truthy({ isError, notRun }), ...(images?.length ? { images } : {}), ...pickExit(said) };
    };
    const said = j.origin ? { isError: true, origin: j.origin } : { isError: true };
    if (j.verdict === "error") return result({ text: j.because, ...said });
    if (j.verdict === "deny") return result({ text: deniedText(j.because, j.instead), ...said }, "refused");
    if (unasked.has(i)) return result({ text: TOO_MANY_QUESTIONS, isError: true, origin: "own" });
    if (j.verdict === "ask") {
      const asked = newWaiting(parts, at, call, j, n);
      waiting.push({ ...asked, because: j.because, rule: j.rule });
      // The code is for whoever may answer; in a stranger's chat the agent would only pass it on.
      const code = p.authority === "stranger" ? "" : ` (${parts.questions.code(asked.approval)})`;
      const text = `Waiting for a person's approval${code}. It has not run. Its outcome will come as a later message.`;
      return result({ text, origin: "own" }, "waiting");
    }
    const run = () => runTool(parts, at, { ...call, input: j.input ?? call.input }, p, allowedAs(j));
    const running = looksAtStarted(parts, call)
      ? Promise.all(started).then(run)
      : j.moves === undefined
        ? run()
        : commands.run(j.moves, run);
    if (j.starts) started.push(running.catch(() => {}));
    const done = await running;
    if (done.wait) pauses.push({ callId: call.id, tool: call.name, input: call.input, ...done.wait });
    return result(done);
  });
  countRepeats(parts, p, calls, results);
  p.badInputs = judged.every((j) => j.verdict === "error") ? p.badInputs + 1 : 0;
  p.toolCalls += calls.length;
  return { results, waiting, pauses, outside };
}

/** The code a command exited with, for who shows how it ended. */
export function pickExit({ meta }: ToolResult): { exit?: number } {
  return typeof meta?.exit === "number" ? { exit: meta.exit } : {};
}

/** Also where it is called through a tool that runs others. */
function looksAtStarted(parts: TurnParts, { name, input }: ToolCallPart): boolean {
  const tool = parts.tools.get(name);
  return (tool?.runs?.(input).tool ?? tool)?.looksAtStarted === true;
}

/** Questions that one reply may put to a person. With more of them, people stop reading and press yes. */
const MOST_QUESTIONS = 8;
const TOO_MANY_QUESTIONS = `Not run and not asked: a person is asked at most ${MOST_QUESTIONS} questions for one reply. Wait for the answers to the others, then call this again if you still need it, or do it in fewer calls.`;

/** The calls whose question is one too many, by their place. */
function beyond(judged: readonly JudgedCall[]): ReadonlySet<number> {
  const asking = judged.flatMap((j, i) => (j.verdict === "ask" ? [i] : []));
  return new Set(asking.slice(MOST_QUESTIONS));
}

function tooMany(most: number): JudgedCall {
  const because = `Not run: only the first ${most} tool calls of a reply are run. Call this again in a later reply if you still need it.`;
  return { verdict: "error", because, origin: "own", shown: "", rule: "", hash: "" };
}

/** Whether what was said about a call is text from outside (I12). */
export function isFromOutside(parts: TurnParts, tool: string, said: Pick<ToolResult, "origin" | "isError">): boolean {
  return resultOrigin(parts.tools.get(tool), said) === "outside";
}

/** What the gate says to one call. Nothing runs. */
export async function judge(parts: TurnParts, at: At, call: ToolCallPart, standing: TurnStanding): Promise<JudgedCall> {
  const none = { shown: "", rule: "", hash: "" };
  const tool = parts.tools.get(call.name);
  if (!tool) {
    const because = parts.tools.unknown(call.name, at.tools);
    return { verdict: "error", because, origin: "own", ...none };
  }
  try {
    const closed = closedTo(at, tool, call.input, standing);
    if (closed) {
      const instead = suggestInstead({ risk: "state" }, standing.authority);
      return { verdict: "deny", because: closed, instead, origin: "own", ...none };
    }
    let { input } = call;
    let plan = await tool.plan(input, makePlace(parts, at));
    if (plan.fixed !== undefined) {
      input = plan.fixed;
      plan = await tool.plan(input, makePlace(parts, at));
    }
    const { verdict, because: why, rule, settled, lacksRule, moves } = await parts.judge.judge(at, plan, standing);
    const once = plan.once && lacksRule ? `${plan.once} ${WRITE_A_RULE}` : plan.once;
    const because = verdict === "ask" && once ? `${why} ${once}` : why;
    const hash = approvalHash(parts, call.name, plan, makePlace(parts, at));
    return {
      verdict,
      because,
      rule,
      shown: plan.shown,
      hash,
      // The gate quotes the call and its own rules, nothing else.
      origin: "own",
      marks: verdict === "ask" ? listMarks(plan) : [],
      ...(verdict === "ask" ? { bound: bindPlan(parts, plan, makePlace(parts, at)) } : {}),
      ...pickWhole(plan),
      ...(verdict === "deny" ? { instead: suggestInstead(plan, standing.authority) } : {}),
      ...(input === call.input ? {} : { input }),
      ...defined({ until: plan.until }),
      ...(settled && plan.shell?.settled ? { settled: plan.shell.settled.run } : {}),
      ...(plan.shell ? { moves: moves ?? false } : {}),
      ...truthy({ starts: plan.starts }),
    };
  } catch (error) {
    if (error instanceof AppError) {
      const { text, origin } = failed(error);
      return { verdict: "error", because: text, ...defined({ origin }), ...none };
    }
    throw error;
  }
}

/** Why a call is refused before it is planned: planning looks at files, and its failures quote them. */
function closedTo(at: At, tool: Tool, input: Json, { authority }: TurnStanding): string | undefined {
  const real = tool.runs?.(input) ?? { tool, input };
  const { name } = real.tool.spec;
  if (at.tools && !at.tools.includes(name)) return `The tool "${name}" may not be used in this chat.`;
  return authority === "stranger" && real.tool.opensFiles?.(real.input) ? FILES_CLOSED : undefined;
}

/** Who said yes, and to what: that has to be compared once more before it runs. */
export type Allowed =
  /** A person, to the plan with this hash. */
  | { by: "person"; hash: string }
  /** The gate; for a command it allowed in its settled form, to this text. */
  | { by: "gate"; settled?: string };

export function allowedAs({ settled }: Pick<JudgedCall, "settled">): Allowed {
  return { by: "gate", ...defined({ settled }) };
}

/** Runs a call that may run. Never throws for what the tool did; `Stopped` becomes a result, so the history stays whole. */
export async function runTool(
  parts: TurnParts,
  at: At,
  call: { id: string; name: string; input: Json },
  p: Progress,
  allowed: Allowed,
): Promise<ToolResult> {
  const { ctx, turn, session } = at;
  const tool = parts.tools.get(call.name)!;
  const place = makePlace(parts, at);
  const name = `tool:${call.name}:${call.id}`;
  const signal = ctx.halt;
  let held: HeldLock | undefined;
  let plan: ActionPlan | undefined;
  /** Waits for the files it changes. Says what became of it when it does not get them. */
  const ready = async (): Promise<Json | undefined> => {
    // Where the files are is asked now and not when it was judged: an approval may have taken days.
    plan = await tool.plan(call.input, place).catch(() => undefined);
    if (!plan) return undefined;
    const holder = { turn, call: call.id, agent: at.agent, tool: call.name };
    const onWait = (step: string) => {
      ctx.waits();
      parts.bus.emit({ event: "turn.step", session, turn, step });
    };
    const got = await parts.locks.take({ holder, plan, workspace: findFolder(plan, place), onWait }, signal);
    if (got && "busy" in got) return asJson(ours(got.busy));
    held = got;
    return undefined;
  };
  const intend = (tx: Tx) => held?.intend(tx);
  const run = async (key: string): Promise<Json> => {
    parts.bus.emit({ event: "tool.call", session, turn, id: call.id, name: call.name, input: call.input });
    parts.crash.at("tool.running", () => `${call.name} ${JSON.stringify(call.input)}`);
    const result = await alone(key).catch((error: unknown): ToolResult => {
      if (ctx.signal.aborted) throw error;
      if (ctx.stopping.aborted) return ours("Stopped before it was finished.");
      if (error instanceof AppError) return failed(error);
      throw error;
    });
    return parts.scrub(asJson(result));
  };
  /** Has the files it changes for itself while it works. */
  const alone = async (key: string): Promise<ToolResult> => {
    const work = async (): Promise<ToolResult> => {
      const settled = allowed.by === "gate" ? allowed.settled : undefined;
      const changed = await changedSince(parts, at, call, { allowed, plan, standing: p });
      if (changed) return changed;
      return tool.run(call.input, settled === undefined ? place : { ...place, runsSettled: settled }, key, signal);
    };
    if (!held || !plan) return work();
    const workspace = findFolder(plan, place);
    const kept = { turn, call: call.id, session, agent: at.agent, tool: call.name, plan, workspace };
    const result = await parts.checkpoints.around(kept, work);
    if (!held.isHeld()) return ours(LOST_TEXT);
    return held.leftover ? { ...result, text: `${result.text}\n[${held.leftover}]` } : result;
  };
  const commit = (tx: Tx) => {
    parts.changes.made(tx, listFolders(place), plan);
    if (held?.isHeld()) held.commit(tx);
  };
  let outcome: EffectResult<Json>;
  try {
    if (tool.repeat === "safe") {
      const step = async () => {
        const busy = await ready();
        if (busy !== undefined) return busy;
        if (held) await parts.records.write(intend);
        return run(`${turn}.${call.id}`);
      };
      outcome = { ok: await ctx.step(name, step, commit) };
    } else {
      const probe = async (key: string, left: LeftIntent): Promise<Probed<Json>> => {
        ctx.waits();
        const found = await tool.probe?.(call.input, place, key, { ...left, signal });
        return found && "ok" in found ? { ok: parts.scrub(asJson(found.ok)) } : found;
      };
      const settled = (key: string) => tool.settled?.(call.input, key);
      outcome = await ctx.effect(name, run, { repeat: tool.repeat, ready, intend, probe, record: commit, settled });
    }
    if (!held) await parts.checkpoints.settle(turn, call.id);
    parts.locks.settled(turn, call.id, "ok" in outcome ? "known" : "unknown");
  } catch (error) {
    if (error instanceof Stopped) return ours("Stopped before it ran.");
    throw error;
  } finally {
    held?.release();
  }
  const result: ToolResult = "ok" in outcome ? (outcome.ok as unknown as ToolResult) : ours(UNKNOWN_TEXT);
  if (!("ok" in outcome)) {
    await parts.records.write((tx) => parts.changes.made(tx, listFolders(place), undefined));
    p.notices.push(`The outcome of a call to ${call.name} is not known: Lares was stopped while it ran.`);
  }
  const { text, isError = false } = result;
  parts.bus.emit({ event: "tool.result", session, turn, id: call.id, name: call.name, text, isError });
  return result;
}

/**
 * Why a call may not run any more. It may have waited for the lock or for other calls of the reply, and a link put in the place of a
 * file meanwhile leads elsewhere without a word of the command changing. So the plan is made again under the lock; it needs the
 * same hash where a person said yes, and the gate's word once more where the gate did. Tools that open files
 * themselves hold them open from the check on; only commands name them to others.
 */
async function changedSince(
  parts: TurnParts,
  at: At,
  call: { name: string; input: Json },
  { allowed, plan, standing }: { allowed: Allowed; plan: ActionPlan | undefined; standing: TurnStanding },
): Promise<ToolResult | undefined> {
  if (allowed.by === "gate" && plan && !plan.shell) return undefined;
  const place = makePlace(parts, at);
  const now = await parts.tools.get(call.name)!.plan(call.input, place);
  if (allowed.by === "person")
    return approvalHash(parts, call.name, now, place) === allowed.hash ? undefined : ours(CHANGED_TEXT);
  if (!now.shell) return plan?.shell || now.outside ? ours(MOVED_TEXT) : undefined;
  const { verdict, settled } = await parts.judge.again(at, now, standing);
  const text = settled ? now.shell.settled?.run : undefined;
  return verdict === "allow" && text === allowed.settled ? undefined : ours(MOVED_TEXT);
}

/** The folder of the agent's that a call works in: the workspace, or one it was given besides. */
function findFolder({ risk, binding, targets }: ActionPlan, { workspace, roots = [] }: ToolPlace): string {
  const at = risk === "exec" ? binding.cwd : targets[0];
  return (typeof at === "string" && roots.find((root) => at === root || at.startsWith(`${root}/`))) || workspace;
}

function asJson(result: ToolResult): Json {
  return result as unknown as Json;
}

function ours(text: string): ToolResult {
  return { text, isError: true, origin: "own" };
}

/** Whether a waiting call is still what was shown. Recorded, so that a replay keeps its word. */
export async function stillAsShown(parts: TurnParts, at: At, w: WaitingCall): Promise<boolean> {
  return at.ctx.step(`recheck:${w.approval}`, async () => {
    const tool = parts.tools.get(w.tool);
    if (!tool) return false;
    const place = makePlace(parts, at);
    const plan = await tool.plan(w.input, place).catch(() => undefined);
    return plan !== undefined && approvalHash(parts, w.tool, plan, place) === w.hash;
  });
}

function countRepeats(parts: TurnParts, p: Progress, calls: ToolCallPart[], results: ToolResultPart[]): void {
  const limit = parts.limits().sameCalls;
  const print = createHash("sha256")
    .update(JSON.stringify([calls.map((c) => [c.name, c.input]), results.map((r) => r.text)]))
    .digest("hex");
  p.last = repeated(p.last, print);
  if (p.last.count < limit) return;
  const last = results[results.length - 1]!;
  last.text += `\n[This is the same call with the same result ${p.last.count} times in a row. Do something else or answer.]`;
  if (p.last.count > limit) p.forced = true;
}

/** What of a plan's text must stay visible when it is shortened: programs, targets of redirections, the files of a patch. */
export function listMarks({ shell, risk, targets }: ActionPlan): string[] {
  const marks = shell
    ? shell.commands.flatMap(({ words, redirects }) => [
        words[0]!.literal ?? words[0]!.guess,
        ...redirects.map(({ operator, target }) => `${operator} ${target.literal ?? target.guess}`),
      ])
    : risk === "write" && targets.length > 1
      ? targets.map((target) => target.slice(target.lastIndexOf("/") + 1))
      : [];
  return [...new Set(marks)].slice(0, MOST_MARKS).map((mark) => mark.slice(0, 200));
}

/** More programs than this nobody follows in a chat; the gate refuses what is too much to be read at all. */
const MOST_MARKS = 60;

/** What a yes is for: the plan, and, where it cannot see every file, what tools have changed there so far. */
export function approvalHash(
  parts: Pick<TurnParts, "changes">,
  tool: string,
  plan: ActionPlan,
  place: ToolPlace,
): string {
  const bound: Json = boundTo(parts, plan, place);
  return createHash("sha256")
    .update(JSON.stringify([tool, bound]))
    .digest("hex");
}

/** The same, part by part. */
export function bindPlan(parts: Pick<TurnParts, "changes">, plan: ActionPlan, place: ToolPlace): BoundParts {
  return boundParts(boundTo(parts, plan, place));
}

function boundTo(
  parts: Pick<TurnParts, "changes">,
  { binding, unbound }: ActionPlan,
  place: ToolPlace,
): ActionPlan["binding"] {
  return unbound ? { ...binding, changes: parts.changes.of(listFolders(place)) } : binding;
}

function listFolders({ workspace, roots = [] }: ToolPlace): string[] {
  return [workspace, ...roots];
}
