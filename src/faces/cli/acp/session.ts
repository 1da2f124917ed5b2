/**
 * One session of the editor's: prompts go to the gateway, what happens comes back as updates. Nothing here outlives the process; a fresh
 * one that resumes the session finds everything in the records.
 *
 * ACP-2: a prompt is one message under one key, sent until it is durable, so a gateway that restarts in between makes no second turn (I2).
 * ACP-3: an approval may be answered anywhere. When the editor stops waiting, the prompt ends with a line that names the approval,
 *     and the outcome follows as a later update.
 */
import { randomUUID } from "node:crypto";
import { AppError, assertNever, type Json, type LiveEvent } from "../../../core/domain/index.ts";
import { type Clock, defined, pause, RPC_CODES, RpcFailure } from "../../../core/kit/index.ts";
import type { Approval, Client, Result, TurnDetail } from "../../../core/protocol/index.ts";
import { Conversation, isAway } from "../chat/conversation.ts";
import { shortId } from "../format.ts";
import type { Output } from "../output.ts";
import { acpWords as words } from "../words/acp.ts";
import { showBefore } from "./before.ts";
import { OpenCalls } from "./open-calls.ts";
import { listOptions, readDecision, showQuestion } from "./permission.ts";
import { readPrompt, type SentFile } from "./prompt.ts";
import type { EditorServers } from "./servers.ts";
import { toStopReason } from "./updates.ts";
import { type SessionUpdate, type StopReason, said } from "./wire.ts";

export type OpenedPlace = Result<"editor.open">;

export interface EditorSessionParts {
  rpc: Client;
  clock: Clock;
  out: Pick<Output, "hint" | "ours">;
  update(update: SessionUpdate): void;
  /** Asks the client; rejects when it can't or won't answer. */
  askPermission(params: object, signal: AbortSignal): Promise<unknown>;
  upload(file: SentFile): Promise<string>;
  /** Something for the person that is no part of the conversation. */
  notice(text: string): void;
  servers: EditorServers;
}

/** A prompt that hasn't been answered yet. */
interface WaitingPrompt {
  turn: string | undefined;
  isCancelled: boolean;
  resolve(reason: StopReason): void;
  reject(error: Error): void;
}

/** How long something waits for a gateway that is away: a restart takes a second, an update a few. */
export const PATIENCE_MS = 60_000;
const AGAIN_MS = 300;
/** Far more than prompts that wait at the same time. */
const MOST_ENDS = 50;

export class EditorSession {
  readonly place: OpenedPlace;
  private readonly parts: EditorSessionParts;
  private readonly conversation: Conversation;
  private readonly calls: OpenCalls;
  private readonly pending = new Set<WaitingPrompt>();
  /** Turns that have ended, the newest last: an end may come before the answer to chat.send does, or before it is known which turn carries a message. */
  private readonly ends = new Map<string, TurnDetail>();
  private readonly asking = new Map<string, AbortController>();
  private readonly over = new AbortController();
  private hasPlan = false;

  constructor(place: OpenedPlace, parts: EditorSessionParts) {
    this.place = place;
    this.parts = parts;
    this.calls = new OpenCalls(place, parts);
    const write = (sessionUpdate: "agent_message_chunk" | "agent_thought_chunk") => (text: string) =>
      parts.update({ sessionUpdate, content: { type: "text", text } });
    this.conversation = new Conversation({
      rpc: parts.rpc,
      clock: parts.clock,
      isWholeOnly: true,
      target: { session: place.session, agent: place.agent },
      watcher: {
        text: {
          write: write("agent_message_chunk"),
          next: () => parts.update(said("\n\n")),
          void: (why) => parts.update(said(words.startsOver[why])),
        },
        thought: { write: write("agent_thought_chunk"), next() {}, void() {} },
        tool: (call) => this.calls.started({ ...call, input: call.input as Json }),
        toolProgress: ({ id, text }) => this.calls.progress(id, text),
        toolDone: (result) => this.calls.ended(result),
        asked: (approval) => void this.ask(approval),
        answered: (answer) => this.answered(answer),
        joined: (turn, into) => this.joined(turn, into),
        ended: (turn) => void this.ended(turn),
        gone: (error, turn) => {
          for (const one of this.pending) if (one.turn === turn) this.settle(one, () => one.reject(error as Error));
        },
      },
    });
  }

  get isBusy(): boolean {
    return this.pending.size > 0;
  }

  /** Resolves when the turn is over, or when the client no longer waits for it. */
  async prompt(blocks: unknown, signal: AbortSignal): Promise<StopReason> {
    const { message, files } = readPrompt(blocks);
    return new Promise<StopReason>((resolve, reject) => {
      const one: WaitingPrompt = { turn: undefined, isCancelled: signal.aborted, resolve, reject };
      this.pending.add(one);
      signal.addEventListener("abort", () => this.stop(one), { once: true });
      this.send(one, message, files).catch((error: unknown) => this.settle(one, () => reject(error as Error)));
    });
  }

