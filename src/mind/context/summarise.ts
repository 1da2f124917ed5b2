/** Compacts one piece of a conversation with a model, as a recorded step that is paid for like any other call. */
import type { Ctx, ModelReply, ModelRequest, Models, Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  compactLane,
  NO_USAGE,
  type SessionKey,
  stepNames,
  type TurnId,
  type Usage,
} from "../../core/domain/index.ts";
import { type Clock, type Crash, following, type Log } from "../../core/kit/index.ts";
import { bounded, type Carry } from "./carry.ts";
import { readStretch } from "./store.ts";
import { readSummary, SUMMARISER_PROMPT, summaryRequest } from "./summary.ts";

/** Which turn compacts, and whose budget pays. */
export interface Payer {
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  schedule?: { id: string; caps?: { dollars?: number; tokens?: number; calls?: number } };
}

/** Model calls within the budgets (I10): set aside, called, settled. */
export interface PaidModel {
  call(
    planned: Payer & { call: number; request: ModelRequest },
    signal: AbortSignal,
  ): Promise<PaidReply | { refused: string }>;
}
interface PaidReply {
  reply: ModelReply;
  /** Written with the answer: what it used, and that it is settled. */
  record(tx: Tx): void;
}

export interface SummariserParts {
  records: Records;
  models: Pick<Models, "info">;
  paid: PaidModel;
  clock: Clock;
  crash: Crash;
  log: Log;
}

/** Which messages go and which stay, as recorded in the journal. */
export type Plan = {
  base: number;
  previous: string | null;
  from: number;
  to: number;
  messages: number;
  /** Ranges of message numbers for the summariser, oldest first. Anything older than the first range is handled by rules only. */
  pieces: [number, number][];
  /** Tokens the notes may take. */
  carry: number;
  snapshot: number;
  known: Carry;
  tainted: boolean;
  sentIn?: boolean;
  must: boolean;
  model: string;
  summariser: string | null;
  tokens: number;
  focus: string | null;
};

/** Numbers its model calls apart from the turn's own. */
export const FIRST_CALL = 10_000;

/** Summarises one piece with a model, as a recorded and paid step. A result without `carry` means there is no summary. */
export async function summarise(
  parts: SummariserParts,
  ctx: Ctx,
  at: Payer,
  of: { call: number; plan: Plan; known: Carry; piece: [number, number]; deadline: number },
): Promise<{ carry?: Carry; usage: Usage }> {
  const { clock, log } = parts;
  const { call, known } = of;
  let paid: PaidReply | undefined;
  const said = await ctx.step<Summary>(
    stepNames.summary(call - FIRST_CALL),
    async () => {
      const left = of.deadline - clock.now();
      if (left <= 0) return { failed: LATE };
      const request = await buildRequest(parts, at, of);
      const late = new AbortController();
      const disarm = clock.after(left, () => late.abort());
      const both = following(ctx.halt, late.signal);
      try {
        const got = await ctx.apart("asks", () => parts.paid.call({ ...at, call, request }, both.signal));
        if ("refused" in got) return { failed: got.refused };
        paid = got;
        parts.crash.at("compact.summarised");
        return readReply(got.reply);
      } catch (error) {
        if (!late.signal.aborted || ctx.signal.aborted || ctx.stopping.aborted) throw error;
        return { failed: LATE };
      } finally {
        both.done();
        disarm();
      }
    },
    (tx) => paid?.record(tx),
  );
  const { text, failed, usage = NO_USAGE } = said;
  const carry = text === undefined ? undefined : readSummary(text, known);
  if (!carry) {
    log.warn("compacted by rules, without a model", { session: at.session, because: failed ?? "it returned nothing" });
    return { usage };
  }
  return { carry, usage };
}

const LATE = "it took too long";

type Summary = { text?: string; failed?: string; usage?: Usage };

async function buildRequest(
  { records }: SummariserParts,
  { session }: Payer,
  { plan, known, piece }: { plan: Plan; known: Carry; piece: [number, number] },
): Promise<ModelRequest> {
  const rows = await readStretch(records, session, piece[0], piece[1]);
  const text = summaryRequest({
    known: bounded(known, plan.carry),
    messages: rows.map((row) => row.message),
    tokens: plan.tokens,
    focus: plan.focus,
    most: plan.carry,
  });
  return {
    model: plan.summariser!,
    system: SUMMARISER_PROMPT,
    tools: [],
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    cacheKey: compactLane(session),
    // Allow a little more than it may keep: we can cut what is too long, but an answer the provider cuts off lacks its lists.
    maxOutputTokens: Math.max(Math.floor(plan.carry * 1.5), 300),
  };
}

function readReply(reply: ModelReply): Summary {
  if (!reply.ok) return { failed: reply.message, usage: reply.usage };
  return { text: reply.content.map((part) => (part.type === "text" ? part.text : "")).join(""), usage: reply.usage };
}
