/**
 * One request to one model with one credential. Nothing is tried again here.
 *
 * WIRE-5: it throws only an AbortError, when the caller's signal aborts; every failure is returned as evidence.
 * WIRE-6: when it returns, nothing of it is left running: the timer is cancelled, the connection is closed or reusable.
 */
import type { ModelDelta, ModelRequest, RenderedRequest } from "../../../core/contracts/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { ModelFacts } from "../catalogue.ts";
import { type Evidence, readEvidence } from "../chain/classify.ts";
import type { Credential, Provider } from "../providers.ts";
import { Answer, type CollectedReply } from "./answer.ts";
import { Converter } from "./convert.ts";
import type { PostRequest, WrittenRequest } from "./http.ts";
import { imagesFor, isPictured, type LoadAttachment } from "./images.ts";
import { type AnswerOptions, answerOptions, formatWords, granted } from "./options.ts";
import { listParts, toolsIn } from "./parts.ts";
import { type EventReader, makeReader } from "./read/index.ts";
import type { TokenCounts } from "./reported.ts";
import { makeSdkModel, type SdkModel, type SdkOptions, write } from "./sdk.ts";
import { readEvents, type StreamListener } from "./stream.ts";
import { abortError, watch } from "./watch.ts";
import { needsLibrary, writeRequest } from "./write/index.ts";

export interface AttemptLimits {
  firstByteMs: number;
  idleMs: number;
  maxOutputTokens: number;
}

/**
 * `tokens`: what the provider reported as used, of a failure before it failed; absent when it reported nothing. `isCut`: it had
 * begun to answer, which costs something. `ignored`: settings the model does not take, by the name callers know.
 */
export type AttemptResult =
  | ({ ok: true; tokens?: TokenCounts; ignored: string[] } & CollectedReply)
  | { ok: false; evidence: Evidence; tokens?: TokenCounts; isCut?: true };

export interface LineParts {
  provider: Provider;
  modelId: string;
  facts: ModelFacts;
  limits: AttemptLimits;
  clock: Clock;
  post: PostRequest;
  /** Where attached pictures are; without it none is shown. */
  loadAttachment?: LoadAttachment;
}

/** One model of one provider: its converted history and, where it needs them, its library objects, made once and kept. */
export class ProviderLine {
  private readonly parts: LineParts;
  private readonly model: string;
  private readonly converter: Converter;
  private readonly sdk = new Map<string, Promise<SdkModel>>();

  constructor(parts: LineParts) {
    this.parts = parts;
    this.model = `${parts.provider.name}/${parts.modelId}`;
    this.converter = new Converter(parts.provider.api, this.model);
  }

  /** Loads the library where every request needs it. */
  async prepare(credential: Credential): Promise<void> {
    if (needsLibrary(this.parts.provider)) await this.load(credential);
  }

  /** Loads the library and makes the object for this credential. */
  private load(credential: Credential): Promise<SdkModel> {
    let model = this.sdk.get(credential.name);
    if (!model) {
      model = makeSdkModel(this.parts.provider, credential, this.parts.modelId);
      this.sdk.set(credential.name, model);
    }
    return model;
  }

  /** What `attempt` would send. */
  async render(credential: Credential, request: ModelRequest): Promise<RenderedRequest> {
    const { api } = this.parts.provider;
    const options = await this.options(request);
    const { body } = await this.write(credential, options);
    return { model: this.model, api, body, parts: listParts(options, request.notes, toolsIn(body, api)) };
  }

  private async write(credential: Credential, options: SdkOptions): Promise<WrittenRequest> {
    const { provider, modelId } = this.parts;
    const written = writeRequest({ provider, credential, modelId, options });
    return written ?? (await write(await this.load(credential), options));
  }

  private options(request: ModelRequest): Promise<SdkOptions> {
    const { provider, modelId, facts, limits, loadAttachment } = this.parts;
    const { maxOutputTokens } = limits;
    return requestOptions(request, {
      converter: this.converter,
      provider,
      modelId,
      facts,
      maxOutputTokens,
      ...defined({ loadAttachment }),
    });
  }