  /** The client no longer wants answers to what it has asked. */
  cancel(): void {
    for (const one of this.pending) this.stop(one);
  }

  onEvent(event: LiveEvent): void {
    this.conversation.onEvent(event);
  }

  reconnected(restarted: boolean): void {
    this.conversation.reconnected(restarted);
    if (restarted) this.parts.servers.renew();
  }

  /** Takes up what is still open from before, e.g. by a process that ended. */
  resume(): Promise<void> {
    return this.conversation.resume();
  }

  /** The gateway doesn't come back. */
  lost(): void {
    for (const one of [...this.pending]) this.settle(one, () => one.reject(this.away(one.turn)));
  }

  /** What it has open ends at once; the promise is for the servers it brought. */
  close(): Promise<void> {
    this.over.abort();
    for (const asked of this.asking.values()) asked.abort();
    this.conversation.close();
    for (const one of [...this.pending]) this.settle(one, () => one.resolve("cancelled"));
    return this.parts.servers.close();
  }

  private async send(one: WaitingPrompt, text: string, files: SentFile[]): Promise<void> {
    await this.parts.servers.settled();
    if (one.isCancelled) return this.settle(one, () => one.resolve("cancelled"));
    const deadline = this.parts.clock.now() + PATIENCE_MS;
    const patient = () => this.parts.clock.now() < deadline && !this.over.signal.aborted;
    const message = await this.withSkill(text, patient);
    const attachments: string[] = [];
    for (const file of files) attachments.push(await this.patiently(() => this.parts.upload(file), patient));
    const key = `acp-${randomUUID()}`;
    one.turn = await this.conversation.send(message, { key, patient, ...(files.length ? { attachments } : {}) });
    this.settleEnded(one);
    if (one.isCancelled) this.stop(one);
  }

  /** `/name …` of a skill is a wish to use it; slash commands are the gateway's. */
  private async withSkill(text: string, patient: () => boolean): Promise<string> {
    const typed = text.trim();
    const name = /^\/([\w.-]+)(?=\s|$)/.exec(typed)?.[1];
    if (name === undefined) return text;
    const rest = typed.slice(name.length + 1).trim();
    const { rpc } = this.parts;
    const { skills } = await this.patiently(() => rpc.call("skills.list", { agent: this.place.agent }), patient);
    const { commands } = await this.patiently(() => rpc.call("commands.list", {}), patient);
    const isSkill = skills.some((one) => one.name === name && one.state === "ready");
    return isSkill && !commands.some((one) => one.name === name) ? words.useSkill(name, rest) : text;
  }

  private stop(one: WaitingPrompt): void {
    one.isCancelled = true;
    const { turn } = one;
    if (turn === undefined || !this.pending.has(one)) return;
    const deadline = this.parts.clock.now() + PATIENCE_MS;
    const patient = () => this.parts.clock.now() < deadline && this.pending.has(one);
    this.patiently(() => this.parts.rpc.call("chat.abort", { turn }), patient).catch((error: unknown) =>
      this.settle(one, () => one.reject(error as Error)),
    );
  }

  private async ask(asked: Approval): Promise<void> {
    const own = new AbortController();
    this.asking.set(asked.id, own);
    try {
      if (asked.form) return this.waitOver(asked, words.asksForm(this.parts.out.hint, shortId(asked.id)));
      // A long action is shown in part where it is listed; here a person says yes to it.
      const a = asked.cut ? await this.parts.rpc.call("approvals.get", { id: asked.id }) : asked;
      const asks = showQuestion(a, await this.calls.find(a), this.place.folder);
      const shown = await showBefore(this.parts.rpc, asks, a.turn);
      this.calls.announce(shown, a.turn);
      const toolCall = { ...shown, status: "pending" };
      const params = { sessionId: this.place.session, toolCall, options: listOptions(a) };
      const answer = await this.parts.askPermission(params, own.signal);
      const decision = readDecision(answer, a);
      if (!decision) return this.waitOver(a);
      const patient = () => !this.over.signal.aborted && !own.signal.aborted;
      await this.patiently(() => this.parts.rpc.call("approvals.resolve", { id: a.id, decision }), patient);
    } catch (error) {
      // Answered elsewhere, or the session was closed.
      if (own.signal.aborted || this.over.signal.aborted) return;
      const isForbidden = error instanceof AppError && error.code === "FORBIDDEN";
      // Somebody else was faster: the answer that counts comes as an event.
      if (!(error instanceof AppError) || isForbidden)
        this.waitOver(asked, isForbidden ? words.mayNotAnswer : undefined);
    } finally {
      this.asking.delete(asked.id);
    }
  }

