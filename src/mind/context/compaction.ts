/**
 * Compaction: the older part of a window is replaced by a carry-over. There is one code path for everyone who asks for it: a
 * session that is nearly full (in a separate lane, so that nobody waits), a turn whose request doesn't fit, a person.
 *
 * CONTEXT-7: every part is a recorded step: after a kill, nothing is summarised or paid for twice, and the result takes effect
 * once.
 * CONTEXT-8: it takes effect in one transaction, and only if the session is still what was read. The messages stay.
 * CONTEXT-9: it always finishes: a summariser that fails, stalls or exceeds the budget is replaced by rules that need no model.
 * CONTEXT-10: the result is smaller than the input, or nothing happens.
 */
import { type Ctx, type HookLog, type Outcome, Stopped } from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  acceptIds,
  addUsage,
  compactionId,
  compactLane,
  type Json,
  type ModelMessage,
  NO_USAGE,
  type SessionKey,
  stepNames,
  type TurnId,
  toJson,
  type Usage,
  withoutCompactLane,
} from "../../core/domain/index.ts";
import type { Bus } from "../../core/kit/index.ts";
import { bounded, type Carry, carryText, gather, NO_CARRY, quoted } from "./carry.ts";
import type { ContextConfig } from "./config.ts";
import type { Contexts, ContextView } from "./context.ts";
import { notesText } from "./notes.ts";
import type { SessionViews } from "./ports.ts";
import { keepCompaction, listCompactions, markUndone, readCompaction, readSession, readStretch } from "./store.ts";
import { FIRST_CALL, type Payer, type Plan, type SummariserParts, summarise } from "./summarise.ts";
import { pieces } from "./summary.ts";
import { textTokens } from "./tokens.ts";
import { cutAt } from "./window.ts";

export interface CompactionParts extends SummariserParts {
  hooks: HookLog;
  contexts: Contexts;
  sessions: Pick<SessionViews, "compact" | "undoCompaction">;
  /** Starts a turn in a separate lane. Idempotent per id. */
  accept: (m: { id: string; session: SessionKey; lane: "background"; body: Json }) => Promise<{ turn: TurnId }>;
  /**
   * Announces what is about to be compacted, so that memory can save something from it. May be called twice; nothing waits for
   * it.
   */
  beforeCompaction?: (of: { session: SessionKey; agent: AgentId; messages: readonly ModelMessage[] }) => Promise<void>;
  config: () => ContextConfig;
  /** A time as the session's person reads it: weekday, date, time and offset. */
  stamp: (session: SessionKey, at: number) => Promise<string>;
  snapshot: (of: { session: SessionKey; agent: AgentId; tokens: number }) => Promise<string>;
  bus: Bus;
}

/** The body that a separate compaction turn is started with. */
export type CompactBody = { kind: "compact"; session: string; agent: string; focus: string | null; forced: boolean };

export type Compacted =
  | { made: true; how: How; messages: number; before: number; after: number; usage: Usage }
  | { made: false; usage: Usage };
type How = "summary" | "mixed" | "extract";

type Reason =
  | { why: "threshold" }
  | { why: "asked"; focus: string | null }
  | { why: "full"; model: string | null; refused?: { limit?: number }; more: boolean; fresh: number };

/** In large histories, rules alone handle the oldest part: each piece costs a model call. */
const MOST_PIECES = 8;
/** The usable share of the summariser's window; the rest is margin for low estimates. */
const MARGIN = 0.8;
/** Tokens for instructions and headings around the transcript. */
const FRAME = 400;
/** Automatic compaction needs at least this much; less would come out as long as it went in. */
const LEAST_GONE = 400;
/** After an attempt that saved nothing, the next one waits for this many messages. */
const LATER = 40;
const MOST_FUTILE = 1000;
/** Notes smaller than this are useless. */
const LEAST_ROOM = 200;
/** How long a person who asked for it waits for the result. */
const PATIENCE_MS = 20_000;

interface Applied {
  before: number;
  after: number;
  carry: Carry;
  snapshot: string;
}

export class Compactions {
  private readonly parts: CompactionParts;
  /** Sessions being compacted, and the callers waiting for them. */
  private readonly working = new Map<SessionKey, { done: ((what: Compacted) => void)[] }>();
  /** Those where it led to nothing, and the number of the message that was next. */
  private readonly futile = new Map<SessionKey, number>();
  /** Those that just were, and whose they are. */
  private readonly compacted = new Map<SessionKey, AgentId>();

  constructor(parts: CompactionParts) {
    this.parts = parts;
  }