  async attempt(
    credential: Credential,
    request: ModelRequest,
    onDelta: (delta: ModelDelta) => void,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    if (signal.aborted) throw abortError(signal);
    const { clock, limits } = this.parts;
    const inner = new AbortController();
    let silence: Evidence | undefined;
    let tokens: TokenCounts | undefined;
    let hasBegun = false;
    const onAbort = () => inner.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    const watcher = watch(clock, limits, (code, ms) => {
      silence = toSilence(code, ms);
      inner.abort();
    });
    try {
      const written = await this.write(credential, await this.options(request));
      const { settings = {} } = request;
      const { ignored, jsonTool } = granted(written.body, request, this.parts.facts);
      const oneCall = settings.parallelToolCalls === false;
      const answer = new Answer({ model: this.model, stop: settings.stop, oneCall, onDelta });
      const reader = makeReader(this.parts.provider.api, answer, { jsonTool });
      const onUsage = (all: TokenCounts) => {
        tokens = all;
      };
      const onEvent = () => {
        hasBegun = true;
        watcher.touch();
      };
      await this.receive(written, reader, { onEvent, onUsage }, inner.signal);
      return { ok: true, ...answer.settle(), ...defined({ tokens }), ignored };
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      const evidence = silence ?? readEvidence(error, clock.now());
      return { ok: false, evidence, ...defined({ tokens }), ...truthy({ isCut: hasBegun }) };
    } finally {
      watcher.stop();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Sends and reads, again as long as the provider asks to go on with the same answer. */
  private async receive(
    written: WrittenRequest,
    reader: EventReader,
    { onEvent, onUsage }: StreamListener,
    signal: AbortSignal,
  ): Promise<void> {
    let before: TokenCounts | undefined;
    let next = written;
    for (;;) {
      const answer = await this.parts.post(next, signal);
      if (answer.status < 200 || answer.status >= 300) {
        const { status: statusCode, headers: responseHeaders } = answer;
        throw { statusCode, responseHeaders, responseBody: await answer.beginning(), message: "" };
      }
      let used: TokenCounts | undefined;
      await readEvents(answer, reader, {
        onEvent,
        onUsage: (tokens) => {
          used = add(before, tokens);
          onUsage(used);
        },
      });
      const { continuation } = reader;
      if (continuation === undefined) break;
      reader.continuation = undefined;
      before = used;
      const body = {
        ...(JSON.parse(written.body) as Record<string, unknown>),
        continuationToken: continuation,
      };
      next = { ...written, body: JSON.stringify(body) };
    }
    reader.end();
  }
}

/** What is asked of the model, in the words that all protocols share. */
export async function requestOptions(
  request: ModelRequest,
  line: Pick<LineParts, "provider" | "modelId" | "facts" | "loadAttachment"> & {
    converter: Converter;
    maxOutputTokens: number;
  },
): Promise<SdkOptions> {
  const { provider, modelId, facts, converter } = line;
  const options = answerOptions({ provider, modelId, facts, request, defaultMaxOutput: line.maxOutputTokens });
  const tools = converter.toolList(request.tools, request.system === "");
  const { messages } = request;
  // Only when there are some: a call without pictures waits for nothing here.
  const load = messages.some(isPictured) ? line.loadAttachment : undefined;
  const images = load && (await imagesFor(messages, { load, api: provider.api, sees: facts.images !== false }));
  return {
    prompt: converter.prompt(request.system + formatWords(request.settings), messages, {
      images,
      notes: request.notes,
      shared: request.shared,
    }),
    ...(tools ? { tools, toolChoice: chooseToolMode(request, options) } : {}),
    ...options,
  };
}

function add(before: TokenCounts | undefined, more: TokenCounts): TokenCounts {
  if (!before) return more;
  return {
    inputTokens: before.inputTokens + more.inputTokens,
    outputTokens: before.outputTokens + more.outputTokens,
    cacheReadTokens: before.cacheReadTokens + more.cacheReadTokens,
    cacheWriteTokens: before.cacheWriteTokens + more.cacheWriteTokens,
  };
}

function toSilence(code: "FIRST_BYTE_TIMEOUT" | "IDLE_TIMEOUT", ms: number): Evidence {
  const isIdle = code === "IDLE_TIMEOUT";
  const key = isIdle ? "models.idleTimeoutMs" : "models.firstByteTimeoutMs";
  const when = isIdle ? "in the middle of its answer" : "before its first word";
  const message = `silent for ${seconds(ms)} ${when}: ${key}`;
  return { status: null, body: "", message, codes: [code], retryAfterMs: null };
}

function chooseToolMode(
  { settings, tools }: ModelRequest,
  { providerOptions }: AnswerOptions,
): NonNullable<SdkOptions["toolChoice"]> {
  // Offered and not to be called: without the list a provider would refuse the calls in the history, and forget what it has cached.
  if (settings?.toolChoice === "none") return { type: "none" };
  const thinking = providerOptions?.anthropic?.thinking as { type: string } | undefined;
  // Anthropic refuses a forced call while the model thinks; the caller's instructions say it in words.
  const choice = thinking && thinking.type !== "disabled" ? undefined : settings?.toolChoice;
  if (choice === "required") return { type: "required" };
  // A name that is not offered would be refused by the provider; the door has checked it, a later call may offer less.
  if (choice && tools.some((tool) => tool.name === choice.tool)) return { type: "tool", toolName: choice.tool };
  return { type: "auto" };
}

function seconds(ms: number): string {
  return `${ms < 10_000 ? Number((ms / 1000).toFixed(1)) : Math.round(ms / 1000)} s`;
}
