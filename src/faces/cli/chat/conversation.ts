/**
 * One conversation as a person sees it: what was sent and the result, once each. Requests go over HTTP, news comes over the
 * WebSocket, and where the two disagree the records are asked.
 *
 * CHAT-2: a message is sent under a key, so sending it again after a lost connection cannot make a second turn.
 * CHAT-3: each turn's end is shown once, from the records.
 */
import { AppError, type ApprovalDecision, type LiveEvent } from "../../../core/domain/index.ts";
import { type Clock, defined } from "../../../core/kit/index.ts";
import type { Approval, Client, TurnDetail } from "../../../core/protocol/index.ts";
import { StreamedText, type TextSink } from "./streamed-text.ts";

export interface Watcher {
  text: TextSink;
  /** What the model thinks, where that is shown. */
  thought?: TextSink;
  tool(call: { turn: string; id: string; name: string; input: unknown }): void;
  /** Words for the live line; they don't stay on the screen. */
  toolProgress(progress: { id: string; text: string }): void;
  toolDone(result: { id: string; name: string; text: string; isError: boolean }): void;
  asked(approval: Approval): void;
  /** An approval was answered, here or elsewhere. */
  answered(answer: { id: string; state: string; by: string }): void;
  ended(turn: TurnDetail): void;
  /** Another turn carries this one's message: its end is that one's. */
  joined?(turn: string, into: string): void;
  /** A turn whose end can no longer be found out. */
  gone(error: unknown, turn: string): void;
}

export interface ConversationParts {
  rpc: Client;
  clock: Clock;
  watcher: Watcher;
  target: { session?: string; user?: string; agent?: string };
  /** True: of a turn that was met in the middle only the end is shown, not the pieces that are still to come. */
  isWholeOnly?: boolean;
}

interface Open {
  /** Sent from here, not met here. */
  isMine: boolean;
  text: StreamedText;
  thought: StreamedText | undefined;
  /** Being read from the records. */
  looking: boolean;
  /** Something happened while it was being read. */
  stale: boolean;
}

/** Between two looks at the records, in case an event was lost. */
const LOOK_MS = 10_000;
/** Between two tries to send while the gateway is away. */
const RESEND_MS = 500;
/** Open turns of a session that are taken up when somebody comes back to it. */
const MOST_RESUMED = 20;
/** Ends that are remembered: a message joins the turn that runs, or one that has just ended. */
const MOST_SHOWN = 100;
/** Events kept while an answer to chat.send is under way: they may overtake it. */
const MOST_EARLY = 1000;

export class Conversation {
  session: string | undefined;
  private readonly parts: ConversationParts;
  private readonly open = new Map<string, Open>();
  private readonly askedIds = new Set<string>();
  /** Turns whose end was shown, the newest last: a message that joined one of them brings nothing new. */
  private readonly shown = new Set<string>();
  private early: LiveEvent[] = [];
  private sending = 0;
  private looking: (() => void) | undefined;
  private isClosed = false;

  constructor(parts: ConversationParts) {
    this.parts = parts;
    this.session = parts.target.session;
  }

  get isSending(): boolean {
    return this.sending > 0;
  }

  get isBusy(): boolean {
    return this.open.size > 0 || this.sending > 0;
  }

  /** Turns sent from here that have not ended. */
  get turns(): string[] {
    return [...this.open].filter(([, turn]) => turn.isMine).map(([id]) => id);
  }

  /** Resolves with the turn when the message is durable. `patient`: waits for a gateway that is away. */
  async send(
    message: string,
    how: { key: string; patient: boolean | (() => boolean); attachments?: string[] },
  ): Promise<string> {
    const { rpc, clock, target } = this.parts;
    this.sending++;
    try {
      for (;;) {
        try {
          const { key: idempotencyKey, attachments } = how;
          const sent = { ...target, message, wait: false, idempotencyKey, ...defined({ attachments }) };
          const at = await rpc.call("chat.send", sent);
          this.session = at.session;
          this.follow(at.turn, true);
          const early = this.early;
          this.early = [];
          for (const event of early) this.onEvent(event);
          if (!["queued", "running"].includes(at.state)) await this.look(at.turn);
          return at.turn;
        } catch (error) {
          const isPatient = typeof how.patient === "function" ? how.patient() : how.patient;
          if (!isPatient || this.isClosed || !isAway(error)) throw error;
          await new Promise<void>((resolve) => void clock.after(RESEND_MS, resolve));
        }
      }
    } finally {
      if (--this.sending === 0) this.early = [];
    }
  }

