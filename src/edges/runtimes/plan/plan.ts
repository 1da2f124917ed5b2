/**
 * How a run will be driven, decided before it starts from what the runtime can do and what the task is. Pure: no clock, no machine, no
 * runtime's name. What is missing comes as sentences that people see and that stay with the run.
 *
 * PLAN-1: a runtime that doesn't ask before every call runs only inside a boundary that makes asking unnecessary, or not at all. A daemon
 *     that the owner runs anyway is judged by its own rules where it doesn't ask, so it gets the owner's words only.
 * PLAN-2: a claim about safety counts as such only when it is proven. Until then the boundary has to hold as well.
 * PLAN-3: something is missing exactly when a sentence says so: a run without shortfalls has everything.
 */
import type { RunBoundary, RunKeeps, RuntimeCapabilities, RuntimeClass } from "../../../core/contracts/index.ts";
import { assertNever } from "../../../core/domain/index.ts";
import { type Shortfall, sayShortfall } from "./words.ts";

export interface RunTask {
  /** It may change files. */
  writes: boolean;
  /** It is about a git repository. */
  repository: boolean;
  /** Of the least trusted text that caused it (I12). */
  trust: "own" | "outside";
  /** The boundaries that this machine can put around a child of ours. */
  machine: readonly ("sandbox" | "container")[];
}

export interface RunPlan {
  drive: "call" | "spawn" | "keep" | "attach" | "wake" | "send" | "notify";
  /** `kept`: one for the agent, from run to run. `theirs`: the runtime's own, which we don't touch. */
  home: "kept" | "thrown-away" | "theirs";
  keeps: readonly RunKeeps[];
  boundary: RunBoundary;
  /** Changes go to a worktree of the repository, and from there back. */
  worktree: boolean;
  /** Who says whether a tool call may happen. `boundary`: everything inside it may. `theirs`: out of our reach. */
  judge: "gate" | "boundary" | "theirs";
  /** What happens to a question nobody has answered yet. `expires`: denied after this time. */
  asks: "parked" | "held" | { expiresMs: number } | "none";
  /** When spending can be stopped. */
  spend: "before-each-call" | "after-each-report" | "after-the-run" | "never";
  shortfalls: readonly PlanNote[];
}

export interface PlanNote {
  code: Shortfall["code"];
  text: string;
}

export type PlannedRun = { ok: true; plan: RunPlan } | { ok: false; reasons: readonly PlanNote[] };

export function plan(can: RuntimeCapabilities, task: RunTask): PlannedRun {
  const reach = reachInto(can.class);
  const boundary = chooseBoundary(can, task, reach);
  const isConfined = CONFINES[boundary];
  const judge = chooseJudge(can, reach, isConfined);
  const refusal = refuse(can, task, { judge, isConfined });
  if (refusal) return { ok: false, reasons: [note(refusal)] };
  const home = chooseHome(can, reach);
  const spend = chooseSpend(can, reach);
  const asks = judge === "theirs" || judge === "boundary" ? "none" : chooseAsks(can);
  const worktree = task.repository && task.writes && reach === "child";
  const shortfalls = [
    ...judgeShortfalls(can, task, { judge, isConfined, asks }),
    ...spendShortfalls(can, reach, spend),
    ...homeShortfalls(can, task, { home: home.home, reach, worktree }),
    ...talkShortfalls(can),
  ].map(note);
  return { ok: true, plan: { drive: DRIVE[can.class], ...home, boundary, worktree, judge, asks, spend, shortfalls } };
}

const DRIVE: Record<RuntimeClass, RunPlan["drive"]> = {
  "in-process": "call",
  "one-shot": "spawn",
  session: "keep",
  attached: "attach",
  hosted: "wake",
  peer: "send",
  human: "notify",
};

/** Whether everything inside may happen without asking. A worktree keeps work apart; it stops nobody. */
const CONFINES: Record<RunBoundary, boolean> = {
  none: false,
  worktree: false,
  sandbox: true,
  container: true,
  own: true,
  remote: true,
};

/** How much of a runtime is in our hands. */
type Nearness = "ours" | "child" | "neighbour" | "elsewhere";

function reachInto(kind: RuntimeClass): Nearness {
  switch (kind) {
    case "in-process":
      return "ours";
    case "one-shot":
    case "session":
      return "child";
    case "attached":
      return "neighbour";
    case "hosted":
    case "peer":
    case "human":
      return "elsewhere";
    default:
      return assertNever(kind);
  }
}

function chooseBoundary(can: RuntimeCapabilities, task: RunTask, reach: Nearness): RunBoundary {
  if (reach === "elsewhere") return "remote";
  // Our own loop confines each tool call by itself.
  if (reach === "ours" || can.boundary.proof === "absent") return "none";
  const { value, proof } = can.boundary;
  if (reach === "child") {
    const found = (["container", "sandbox"] as const).find((one) => value.includes(one) && task.machine.includes(one));
    if (found) return found;
  }
  // PLAN-2: what it says about its own sandbox is believed once it was seen to hold.
  return value.includes("own") && proof === "proven" ? "own" : "none";
}

