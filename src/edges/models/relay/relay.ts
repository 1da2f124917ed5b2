/**
 * The relay: calls that a runtime wrote in a provider's words, passed on over the same providers, keys, health and patience as our own
 * (see the contract in core/contracts/model-relay.ts).
 */
import type {
  ModelApi,
  ModelRelay,
  RelayCall,
  RelayedAnswer,
  RelayFailure,
  RelayWait,
} from "../../../core/contracts/index.ts";
import { asObject } from "../../../core/domain/index.ts";
import type { Clock, Log } from "../../../core/kit/index.ts";
import { classify, type Evidence, readEvidence } from "../chain/classify.ts";
import type { HealthBook } from "../chain/health.ts";
import { type Candidate, next, type Tried } from "../chain/next.ts";
import { cleanWords, failureSentence, findHint } from "../chain/words.ts";
import { PRACTICE_MODEL } from "../practice/index.ts";
import { computeCost, type Price } from "../prices.ts";
import type { Credential, Provider } from "../providers.ts";
import type { PostRaw, StreamedAnswer } from "../wire/http.ts";
import type { TokenCounts } from "../wire/reported.ts";
import { abortError, pauseOrAbort, watch } from "../wire/watch.ts";
import { answerHeaders, requestHeaders, requestUrl } from "./addressed.ts";
import { answerPractice } from "./practice.ts";
import { type RelayTarget, targetsFor } from "./targets.ts";
import { UsageTap } from "./usage-tap.ts";

export interface RelayParts {
  providers: ReadonlyMap<string, Provider>;
  fallbacks: readonly string[];
  describe: (provider: Provider, modelId: string) => { contextWindow: number; price: Price | null };
  health: HealthBook;
  limits: { firstByteMs: number; idleMs: number; patienceMs: number };
  postTo: (provider: Provider) => PostRaw;
  clock: Clock;
  log: Log;
}

interface RelayRoute extends Candidate {
  target: RelayTarget;
  key: Credential;
  price: Price | null;
}

export function makeRelay(parts: RelayParts): ModelRelay {
  const targets = (api: ModelApi, model: string) => targetsFor(parts, api, model);
  return {
    choose(api, model) {
      if (parts.providers.size === 0) return { model: PRACTICE_MODEL, practice: true };
      const [first] = targets(api, model);
      if (first) return { model: `${first.provider.name}/${first.modelId}`, practice: false };
      return {
        message: `No model provider is set up that speaks ${NAMES[api]}, which this runtime uses.`,
        hint: `Set ${KEYS[api]}, or describe a provider with the api "${api}" under models.providers in lares.yaml.`,
      };
    },
    async send(call, onWait, signal) {
      if (parts.providers.size === 0) return answerPractice(call, signal);
      const routes = targets(call.api, call.meant ?? call.model).flatMap((target) => routesTo(parts, target));
      return sendAlong(parts, routes, call, onWait, signal);
    },
  };
}

const NAMES: Record<ModelApi, string> = {
  anthropic: "Anthropic's Messages",
  "openai-chat": "OpenAI's Chat Completions",
  "openai-responses": "OpenAI's Responses",
  google: "Google's Gemini",
};

const KEYS: Record<ModelApi, string> = {
  anthropic: "ANTHROPIC_API_KEY",
  "openai-chat": "OPENAI_API_KEY",
  "openai-responses": "OPENAI_API_KEY",
  google: "GEMINI_API_KEY",
};

function routesTo({ describe }: RelayParts, target: RelayTarget): RelayRoute[] {
  const { provider, modelId } = target;
  const { contextWindow, price } = describe(provider, modelId);
  const model = `${provider.name}/${modelId}`;
  return provider.credentials.map((key) => ({
    id: `${model}@${key.name}`,
    provider: provider.name,
    model,
    credential: key.name,
    contextWindow,
    target,
    key,
    price,
  }));
}

interface FailedCall {
  model: string;
  failure: ReturnType<typeof classify>;
  said: string;
}

