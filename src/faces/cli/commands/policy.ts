/** `lares policy`: what the gate would say to a command, and the rules it remembers from "always allow". */
import { AppError } from "../../../core/domain/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural, shortId, type Tone, visible } from "../format.ts";
import { table } from "../output.ts";
import { cut } from "../width.ts";

const SAYS: Readonly<Record<Result<"policy.explain">["verdict"], { glyph: string; words: string; tone: Tone }>> = {
  allow: { glyph: "✓", words: "It would run without asking", tone: "ok" },
  ask: { glyph: "◐", words: "It would ask you first", tone: "wait" },
  deny: { glyph: "✕", words: "It would be refused", tone: "fail" },
};

export const explain: Action = async ({ rpc, out, options }, [command = ""]) => {
  const v = await rpc.call("policy.explain", { command, agent: options.agent });
  out.document(v);
  const { glyph, words, tone } = SAYS[v.verdict];
  // The first line of the gate's own account is the verdict, which was just said in words.
  const [, ...account] = visible(v.text).trimEnd().split("\n");
  out.say(
    `${out.paint(glyph, tone)} ${words}: ${oneLine(v.because)}`,
    ...account.map((line) => `  ${line}`),
    ...(v.verdict === "ask" && v.rule ? [`  "Always allow" would save: ${oneLine(v.rule)}`] : []),
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
    found.length ? `${plural(found.length, "rule")} from "always allow".` : 'No rules from "always allow".',
    ...table(
      found.map((rule) => [
        shortId(rule.approval),
        rule.agent,
        useOf(rule, clock.now()),
        `created ${ago(rule.madeAt, clock.now())}`,
        cut(oneLine(rule.rule), room),
      ]),
      "  ",
    ),
  );
  if (found.length)
    out.note(out.hint`Remove one: lares policy forget ID. Your own rules are in lares.yaml (policy.allow).`);
  return EXIT.done;
};

export const forget: Action = async (ctx, [typed = ""]) => {
  const near = (await remembered(ctx)).filter(
    (rule) => rule.approval === typed || (typed.length >= 4 && rule.approval.endsWith(typed)),
  );
  if (near.length > 1)
    throw usage(`"${typed}" matches ${near.length} rules.`, "Give more of the id, or name the agent with --agent.");
  const [rule] = near;
  if (!rule) {
    throw new AppError("NOT_FOUND", {
      message: `No saved rule has the id "${typed}".`,
      hint: "See them all: lares policy rules",
    });
  }
  const { forgotten } = await ctx.rpc.call("approvals.forget", { agent: rule.agent, rule: rule.rule });
  ctx.out.document({ ...rule, forgotten });
  ctx.out.say(`Removed: ${oneLine(rule.rule)}`);
  ctx.out.note("Lares will ask again next time.");
  return EXIT.done;
};

async function remembered({ rpc, options }: Context): Promise<Rule[]> {
  return (await rpc.call("approvals.rules", options.agent ? { agent: options.agent } : {})).rules;
}

function useOf({ used, usedAt }: Rule, now: number): string {
  if (!used) return "not used yet";
  return `used ${used === 1 ? "once" : `${used} times`}${usedAt === null ? "" : `, last ${ago(usedAt, now)}`}`;
}
