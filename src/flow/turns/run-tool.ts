/**
 * Running: a call that may run, with its intent written first and the files it changes for itself.
 *
 * TURNS-6: what touches the world is an effect (I4); what only reads is a step.
 * TURNS-7: what runs after an approval is what was shown: the plan is made again and its hash compared. What is always allowed from
 *     now on is judged like a fresh call instead. What changed is asked again.
 * TURNS-8: what changes files has them for itself, and what it says is cleaned of known secrets before anything keeps it.
 */
import {
  type ActionPlan,
  type EffectResult,
  failed,
  type LeftIntent,
  OutcomeUnknown,
  type Probed,
  Stopped,
  type Tool,
  type ToolPlace,
  type ToolResult,
  type Tx,
} from "../../core/contracts/index.ts";
import {
  AppError,
  fromJson,
  hookKeys,
  type Json,
  type QuestionAnswer,
  showToolName,
  stepNames,
  type ToolCallPart,
  toJson,
} from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { approvalHash, listFolders } from "./approval-hash.ts";
import { realCall } from "./hooked.ts";
import { type JudgedCall, judge, nameTool } from "./judge.ts";
import { type At, makePlace } from "./place.ts";
import type { HeldLock, TurnParts, TurnStanding } from "./ports.ts";
import type { Progress, WaitingCall } from "./progress.ts";
import { makeProgress } from "./tool-progress.ts";
import {
  CHANGED_AFTER_APPROVAL,
  FILES_CHANGED,
  LARES_STOPPED,
  LOCK_LOST,
  outcomeNotKnown,
  outcomeUnknown,
  STOPPED_BEFORE,
  STOPPED_MIDWAY,
} from "./words.ts";

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
  call: RunnableCall,
  p: Progress,
  allowed: Allowed,
): Promise<ToolResult> {
  const { turn, session } = at;
  const running = new ToolRun(parts, at, call, p, allowed);
  let outcome: EffectResult<ToolResult>;
  try {
    outcome = await running.outcome();
  } catch (error) {
    // As a result, because a call in the history without one makes providers refuse the request.
    if (error instanceof Stopped) return ours(STOPPED_BEFORE);
    throw error;
  } finally {
    running.release();
  }
  const result: ToolResult = "ok" in outcome ? outcome.ok : running.unknownText();
  if (!("ok" in outcome)) {
    const called = showToolName(nameTool(parts, { tool: call.name, input: call.input }));
    // It may have changed files, so approvals that rely on them must be asked again.
    await parts.records.write((tx) => parts.changes.made(tx, running.folders(), undefined));
    p.notices.push(outcomeNotKnown(called, running.lostBecause ?? LARES_STOPPED));
  }
  const { text, isError = false } = result;
  parts.bus.emit({ event: "tool.result", session, turn, id: call.id, name: call.name, text, isError });
  return result;
}

interface RunnableCall {
  id: string;
  name: string;
  input: Json;
  /** It ran before and asked a person something; this is the answer. */
  goesOn?: { state: Json; answer: QuestionAnswer; round: number };
}

/** One call on its way through the journal, with the lock it works under. */
class ToolRun {
  readonly #parts: TurnParts;
  readonly #at: At;
  readonly #call: RunnableCall;
  readonly #standing: TurnStanding;
  readonly #allowed: Allowed;
  readonly #tool: Tool;
  readonly #place: ToolPlace;
  #held: HeldLock | undefined;
  #plan: ActionPlan | undefined;
  /** Why its outcome is unknown, where the tool itself said so. */
  lostBecause: string | undefined;