  private answered({ id, state, by }: { id: string; state: string; by: string }): void {
    this.asking.get(id)?.abort();
    if (state !== "allowed") this.calls.denied(id, words.denied(by, state));
  }

  /** The client doesn't wait for the approval any longer (ACP-3). */
  private waitOver(a: Approval, more?: string): void {
    const mine = [...this.pending].filter(({ turn }) => turn === a.turn);
    if (mine.some(({ isCancelled }) => isCancelled)) return;
    const { hint } = this.parts.out;
    this.parts.update(said([words.waits(hint, shortId(a.id), a.tool), more].filter(Boolean).join("\n\n")));
    for (const one of mine) this.settle(one, () => one.resolve("end_turn"));
  }

  private async ended(turn: TurnDetail): Promise<void> {
    const mine = [...this.pending].filter((one) => one.turn === turn.turn);
    await this.calls.close(turn.turn).catch(unlessAway);
    const reason = toStopReason(turn);
    const words = turn.reason && !turn.response ? this.parts.out.ours(turn.reason) : undefined;
    const isTold = reason === "end_turn" || reason === "max_turn_requests" || mine.length === 0;
    if (isTold && words) this.parts.update(said(words));
    for (const notice of turn.notices) this.parts.notice(this.parts.out.ours(notice));
    await this.refresh().catch(unlessAway);
    await this.parts.servers.check().catch(unlessAway);
    this.ends.set(turn.turn, turn);
    const [oldest] = this.ends.keys();
    if (this.ends.size > MOST_ENDS && oldest !== undefined) this.ends.delete(oldest);
    for (const one of this.pending) this.settleEnded(one);
  }

  private joined(turn: string, into: string): void {
    for (const one of this.pending) {
      if (one.turn !== turn) continue;
      one.turn = into;
      this.settleEnded(one);
    }
  }

  private settleEnded(one: WaitingPrompt): void {
    const end = this.ends.get(one.turn ?? "");
    if (end) this.settle(one, () => this.answer(one, end));
  }

  private answer(one: WaitingPrompt, turn: TurnDetail): void {
    const reason = toStopReason(turn);
    if (reason) {
      one.resolve(one.isCancelled && reason === "end_turn" ? "cancelled" : reason);
      return;
    }
    const text = this.parts.out.ours(turn.reason ?? turn.state);
    one.reject(new RpcFailure(RPC_CODES.internal, text, { turn: turn.turn, ...defined({ failure: turn.failure }) }));
  }

  /** What an editor shows beside the conversation: how full the context is, the title, and the goals as a plan. */
  private async refresh(): Promise<void> {
    const { rpc, update } = this.parts;
    const { session } = this.place;
    const [context, summary, { goals }] = await Promise.all([
      rpc.call("context.get", { session }),
      rpc.call("sessions.get", { session }),
      rpc.call("goals.list", {}),
    ]);
    update({ sessionUpdate: "usage_update", used: context.tokens, size: context.window });
    const updatedAt = new Date(summary.updatedAt).toISOString();
    update({ sessionUpdate: "session_info_update", title: summary.title, updatedAt });
    const own = goals.filter((goal) => goal.session === session && goal.state !== "cancelled");
    const entries = own.map(({ outcome, state }) => ({
      content: outcome,
      priority: "medium" as const,
      status: toStatus(state),
    }));
    // A plan that was shown stays until another one takes its place.
    if (entries.length > 0 || this.hasPlan) update({ sessionUpdate: "plan", entries });
    this.hasPlan = entries.length > 0;
  }

  private settle(one: WaitingPrompt, how: () => void): void {
    if (this.pending.delete(one)) how();
  }

  private away(turn: string | undefined): RpcFailure {
    return new RpcFailure(
      RPC_CODES.internal,
      words.away(this.parts.out.hint, turn),
      turn === undefined ? undefined : { turn },
    );
  }

  /** Asks again while the gateway is away. Only for what may be asked twice. */
  private async patiently<T>(work: () => Promise<T>, patient: () => boolean): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isAway(error) || !patient()) throw error;
        await pause(this.parts.clock, AGAIN_MS, this.over.signal);
      }
    }
  }
}

function toStatus(state: Result<"goals.list">["goals"][number]["state"]): "pending" | "in_progress" | "completed" {
  switch (state) {
    case "active":
      return "in_progress";
    case "done":
      return "completed";
    case "paused":
    case "blocked":
    case "limit":
    case "cancelled":
      return "pending";
    default:
      return assertNever(state);
  }
}

/** What is only shown beside the conversation must not stop it. */
function unlessAway(error: unknown): void {
  if (!(error instanceof AppError)) throw error;
}