  /** A turn of this lane ended: compacts in the background when the session is nearly full. Never throws. */
  async consider(lane: SessionKey): Promise<void> {
    const { contexts, records, log } = this.parts;
    const session = withoutCompactLane(lane);
    try {
      const before = this.compacted.get(session);
      this.compacted.delete(session);
      // What was said while it was compacted may be too much already, and nobody may say anything more for days.
      if (before !== undefined) await contexts.view(session, before);
      const agent = contexts.full(session);
      if (agent === undefined || this.working.has(session)) return;
      const [newest] = await listCompactions(records, session, 1);
      const { base, next } = await contexts.view(session, agent);
      const inVain = this.futile.get(session);
      if (inVain !== undefined && next < inVain + LATER) return;
      // Somebody took the last one back: not again before it must be.
      if (newest?.undone_at && newest.from_seq === base) return;
      await this.begin(session, agent, { focus: null, forced: false });
    } catch (error) {
      log.warn("compaction couldn't start", { session, message: String(error) });
    }
  }

  /** Compacts at a person's request. Returns the result, or nothing if it is still running. */
  async ask(session: SessionKey, agent: AgentId, focus: string | null): Promise<Compacted | undefined> {
    if (!(await readSession(this.parts.records, session))) throw noSession(session);
    const { clock } = this.parts;
    return new Promise((resolve, reject) => {
      const late = clock.after(PATIENCE_MS, () => resolve(undefined));
      const done = (what: Compacted) => {
        late();
        resolve(what);
      };
      this.begin(session, agent, { focus, forced: true }, done).catch(reject);
    });
  }

  private async begin(
    session: SessionKey,
    agent: AgentId,
    options: { focus: string | null; forced: boolean },
    done?: (what: Compacted) => void,
  ): Promise<void> {
    const under = this.working.get(session);
    if (under) {
      if (done) under.done.push(done);
      return;
    }
    this.working.set(session, { done: done ? [done] : [] });
    try {
      const view = await this.parts.contexts.view(session, agent);
      const body: CompactBody = { kind: "compact", session, agent, ...options };
      await this.parts.accept({
        id: acceptIds.compaction(session, view.base, view.next, this.parts.clock.now()),
        session: compactLane(session),
        lane: "background",
        body: toJson(body),
      });
    } catch (error) {
      this.working.delete(session);
      throw error;
    }
  }

  /** A separate compaction turn. `broken`: its journal doesn't match this version; the next full window starts another. */
  async segment(ctx: Ctx, body: CompactBody, broken: boolean): Promise<Outcome> {
    const session = body.session as SessionKey;
    const at = { turn: ctx.turn, session, agent: body.agent as AgentId };
    let made: Compacted = { made: false, usage: NO_USAGE };
    try {
      const reason: Reason = body.forced ? { why: "asked", focus: body.focus } : { why: "threshold" };
      if (!broken) made = await this.compact(ctx, at, 0, reason);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    } finally {
      if (made.made) this.compacted.set(session, at.agent);
      else await this.inVain(session, at.agent);
      this.finished(session, made);
    }
    return { end: toJson(made) };
  }

  /** Compacts as steps of a turn whose request doesn't fit. `number` counts the attempts within the turn. */
  async makeRoom(
    ctx: Ctx,
    at: Payer,
    number: number,
    why: { model: string | null; refused?: { limit?: number }; more: boolean; fresh: number },
  ): Promise<Compacted> {
    return this.compact(ctx, at, number, { why: "full", ...why });
  }

  /** Restores the session's view to before its last compaction. */
  async undo(session: SessionKey): Promise<{ messages: number }> {
    const { records, contexts, clock, bus } = this.parts;
    const row = await readSession(records, session);
    if (!row) throw noSession(session);
    const last = row.compaction ? await readCompaction(records, row.compaction) : undefined;
    if (!last) {
      throw new AppError("CONFLICT", {
        message: "Nothing in this conversation has been compacted.",
        hint: `See what the model reads: lares context "${session}"`,
      });
    }
    await records.write((tx) => {
      this.parts.sessions.undoCompaction(tx, last);
      markUndone(tx, last.id, clock.now());
    });
    contexts.drop(session);
    bus.emit({ event: "session.changed", session, what: "updated" });
    return { messages: last.to_seq - Math.max(last.from_seq, 1) };
  }

  /** Avoids paying turn after turn for a compaction that doesn't make anything smaller. */
  private async inVain(session: SessionKey, agent: AgentId): Promise<void> {
    if (this.futile.size >= MOST_FUTILE) this.futile.clear();
    this.futile.set(session, (await this.parts.contexts.view(session, agent)).next);
  }

