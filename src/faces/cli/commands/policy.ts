/** `lares policy`: what the gate would say to a command, and the rules it remembers from "always allow". */
import { AppError } from "../../../core/domain/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, shortId, type Tone, visible } from "../format.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";
import { policyWords as words } from "../words/answer.ts";

const MARKS: Readonly<Record<Result<"policy.explain">["verdict"], { glyph: string; tone: Tone }>> = {
  allow: { glyph: "✓", tone: "ok" },
  ask: { glyph: "◐", tone: "wait" },
  deny: { glyph: "✕", tone: "fail" },
};

export const explain: Action = async ({ rpc, out, options }, [command = ""]) => {
  const v = await rpc.call("policy.explain", { command, agent: options.agent });
  out.document(v);
  const { glyph, tone } = MARKS[v.verdict];
  // The first line of the gate's own account is the verdict, which was just said in words.
  const [, ...account] = visible(v.text).trimEnd().split("\n");
  out.say(
    `${out.paint(glyph, tone)} ${words.says[v.verdict]}: ${oneLine(v.because)}`,
    ...account.map((line) => `  ${line}`),
    ...(v.verdict === "ask" && v.rule ? [words.wouldSave(oneLine(v.rule))] : []),
  );
  return EXIT.done;
};

type Rule = Result<"approvals.rules">["rules"][number];

export const rules: Action = async (ctx) => {
  const { out, clock, ports } = ctx;
  const found = await remembered(ctx);
  out.items(found.map((rule) => ({ ...rule, id: shortId(rule.approval) })));
  const room = Math.max((ports.stdout.columns ?? 120) - 56, 30);
  out.say(
    found.length ? words.rules(found.length) : words.noRules,
    ...table(
      found.map((rule) => [
        shortId(rule.approval),
        rule.agent,
        showUse(rule, clock.now()),
        words.created(ago(rule.madeAt, clock.now())),
        cut(oneLine(rule.rule), room),
      ]),
      "  ",
    ),
  );
  if (found.length) out.note(words.removeOne(out.hint));
  return EXIT.done;
};

export const forget: Action = async (ctx, [typed = ""]) => {
  const near = (await remembered(ctx)).filter(
    (rule) => rule.approval === typed || (typed.length >= 4 && rule.approval.endsWith(typed)),
  );
  if (near.length > 1) throw usage(words.matches(typed, near.length), words.matchesHint);
  const [rule] = near;
  if (!rule) {
    throw new AppError("NOT_FOUND", {
      message: words.unknown(typed),
      hint: words.seeAll,
    });
  }
  const { forgotten } = await ctx.rpc.call("approvals.forget", { agent: rule.agent, rule: rule.rule });
  ctx.out.document({ ...rule, forgotten });
  ctx.out.say(words.removed(oneLine(rule.rule)));
  ctx.out.note(words.willAsk);
  return EXIT.done;
};

async function remembered({ rpc, options }: Context): Promise<Rule[]> {
  return (await rpc.call("approvals.rules", options.agent ? { agent: options.agent } : {})).rules;
}

function showUse({ used, usedAt }: Rule, now: number): string {
  if (!used) return words.notUsed;
  return words.used(used, usedAt === null ? undefined : ago(usedAt, now));
}
