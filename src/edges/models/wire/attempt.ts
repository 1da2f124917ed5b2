/**
 * One request to one model with one credential. Nothing is tried again here.
 *
 * WIRE-5: it throws only an AbortError, when the caller's signal aborts; every failure is returned as evidence.
 * WIRE-6: when it returns, nothing of it is left running: the timer is cancelled, the connection is closed or reusable.
 */
import type { ModelDelta, ModelRequest, RenderedRequest } from "../../../core/contracts/index.ts";
import type { Clock } from "../../../core/kit/index.ts";
import { defined } from "../../../core/kit/index.ts";
import type { ModelFacts } from "../catalogue.ts";
import { type Evidence, readEvidence } from "../chain/classify.ts";
import type { Credential, Provider } from "../providers.ts";
import { type CollectedReply, collect } from "./collect.ts";
import { Converter } from "./convert.ts";
import { imagesFor, isPictured, type LoadAttachment } from "./images.ts";
import { type AnswerOptions, answerOptions, formatWords } from "./options.ts";
import { listParts, toolsIn } from "./parts.ts";
import type { TokenCounts } from "./reported.ts";
import { makeSdkModel, type SdkFetch, type SdkModel, type SdkOptions, type SdkPart } from "./sdk.ts";
import { abortError, watch } from "./watch.ts";

export interface AttemptLimits {
  firstByteMs: number;
  idleMs: number;
  maxOutputTokens: number;
}

/** `tokens` of a failure: what the provider had reported as used before it failed. */
export type AttemptResult = ({ ok: true } & CollectedReply) | { ok: false; evidence: Evidence; tokens?: TokenCounts };

export interface LineParts {
  provider: Provider;
  modelId: string;
  facts: ModelFacts;
  limits: AttemptLimits;
  clock: Clock;
  fetch: SdkFetch;
  /** Where attached pictures are; without it none is shown. */
  loadAttachment?: LoadAttachment;
}

/** One model of one provider: its converted history and its library objects, made once and kept. */
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

  /** Loads the library and makes the object for this credential. */
  load(credential: Credential): Promise<SdkModel> {
    let model = this.sdk.get(credential.name);
    if (!model) {
      model = makeSdkModel(this.parts.provider, credential, this.parts.modelId, this.parts.fetch);
      this.sdk.set(credential.name, model);
    }
    return model;
  }

  /** What `attempt` would send, not sent: the library writes it to a fetch that goes nowhere. */
  async render(credential: Credential, request: ModelRequest): Promise<RenderedRequest> {
    const { provider, modelId } = this.parts;
    const { api } = provider;
    let body: string | undefined;
    const model = await makeSdkModel(provider, credential, modelId, async (_url, init) => {
      body = String(init?.body ?? "");
      throw new Error("shown, not sent");
    });
    const options = await this.options(request);
    try {
      await model.doStream(options);
    } catch (error) {
      if (body === undefined) throw error;
    }
    const written = body ?? "{}";
    return { model: this.model, api, body: written, parts: listParts(options, request.notes, toolsIn(written, api)) };
  }

  private async options(request: ModelRequest): Promise<SdkOptions> {
    const { limits, provider, modelId, facts } = this.parts;
    const options = answerOptions({ provider, modelId, facts, request, defaultMaxOutput: limits.maxOutputTokens });
    const tools = this.converter.toolList(request.tools, request.system === "");
    const { messages } = request;
    // Only when there are some: a call without pictures waits for nothing here.
    const load = messages.some(isPictured) ? this.parts.loadAttachment : undefined;
    const images = load && (await imagesFor(messages, { load, api: provider.api, sees: facts.images !== false }));
    return {
      prompt: this.converter.prompt(request.system + formatWords(request.settings), messages, {
        images,
        notes: request.notes,
        shared: request.shared,
      }),
      ...(tools ? { tools, toolChoice: chooseToolMode(request, options) } : {}),
      ...options,
      // For the usage of an answer that is never finished (`reported.ts`).
      includeRawChunks: true,
    };
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
    let reader: ReadableStreamDefaultReader<SdkPart> | undefined;
    let silence: Evidence | undefined;
    let tokens: TokenCounts | undefined;
    const giveUp = () => {
      inner.abort();
      // A stalled read ends at once, also where the library or a test's fetch does not pass the signal on.
      reader?.cancel().catch(() => {});
    };
    const onAbort = () => giveUp();
    signal.addEventListener("abort", onAbort, { once: true });
    const watcher = watch(clock, limits, (code, ms) => {
      const key = code === "IDLE_TIMEOUT" ? "models.idleTimeoutMs" : "models.firstByteTimeoutMs";
      const when = code === "IDLE_TIMEOUT" ? "in the middle of its answer" : "before its first word";
      const message = `silent for ${seconds(ms)} ${when}: ${key}`;
      silence = { status: null, body: "", message, codes: [code], retryAfterMs: null };
      giveUp();
    });
    try {
      const model = await this.load(credential);
      const { stream } = await model.doStream({ ...(await this.options(request)), abortSignal: inner.signal });
      reader = stream.getReader();
      // The limit may have passed while there was no reader to cancel.
      if (inner.signal.aborted) giveUp();
      const collected = await collect(reader, {
        model: this.model,
        ...(request.settings?.stop ? { stop: request.settings.stop } : {}),
        onDelta,
        onPart: watcher.touch,
        onUsage: (reported) => {
          tokens = reported;
        },
      });
      return { ok: true, ...collected };
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      return { ok: false, evidence: silence ?? readEvidence(error, clock.now()), ...defined({ tokens }) };
    } finally {
      watcher.stop();
      signal.removeEventListener("abort", onAbort);
      // After an error event the rest of the stream is not read; the connection must not wait for it.
      reader?.cancel().catch(() => {});
    }
  }
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
