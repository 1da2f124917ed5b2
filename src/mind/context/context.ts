/**
 * What the model sees: the prompt a session started with, the notes, and a window of its history.
 *
 * CONTEXT-1: prompt and tools are byte-stable for the life of a session (the providers' caches depend on it).
 * CONTEXT-2: the notes and the window's beginning change only when the session is compacted, undone or reset, or something in it
 * is forgotten; in between, the window only grows at its end, so each request is a prefix of the next.
 * CONTEXT-3: a turn's cost does not grow with the session: the window is bounded in tokens and in messages.
 * CONTEXT-4: what is kept in memory is a copy; losing it costs a read, never a message.
 * CONTEXT-5: how full the window is follows from the provider's own count, plus an estimate of what came after it.
 * CONTEXT-6: one kind of message may still change: an interim result, as long as no model has been sent it (interims.ts).
 */
import { createHash } from "node:crypto";
import type { Records, ThinkingLevel, ToolSpec, Tx } from "../../core/contracts/index.ts";
import {
  type AgentId,
  type Given,
  isReplyId,
  isResultId,
  type ModelMessage,
  messageIds,
  readReplyId,
  type SessionKey,
  type TurnId,
  type Usage,
} from "../../core/domain/index.ts";
import type { Clock } from "../../core/kit/index.ts";
import { defined } from "../../core/kit/index.ts";
import { type Carry, carryText, NO_CARRY } from "./carry.ts";
import type { ContextConfig } from "./config.ts";
import { masked, withoutMentions } from "./forgotten.ts";
import { Interims } from "./interims.ts";
import { notesText } from "./notes.ts";
import type { SessionViews } from "./ports.ts";
import { Speakers } from "./speakers.ts";
import * as store from "./store.ts";
import { estimateTokens, textTokens, toolTokens } from "./tokens.ts";
import { wellFormed } from "./well-formed.ts";
import { type Shares, shareOut } from "./window.ts";

export interface Prompt {
  system: string;
  /** How many of its characters are the same in all of the agent's chats in this situation. */
  shared?: number;
  tools: ToolSpec[];
}

export interface ContextParts {
  records: Records;
  sessions: SessionViews;
  clock: Clock;
  config: () => ContextConfig;
  /** The system prompt of a session for its whole life: built once, when it starts or is reset. */
  prompt: (of: { agent: AgentId; session: SessionKey; model: string }) => Promise<Prompt>;
  /** The prompt for a program that supplies its own conversation: who the agent is, and whose word counts. */
  callerPrompt: (agent: AgentId) => Promise<string>;
  /** The model a request goes to; without an id the default one. */
  model: (id: string | undefined) => { id: string; contextWindow: number };
  /** The model an agent is configured with. */
  agentModel: (agent: AgentId) => string | undefined;
  /** The memories this session may see, within this many tokens; read once until the session is reset or compacted. */
  snapshot: (of: { session: SessionKey; agent: AgentId; tokens: number }) => Promise<string>;
}

/** A session's current window, with everything needed to decide about it. */
export interface ContextView {
  agent: AgentId;
  model: { id: string; contextWindow: number };
  prompt: Prompt;
  systemTokens: number;
  toolTokens: number;
  snapshot: string;
  carry: Carry;
  carryTainted: boolean;
  /** Of what the notes were made of, somebody sent in text from outside. */
  carrySentIn: boolean;
  notesTokens: number;
  /** From the records: where the window starts, and which compaction is in effect. */
  base: number;
  compaction: string | null;
  /** The messages' numbers, and the next one's. Messages that were edited away leave gaps. */
  numbers: readonly number[];
  next: number;
  messages: readonly ModelMessage[];
  sizes: readonly number[];
  outside: readonly boolean[];
  /** Somebody sent it in: it isn't what the agent's own tools fetched. */
  sentIn: readonly boolean[];
  /** What the next request would cost before anything new is said. */
  tokens: number;
  /** How many of the messages the provider has counted; 0: everything is an estimate. */
  counted: number;
  /** The model that was asked when they were counted. */
  countedBy?: string;
  shares: Shares;
}

interface KnownPrompt extends Prompt {
  systemTokens: number;
  toolTokens: number;
}

