/** `lares approvals`, `lares approve`, `lares deny`: what waits for a yes or no. */
import { AppError, isApprovalId } from "../../../core/domain/index.ts";
import { defined, nearest, truthy } from "../../../core/kit/index.ts";
import type { Approval } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, duration, oneLine, plural, shortId, visible, when } from "../format.ts";
import { answerMark, howToAnswer, questionLines } from "../lines.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";
import { approvalWords as words } from "../words/answer.ts";
import { commonWords } from "../words/common.ts";

const DECISIONS = ["allow-once", "allow-always", "deny"] as const;
type Decision = (typeof DECISIONS)[number];

export const list: Action = async ({ rpc, out, options, clock, ports }) => {
  const found = await rpc.call("approvals.list", {
    ...(options.all ? { state: "all" as const } : {}),
    ...truthy({ session: options.session, limit: options.limit }),
  });
  const { approvals, total = approvals.length } = found;
  out.items(approvals);
  const { waiting = approvals.filter((a) => a.state === "pending").length } = found;
  const room = Math.max((ports.stdout.columns ?? 120) - 48, 30);
  out.say(
    words.waiting(waiting, { shown: approvals.length, total, inSession: options.session !== undefined }),
    ...table(
      approvals.map((a) => [
        answerMark(a, out.paint),
        shortId(a.id),
        ago(a.askedAt, clock.now()),
        a.agent,
        a.tool,
        cut(firstLine(a.shown), room),
      ]),
      "  ",
    ),
  );
  if (waiting) out.note(words.howToAnswer(out.hint));
  if (approvals.some((a) => a.state === "pending" && a.form?.fields.length)) out.note(words.howToFillIn(out.hint));
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
    throw usage(words.notADecision(word), near ? commonWords.didYouMean(near) : words.decisions(DECISIONS.join(", ")));
  }
  return decide(ctx, typed, decision);
};

export const approve: Action = (ctx, [typed = ""]) =>
  decide(ctx, typed, ctx.options.always ? "allow-always" : "allow-once");

export const answer: Action = (ctx, [typed = "", text = ""]) => decide(ctx, typed, "allow-once", text);

export const deny: Action = (ctx, [typed = ""]) => decide(ctx, typed, "deny");

async function decide(ctx: Context, typed: string, decision: Decision, answers?: string): Promise<number> {
  const { rpc, out, options } = ctx;
  const { id } = await find(ctx, typed, "pending");
  const a = await rpc.call("approvals.resolve", {
    id,
    decision,
    ...truthy({ reason: options.reason }),
    ...defined({ answers }),
  });
  out.document(a);
  out.say(answers === undefined ? `${words.decided[decision]}: ${showAction(a)}` : words.passedOn);
  out.note(words.turnContinues(out.hint, a.turn));
  return EXIT.done;
}

/** What was asked in one line. Many tools begin it with their own name; the others get it put before. */
function showAction({ tool, shown }: Approval): string {
  const line = firstLine(shown);
  return line === tool || line.startsWith(`${tool} `) ? line : `${tool} ${line}`;
}

/** A whole id, or the ending of exactly one. What waits goes first, so that an old code can't hit in its place. */
async function find(ctx: Context, typed: string, among: "pending" | "all"): Promise<{ id: string } & Approval> {
  const { approvals } = await ctx.rpc.call("approvals.list", { state: among, limit: 1000 });
  const whole = approvals.find((a) => a.id === typed);
  const near = whole ? [whole] : approvals.filter((a) => typed.length >= 4 && a.id.endsWith(typed));
  if (near.length === 1) return near[0]!;
  // Too late: with the whole id the server says who answered, or that nobody did.
  if (near.length === 0 && among === "pending" && typed.length >= 4) return find(ctx, typed, "all");
  if (near.length > 1) {
    throw usage(
      words.matches(typed, near.length),
      commonWords.moreOfTheId(near.map((a) => a.id.slice(-10)).join(", ")),
    );
  }
  // One answered long ago is no longer in the list; the server knows the outcome.
  if (isApprovalId(typed)) return ctx.rpc.call("approvals.get", { id: typed });
  throw new AppError("NOT_FOUND", {
    message: words.noneEndsIn(typed),
    hint: words.seeWaiting,
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
      ? [
          commonWords.ifUnanswered,
          (a.form ? words.cancelledIn : words.deniedIn)(duration(a.deadline - ctx.clock.now())),
        ]
      : ["answered", words.answered(a.state, a.answeredBy, a.answeredAt ? `, ${when(a.answeredAt)}` : "")],
    ...(a.reason ? [["reason", visible(a.reason)]] : []),
    ["id", a.id],
  ];
  const how = a.state === "pending" ? [howToAnswer(a, ctx.out.hint)] : [];
  const asked = `${answerMark(a, ctx.out.paint)} ${words.asked(a.agent)} (${a.tool})`;
  const question = a.form || a.state === "pending" ? questionLines(a, ctx.out.paint) : [asked];
  const shown = visible(a.whole ?? a.shown)
    .split("\n")
    .map((line) => `    ${line}`);
  return [...question, ...shown, ...table(rows, "  "), ...how];
}

/** A list has room for one line; that there are more is said. */
function firstLine(shown: string): string {
  const [first = "", ...rest] = shown.split("\n").filter((line) => !line.startsWith("["));
  return `${oneLine(first)}${rest.length > 0 ? ` (+ ${plural(rest.length, "line")})` : ""}`;
}
