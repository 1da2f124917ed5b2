/**
 * What the model sees: the prompt a session began with, and a window of its history.
 *
 * X1: prompt and tools are byte-stable for the life of a session (the providers' caches depend on it).
 * X2: the window only grows at its end until it is full, then it moves on by half, so the cached prefix holds for long stretches.
 * X3: a turn's cost does not grow with the session: the window is bounded in tokens and in messages.
 * X4: what is kept in memory is a copy; losing it costs a read, never a message.
 */
import { createHash } from "node:crypto";
import type { Records, ThinkingLevel, ToolSpec, Tx } from "../../core/contracts/index.ts";
import type { AgentId, Given, ModelMessage, SessionKey, TurnId } from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import type { ContextConfig } from "./config.ts";
import {
  appendMessage,
  keepPrompt,
  moveWindow,
  type NewMessage,
  readPrompt,
  readSession,
  readWindow,
  replaceFrom,
  tuneSession,
} from "./store.ts";
import { estimateTokens } from "./tokens.ts";
import { wellFormed } from "./well-formed.ts";

export interface Prompt {
  system: string;
  tools: ToolSpec[];
}

export interface ContextParts {
  records: Records;
  clock: Clock;
  config: () => ContextConfig;
  systemPrompt: (agent: AgentId) => Promise<string>;
  tools: () => ToolSpec[];
}

interface Hot {
  prompt?: Prompt;
  model: string | null;
  thinking: ThinkingLevel | null;
  from: number;
  messages: ModelMessage[];
  /** Beside each message: whether it carries text from outside (I12). */
  outside: boolean[];
  /** Ids of what is in the window or was appended since: a repeated append must not show twice. */
  ids: Set<string>;
  tokens: number;
}

/** Sessions whose window stays in memory; the least recently used one goes first. */
const MOST_HOT = 256;
/** And their sum, so that a few long ones cannot fill the memory: about 8 MB of text. */
const MOST_HOT_TOKENS = 2_000_000;

export class Contexts {
  private readonly parts: ContextParts;
  private readonly hot = new Map<SessionKey, Hot>();
  private readonly prompts = new Map<string, Prompt>();
  private hotTokens = 0;

  constructor(parts: ContextParts) {
    this.parts = parts;
  }

  /** Everything the next request of this session is made of. */
  async build(
    session: SessionKey,
    agent: AgentId,
    given?: Given,
  ): Promise<
    Prompt & { messages: ModelMessage[]; model: string | null; thinking: ThinkingLevel | null; tainted: boolean }
  > {
    const hot = await this.load(session);
    hot.prompt ??= await this.promptFor(session, agent);
    const tainted = hot.outside.includes(true);
    const { model, thinking } = hot;
    if (!given) return { ...hot.prompt, messages: wellFormed(hot.messages), model, thinking, tainted };
    // What a caller brings for one turn stands around what the session has.
    return {
      system: [hot.prompt.system, given.instructions].filter(Boolean).join("\n\n"),
      tools: given.tools ?? [...hot.prompt.tools, ...(given.finish ?? [])],
      messages: wellFormed([...(given.history ?? []), ...hot.messages]),
      model,
      thinking,
      tainted,
    };
  }

  /** Adds to the history inside the caller's transaction. */
  append(tx: Tx, m: Omit<NewMessage, "tokens">): void {
    const tokens = estimateTokens(m.message.content);
    appendMessage(tx, { ...m, tokens });
    const hot = this.hot.get(m.session);
    if (!hot || hot.ids.has(m.id)) return;
    hot.ids.add(m.id);
    hot.messages.push(m.message);
    hot.outside.push(m.outside ?? false);
    this.weigh(hot, tokens);
    this.moveOn(tx, m.session, hot);
  }

  /** The provider says the request is too long: half of the window goes. False when there is nothing left to give. */
  async shrink(session: SessionKey): Promise<boolean> {
    const hot = await this.load(session);
    if (hot.messages.length < 4) return false;
    await this.parts.records.write((tx) => this.cut(tx, session, hot, Math.floor(hot.messages.length / 2)));
    return true;
  }

  /** The message of `target` and what followed it leave the window for good; the originals stay in the records. */
  rewind(tx: Tx, session: SessionKey, target: TurnId, by: TurnId): void {
    replaceFrom(tx, session, `${target}:in`, by);
    this.drop(session);
  }

  /** Which model and how much thinking this session asks for. */
  async tune(
    session: SessionKey,
    change: { model?: string | null; thinking?: string | null },
  ): Promise<{ model: string | null; thinking: string | null }> {
    const { model = null, thinking = null } = (await readSession(this.parts.records, session)) ?? {};
    const set = { model, thinking, ...change } as { model: string | null; thinking: string | null };
    await this.parts.records.write((tx) => tuneSession(tx, session, set));
    this.drop(session);
    return set;
  }