interface Hot {
  agent: AgentId;
  prompt?: KnownPrompt;
  callerPrompt?: string;
  model: string | null;
  thinking: ThinkingLevel | null;
  base: number;
  compaction: string | null;
  carry: Carry;
  carryTainted: boolean;
  /** Of what the notes were made of, somebody sent in text from outside. */
  carrySentIn: boolean;
  /** Null until it was frozen. */
  snapshot: string | null;
  notes: string;
  notesTokens: number;
  numbers: number[];
  next: number;
  messages: ModelMessage[];
  sizes: number[];
  /** For each message, whether it contains text from outside (I12). */
  outside: boolean[];
  /** Whether somebody sent that text in; the rest was fetched by the agent's own tools. */
  sentIn: boolean[];
  /** Forgotten messages that the turn that was asked to forget still reads, by place. */
  own?: Map<number, TurnId>;
  /** Ids of messages in the window or appended since, so that a repeated append doesn't show twice. */
  ids: Set<string>;
  tokens: number;
  /** What it holds, in bytes. */
  held: number;
  /** The provider's count for the latest request and its answer, and how many messages that covers. */
  reported?: { model: string; tokens: number; messages: number };
}

/** How many sessions' windows stay in memory; the least recently used goes first. */
const MOST_HOT = 256;
/** Their total size, so that neither a few long windows nor many of short messages can fill the memory. */
const MOST_HOT_BYTES = 4_000_000;
/** Four bytes per token; and the memory a message takes besides its text, measured over ten thousand one-line messages. */
const TOKEN_BYTES = 4;
const MESSAGE_BYTES = 600;
/** Outside this range, a provider's count reflects something other than the length of the text. */
const RATIO = { least: 0.5, most: 3 };
/** If a provider refuses a request without naming its limit, we assume it holds less than this share of it. */
const REFUSED_SHARE = 0.85;

export class Contexts {
  private readonly parts: ContextParts;
  private readonly hot = new Map<SessionKey, Hot>();
  private readonly prompts = new Map<string, KnownPrompt>();
  /** Per model: its tokens per estimated token, and a window smaller than declared. Learned again after each start. */
  private readonly ratios = new Map<string, number>();
  private readonly windows = new Map<string, number>();
  /** Windows being read; stale if the records changed in the meantime. */
  private readonly loading = new Map<SessionKey, { stale: boolean }>();
  private readonly speakers = new Speakers();
  private held = 0;
  /** Interim results (CONTEXT-6). */
  readonly interims: Interims;

  constructor(parts: ContextParts) {
    this.parts = parts;
    this.interims = new Interims(parts.records, (session) => this.drop(session));
  }

  /** Everything the next request of this session is made of. */
  async build(
    session: SessionKey,
    agent: AgentId,
    { given, turn }: { given?: Given | undefined; turn?: TurnId | undefined } = {},
  ): Promise<
    Prompt & {
      notes: string;
      messages: ModelMessage[];
      model: string | null;
      thinking: ThinkingLevel | null;
      tainted: boolean;
      isFetched: boolean;
    }
  > {
    const hot = await this.ready(session, agent);
    const { system, tools } = hot.prompt!;
    const shared = hot.prompt!.shared === undefined ? {} : { shared: hot.prompt!.shared };
    const taint = {
      tainted: hot.carryTainted || hot.outside.includes(true),
      isFetched: !(hot.carrySentIn || hot.sentIn.includes(true)),
    };
    const { model, thinking, notes } = hot;
    const led = notes !== "";
    const said = readBy(hot, turn);
    if (!given) return { system, ...shared, tools, notes, messages: wellFormed(said, led), model, thinking, ...taint };
    // What a caller supplies for one turn goes around what the session has.
    const isCaller = given.instructions !== undefined || given.history !== undefined || given.tools !== undefined;
    if (isCaller) hot.callerPrompt ??= await this.parts.callerPrompt(agent);
    const base = isCaller ? hot.callerPrompt : system;
    return {
      system: [base, given.instructions].filter(Boolean).join("\n\n"),
      ...(isCaller ? {} : shared),
      tools: given.tools ?? [...tools, ...(given.finish ?? [])],
      notes,
      messages: wellFormed([...(given.history ?? []), ...said], led),
      model,
      thinking,
      ...taint,
    };
  }

