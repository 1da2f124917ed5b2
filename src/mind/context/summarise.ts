/** One piece of a conversation is compacted by a model: a recorded step that is paid for like any other call. */
import type { Ctx, ModelDelta, ModelReply, ModelRequest, Models, Records, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  compactLane,
  type Json,
  NO_USAGE,
  type SessionKey,
  type TurnId,
  type Usage,
} from "../../core/domain/index.ts";
import { type Clock, type Crash, following, type Log } from "../../core/kit/index.ts";
import { bounded, type Carry } from "./carry.ts";
import { readStretch } from "./store.ts";
import { readSummary, SUMMARISER_PROMPT, summaryRequest } from "./summary.ts";

/** Whose turn compacts, and who pays. */
export interface Place {
  turn: TurnId;
  session: SessionKey;
  agent: AgentId;
  schedule?: { id: string; caps?: { dollars?: number; tokens?: number; calls?: number } };
}

/** What may be spent on it (I10). */
export interface Spending {
  reserve(
    call: Place & { call: number; request: ModelRequest },
    signal: AbortSignal,
  ): Promise<SetAside | { refused: string }>;
}
interface SetAside {
  readonly maxOutputTokens: number | undefined;
  settle(usage: Usage): string[];
  record(tx: Tx): void;
  drop(streamedTokens: number): void;
}

export interface SummariserParts {
  records: Records;
  models: Pick<Models, "call" | "info">;
  spending: Spending;
  /** Written with the answer, like any other call's. */
  recordUsage: (
    tx: Tx,
    u: { turn: TurnId; call: number; session: SessionKey; agent: string; reply: ModelReply; at: number },
  ) => void;
  clock: Clock;
  crash: Crash;
  log: Log;
}

/** What goes and what stays, as it is recorded. */
export type Plan = {
  base: number;
  previous: string | null;
  from: number;
  to: number;
  messages: number;
  /** What the summariser reads, oldest first, as numbers of messages; what is older than the first is only gathered by rules. */
  pieces: [number, number][];
  /** Tokens the notes may take. */
  carry: number;
  snapshot: number;
  known: Carry;
  tainted: boolean;
  must: boolean;
  model: string;
  summariser: string | null;
  tokens: number;
  focus: string | null;
};

/** Numbers its model calls apart from the turn's own. */
export const FIRST_CALL = 10_000;
/** For what was streamed before the deadline, which no provider counts for us. */
const LETTERS_PER_TOKEN = 4;

/** One piece by a model, as a recorded and paid step. Without `carry` it has to go without. */
export async function summarise(
  parts: SummariserParts,
  ctx: Ctx,
  at: Place,
  of: { call: number; plan: Plan; known: Carry; piece: [number, number]; deadline: number },
): Promise<{ carry?: Carry; usage: Usage }> {
  const { models, spending, clock, crash, log, records } = parts;
  const { plan, call, known } = of;
  let aside: SetAside | undefined;
  let reply: ModelReply | undefined;
  let streamed = 0;
  type Said = { text: string; usage: Usage } | { failed: string; usage?: Usage };
  const ask = async (): Promise<Said> => {
    const rows = await readStretch(records, at.session, of.piece[0], of.piece[1]);
    const text = summaryRequest({
      known: bounded(known, plan.carry),
      messages: rows.map((row) => row.message),
      tokens: plan.tokens,
      focus: plan.focus,
      most: plan.carry,
    });
    const request: ModelRequest = {
      model: plan.summariser!,
      system: SUMMARISER_PROMPT,
      tools: [],
      messages: [{ role: "user", content: [{ type: "text", text }] }],
      cacheKey: compactLane(at.session),
      // A few more than it may keep: what is too long is cut, what is cut off by the provider lacks its lists.
      maxOutputTokens: Math.max(Math.floor(plan.carry * 1.5), 300),
    };
    const left = of.deadline - clock.now();
    if (left <= 0) return { failed: "it took too long" };
    const late = new AbortController();
    const disarm = clock.after(left, () => late.abort());
    const both = following(ctx.halt, late.signal);
    try {
      const got = await spending.reserve({ ...at, call, request }, both.signal);
      if ("refused" in got) return { failed: got.refused };
      aside = got;
      const onDelta = (delta: ModelDelta) => {
        if ("text" in delta) streamed += delta.text.length;
      };
      const most = Math.min(request.maxOutputTokens!, aside.maxOutputTokens ?? Number.POSITIVE_INFINITY);
      reply = await models.call({ ...request, maxOutputTokens: most }, onDelta, both.signal);
      crash.at("compact.summarised");
      aside.settle(reply.usage);
      if (!reply.ok) return { failed: reply.message, usage: reply.usage };
      const words = reply.content.map((part) => (part.type === "text" ? part.text : "")).join("");
      return { text: words, usage: reply.usage };
    } catch (error) {
      aside?.drop(Math.ceil(streamed / LETTERS_PER_TOKEN));
      aside = undefined;
      if (!late.signal.aborted || ctx.signal.aborted || ctx.stopping.aborted) throw error;
      return { failed: "it took too long" };
    } finally {
      both.done();
      disarm();
    }
  };
  const said = (await ctx.step(
    `summary:${call - FIRST_CALL}`,
    async () => (await ask()) as unknown as Json,
    (tx) => {
      aside?.record(tx);
      if (reply) parts.recordUsage(tx, { ...at, call, reply, at: clock.now() });
    },
  )) as unknown as { text?: string; failed?: string; usage?: Usage };
  const { text, failed, usage = NO_USAGE } = said;
  const carry = text === undefined ? undefined : readSummary(text, known);
  if (!carry) {
    log.warn("compacted by rules, without a model", { session: at.session, because: failed ?? "it said nothing" });
    return { usage };
  }
  return { carry, usage };
}
