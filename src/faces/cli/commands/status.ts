/** `lares status`: the four questions of a visitor, the first one even when nothing runs. */
import { AppError } from "../../../core/domain/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, exitForError } from "../exit.ts";
import { bytes, count, elapsed, plural, spent, tokens } from "../format.ts";
import { HELP } from "../help.ts";
import { table } from "../output.ts";
import { modelLine, run } from "./gateway.ts";
import { beatLine } from "./heartbeat.ts";

type Status = Result<"status">;

export const status: Action = async (ctx) => {
  const found = await ask(ctx);
  if ("error" in found) return down(ctx, found.error);
  const { out } = ctx;
  out.document({ running: true, ...found.status });
  out.say(...page(ctx, found.status));
  return found.status.problems.length ? EXIT.failed : EXIT.done;
};

/** `lares` alone: starts it, or says how it is. Without a terminal it must not stay, so it shows the help. */
export const bare: Action = async (ctx) => {
  if (!ctx.canAsk || !ctx.ports.stdout.isTTY) {
    ctx.out.raw(HELP);
    return EXIT.done;
  }
  const found = await ask(ctx);
  if ("error" in found && found.error.code === "GATEWAY_DOWN" && ctx.options.url === undefined) return run(ctx, []);
  return status(ctx, []);
};

async function ask(ctx: Context): Promise<{ status: Status } | { error: AppError }> {
  try {
    return { status: await ctx.rpc.call("status", {}) };
  } catch (error) {
    if (error instanceof AppError && ["GATEWAY_DOWN", "NOT_READY", "STORAGE_FULL"].includes(error.code))
      return { error };
    throw error;
  }
}

function down(ctx: Context, error: AppError): number {
  const { out } = ctx;
  const { code, message, hint, retry } = error.toShape();
  const isUp = code !== "GATEWAY_DOWN";
  out.document({ running: isUp, serving: false, home: ctx.home, error: { code, message, hint, retry } });
  const first = isUp ? `Lares is running but does not serve: ${message}` : message;
  out.say([first, hint].filter(Boolean).join(" "), ...table([["home", ctx.home]], "  "));
  return exitForError(error);
}

function page(ctx: Context, s: Status): string[] {
  const { paint } = ctx.out;
  const { running, queued, parked } = s.turns;
  const waits = s.approvals.pending;
  const [problem, ...others] = s.problems;
  const up = `up ${elapsed(s.uptimeMs)}`;
  const first = problem
    ? `${paint("✕", "fail")} Lares is running, ${up}, with a problem: ${problem}`
    : `${paint("●", "ok")} Lares is running, ${up}.`;
  const rows = [
    ...(waits ? [["needs you", paint(`◐ ${plural(waits, "approval")}: lares approvals list`, "wait")]] : []),
    ["turns", `${running} running, ${queued} queued, ${parked} waiting`],
    ["model", modelLine(s.model)],
    ["today", today(s)],
    ...deliveries(s),
    ...s.channels.map((c) => ["channel", `${c.name}: ${c.state}${c.detail ? ` (${c.detail})` : ""}`]),
    ...(s.heartbeats ?? []).map((b) => ["heartbeat", `${b.agent}: ${beatLine(b)}`]),
    ["memory", bytes(s.memory.rss)],
    ["link", s.url],
    ["home", s.home],
    ["version", `${s.version}, process ${s.pid}`],
  ];
  return [first, ...others.map((more) => `${paint("✕", "fail")} ${more}`), ...table(rows, "  ")];
}

function today(s: Status): string {
  const used = tokens(s.usageToday);
  if (!used) return "no tokens used";
  return `${count(used)} tokens${s.model.practice ? "" : `, ${spent(s.usageToday)}`}`;
}

function deliveries(s: Status): string[][] {
  const { waiting, uncertain, failed } = s.deliveries;
  if (!waiting && !uncertain && !failed) return [];
  return [["deliveries", `${waiting} on the way, ${uncertain} not confirmed, ${failed} failed`]];
}
