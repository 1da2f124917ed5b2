/** One model call as a recorded step: take, build, set aside, call, settle, record. */
import { type HookOutcome, type ModelDelta, type ModelReply, Stopped, type Tx } from "../../core/contracts/index.ts";
import {
  type Authority,
  assertNever,
  type EndingTool,
  hookKeys,
  isEndingTool,
  type LiveEvent,
  leastTrusted,
  type ModelMessage,
  messageIds,
  type SessionKey,
  stepNames,
  type TurnId,
} from "../../core/domain/index.ts";
import { defined, truthy } from "../../core/kit/index.ts";
import { mustAnswer, nudges } from "./endings.ts";
import { carriesOutside, userMessage } from "./finish.ts";
import { askAboutContext, noteId, noteMessage } from "./hooked.ts";
import type { IntakeMessage, PaidReply, TurnParts } from "./ports.ts";
import { buildRequest } from "./request.ts";
import { spentFor, type TurnRun } from "./run.ts";

export type Called =
  | Replied
  | { refused: string }
  /** Not sent: a hook declined. */
  | { declined: string }
  /** Not sent: it does not fit. `fresh`: what of it is new, in tokens. */
  | { full: { fresh: number } };

export interface Replied {
  reply: ModelReply;
  took: string[];
  warnings?: string[];
  authority: Authority;
  tainted: boolean;
  /** The agent's own tools fetched all text from outside in it. Absent in calls that were recorded before this was known. */
  isFetched?: boolean;
  said?: string;
  /** Tools offered in it that end a turn without a word. */
  ends?: EndingTool[];
  /** Of the tools, only these may be called. */
  tools?: string[];
  /** Hooks are asked about the answer. */
  heard?: true;
  /** The cap after which it was asked for its last word. */
  closing?: string;
}

/** One model call with everything that waits in the inbox for it. */
export async function callModel(parts: TurnParts, run: TurnRun): Promise<Called> {
  const n = run.p.call++;
  /** Empty on a replay, where nothing is recorded again. */
  const made: Made = { took: [], paid: undefined, notes: [] };
  return run.ctx.step(
    stepNames.model(n),
    () => ask(parts, run, n, made),
    (tx, called) => record(parts, run, n, made, { tx, called }),
  );
}

interface Made {
  took: IntakeMessage[];
  paid: PaidReply | undefined;
  /** What hooks added, as the model reads it. */
  notes: ModelMessage[];
}

async function ask(parts: TurnParts, run: TurnRun, n: number, made: Made): Promise<Called> {
  const { p, ctx, turn, session, agent, given } = run;
  // A request that was not sent because it did not fit took nothing: the next one is still the first.
  const by = { turn, call: p.tookOwn ? n : 0, route: JSON.stringify(run.route) };
  const intake = await parts.intake.next(session, by, ctx.halt);
  // A newer message asked for this turn to end, and its own turn answers.
  if (intake.interrupted) throw new Stopped();
  const took = intake.messages;
  made.took = took;
  const isAsked = took.length > 0 && parts.hooks.answers("context.building");
  const hooked: HookOutcome = isAsked ? await askAboutContext(parts, run, n, took) : {};
  if (hooked.deny !== undefined) return { declined: hooked.deny };
  made.notes = noteMessage([...(p.notes ?? []), ...(hooked.notes ?? [])]);
  const heard = parts.hooks.answers("answer.ready") || undefined;
  const { request, tainted, isFetched, full, fresh } = await buildRequest(parts, {
    session,
    agent,
    turn,
    given,
    tools: run.tools,
    model: run.model,
    thinking: run.terms.thinking,
    said: took.filter((m) => isSaid(run, m)),
    more: [...made.notes, ...nudges({ ...p, call: n }, parts.limits().modelCalls)],
    ...(mustAnswer(p) ? { mustAnswer: true } : {}),
  });
  if (full) return { full: { fresh } };
  const asked = () =>
    parts.paid.call(
      {
        turn,
        call: n,
        session,
        agent,
        request,
        ...spentFor(run.terms),
        maxOutputTokens: given?.settings?.maxOutputTokens,
        stopping: ctx.stopping,
        beforeCall: async () => {
          parts.bus.emit({ event: "turn.step", session, turn, step: stepNames.model(n) });
          // From here on a model may have read the interim results, so they can no longer be replaced.
          await parts.interims.sent(session);
          parts.crash.at("model.before");
        },
        onDelta: (delta) => {
          // A hook may still hold the answer back, so nobody sees it grow. It isn't asked about thoughts.
          if (heard && delta.type === "text") return;
          follow(run, n, delta);
          parts.bus.emit(toEvent({ session, turn, call: n }, delta));
        },
      },
      ctx.halt,
    );
  const paid = await ctx.apart("asks", asked);
  run.saying = undefined;
  if ("refused" in paid) return paid;
  made.paid = paid;
  parts.crash.at("model.after");
  const said = ownerWords(took);
  const isSentIn = made.notes.length > 0 || took.some(carriesOutside);
  // Taken from the request: what a reply may call depends on what it was offered.
  const ends = request.tools.map(({ name }) => name).filter(isEndingTool);
  return {
    reply: paid.reply,
    took: took.map((m) => m.turn),
    warnings: paid.warnings,
    authority: leastTrusted("owner", ...took.map((m) => m.authority)),
    tainted: tainted || isSentIn,
    isFetched: isFetched && !isSentIn,
    ...truthy({ tools: hooked.tools, heard }),
    ...(ends.length ? { ends } : {}),
    ...defined({ said: said || undefined, closing: p.closing }),
  };
}