/** Asks one route after the other until an answer begins (RELAY-2). */
async function sendAlong(
  parts: RelayParts,
  routes: readonly RelayRoute[],
  call: RelayCall,
  onWait: (wait: RelayWait) => void,
  signal: AbortSignal,
): Promise<RelayedAnswer | RelayFailure> {
  const { health, clock } = parts;
  const start = clock.now();
  const tried = new Map<string, Tried>();
  const failed: FailedCall[] = [];
  let last: { evidence: Evidence; headers: Readonly<Record<string, string>> } | undefined;
  let step = next(routes, health.entries, null, start);
  for (;;) {
    if ("stop" in step) return giveUp(failed, last, parts.fallbacks.length > 0);
    if ("wait" in step) await pauseOrAbort(clock, step.wait, signal);
    const candidate = "wait" in step ? step.candidate : step.use;
    const route = routes.find(({ id }) => id === candidate.id)!;
    const result = await ask(parts, route, call, signal);
    if (result.ok) return result;
    const { evidence, failure } = result;
    last = result;
    const times = (tried.get(route.id)?.times ?? 0) + 1;
    tried.set(route.id, { times, last: failure, retryAfterMs: evidence.retryAfterMs });
    failed.push({ model: route.model, failure, said: saidBy(evidence, route.key) });
    const error = { candidate: route, failure, tried, deadline: start + parts.limits.patienceMs };
    step = next(routes, health.entries, error, clock.now());
    parts.log.warn("a model did not answer a runtime", { model: route.model, credential: route.credential, failure });
    if ("stop" in step) continue;
    const [to, inMs] = "wait" in step ? [step.candidate, step.wait] : [step.use, 0];
    onWait({ model: to.model, failure, inMs });
  }
}

/** One request to one provider, up to the beginning of its answer. */
async function ask(
  parts: RelayParts,
  route: RelayRoute,
  call: RelayCall,
  signal: AbortSignal,
): Promise<
  | RelayedAnswer
  | {
      ok: false;
      evidence: Evidence;
      failure: ReturnType<typeof classify>;
      headers: Readonly<Record<string, string>>;
    }
> {
  const { clock, health, limits, postTo } = parts;
  if (signal.aborted) throw abortError(signal);
  const inner = new AbortController();
  const onAbort = () => inner.abort(abortError(signal));
  signal.addEventListener("abort", onAbort, { once: true });
  const letGo = () => signal.removeEventListener("abort", onAbort);
  let isSilent = false;
  const first = watch(clock, { firstByteMs: limits.firstByteMs, idleMs: limits.firstByteMs }, () => {
    isSilent = true;
    inner.abort();
  });
  health.probing(route.id);
  try {
    const { target, key } = route;
    const written = {
      url: requestUrl(target, call),
      headers: requestHeaders(target.provider.api, key, call),
      body: target.modelId === call.model ? call.body : withModel(call, target.modelId),
    };
    const answer = await postTo(target.provider)(written, inner.signal);
    if (answer.status >= 200 && answer.status < 300) {
      health.succeeded(route.id);
      return relayed({ parts, route, call, answer, inner, signal, done: letGo });
    }
    const { status: statusCode, headers } = answer;
    const evidence = readEvidence(
      { statusCode, responseHeaders: headers, responseBody: await answer.beginning(), message: "" },
      clock.now(),
    );
    return fail(parts, route, evidence, answerHeaders(headers));
  } catch (error) {
    if (signal.aborted) {
      health.unresolved(route.id);
      letGo();
      throw abortError(signal);
    }
    const evidence = isSilent ? silence(limits.firstByteMs) : readEvidence(error, clock.now());
    return fail(parts, route, evidence, {});
  } finally {
    first.stop();
  }

  function fail(
    { health: book }: RelayParts,
    { id }: RelayRoute,
    evidence: Evidence,
    headers: Readonly<Record<string, string>>,
  ) {
    letGo();
    const failure = classify(evidence);
    book.failed(id, failure, evidence.retryAfterMs, clock.now());
    return { ok: false as const, evidence, failure, headers };
  }
}

