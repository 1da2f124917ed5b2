/** `lares approvals`, `lares approve`, `lares deny`: what waits for a yes or no. */
import { AppError } from "../../../core/domain/index.ts";
import { nearest, truthy } from "../../../core/kit/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, duration, oneLine, plural, shortId, visible, when } from "../format.ts";
import { howToAnswer } from "../lines.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";

const DECISIONS = ["allow-once", "allow-always", "deny"] as const;
type Decision = (typeof DECISIONS)[number];

export const list: Action = async ({ rpc, out, options, clock, ports }) => {
  const { approvals } = await rpc.call("approvals.list", {
    ...(options.all ? { state: "all" as const } : {}),
    ...truthy({ session: options.session, limit: options.limit }),
  });
  out.items(approvals);
  const waiting = approvals.filter((a) => a.state === "pending").length;
  const room = Math.max((ports.stdout.columns ?? 120) - 48, 30);
  out.say(
    waiting ? `${plural(waiting, "approval is", "approvals are")} waiting for you.` : "Nothing is waiting for you.",
    ...table(
      approvals.map((a) => [
        mark(out.paint, a),
        shortId(a.id),
        ago(a.askedAt, clock.now()),
        a.agent,
        a.tool,
        cut(firstLine(a.shown), room),
      ]),
      "  ",
    ),
  );
  if (waiting) out.note(out.hint`Answer: lares approve ID or lares deny ID. In full: lares approvals get ID`);
  return EXIT.done;
};

export const get: Action = async (ctx, [typed = ""]) => {
  const found = await find(ctx, typed, "all");
  // Of a long text the list shows the telling parts only.
  const a = found.cut && !found.whole ? await ctx.rpc.call("approvals.get", { id: found.id }) : found;
  ctx.out.document(a);
  ctx.out.say(...card(ctx, a));
  return EXIT.done;
};

export const resolve: Action = async (ctx, [typed = "", word = ""]) => {
  const decision = DECISIONS.find((one) => one === word);
  if (!decision) {
    const near = nearest(word, DECISIONS);
    throw usage(
      `"${word}" isn't a decision.`,
      near ? `Did you mean "${near}"?` : `Use one of: ${DECISIONS.join(", ")}.`,
    );
  }
  return decide(ctx, typed, decision);
};

export const approve: Action = (ctx, [typed = ""]) =>
  decide(ctx, typed, ctx.options.always ? "allow-always" : "allow-once");

export const deny: Action = (ctx, [typed = ""]) => decide(ctx, typed, "deny");

async function decide(ctx: Context, typed: string, decision: Decision): Promise<number> {
  const { rpc, out, options } = ctx;
  const { id } = await find(ctx, typed, "pending");
  const a = await rpc.call("approvals.resolve", {
    id,
    decision,
    ...truthy({ reason: options.reason }),
  });
  out.document(a);
  const done = { "allow-once": "Allowed once", "allow-always": "Always allowed", deny: "Denied" }[decision];
  out.say(`${done}: ${actionOf(a)}`);
  out.note(out.hint`The turn continues: lares turns get ${a.turn}`);
  return EXIT.done;
}

/** What was asked in one line. Many tools begin it with their own name; the others get it put before. */
function actionOf({ tool, shown }: Approval): string {
  const line = firstLine(shown);
  return line === tool || line.startsWith(`${tool} `) ? line : `${tool} ${line}`;
}

/** A whole id, or the ending of exactly one. Answers are looked for among what waits, so an old code cannot hit. */
async function find(ctx: Context, typed: string, among: "pending" | "all"): Promise<{ id: string } & Approval> {
  const { approvals } = await ctx.rpc.call("approvals.list", { state: among, limit: 1000 });
  const whole = approvals.find((a) => a.id === typed);
  const near = whole ? [whole] : approvals.filter((a) => typed.length >= 4 && a.id.endsWith(typed));
  if (near.length === 1) return near[0]!;
  if (near.length > 1) {
    throw usage(
      `"${typed}" matches ${near.length} approvals.`,
      `Give more of the id: ${near.map((a) => a.id.slice(-10)).join(", ")}.`,
    );
  }
  // One answered long ago is past the list, and the server knows best what became of it.
  if (/^ap_/.test(typed)) return ctx.rpc.call("approvals.get", { id: typed });
  throw new AppError("NOT_FOUND", {
    message: `No waiting approval ends in "${typed}".`,
    hint: "See what's waiting: lares approvals list",
  });
}

function card(ctx: Context, a: Approval): string[] {
  const rows = [
    ["because", visible(a.because)],
    ["agent", a.agent],
    ["session", a.session],
    ["turn", a.turn],
    ["asked", `${when(a.askedAt)} (${ago(a.askedAt, ctx.clock.now())})`],
    a.state === "pending"
      ? ["if unanswered", `denied in ${duration(a.deadline - ctx.clock.now())}`]
      : [
          "answered",
          `${a.state}${a.answeredBy ? ` by ${a.answeredBy}` : ""}${a.answeredAt ? `, ${when(a.answeredAt)}` : ""}`,
        ],
    ...(a.reason ? [["reason", visible(a.reason)]] : []),
    ["id", a.id],
  ];
  const how = a.state === "pending" ? [howToAnswer(a, ctx.out.hint)] : [];
  const question = a.state === "pending" ? `Allow ${a.agent} to do this?` : `${a.agent} asked to do this.`;
  const shown = visible(a.whole ?? a.shown)
    .split("\n")
    .map((line) => `    ${line}`);
  return [`${mark(ctx.out.paint, a)} ${question} (${a.tool})`, ...shown, ...table(rows, "  "), ...how];
}

/** A list has room for one line; that there are more is said. */
function firstLine(shown: string): string {
  const [first = "", ...rest] = shown.split("\n").filter((line) => !line.startsWith("["));
  return `${oneLine(first)}${rest.length > 0 ? ` (+ ${plural(rest.length, "line")})` : ""}`;
}

function mark(paint: Context["out"]["paint"], a: Approval): string {
  if (a.state === "pending") return paint("◐", "wait");
  return a.state === "allowed" ? paint("✓", "ok") : paint("–", "dim");
}