  /** Whether the next request fits, including the new message, and how much room it leaves for the answer. */
  async fit(
    session: SessionKey,
    of: { agent: AgentId; model: string | undefined; fresh: readonly ModelMessage[]; given?: Given },
  ): Promise<{ tokens: number; full: boolean; room: number; fresh: number }> {
    const hot = await this.ready(session, of.agent);
    const model = this.findModel(of.model);
    const { limit, window } = this.shares(model, hot);
    const brought = [...(of.given?.history ?? []), ...of.fresh];
    const more =
      brought.reduce((sum, m) => sum + estimateTokens(m.content), 0) +
      textTokens(of.given?.instructions ?? "") +
      (of.given?.tools ? toolTokens(of.given.tools) - hot.prompt!.toolTokens : 0);
    const fresh = Math.ceil(more * this.ratio(model.id));
    const tokens = this.countTokens(hot, model.id) + fresh;
    // Until a provider has counted, an estimate may be a quarter too low.
    const crowded = hot.messages.length > 2 * this.parts.config().maxMessages;
    const room = Math.max(window - Math.ceil(tokens * (hot.reported ? 1.03 : 1.25)) - 64, Math.ceil(window * 0.05));
    return { tokens, full: tokens > limit || crowded, room, fresh };
  }

  /** Adds to the history inside the caller's transaction. */
  append(tx: Tx, m: Omit<store.NewMessage, "tokens">): void {
    const tokens = estimateTokens(m.message.content);
    store.appendMessage(tx, { ...m, tokens });
    const hot = this.hot.get(m.session);
    if (!hot) this.spoil(m.session);
    if (!hot || hot.ids.has(m.id)) return;
    hot.ids.add(m.id);
    hot.messages.push(m.message);
    hot.numbers.push(hot.next++);
    hot.sizes.push(tokens);
    hot.outside.push(m.outside ?? false);
    hot.sentIn.push(isSentIn(m.id, m.outside ?? false));
    this.weigh(hot, tokens, 1);
  }

  /** The provider counted the request and its answer, which is the newest message. */
  reported(session: SessionKey, model: string, usage: Usage): void {
    const hot = this.hot.get(session);
    const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    if (!hot?.prompt || input === 0) return;
    const tokens = input + usage.outputTokens;
    hot.reported = { model, tokens, messages: hot.messages.length };
    const ratio = tokens / Math.max(this.estimated(hot), 1);
    this.ratios.set(model, Math.min(Math.max(ratio, RATIO.least), RATIO.most));
  }

  /** The provider refused a request as too long: its window is `limit` tokens, or smaller than the request. */
  async refused(session: SessionKey, agent: AgentId, model: string | undefined, limit?: number): Promise<void> {
    const hot = await this.ready(session, agent);
    const { id } = this.findModel(model);
    const sent = Math.floor(this.countTokens(hot, id) * REFUSED_SHARE);
    const known = this.windows.get(id) ?? Number.POSITIVE_INFINITY;
    this.windows.set(id, Math.max(Math.min(known, limit ?? sent), 1000));
  }

  /** The window as it is now. */
  async view(session: SessionKey, agent: AgentId, model?: string): Promise<ContextView> {
    const hot = await this.ready(session, agent);
    const asked = this.findModel(model ?? hot.model ?? this.parts.agentModel(agent));
    const { systemTokens, toolTokens } = hot.prompt!;
    return {
      agent: hot.agent,
      model: asked,
      prompt: hot.prompt!,
      systemTokens,
      toolTokens,
      snapshot: hot.snapshot ?? "",
      carry: hot.carry,
      carryTainted: hot.carryTainted,
      carrySentIn: hot.carrySentIn,
      notesTokens: hot.notesTokens,
      base: hot.base,
      compaction: hot.compaction,
      numbers: [...hot.numbers],
      next: hot.next,
      messages: [...readBy(hot)],
      sizes: [...hot.sizes],
      outside: [...hot.outside],
      sentIn: [...hot.sentIn],
      tokens: this.countTokens(hot, asked.id),
      counted: hot.reported?.messages ?? 0,
      ...defined({ countedBy: hot.reported?.model }),
      shares: this.shares(asked, hot),
    };
  }

  /** The number of the first message shown in full, or of the next message if none is. */
  async firstShown(session: SessionKey, agent: AgentId): Promise<number> {
    const hot = await this.ready(session, agent);
    return hot.numbers[0] ?? hot.next;
  }