  /** Forgets the copy, e.g. after a reset or an import. */
  drop(session: SessionKey): void {
    const hot = this.hot.get(session);
    if (hot) this.hotTokens -= hot.tokens;
    this.hot.delete(session);
  }

  private async load(session: SessionKey): Promise<Hot> {
    const known = this.hot.get(session);
    if (known) {
      this.hot.delete(session);
      this.hot.set(session, known);
      return known;
    }
    const { records } = this.parts;
    const row = await readSession(records, session);
    const from = row?.context_from ?? 0;
    const rows = (await readWindow(records, session, from, this.parts.config().maxMessages)).reverse();
    const hot: Hot = {
      model: row?.model ?? null,
      thinking: (row?.thinking ?? null) as ThinkingLevel | null,
      from: rows[0]?.seq ?? from,
      messages: rows.map((r) => ({ role: r.role, content: JSON.parse(r.content) }) as ModelMessage),
      outside: rows.map((r) => r.outside === 1),
      ids: new Set(rows.map((r) => r.id)),
      tokens: 0,
    };
    // Another load of the same session may have finished meanwhile; the first one is the one being appended to.
    const meanwhile = this.hot.get(session);
    if (meanwhile) return meanwhile;
    this.hot.set(session, hot);
    this.weigh(
      hot,
      rows.reduce((sum, r) => sum + r.tokens, 0),
    );
    return hot;
  }

  private weigh(hot: Hot, tokens: number): void {
    hot.tokens += tokens;
    this.hotTokens += tokens;
    for (const [key, other] of this.hot) {
      if (this.hot.size <= MOST_HOT && this.hotTokens <= MOST_HOT_TOKENS) return;
      if (other !== hot) this.drop(key);
    }
  }

  /** Moves the window's start when it is full. Only between turns of talk: it begins with a person's message. */
  private moveOn(tx: Tx, session: SessionKey, hot: Hot): void {
    const { maxTokens, maxMessages } = this.parts.config();
    if (hot.tokens <= maxTokens && hot.messages.length <= maxMessages) return;
    let left = hot.tokens;
    let at = 0;
    while (at < hot.messages.length - 1 && (left > maxTokens / 2 || hot.messages.length - at > maxMessages / 2)) {
      left -= estimateTokens(hot.messages[at]!.content);
      at++;
    }
    this.cut(tx, session, hot, at);
  }

  private cut(tx: Tx, session: SessionKey, hot: Hot, count: number): void {
    let at = count;
    while (at < hot.messages.length && hot.messages[at]!.role !== "user") at++;
    // A single turn that fills the window: keep it, the provider's limit is the judge.
    if (at >= hot.messages.length) return;
    hot.outside.splice(0, at);
    const gone = hot.messages.splice(0, at).reduce((sum, m) => sum + estimateTokens(m.content), 0);
    hot.tokens -= gone;
    this.hotTokens -= gone;
    // At least: what was replaced in between is in the records and not in the window.
    hot.from += at;
    // Ids of the far past are not needed: a turn repeats only its own appends.
    hot.ids = new Set([...hot.ids].slice(-hot.messages.length));
    moveWindow(tx, session, hot.from);
  }

  private async promptFor(session: SessionKey, agent: AgentId): Promise<Prompt> {
    const { records, clock } = this.parts;
    const hash = (await readSession(records, session))?.prompt;
    if (hash) return this.cached(hash) ?? this.remember(hash, await readPrompt(records, hash));
    const system = await this.parts.systemPrompt(agent);
    const tools = JSON.stringify(this.parts.tools());
    const fresh = createHash("sha256").update(system).update("\0").update(tools).digest("hex").slice(0, 32);
    if (!(await readSession(records, session))) return { system, tools: this.parts.tools() };
    void records.write((tx) => keepPrompt(tx, { session, hash: fresh, system, tools, at: clock.now() }));
    return this.cached(fresh) ?? this.remember(fresh, { system, tools });
  }

  private cached(hash: string): Prompt | undefined {
    return this.prompts.get(hash);
  }

  private remember(hash: string, stored: { system: string; tools: string } | undefined): Prompt {
    const prompt: Prompt = {
      system: stored?.system ?? "",
      tools: JSON.parse(stored?.tools ?? "[]") as ToolSpec[],
    };
    if (this.prompts.size > 64) this.prompts.clear();
    this.prompts.set(hash, prompt);
    return prompt;
  }
}