/** TURNS-2: what the request contained leaves the inbox with it. */
function record(
  parts: TurnParts,
  run: TurnRun,
  n: number,
  { took, paid, notes }: Made,
  { tx, called }: { tx: Tx; called: Called },
): void {
  if ("refused" in called || "declined" in called || "full" in called) return;
  const { turn, session } = run;
  const { reply } = called;
  for (const m of took) {
    parts.intake.take(tx, m.turn, turn, n);
    if (isSaid(run, m)) parts.history.append(tx, { session, turn, ...userMessage(m) });
  }
  for (const message of notes)
    parts.history.append(tx, { session, turn, id: noteId(run, n), message, at: parts.clock.now(), outside: true });
  paid?.record(tx);
  parts.hooks.record(tx, "model.called", hookKeys.inTurn(turn, n), () => {
    const { inputTokens, outputTokens, cost } = reply.usage;
    const model = reply.ok ? reply.model : (run.model ?? "");
    return { agent: run.agent, session, turn, call: n, model, ok: reply.ok, inputTokens, outputTokens, cost };
  });
  // An empty message in the history makes some providers refuse the next request.
  if (!reply.ok || !reply.content.length) return;
  parts.history.append(tx, {
    session,
    turn,
    id: messageIds.reply(turn, run.segment, n),
    message: { role: "assistant", content: reply.content },
    at: parts.clock.now(),
    meta: { model: reply.model },
  });
  // What a caller brought along was counted too and is not in the next request.
  if (!run.given) parts.history.reported(session, reply.model, reply.ownUsage ?? reply.usage);
}

/** A caller's own message may stay out of the history. */
function isSaid({ given, turn }: TurnRun, m: IntakeMessage): boolean {
  return !(given?.silent && m.turn === turn);
}

/** What was seen of an answer stays when it is stopped in the middle. */
function follow(run: TurnRun, call: number, delta: ModelDelta): void {
  if (delta.type === "discard") run.saying = undefined;
  if (delta.type === "answering") run.saying = { call, text: run.saying?.text ?? "", model: delta.model };
  if (delta.type === "text") run.saying = { ...run.saying, call, text: (run.saying?.text ?? "") + delta.text };
}

/** The answer as it comes, for people who look on. */
function toEvent(of: { session: SessionKey; turn: TurnId; call: number }, delta: ModelDelta): LiveEvent {
  switch (delta.type) {
    case "text":
      return { event: "turn.delta", ...of, text: delta.text };
    case "thinking":
      return { event: "turn.thinking", ...of, text: delta.text };
    case "discard":
      return { event: "turn.discarded", ...of };
    case "answering":
      return { event: "turn.answering", ...of, model: delta.model, practice: delta.practice };
    case "retry": {
      const { model, failure, attempt, inMs } = delta;
      return { event: "turn.retrying", ...of, model, failure, attempt, inMs };
    }
    default:
      return assertNever(delta);
  }
}

/** Enough for the hosts of any message a person writes. */
export const MOST_SAID = 8000;

/** What the owner wrote, for the gate. Text that came along from outside doesn't count as the owner's. */
function ownerWords(took: readonly IntakeMessage[]): string {
  const own = took.filter((m) => m.authority === "owner" && m.outside !== 1);
  return (
    own
      .map((m) => m.text)
      // Only texts that can name a host are of interest to the gate.
      .filter((text) => text.includes(".") || text.includes("localhost"))
      .join(" ")
      .slice(0, MOST_SAID)
  );
}