  private finished(session: SessionKey, what: Compacted): void {
    const entry = this.working.get(session);
    this.working.delete(session);
    for (const done of entry?.done ?? []) done(what);
  }

  private async compact(ctx: Ctx, at: Payer, number: number, reason: Reason): Promise<Compacted> {
    const { clock, crash } = this.parts;
    const deadline = clock.now() + this.parts.config().deadlineSeconds * 1000;
    const plan = await ctx.step(stepNames.compact(number), () => this.plan(at, reason));
    if (!plan) return { made: false, usage: NO_USAGE };
    crash.at("compact.planned");
    this.tell(at, plan);
    let { known } = plan;
    let usage = NO_USAGE;
    let summed = 0;
    for (const [i, piece] of plan.pieces.entries()) {
      const said = await summarise(this.parts, ctx, at, {
        call: FIRST_CALL + number * 100 + i,
        plan,
        known,
        piece,
        deadline,
      });
      usage = addUsage(usage, said.usage);
      if (!said.carry) break;
      known = said.carry;
      summed++;
    }
    const withModel: How = summed < plan.pieces.length ? "mixed" : "summary";
    const how: How = summed === 0 ? "extract" : withModel;
    const done = await this.apply(ctx, at, number, { plan, known, summed, how });
    return done ? { made: true, how, messages: plan.messages, ...done, usage } : { made: false, usage };
  }

  /** Which messages go and which stay. Null: none can go. */
  private async plan(at: { session: SessionKey; agent: AgentId }, reason: Reason): Promise<Plan | null> {
    const { contexts, config, models } = this.parts;
    const asked = reason.why === "full" ? (reason.model ?? undefined) : undefined;
    if (reason.why === "full" && reason.refused) {
      await contexts.refused(at.session, at.agent, asked, reason.refused.limit);
    }
    // A summary's sources have been read already.
    await contexts.interims.sent(at.session);
    const view = await contexts.view(at.session, at.agent, asked);
    const { limit } = view.shares;
    // The new message alone doesn't fit, so dropping old ones wouldn't help.
    if (reason.why === "full" && limit - view.systemTokens - view.toolTokens - reason.fresh < LEAST_ROOM) return null;
    const cut = this.cut(view, reason);
    if (cut === 0 || (reason.why === "threshold" && sum(view.sizes.slice(0, cut)) < LEAST_GONE)) return null;
    const gone = view.messages.slice(0, cut);
    const chosen = config().summariser ?? view.model.id;
    const summariser = models.info(chosen)?.practice === false ? chosen : null;
    const { carry, snapshot } = view.shares;
    const most = Math.floor(contexts.findModel(chosen).contextWindow * MARGIN) - FRAME - 2 * carry;
    const tokens = Math.max(most, 500);
    const all = summariser ? pieces(gone, tokens).slice(-MOST_PIECES) : [];
    const number = (i: number) => view.numbers[i] ?? view.next;
    const numbered = all.map(([from, to]): [number, number] => [number(from), number(to)]);
    return {
      base: view.base,
      previous: view.compaction,
      from: number(0),
      to: number(cut),
      messages: cut,
      pieces: numbered,
      carry,
      snapshot,
      known: bounded({ ...gather(view.carry, gone), asked: askedIn(view, cut, reason) }, 4 * carry),
      tainted: view.carryTainted || view.outside.slice(0, cut).includes(true),
      sentIn: view.carrySentIn || view.sentIn.slice(0, cut).includes(true),
      must: reason.why === "full",
      model: view.model.id,
      summariser,
      tokens,
      focus: reason.why === "asked" ? reason.focus : null,
    };
  }

  private cut(view: ContextView, reason: Reason): number {
    const messages = view.messages.map((m, i) => ({ role: m.role, tokens: view.sizes[i]! }));
    const { keep: tokens, keepMessages, carry, snapshot, limit } = view.shares;
    const keep = (most: number) => ({ tokens: Math.min(tokens, Math.max(most, 0)), messages: keepMessages });
    if (reason.why === "threshold") return cutAt(messages, keep(tokens));
    // A person asked for it, so compact however little there is.
    if (reason.why === "asked") return cutAt(messages, keep(Math.floor(sum(view.sizes) / 2)));
    const most = limit - view.systemTokens - view.toolTokens - carry - snapshot - reason.fresh;
    return cutAt(messages, keep(most), { most: Math.max(most, 0), more: reason.more });
  }