  /**
   * The agent, if this session's window is full enough to be compacted. Looks only in memory and reads nothing for other
   * sessions.
   */
  full(session: SessionKey): AgentId | undefined {
    const hot = this.hot.get(session);
    if (!hot?.prompt) return undefined;
    if (hot.messages.length > this.parts.config().maxMessages) return hot.agent;
    const model = this.findModel(hot.model ?? this.parts.agentModel(hot.agent));
    return this.countTokens(hot, model.id) >= this.shares(model, hot).threshold ? hot.agent : undefined;
  }

  /** Removes the message of `target` and everything after it from the window for good; the originals stay in the records. */
  rewind(tx: Tx, session: SessionKey, target: TurnId, by: TurnId): void {
    this.parts.sessions.uncover(tx, session, messageIds.input(target));
    store.replaceFrom(tx, session, messageIds.input(target), by);
    this.drop(session);
  }

  /** Sets which model and how much thinking this session uses. */
  async tune(
    { session, ...by }: { session: SessionKey; agent: string; person: string },
    change: { model?: string | null; thinking?: string | null },
  ): Promise<{ model: string | null; thinking: string | null }> {
    const { model = null, thinking = null } = (await store.readSession(this.parts.records, session)) ?? {};
    const set = { model, thinking, ...change } as { model: string | null; thinking: string | null };
    if (Object.keys(change).length === 0) return set;
    const at = this.parts.clock.now();
    await this.parts.records.write((tx) => this.parts.sessions.tune(tx, { key: session, ...by, at }, set));
    this.drop(session);
    return set;
  }

  /** Somebody speaks. The prompt and the snapshot were cleared if it is somebody else than before, so they are read again. */
  spokenBy(session: SessionKey, person: string | undefined): void {
    if (this.speakers.changed(session, person)) this.drop(session);
  }

  /** Drops the in-memory copy, e.g. after a reset or an import. */
  drop(session: SessionKey): void {
    this.spoil(session);
    const hot = this.hot.get(session);
    if (hot) this.held -= hot.held;
    this.hot.delete(session);
  }

  /** Forgotten texts must not be read again: prompts and snapshots that quote one of these are rebuilt. */
  async forgetTexts(texts: readonly string[]): Promise<void> {
    const { records, sessions } = this.parts;
    const hashes = await store.promptsWith(records, texts);
    const keys: SessionKey[] = [];
    for (const hash of hashes) keys.push(...(await sessions.sessionsWithPrompt(records, hash)));
    if (hashes.length > 0)
      await records.write((tx) => {
        for (const hash of hashes) {
          sessions.dropPrompt(tx, hash);
          store.deletePrompt(tx, hash);
        }
      });
    for (const key of keys) this.drop(key);
    for (const text of texts) await this.forgetSnapshots(text);
  }

  /** Models no longer read these messages, nor what carry-overs of these sessions mention. `by`: the turn that was asked to. */
  async forgetMessages(of: {
    messages: ReadonlyMap<string, readonly number[]>;
    sessions: ReadonlySet<string>;
    mentions: (text: string) => boolean;
    by?: string | undefined;
  }): Promise<void> {
    const { records } = this.parts;
    const carries = (await store.listCarries(records)).flatMap(({ id, session, carry }) => {
      if (!of.sessions.has(session)) return [];
      const clean = JSON.stringify(withoutMentions(JSON.parse(carry) as Carry, of.mentions));
      return clean === carry ? [] : [{ id, session, clean }];
    });
    if (of.messages.size + carries.length === 0) return;
    await records.write((tx) => {
      for (const [session, numbers] of of.messages) store.forgetMessages(tx, session, numbers, of.by ?? "");
      for (const { id, clean } of carries) store.replaceCarry(tx, id, clean);
    });
    for (const session of [...of.messages.keys(), ...carries.map((one) => one.session)])
      this.drop(session as SessionKey);
  }

  private async forgetSnapshots(text: string): Promise<void> {
    await this.parts.records.write((tx) => this.parts.sessions.dropSnapshots(tx, text));
    for (const [session, hot] of [...this.hot]) if (hot.snapshot?.includes(text)) this.drop(session);
  }

  findModel(id: string | undefined): { id: string; contextWindow: number } {
    const { id: name, contextWindow } = this.parts.model(id);
    return { id: name, contextWindow: Math.min(contextWindow, this.windows.get(name) ?? contextWindow) };
  }