  onEvent(event: LiveEvent): void {
    if (!("turn" in event)) return;
    const turn = this.open.get(event.turn);
    if (!turn) {
      if (this.sending > 0 && this.early.length < MOST_EARLY) this.early.push(event);
      return;
    }
    const { watcher } = this.parts;
    switch (event.event) {
      case "turn.delta":
        if (this.isStreamed(turn)) turn.text.feed(event.call, event.text);
        break;
      case "turn.thinking":
        if (this.isStreamed(turn)) turn.thought?.feed(event.call, event.text);
        break;
      case "turn.discarded":
        turn.text.discarded(event.call);
        turn.thought?.discarded(event.call);
        break;
      case "tool.call":
        watcher.tool(event);
        break;
      case "tool.progress":
        watcher.toolProgress(event);
        break;
      case "tool.result":
        watcher.toolDone(event);
        break;
      case "approval.answered":
        watcher.answered({ id: event.approval, state: event.state, by: event.by });
        break;
      case "turn.parked":
      case "turn.ended":
        void this.look(event.turn);
        break;
      default:
        break;
    }
  }

  /** The connection is back: what happened meanwhile is read from the records. */
  reconnected(restarted: boolean): void {
    for (const [turn, { text, thought }] of this.open) {
      text.reconnected(restarted);
      thought?.reconnected(restarted);
      void this.look(turn);
    }
  }

  /** Takes up what is still open in this session from before: what waits for the person shall be seen. */
  async resume(): Promise<void> {
    if (this.session === undefined) return;
    try {
      const { turns } = await this.parts.rpc.call("turns.list", {
        session: this.session,
        open: true,
        limit: MOST_RESUMED,
      });
      for (const { turn } of turns.reverse()) {
        this.follow(turn, false);
        void this.look(turn);
      }
    } catch (error) {
      // Only a convenience: what waits is also in `lares approvals list`.
      if (!(error instanceof AppError)) throw error;
    }
  }

  /** Asks what was sent from here to stop. Its end arrives as any other. */
  async abort(): Promise<void> {
    await Promise.all(this.turns.map((turn) => this.parts.rpc.call("chat.abort", { turn })));
  }

  resolve(id: string, decision: ApprovalDecision, answers?: string): Promise<Approval> {
    return this.parts.rpc.call("approvals.resolve", { id, decision, ...defined({ answers }) });
  }

  close(): void {
    this.isClosed = true;
    this.looking?.();
  }

  private follow(turn: string, isMine: boolean): void {
    const known = this.open.get(turn);
    if (known) {
      known.isMine ||= isMine;
      return;
    }
    const { text, thought } = this.parts.watcher;
    this.open.set(turn, {
      isMine,
      looking: false,
      stale: false,
      text: new StreamedText(text),
      thought: thought && new StreamedText(thought),
    });
    this.lookLater();
  }

  private isStreamed({ isMine }: Open): boolean {
    return isMine || !this.parts.isWholeOnly;
  }

  private lookLater(): void {
    this.looking?.();
    this.looking = this.parts.clock.after(LOOK_MS, () => {
      for (const turn of this.open.keys()) void this.look(turn);
      if (this.open.size) this.lookLater();
    });
  }

  /** Reads one open turn from the records and tells what is new. */
  private async look(id: string): Promise<void> {
    const turn = this.open.get(id);
    if (!turn || this.isClosed) return;
    if (turn.looking) {
      turn.stale = true;
      return;
    }
    turn.looking = true;
    turn.stale = false;
    try {
      const detail = await this.parts.rpc.call("turns.get", { turn: id });
      if (this.isClosed) return;
      if (detail.endedAt !== undefined) return this.finish(id, turn, detail);
      for (const a of detail.approvals) {
        if (a.state !== "pending" || this.askedIds.has(a.id)) continue;
        this.askedIds.add(a.id);
        this.parts.watcher.asked(a);
      }
    } catch (error) {
      // A gateway that is away is asked again when it is back.
      if (isAway(error)) return;
      this.open.delete(id);
      this.parts.watcher.gone(error, id);
    } finally {
      turn.looking = false;
      if (turn.stale) void this.look(id);
    }
  }

  private finish(id: string, turn: Open, detail: TurnDetail): void {
    this.open.delete(id);
    if (detail.joined) {
      this.parts.watcher.joined?.(id, detail.joined);
      if (this.shown.has(detail.joined)) return;
      this.follow(detail.joined, turn.isMine);
      void this.look(detail.joined);
      return;
    }
    this.shown.add(id);
    const [oldest] = this.shown;
    if (this.shown.size > MOST_SHOWN && oldest !== undefined) this.shown.delete(oldest);
    turn.text.finish(detail.response ?? "");
    this.parts.watcher.ended(detail);
  }
}

export function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === "GATEWAY_DOWN" || error.code === "NOT_READY");
}