function silence(ms: number): Evidence {
  const message = `silent for ${Math.round(ms / 1000)} s before its first word: models.firstByteTimeoutMs`;
  return { status: null, body: "", message, codes: ["FIRST_BYTE_TIMEOUT"], retryAfterMs: null };
}

interface Begun {
  parts: RelayParts;
  route: RelayRoute;
  call: RelayCall;
  answer: StreamedAnswer;
  inner: AbortController;
  signal: AbortSignal;
  /** Lets go of the caller's signal. */
  done: () => void;
}

function relayed({ parts, route, call, answer, inner, signal, done }: Begun): RelayedAnswer {
  const tap = new UsageTap(call.api, call.stream);
  const { clock, limits } = parts;
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    const reader = answer.pieces()[Symbol.asyncIterator]();
    try {
      for (;;) {
        // The time limit is for the provider. While the caller takes its time, nobody is waited for.
        const limit = watch(clock, { firstByteMs: limits.idleMs, idleMs: limits.idleMs }, () => inner.abort());
        const { value, done: isOver } = await reader.next().finally(() => limit.stop());
        if (isOver) break;
        tap.feed(value);
        yield value;
      }
      tap.end();
    } catch (error) {
      // Its own fault, and not the caller's who left: the next call asks somebody else first.
      if (!signal.aborted) {
        const failure = inner.signal.aborted ? "timeout" : classify(readEvidence(error, clock.now()));
        parts.health.failed(route.id, failure, null, clock.now());
      }
      throw error;
    } finally {
      await reader.return?.();
      done();
    }
  }
  return {
    ok: true,
    model: route.model,
    status: answer.status,
    headers: answerHeaders(answer.headers),
    pieces,
    used() {
      const tokens = tap.isWhole && tap.reported ? tap.reported : guess(tap, call);
      return {
        usage: { ...tokens, cost: computeCost(route.price, tokens) },
        isWhole: tap.isWhole && tap.reported !== undefined,
      };
    },
  };
}

/** About four characters make a token; the provider's own figures count where it gave some. */
function guess({ reported, characters }: UsageTap, { body }: RelayCall): TokenCounts {
  const outputTokens = Math.max(reported?.outputTokens ?? 0, Math.ceil(characters / 4));
  if (reported) return { ...reported, outputTokens };
  return { inputTokens: Math.ceil(body.length / 4), outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 };
}

/** The same request for another model. Google's names it in the address. */
function withModel(call: RelayCall, modelId: string): Uint8Array {
  if (call.api === "google") return call.body;
  const body = asObject(JSON.parse(Buffer.from(call.body).toString("utf8")));
  return Buffer.from(JSON.stringify({ ...body, model: modelId }));
}

function saidBy(evidence: Evidence, key: Credential): string {
  const words = messageIn(evidence.body) ?? evidence.message;
  const status = evidence.status === null ? "" : `HTTP ${evidence.status}: `;
  return words || status ? cleanWords(`${status}${words}`, [key.key]) : "";
}

function messageIn(body: string): string | undefined {
  try {
    const top = asObject(JSON.parse(body));
    const { message } = asObject(top.error);
    return typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

/** What a caller understands better in its provider's words, and what has nothing to do with our keys. */
const THEIR_WORDS: ReadonlySet<string> = new Set([
  "context-overflow",
  "format",
  "not-found",
  "rate-limit",
  "overload",
  "server-error",
]);

function giveUp(
  failed: readonly FailedCall[],
  last: { evidence: Evidence; headers: Readonly<Record<string, string>> } | undefined,
  hasOthers: boolean,
): RelayFailure {
  const failure = failed.at(-1)?.failure ?? "unknown";
  const evidence = last?.evidence;
  const isTheirs = evidence?.status != null && THEIR_WORDS.has(failure);
  return {
    ok: false,
    failure,
    message: failureSentence(failed),
    hint: findHint(failure, hasOthers),
    said: isTheirs ? { status: evidence.status!, body: evidence.body, headers: last?.headers ?? {} } : null,
  };
}