  private shares(model: { id: string; contextWindow: number }, hot: Hot): Shares {
    const config = this.parts.config();
    const own = config.models[model.id];
    return shareOut({
      window: model.contextWindow,
      threshold: own?.threshold ?? config.threshold,
      maxTokens: own?.maxTokens ?? config.maxTokens,
      prefix: Math.ceil((hot.prompt!.systemTokens + hot.prompt!.toolTokens) * this.ratio(model.id)),
      snapshotTokens: config.snapshotTokens,
      maxMessages: config.maxMessages,
    });
  }

  private ratio(model: string): number {
    return this.ratios.get(model) ?? 1;
  }

  private estimated(hot: Hot): number {
    return hot.prompt!.systemTokens + hot.prompt!.toolTokens + hot.notesTokens + hot.tokens;
  }

  private countTokens(hot: Hot, model: string): number {
    const guess = Math.ceil(this.estimated(hot) * this.ratio(model));
    if (!hot.reported) return guess;
    let since = 0;
    for (let i = hot.reported.messages; i < hot.sizes.length; i++) since += hot.sizes[i]!;
    const counted = hot.reported.tokens + Math.ceil(since * this.ratio(model));
    // Another model counts differently; the larger of the two is the safe choice.
    return hot.reported.model === model ? counted : Math.max(counted, guess);
  }

  /** Loaded, with its prompt and its snapshot. */
  private async ready(session: SessionKey, agent: AgentId): Promise<Hot> {
    const hot = await this.load(session, agent);
    hot.prompt ??= await this.promptFor(session, agent, hot.model ?? undefined);
    if (hot.snapshot === null) {
      const text = await this.freeze(session, agent, hot);
      hot.snapshot ??= text;
      this.note(hot);
    }
    return hot;
  }

  private async freeze(session: SessionKey, agent: AgentId, hot: Hot): Promise<string> {
    const model = this.findModel(hot.model ?? this.parts.agentModel(agent));
    const { snapshot: tokens } = this.shares(model, hot);
    const text = tokens > 0 ? await this.parts.snapshot({ session, agent, tokens }) : "";
    // Queued, not awaited: if a crash loses it, it is rebuilt before anything has read it.
    this.parts.records.write((tx) => this.parts.sessions.keepSnapshot(tx, session, text)).catch(() => {});
    return text;
  }

  private note(hot: Hot): void {
    hot.notes = notesText({ snapshot: hot.snapshot ?? "", carry: carryText(hot.carry) });
    hot.notesTokens = hot.notes ? textTokens(hot.notes) + 4 : 0;
  }

  private async load(session: SessionKey, agent: AgentId): Promise<Hot> {
    for (;;) {
      const known = this.hot.get(session);
      if (known) {
        this.hot.delete(session);
        this.hot.set(session, known);
        return known;
      }
      const mine = this.loading.get(session) ?? { stale: false };
      this.loading.set(session, mine);
      const hot = await this.read(session, agent);
      if (this.loading.get(session) === mine) this.loading.delete(session);
      // In the meantime a message may have been added, the window cut, or another load may have finished first.
      if (mine.stale || this.hot.has(session)) continue;
      this.hot.set(session, hot);
      const { tokens } = hot;
      hot.tokens = 0;
      this.weigh(hot, tokens, hot.messages.length);
      return hot;
    }
  }

  private spoil(session: SessionKey): void {
    const reading = this.loading.get(session);
    if (reading) reading.stale = true;
    this.loading.delete(session);
  }

