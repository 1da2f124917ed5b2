/**
 * Running: a call that may run, with its intent written first and the files it changes for itself.
 *
 * TURNS-6: what touches the world is an effect (I4); what only reads is a step.
 * TURNS-7: what runs after an approval is what was shown: the plan is made again and its hash compared.
 * TURNS-8: what changes files has them for itself, and what it says is cleaned of known secrets before anything keeps it.
 */
import {
  type ActionPlan,
  type EffectResult,
  failed,
  type LeftIntent,
  type Probed,
  Stopped,
  type ToolPlace,
  type ToolResult,
  type Tx,
} from "../../core/contracts/index.ts";
import { AppError, type Json } from "../../core/domain/index.ts";
import { defined } from "../../core/kit/index.ts";
import { approvalHash, listFolders } from "./bound.ts";
import type { JudgedCall } from "./judge.ts";
import { type At, makePlace } from "./place.ts";
import type { HeldLock, TurnParts, TurnStanding } from "./ports.ts";
import type { Progress, WaitingCall } from "./progress.ts";

const MOVED_TEXT =
  "Not run: the files that this command is about changed between the decision to allow it and its start. Call it again.";
const UNKNOWN_TEXT =
  "Outcome unknown: Lares was stopped while this ran. It may or may not have happened. Look before you repeat it.";

const CHANGED_TEXT =
  "Not run: something it would run changed between the approval and the start. Ask again if it is still wanted.";

const LOST_TEXT =
  "Outcome unclear: the lock on these files was taken away while this ran, and somebody else may have changed them since. Look before you go on.";

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
