/** One model call as a recorded step: take, build, set aside, call, settle, record. */
import { type ModelReply, Stopped } from "../../core/contracts/index.ts";
import {
  type Authority,
  type EndingTool,
  isEndingTool,
  type Json,
  leastTrusted,
  messageIds,
} from "../../core/domain/index.ts";
import { mustAnswer, nudges } from "./endings.ts";
import { carriesOutside, userMessage } from "./finish.ts";
import type { IntakeMessage, SetAside, TurnParts } from "./ports.ts";
import { buildRequest } from "./request.ts";
import { type Run, spentFor } from "./run.ts";
import { recordUsage } from "./store.ts";

export type Called =
  | {
      reply: ModelReply;
      took: string[];
      warnings?: string[];
      authority: Authority;
      tainted: boolean;
      said?: string;
      /** Tools offered in it that end a turn without a word. */
      ends?: EndingTool[];
    }
  | { refused: string }
  /** Not sent: it does not fit. `fresh`: what of it is new, in tokens. */
  | { full: { fresh: number } };

/** For what was streamed before a stop, which no provider counts for us. */
const LETTERS_PER_TOKEN = 4;

/** One model call with everything that waits in the inbox for it. */
export async function call(parts: TurnParts, run: Run): Promise<Called> {
  const { p, ctx, turn, session, agent } = run;
  const n = p.call++;
  const routeKey = JSON.stringify(run.route);
  let took: IntakeMessage[] = [];
  let aside: SetAside | undefined;
  let streamed = 0;
  const isSaid = (m: IntakeMessage) => !(run.given?.silent && m.turn === turn);
  const called = ctx.step(
    `model:${n}`,
    async () => {
      // A request that was not sent because it did not fit took nothing: the next one is still the first.
      const by = { turn, call: p.tookOwn ? n : 0, route: routeKey };
      const intake = await parts.intake.next(session, by, ctx.halt);
      if (intake.interrupted) throw new Stopped();
      took = intake.messages;
      const { request, tainted, full, fresh } = await buildRequest(parts, {
        ...{ session, agent, given: run.given, tools: run.tools, model: run.model, thinking: run.terms.thinking },
        said: took.filter(isSaid),
        more: nudges({ ...p, call: n }, parts.limits().modelCalls),
        ...(mustAnswer(p) ? { mustAnswer: true } : {}),
      });
      if (full) return { full: { fresh } };
      const signal = ctx.halt;
      const got = await parts.spending.reserve(
        { turn, call: n, session, agent, request, ...spentFor(run.terms) },
        signal,
      );
      if ("refused" in got) return got;
      aside = got;
      parts.bus.emit({ event: "turn.step", session, turn, step: `model:${n}` });
      await parts.interims.sent(session);
      parts.crash.at("model.before");
      const maxOutputTokens = leastOf(aside.maxOutputTokens, run.given?.settings?.maxOutputTokens);
      const reply = await parts.models.call(
        { ...request, ...(maxOutputTokens ? { maxOutputTokens } : {}) },
        (delta) => {
          if ("text" in delta) streamed += delta.text.length;
          if (delta.type === "text") parts.bus.emit({ event: "turn.delta", session, turn, call: n, text: delta.text });
          else if (delta.type === "thinking")
            parts.bus.emit({ event: "turn.thinking", session, turn, call: n, text: delta.text });
          else if (delta.type === "discard") parts.bus.emit({ event: "turn.discarded", session, turn, call: n });
          else if (delta.type === "answering") {
            const { model, practice } = delta;
            parts.bus.emit({ event: "turn.answering", session, turn, call: n, model, practice });
          } else {
            const { model, failure, attempt, inMs } = delta;
            parts.bus.emit({ event: "turn.retrying", session, turn, call: n, model, failure, attempt, inMs });
          }
        },
        signal,
      );
      parts.crash.at("model.after");
      const authority = leastTrusted("owner", ...took.map((m) => m.authority));
      const warnings = aside.settle(reply.usage);
      const touched = tainted || took.some(carriesOutside);
      const said = ownerWords(took);
      const ends = request.tools.map(({ name }) => name).filter(isEndingTool);
      const all = {
        ...{ reply, took: took.map((m) => m.turn), warnings, authority, tainted: touched },
        ...(ends.length ? { ends } : {}),
      };
      return (said ? { ...all, said } : all) as unknown as Json;
    },
    (tx, result) => {
      const done = result as unknown as Called;
      if ("refused" in done || "full" in done) return;
      const { reply } = done;
      aside?.record(tx);
      const at = parts.clock.now();
      for (const m of took) {
        parts.intake.take(tx, m.turn, turn, n);
        if (isSaid(m)) parts.history.append(tx, { session, turn, ...userMessage(m) });
      }
      recordUsage(tx, { turn, call: n, session, agent, reply, at });
      if (!reply.ok || !reply.content.length) return;
      parts.history.append(tx, {
        session,
        turn,
        id: messageIds.reply(turn, run.segment, n),
        message: { role: "assistant", content: reply.content },
        at,
        meta: { model: reply.model },
      });
      // What a caller brought along was counted too and is not in the next request.
      if (!run.given) parts.history.reported(session, reply.model, reply.ownUsage ?? reply.usage);
    },
  ) as unknown as Promise<Called>;
  return called.catch((error: unknown) => {
    aside?.drop(Math.ceil(streamed / LETTERS_PER_TOKEN));
    throw error;
  });
}

/** Enough for the hosts of any message a person writes. */
export const MOST_SAID = 8000;

/** What the owner wrote, for the gate: whatever came along from outside is not the owner's word. */
function ownerWords(took: readonly IntakeMessage[]): string {
  const own = took.filter((m) => m.authority === "owner" && m.outside !== 1);
  return own
    .map((m) => m.text)
    .filter((text) => text.includes(".") || text.includes("localhost"))
    .join(" ")
    .slice(0, MOST_SAID);
}

function leastOf(...limits: (number | undefined)[]): number | undefined {
  const set = limits.filter((limit) => limit !== undefined);
  return set.length ? Math.min(...set) : undefined;
}