  private async read(session: SessionKey, agent: AgentId): Promise<Hot> {
    const { records } = this.parts;
    const row = await store.readSession(records, session);
    const base = row?.context_from ?? 0;
    const { maxMessages } = this.parts.config();
    // Of an imported history, only the newest messages are read. Other histories can be too long too: a long turn, or an undone
    // compaction.
    const most = base > 0 ? 2 * maxMessages : maxMessages;
    const rows = (await store.readWindow(records, session, base, most)).reverse();
    const own = rows.flatMap(({ turn, forgotten }, i): [number, TurnId][] => (turn === forgotten ? [[i, turn]] : []));
    const messages = rows.map((r) => store.readMessage(r.turn === r.forgotten ? { ...r, forgotten: null } : r));
    const sizes = rows.map((r, i) => (r.forgotten === null ? r.tokens : estimateTokens(messages[i]!.content)));
    const compaction = row?.compaction ? await store.readCompaction(records, row.compaction) : undefined;
    const hot: Hot = {
      agent: (row?.agent ?? agent) as AgentId,
      model: row?.model ?? null,
      thinking: (row?.thinking ?? null) as ThinkingLevel | null,
      base,
      compaction: row?.compaction ?? null,
      carry: compaction ? (JSON.parse(compaction.carry) as Carry) : NO_CARRY,
      carryTainted: compaction?.tainted === 1,
      carrySentIn: compaction?.sent_in === 1,
      snapshot: row?.snapshot ?? null,
      notes: "",
      notesTokens: 0,
      numbers: rows.map((r) => r.seq),
      next: await store.nextNumber(records, session),
      messages,
      sizes,
      ...(own.length ? { own: new Map(own) } : {}),
      outside: rows.map((r) => r.outside === 1),
      sentIn: rows.map((r) => isSentIn(r.id, r.outside === 1)),
      ids: new Set(rows.map((r) => r.id)),
      tokens: sizes.reduce((sum, size) => sum + size, 0),
      held: 0,
    };
    this.note(hot);
    const reported = await this.lastReport(session, rows);
    if (reported) hot.reported = reported;
    return hot;
  }

  /** The provider's latest count, if nothing has been compacted or undone since. */
  private async lastReport(session: SessionKey, rows: readonly store.WindowRow[]): Promise<Hot["reported"]> {
    const at = rows.findLastIndex((row) => isReplyId(row.id));
    const reply = readReplyId(rows[at]?.id ?? "");
    if (!reply) return undefined;
    const { records } = this.parts;
    const [report, changed] = [
      await store.readReported(records, reply.turn, reply.call),
      await store.lastChange(records, session),
    ];
    if (!report || report.at <= changed) return undefined;
    return { model: report.model, tokens: report.tokens, messages: at + 1 };
  }

  private weigh(hot: Hot, tokens: number, messages: number): void {
    const bytes = tokens * TOKEN_BYTES + messages * MESSAGE_BYTES;
    hot.tokens += tokens;
    hot.held += bytes;
    this.held += bytes;
    for (const [key, other] of this.hot) {
      if (this.hot.size <= MOST_HOT && this.held <= MOST_HOT_BYTES) return;
      if (other !== hot) this.drop(key);
    }
  }

  private async promptFor(session: SessionKey, agent: AgentId, chosen: string | undefined): Promise<KnownPrompt> {
    const { records, clock } = this.parts;
    const hash = (await store.readSession(records, session))?.prompt;
    if (hash) return this.prompts.get(hash) ?? this.remember(hash, await store.readPrompt(records, hash));
    const model = this.findModel(chosen ?? this.parts.agentModel(agent)).id;
    const made = await this.parts.prompt({ agent, session, model });
    const system = made.system;
    const tools = JSON.stringify(made.tools);
    const kept = { system, tools, shared: made.shared ?? null };
    const fresh = createHash("sha256").update(system).update("\0").update(tools).digest("hex").slice(0, 32);
    if (await store.readSession(records, session)) {
      // A failed write stops the engine on its own.
      const keep = (tx: Tx) => {
        store.keepPrompt(tx, { hash: fresh, ...kept, at: clock.now() });
        this.parts.sessions.keepPrompt(tx, session, fresh);
      };
      records.write(keep).catch(() => {});
    }
    return this.prompts.get(fresh) ?? this.remember(fresh, kept);
  }

  private remember(hash: string, stored: store.StoredPrompt | undefined): KnownPrompt {
    const system = stored?.system ?? "";
    const tools = JSON.parse(stored?.tools ?? "[]") as ToolSpec[];
    const shared = stored?.shared == null ? {} : { shared: stored.shared };
    const prompt = { system, ...shared, tools, systemTokens: textTokens(system), toolTokens: toolTokens(tools) };
    if (this.prompts.size > 64) this.prompts.clear();
    this.prompts.set(hash, prompt);
    return prompt;
  }
}

/** The window as a model reads it in this turn. */
function readBy({ messages, own }: Hot, turn?: TurnId): readonly ModelMessage[] {
  if (!own) return messages;
  return messages.map((message, i) => {
    const asker = own.get(i);
    return asker === undefined || asker === turn ? message : masked(message);
  });
}

/** Text from outside that the agent's own tools didn't fetch. */
function isSentIn(id: string, outside: boolean): boolean {
  return outside && !isResultId(id);
}