  constructor(parts: TurnParts, at: At, call: RunnableCall, standing: TurnStanding, allowed: Allowed) {
    this.#parts = parts;
    this.#at = at;
    this.#call = call;
    this.#standing = standing;
    this.#allowed = allowed;
    this.#tool = parts.tools.get(call.name)!;
    const { session, turn } = at;
    this.#place = {
      ...makePlace(parts, at),
      call: { id: call.id, name: call.name },
      onProgress: makeProgress(parts.clock, (said) => {
        const text = String(parts.scrub(said));
        parts.bus.emit({ event: "tool.progress", session, turn, id: call.id, name: call.name, text });
      }),
    };
  }

  async outcome(): Promise<EffectResult<ToolResult>> {
    const { turn } = this.#at;
    const outcome = this.#tool.repeat === "safe" ? { ok: await this.#asStep() } : await this.#asEffect();
    // With a lock, the checkpoint was settled under it.
    if (!this.#held) await this.#parts.checkpoints.settle(turn, this.#call.id);
    this.#parts.locks.settled(turn, this.#call.id, "ok" in outcome ? "known" : "unknown");
    return outcome;
  }

  /** Where it may have changed files. */
  folders(): string[] {
    return listFolders(this.#place);
  }

  unknownText(): ToolResult {
    const text = outcomeUnknown(this.lostBecause ?? LARES_STOPPED);
    return this.lostBecause === undefined ? ours(text) : { text, isError: true, origin: "outside" };
  }

  release(): void {
    this.#held?.release();
  }

  #asStep(): Promise<ToolResult> {
    const { ctx, turn } = this.#at;
    const step = async () => {
      const busy = await this.#ready();
      if (busy !== undefined) return busy;
      if (this.#held) await this.#parts.records.write((tx) => this.#held?.intend(tx));
      return this.#run(`${turn}.${this.#call.id}`);
    };
    return ctx.step(this.#stepName, step, (tx, result) => this.#commit(tx, result));
  }

  #asEffect(): Promise<EffectResult<ToolResult>> {
    const { ctx } = this.#at;
    return ctx.effect(this.#stepName, (key) => this.#run(key), {
      repeat: this.#tool.repeat,
      ready: () => this.#ready(),
      intend: (tx) => this.#held?.intend(tx),
      probe: (key, left) => this.#probe(key, left),
      record: (tx, outcome) => this.#commit(tx, "ok" in outcome ? outcome.ok : this.unknownText()),
      settled: (key) => this.#tool.settled?.(this.#call.input, key),
    });
  }

  get #stepName(): string {
    const { name, id, goesOn } = this.#call;
    return stepNames.tool(name, id, goesOn?.round);
  }

  /** Waits for the files it changes. Returns a result if it doesn't get them. */
  async #ready(): Promise<ToolResult | undefined> {
    const { ctx, turn, session, agent } = this.#at;
    const { id, name, input } = this.#call;
    // Where the files are is asked now and not when it was judged: an approval may have taken days.
    const plan = await this.#tool.plan(input, this.#place).catch(() => undefined);
    this.#plan = plan;
    if (!plan) return undefined;
    const holder = { turn, call: id, agent, tool: name };
    const onWait = (step: string) => {
      ctx.waits();
      this.#parts.bus.emit({ event: "turn.step", session, turn, step });
    };
    const workspace = findFolder(plan, this.#place);
    const got = await ctx.apart("waits", () => this.#parts.locks.take({ holder, plan, workspace, onWait }, ctx.halt));
    if (got && "busy" in got) return ours(got.busy);
    this.#held = got;
    return undefined;
  }

  async #run(key: string): Promise<ToolResult> {
    const { ctx, turn, session } = this.#at;
    const { id, name, input } = this.#call;
    this.#parts.bus.emit({ event: "tool.call", session, turn, id, name, input });
    this.#parts.crash.at("tool.running", () => `${name} ${JSON.stringify(input)}`);
    const result = await this.#alone(key).catch((error: unknown): ToolResult => {
      // The claim is lost: the next process decides about this call.
      if (ctx.signal.aborted) throw error;
      if (ctx.stopping.aborted) return ours(STOPPED_MIDWAY);
      if (error instanceof AppError) return failed(error);
      if (error instanceof OutcomeUnknown) this.lostBecause = error.message;
      throw error;
    });
    // Before it is recorded: what the journal stores is what everything else reads.
    return this.#scrub(result);
  }

  #scrub(result: ToolResult): ToolResult {
    return fromJson<ToolResult>(this.#parts.scrub(toJson(result)));
  }

  /** Has the files it changes for itself while it works. */
  async #alone(key: string): Promise<ToolResult> {
    const held = this.#held;
    const plan = this.#plan;
    if (!held || !plan) return this.#work(key);
    const { turn, session, agent } = this.#at;
    const workspace = findFolder(plan, this.#place);
    const folders = [this.#place.workspace, ...(this.#place.roots ?? [])];
    const kept = { turn, call: this.#call.id, session, agent, tool: this.#call.name, plan, workspace, folders };
    const result = await this.#parts.checkpoints.around(kept, () => this.#work(key));
    // The lock was taken away as abandoned, so what was read or written in the meantime may be mixed.
    if (!held.isHeld()) return ours(LOCK_LOST);
    // The one before died with the files half done. Its successor must know that.
    return held.leftover ? { ...result, text: `${result.text}\n[${held.leftover}]` } : result;
  }

  async #work(key: string): Promise<ToolResult> {
    const allowed = this.#allowed;
    const call = this.#call;
    const settled = allowed.by === "gate" ? allowed.settled : undefined;
    const judged = { allowed, plan: this.#plan, standing: this.#standing };
    const changed = await changedSince(this.#parts, this.#at, call, judged);
    if (changed) return changed;
    // Exactly the text that was judged, not the one that expands to it.
    const place = settled === undefined ? this.#place : { ...this.#place, runsSettled: settled };
    const { ctx } = this.#at;
    const { goesOn } = call;
    if (goesOn && !this.#tool.goOn) return ours(CHANGED_AFTER_APPROVAL);
    const act = () =>
      goesOn
        ? this.#tool.goOn!(call.input, place, goesOn, key, ctx.halt)
        : this.#tool.run(call.input, place, key, ctx.halt);
    return this.#plan && isDoneElsewhere(this.#plan) ? ctx.apart("asks", act) : act();
  }

  async #probe(key: string, left: LeftIntent): Promise<Probed<ToolResult>> {
    const { ctx } = this.#at;
    ctx.waits();
    // What a probe knows is about the first part of the call.
    if (this.#call.goesOn) return undefined;
    const found = await ctx.apart("asks", async () =>
      this.#tool.probe?.(this.#call.input, this.#place, key, { ...left, signal: ctx.halt }),
    );
    return found && "ok" in found ? { ok: this.#scrub(found.ok) } : found;
  }

  #commit(tx: Tx, { text, isError = false }: ToolResult): void {
    const { agent, session, turn } = this.#at;
    this.#parts.hooks.record(tx, "tool.finished", hookKeys.inTurn(turn, this.#call.id), () => {
      const call = realCall(this.#parts, this.#call);
      return { agent, session, turn, ...call, text, isError };
    });
    this.#parts.changes.made(tx, this.folders(), this.#plan);
    if (this.#held?.isHeld()) this.#held.commit(tx);
  }
}

/**
 * Why a call may no longer run. It may have waited for the lock or for other calls of the reply, and a link put in the place of a
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
    return approvalHash(parts, call.name, now, place) === allowed.hash ? undefined : ours(CHANGED_AFTER_APPROVAL);
  if (!now.shell) return plan?.shell || now.outside ? ours(FILES_CHANGED) : undefined;
  const { verdict, settled } = await parts.judge.again(at, now, standing);
  const text = settled ? now.shell.settled?.run : undefined;
  return verdict === "allow" && text === allowed.settled ? undefined : ours(FILES_CHANGED);
}

/** The folder of the agent's that a call works in: the workspace, or one it was given besides. */
function findFolder({ risk, binding, targets }: ActionPlan, { workspace, roots = [] }: ToolPlace): string {
  const at = risk === "exec" ? binding.cwd : targets[0];
  return (typeof at === "string" && roots.find((root) => at === root || at.startsWith(`${root}/`))) || workspace;
}

/** Another process does it, or another machine. */
function isDoneElsewhere({ risk }: ActionPlan): boolean {
  return risk === "exec" || risk === "network" || risk === "service";
}

function ours(text: string): ToolResult {
  return { text, isError: true, origin: "own" };
}

/** Its files changed while it waited for the lock, so it did not run. */
export function isChanged({ text, origin }: ToolResult): boolean {
  return origin === "own" && (text === CHANGED_AFTER_APPROVAL || text === FILES_CHANGED);
}

/**
 * A waiting call whose action is now always allowed, judged like a fresh one: an identical call that ran first may have
 * changed its file. Undefined where the rule doesn't cover it, so that only what was shown may run. Recorded.
 */
export async function judgeFresh(
  parts: TurnParts,
  at: At,
  call: ToolCallPart,
  p: Progress,
): Promise<Allowed | undefined> {
  const judged = await at.ctx.step(stepNames.judgeScript(call.id, true), () => judge(parts, at, call, p));
  if (judged.verdict !== "allow") return undefined;
  p.notices.push(...(judged.hookFailures ?? []));
  return allowedAs(judged);
}

/** Whether a waiting call is still what was shown. Recorded, so that a replay keeps its word. */
export async function stillAsShown(parts: TurnParts, at: At, w: WaitingCall): Promise<boolean> {
  return at.ctx.step(stepNames.recheck(w.approval), async () => {
    const tool = parts.tools.get(w.tool);
    if (!tool) return false;
    const place = makePlace(parts, at);
    const plan = await tool.plan(w.input, place).catch(() => undefined);
    return plan !== undefined && approvalHash(parts, w.tool, plan, place) === w.hash;
  });
}
