/** `lares status`: the four questions of a visitor, the first one even when nothing runs. */
import { AppError } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { homeProblem } from "../../../ground/config/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, exitForError } from "../exit.ts";
import { bytes, count, elapsed, oneLine, spent, tokens } from "../format.ts";
import { type Output, table } from "../output.ts";
import { helpPage } from "../words/help.ts";
import { statusWords as words } from "../words/look.ts";
import { modelLine, run } from "./gateway.ts";
import { beatLine } from "./heartbeat.ts";

type Status = Result<"status">;

export const status: Action = async (ctx) => {
  const found = await ask(ctx);
  if ("error" in found) return down(ctx, found.error, await lastError(ctx));
  const { out } = ctx;
  out.document({ running: true, ...found.status });
  out.say(...page(ctx, found.status));
  return found.status.problems.length ? EXIT.failed : EXIT.done;
};

/** `lares` alone: starts it, or says how it is. Without a terminal it must not stay, so it shows the help. */
export const bare: Action = async (ctx) => {
  if (!ctx.canAsk || !ctx.ports.stdout.isTTY) {
    ctx.out.raw(helpPage(ctx.ports.program?.here ?? "lares"));
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

/** What the log ends with, when that is an error: why it isn't running any more. */
async function lastError(ctx: Context): Promise<string | undefined> {
  if (ctx.options.url !== undefined) return undefined;
  try {
    const [line] = (await ctx.ports.readLogs(ctx.home)).tail({ limit: 1 });
    if (line?.level !== "error") return undefined;
    const { error } = (line.facts ?? {}) as { error?: unknown };
    return oneLine(typeof error === "string" ? `${line.what}: ${error.split("\n")[0]}` : line.what);
  } catch {
    return undefined;
  }
}

function down(ctx: Context, answer: AppError, last: string | undefined): number {
  const { out } = ctx;
  // "Start it" is no advice for a home that can't be started on.
  const error = (answer.code === "GATEWAY_DOWN" && homeProblem(ctx.home)) || answer;
  const { code, message, hint, retry } = error.toShape();
  const isUp = answer.code !== "GATEWAY_DOWN";
  out.document({
    running: isUp,
    serving: false,
    home: ctx.home,
    ...truthy({ last }),
    error: { code, message, hint, retry },
  });
  out.say(
    [firstLine(error, { isUp, isOwn: error === answer }), hint && out.ours(hint)].filter(Boolean).join(" "),
    ...table([["home", ctx.home], ...(last ? [["last", last]] : [])], "  "),
  );
  return exitForError(answer);
}

/** `isOwn`: the answer itself says that nothing runs. */
function firstLine({ message, details }: AppError, { isUp, isOwn }: { isUp: boolean; isOwn: boolean }): string {
  if (details?.reason === "silent") return message;
  if (isUp) return words.notServing(message);
  return isOwn ? message : words.cantRun(message);
}

function page(ctx: Context, s: Status): string[] {
  const { paint, ours } = ctx.out;
  const { running, queued, parked } = s.turns;
  const [problem, ...others] = s.problems;
  const up = words.up(elapsed(s.uptimeMs));
  const first = problem ? words.problem(paint("✕", "fail"), up, ours(problem)) : words.running(paint("●", "ok"), up);
  const rows = [
    [words.needsYou, needs(s, ctx.out)],
    ["turns", words.turns(running, queued, parked)],
    ["model", modelLine(s.model)],
    ["today", today(s)],
    ...deliveries(s),
    ...s.channels.map((c) => ["channel", `${c.name}: ${c.state}${c.detail ? ` (${ours(c.detail)})` : ""}`]),
    ...(s.heartbeats ?? []).map((b) => ["heartbeat", `${b.agent}: ${beatLine(b)}`]),
    ...sandbox(ctx, s),
    ["memory", bytes(s.memory.rss)],
    ["link", s.url],
    ["home", s.home],
    ["version", words.process(s.version, s.pid)],
  ];
  return [first, ...others.map((more) => `${paint("✕", "fail")} ${ours(more)}`), ...table(rows, "  ")];
}

/** "nothing" only when the list over everything is empty. */
function needs(s: Status, out: Output): string {
  if (!s.attention) return "nothing";
  const asked = s.approvals.pending;
  const first = asked ? words.approvals(out.hint, asked) : "";
  const rest = s.attention - asked;
  const others = rest ? words.things(out.hint, rest, asked) : "";
  return out.paint(`◐ ${[first, others].filter(Boolean).join("; ")}`, "wait");
}

function today(s: Status): string {
  const used = tokens(s.usageToday);
  if (!used) return words.noTokens;
  return words.tokens(count(used), s.model.practice ? "" : `, ${spent(s.usageToday)}`);
}

function sandbox({ out }: Context, { sandbox: held }: Status): string[][] {
  if (!held) return [];
  if (held.ok) return [["sandbox", held.name]];
  const why = held.why ? ` (${held.why})` : "";
  const text = held.name === "none" ? words.noSandbox(out.hint, why) : words.brokenSandbox(out.hint, held.name, why);
  return [["sandbox", out.paint(`! ${text}`, "wait")]];
}

function deliveries(s: Status): string[][] {
  const { waiting, uncertain, failed } = s.deliveries;
  if (!waiting && !uncertain && !failed) return [];
  return [["deliveries", words.deliveries(waiting, uncertain, failed)]];
}
