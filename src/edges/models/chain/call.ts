/**
 * One call: asks the candidates that `next` names until one answers or nobody is left.
 *
 * CHAIN-7: what was streamed by an attempt that failed is declared void before anything else is streamed.
 * CHAIN-8: at most one answer is returned, and its deltas are exactly those after the last discard.
 */
import type {
  FailedAttempt,
  FailureClass,
  ModelDelta,
  ModelReply,
  ModelRequest,
} from "../../../core/contracts/index.ts";
import { addUsage, NO_USAGE, type Usage } from "../../../core/domain/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import { computeCost, isFree, type Price } from "../prices.ts";
import type { Credential } from "../providers.ts";
import type { ProviderLine } from "../wire/attempt.ts";
import type { TokenCounts } from "../wire/reported.ts";
import { pauseOrAbort } from "../wire/watch.ts";
import { classify, type Evidence, limitIn } from "./classify.ts";
import type { HealthBook } from "./health.ts";
import { type Candidate, type Next, next, type Tried } from "./next.ts";
import { cleanWords, failureSentence, findHint, makeNotice } from "./words.ts";

export interface Route extends Candidate {
  line: ProviderLine;
  key: Credential;
  price: Price | null;
}

export interface CallPlan {
  /** The model that should have answered, also when it has no route. */
  first: string;
  routes: readonly Route[];
  health: HealthBook;
  patienceMs: number;
  clock: Clock;
  log: Log;
}

interface Failed extends FailedAttempt {
  said: string;
  limit?: number | undefined;
  /** Its answer had begun. */
  isCut: boolean;
}

export async function callChain(
  plan: CallPlan,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { routes, health, clock } = plan;
  const start = clock.now();
  const tried = new Map<string, Tried>();
  const failed: Failed[] = [];
  // What failed attempts had used, as far as their providers said so: paid for too.
  let spent: Usage = NO_USAGE;
  let step = next(routes, health.entries, null, start);
  for (;;) {
    if ("stop" in step) return giveUp(failed, spent, hasOthers(routes));
    if ("wait" in step) await pauseOrAbort(clock, step.wait, signal);
    const route = findRoute(routes, "wait" in step ? step.candidate : step.use);
    const result = await ask(route, plan, request, onDelta, signal);
    const answered = (reply: Answered, ignored: string[]): ModelReply => ({
      ...reply,
      ...(spent === NO_USAGE ? {} : { usage: addUsage(spent, reply.usage), ownUsage: reply.usage }),
      model: route.model,
      practice: false,
      notice:
        [noticeFor(plan, route.model, failed), ignoredNotice(route.model, ignored)].filter(Boolean).join(" ") || null,
      ms: clock.now() - start,
      ...(failed.length ? { failed: failed.map(attempt) } : {}),
    });
    if (result.ok) return answered(result.reply, result.ignored);
    const { failure, evidence, empty, isCut } = result;
    if (result.usage && !empty) spent = addUsage(spent, result.usage);
    const times = (tried.get(route.id)?.times ?? 0) + 1;
    tried.set(route.id, { times, last: failure, retryAfterMs: evidence.retryAfterMs });
    const limit = failure === "context-overflow" ? limitIn(evidence) : undefined;
    failed.push({ at: clock.now(), model: route.model, failure, said: saidBy(evidence, route), limit, isCut });
    step = next(
      routes,
      health.entries,
      { candidate: route, failure, tried, deadline: start + plan.patienceMs },
      clock.now(),
    );
    // No other model is left to ask, and the caller knows better than a repeated request what to say to a silent one.
    if (empty && !("use" in step)) return answered(empty, []);
    if (empty) spent = addUsage(spent, empty.usage);
    plan.log.warn("a model did not answer", {
      model: route.model,
      credential: route.credential,
      failure,
      said: failed.at(-1)!.said,
      next: describe(step),
    });
    if ("stop" in step) continue;
    const [to, inMs] = "wait" in step ? [step.candidate, step.wait] : [step.use, 0];
    onDelta({ type: "retry", model: to.model, failure, attempt: failed.length + 1, inMs });
  }
}

function describe(step: Next): string {
  if ("stop" in step) return step.stop;
  return "wait" in step ? `${step.candidate.id} in ${step.wait} ms` : step.use.id;
}

type Answered = Omit<Extract<ModelReply, { ok: true }>, "model" | "practice" | "notice" | "ms">;

/** One attempt with its health, its discard and its price. */
async function ask(
  route: Route,
  plan: CallPlan,
  request: ModelRequest,
  onDelta: (delta: ModelDelta) => void,
  signal: AbortSignal,
): Promise<
  | { ok: true; reply: Answered; ignored: string[] }
  | {
      ok: false;
      failure: FailureClass;
      evidence: Evidence;
      usage: Usage | undefined;
      isCut: boolean;
      empty?: Answered;
    }