  /** In parallel, not first: the messages stay, so a slow reader loses nothing. */
  private tell(at: Payer, plan: Plan): void {
    const { beforeCompaction, log, records } = this.parts;
    if (!beforeCompaction) return;
    readStretch(records, at.session, plan.from, plan.to)
      .then((rows) =>
        beforeCompaction({ session: at.session, agent: at.agent, messages: rows.map((row) => row.message) }),
      )
      .catch((error: unknown) => log.warn("nothing was saved to memory before compacting", { message: String(error) }));
  }

  /** Puts the carry-over into effect. Returns nothing if it wouldn't be smaller. */
  private async apply(
    ctx: Ctx,
    at: Payer,
    number: number,
    of: { plan: Plan; known: Carry; summed: number; how: How },
  ): Promise<{ before: number; after: number } | undefined> {
    const { contexts, clock, crash, bus, log, hooks } = this.parts;
    const { plan, how } = of;
    const applied = await ctx.step<Applied | null>(
      stepNames.compacted(number),
      async () => {
        const view = await contexts.view(at.session, at.agent, plan.model);
        const snapshot = await this.parts.snapshot({ ...at, tokens: plan.snapshot });
        const when = await this.parts.stamp(at.session, clock.now());
        const before = view.notesTokens + sum(view.sizes);
        const tail = sum(view.sizes.filter((_, i) => view.numbers[i]! >= plan.to));
        // A request that must get shorter is sent without notes rather than not at all.
        for (const tokens of [plan.carry, Math.floor(plan.carry / 3), ...(plan.must ? [0] : [])]) {
          const carry = tokens > 0 ? { ...(await this.finish(at.session, of, tokens)), when } : NO_CARRY;
          const after = textTokens(notesText({ snapshot, carry: carryText(carry) })) + 4 + tail;
          if (after < before) return { before, after, carry, snapshot };
        }
        return null;
      },
      (tx, done) => {
        if (!done) return;
        const made = {
          id: compactionId(at.turn, number),
          session: at.session,
          previous: plan.previous,
          base: plan.base,
        };
        const shown = { to: plan.to, snapshot: done.snapshot, from: plan.from, messages: plan.messages };
        this.parts.sessions.compact(tx, { ...made, ...shown });
        // Stored only if the session accepted it: a session that has changed in the meantime continues without.
        keepCompaction(tx, {
          ...made,
          to_seq: plan.to,
          carry: JSON.stringify(done.carry),
          how,
          model: plan.summariser,
          focus: plan.focus,
          tokens_before: done.before,
          tokens_after: done.after,
          tainted: plan.tainted ? 1 : 0,
          // A plan that was recorded before this was known.
          sent_in: (plan.sentIn ?? plan.tainted) ? 1 : 0,
          turn: at.turn,
          at: clock.now(),
        });
        contexts.drop(at.session);
        hooks.record(tx, "compaction.done", made.id, () => {
          const { agent, session } = at;
          return { agent, session, messages: plan.messages };
        });
      },
    );
    if (!applied) return undefined;
    crash.at("compact.applied");
    bus.emit({ event: "session.changed", session: at.session, what: "updated" });
    const { before, after } = applied;
    log.info("compacted", { session: at.session, how, messages: plan.messages, before, after });
    return { before, after };
  }

  /** Cuts it to its limits; what no model has read is quoted. */
  private async finish(
    session: SessionKey,
    of: { plan: Plan; known: Carry; summed: number },
    tokens: number,
  ): Promise<Carry> {
    const { plan, known, summed } = of;
    if (plan.pieces.length > 0 && summed === plan.pieces.length) return bounded(known, tokens);
    const unread = plan.pieces[summed]?.[0] ?? plan.from;
    // Quotes the newest; the rest of a long history wouldn't fit anyway.
    const rows = await readStretch(this.parts.records, session, Math.max(unread, plan.to - 200), plan.to);
    const messages = rows.map((row) => row.message);
    return bounded({ ...known, prose: quoted(known.prose, messages, Math.floor(tokens * 0.5)) }, tokens);
  }
}

/** If the running turn's own message doesn't stay, its text is carried over verbatim, as far as it fits. */
function askedIn(view: ContextView, cut: number, reason: Reason): string {
  if (reason.why === "threshold" || (reason.why === "full" && reason.more)) return "";
  const at = view.messages.findLastIndex((m) => m.role === "user");
  if (at < 0) return view.carry.asked;
  if (at >= cut) return "";
  return view.messages[at]!.content.map((part) =>
    part.type === "text" && !("ours" in part && part.ours) ? part.text : "",
  ).join("\n");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function noSession(session: string): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no session "${session}".`,
    hint: "See them: lares sessions list",
  });
}