function chooseJudge(can: RuntimeCapabilities, reach: Nearness, isConfined: boolean): RunPlan["judge"] {
  if (reach === "ours") return "gate";
  if (can.class === "peer" || can.class === "human") return "theirs";
  const { approvals } = can;
  if (approvals.proof !== "absent" && approvals.value.covers === "every-call") return "gate";
  return can.class === "attached" && !isConfined ? "theirs" : "boundary";
}

/** PLAN-1, PLAN-2. */
function refuse(
  can: RuntimeCapabilities,
  { trust }: RunTask,
  { judge, isConfined }: { judge: RunPlan["judge"]; isConfined: boolean },
): Shortfall | undefined {
  if (can.class === "attached" && judge === "theirs" && trust === "outside") return { code: "daemon-outside" };
  if (isConfined || judge === "theirs" || can.class === "in-process") return undefined;
  if (judge === "boundary") return { code: "cannot-ask" };
  return can.approvals.proof === "proven" ? undefined : { code: "asking-unproven" };
}

function chooseHome(can: RuntimeCapabilities, reach: Nearness): Pick<RunPlan, "home" | "keeps"> {
  if (reach === "neighbour" || reach === "elsewhere") return { home: "theirs", keeps: [] };
  if (reach === "ours") return { home: "kept", keeps: ["memory", "skills", "sessions"] };
  if (can.home.proof === "absent" || can.home.value.scope === "run") return { home: "thrown-away", keeps: [] };
  return { home: "kept", keeps: can.home.value.keeps };
}

function chooseSpend(can: RuntimeCapabilities, reach: Nearness): RunPlan["spend"] {
  if (can.class === "human") return "never";
  // A child has no key of a provider: what doesn't go through the proxy doesn't happen, so a claim is enough.
  if (reach === "ours" || (reach === "child" && can.proxy.proof !== "absent")) return "before-each-call";
  if (can.usage.proof === "absent") return "never";
  return can.usage.value.tokens === "per-call" ? "after-each-report" : "after-the-run";
}

function chooseAsks({ class: kind, approvals }: RuntimeCapabilities): RunPlan["asks"] {
  if (kind === "in-process") return "parked";
  if (approvals.proof === "absent") return "none";
  const { waits } = approvals.value;
  if (waits === "parked") return "parked";
  return waits === "forever" ? "held" : { expiresMs: waits.ms };
}

function judgeShortfalls(
  can: RuntimeCapabilities,
  task: RunTask,
  { judge, isConfined, asks }: { judge: RunPlan["judge"]; isConfined: boolean; asks: RunPlan["asks"] },
): Shortfall[] {
  const found: Shortfall[] = [];
  if (can.class === "human") return found;
  if (judge === "theirs") found.push({ code: can.class === "attached" ? "judged-partly" : "judged-elsewhere" });
  if (judge === "boundary") found.push({ code: "not-asked" });
  if (judge !== "gate" || can.class === "in-process") return found;
  if (can.approvals.proof === "claimed") found.push({ code: "asking-claimed" });
  if (!isConfined && task.trust === "outside") found.push({ code: "unconfined" });
  if (asks === "held") found.push({ code: "asks-held" });
  if (typeof asks === "object") found.push({ code: "asks-expire", ms: asks.expiresMs });
  if (can.approvals.proof !== "absent" && can.approvals.value.denied === "ends-turn")
    found.push({ code: "denial-ends" });
  return found;
}

function spendShortfalls(can: RuntimeCapabilities, reach: Nearness, spend: RunPlan["spend"]): Shortfall[] {
  if (can.class === "human" || spend === "before-each-call") return [];
  const found: Shortfall[] = [];
  if (spend === "after-each-report") found.push({ code: "spend-late" });
  if (spend === "after-the-run") found.push({ code: "spend-after" });
  if (spend === "never") found.push({ code: "spend-unknown" });
  if (reach === "child") found.push({ code: "own-key" });
  return found;
}

function homeShortfalls(
  can: RuntimeCapabilities,
  task: RunTask,
  { home, reach, worktree }: { home: RunPlan["home"]; reach: Nearness; worktree: boolean },
): Shortfall[] {
  const found: Shortfall[] = [];
  if (home === "thrown-away") found.push({ code: "forgets" });
  if (task.repository && task.writes && !worktree && reach === "neighbour") found.push({ code: "no-worktree" });
  if (can.ownScheduler.proof !== "absent") found.push({ code: "own-scheduler" });
  return found;
}

function talkShortfalls(can: RuntimeCapabilities): Shortfall[] {
  if (can.class === "human") return [];
  const found: Shortfall[] = [];
  if (can.stream.proof === "absent" || can.stream.value === "block") found.push({ code: "no-stream" });
  if (can.steer.proof === "absent") found.push({ code: "no-steer" });
  else if (can.steer.value === "next-turn") found.push({ code: "steer-late" });
  if (can.interrupt.proof === "absent") found.push({ code: "no-interrupt" });
  if (can.resume.proof === "absent" || can.resume.value === "same-process") found.push({ code: "no-resume" });
  if (can.mcp.proof === "absent" && can.class !== "in-process") found.push({ code: "no-tools" });
  if (can.children.proof !== "absent" && can.children.value === "hidden") found.push({ code: "hidden-children" });
  return found;
}

function note(shortfall: Shortfall): PlanNote {
  return { code: shortfall.code, text: sayShortfall(shortfall) };
}