> {
  const { health, clock } = plan;
  const answering: ModelDelta = { type: "answering", model: route.model, practice: false };
  let streamed = false;
  health.probing(route.id);
  try {
    const result = await route.line.attempt(
      route.key,
      request,
      (delta) => {
        if (!streamed) onDelta(answering);
        streamed = true;
        onDelta(delta);
      },
      signal,
    );
    if (result.ok && !isEmptyAnswer(result, request)) {
      if (!streamed) onDelta(answering);
      health.succeeded(route.id);
      const { content, finish, tokens } = result;
      return {
        ok: true,
        ignored: result.ignored,
        reply: { ok: true, content, finish, usage: toUsage(route.price, tokens) },
      };
    }
    const evidence = result.ok ? EMPTY_ANSWER : result.evidence;
    const failure = result.ok ? "unknown" : classify(evidence);
    health.failed(route.id, failure, evidence.retryAfterMs, clock.now());
    if (streamed) onDelta({ type: "discard" });
    const { tokens } = result;
    const hasCost = tokens !== undefined || result.ok || result.isCut;
    const usage = hasCost ? toUsage(route.price, tokens) : undefined;
    if (!result.ok) return { ok: false, failure, evidence, usage, isCut: result.isCut ?? false };
    const empty: Answered = { ok: true, content: [], finish: result.finish, usage: usage ?? NO_USAGE };
    return { ok: false, failure, evidence, usage, isCut: false, empty };
  } catch (aborted) {
    health.unresolved(route.id);
    throw aborted;
  }
}

/** What a provider answered and did not count has an unknown cost, unless the model costs nothing. */
function toUsage(price: Price | null, tokens: TokenCounts | undefined): Usage {
  if (tokens) return { ...tokens, cost: computeCost(price, tokens) };
  return { ...NO_USAGE, cost: isFree(price) ? 0 : null };
}

const EMPTY_ANSWER: Evidence = {
  status: null,
  body: "",
  message: "the answer was empty",
  codes: [],
  retryAfterMs: null,
};

/** After tool results a model may have nothing to add; after a person's words silence is a fault. */
function isEmptyAnswer(
  result: { content: readonly unknown[]; finish: string },
  request: Pick<ModelRequest, "messages">,
): boolean {
  return result.content.length === 0 && result.finish !== "refusal" && request.messages.at(-1)?.role !== "tool";
}

function attempt({ at, model, failure }: Failed): FailedAttempt {
  return { at, model, failure };
}

function findRoute(routes: readonly Route[], candidate: Candidate): Route {
  return routes.find((route) => route.id === candidate.id)!;
}

function noticeFor(plan: CallPlan, answered: string, failed: readonly Failed[]): string | null {
  if (answered === plan.first) return null;
  const firstRoute = plan.routes.find((route) => route.model === plan.first);
  const inThisCall = failed.find((attempt) => attempt.model === plan.first)?.failure;
  const earlier = firstRoute ? plan.health.entries.get(firstRoute.id)?.last : undefined;
  return makeNotice(plan.first, inThisCall ?? earlier ?? null, answered);
}

/** What a caller asked for and this model does not take. */
function ignoredNotice(model: string, ignored: readonly string[]): string {
  return ignored.length ? `${model} does not take ${[...new Set(ignored)].join(" and ")}; it answered without.` : "";
}

function hasOthers(routes: readonly Route[]): boolean {
  return new Set(routes.map(({ model }) => model)).size > 1;
}

/** Too long comes first: it is the one failure the caller can fix at once, by compacting. */
function giveUp(failed: readonly Failed[], usage: Usage, hasOthers: boolean): ModelReply {
  const tooLong = failed.filter((f) => f.failure === "context-overflow");
  const failure = tooLong[0]?.failure ?? failed[0]?.failure ?? "unknown";
  const limits = tooLong.flatMap(({ limit }) => limit ?? []);
  return {
    ok: false,
    failure,
    message: failureSentence(failed),
    hint: findHint(failure, hasOthers, failed.find((one) => one.failure === failure)?.isCut),
    usage,
    failed: failed.map(attempt),
    // The smallest: any model that is asked next time must be able to hold it.
    ...(limits.length ? { limit: Math.min(...limits) } : {}),
  };
}

function saidBy(evidence: Evidence, route: Route): string {
  const fromBody = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(evidence.body)?.[1];
  const words = fromBody ?? evidence.message;
  const status = evidence.status === null ? "" : `HTTP ${evidence.status}: `;
  return words || status ? cleanWords(`${status}${words}`, [route.key.key]) : "";
}
