/**
 * Live answers: while a turn runs its words appear in the chat, in one message that is edited at the platform's pace and in the
 * end becomes the answer. Only for looking: what is lost here is never part of the answer.
 *
 * OUTBOX-5: the final message is always whole; it goes through the outbox and rewrites the live one (an edit may be repeated safely).
 * OUTBOX-6: a quick answer is not shown live: nothing flickers, and nothing is sent twice.
 * OUTBOX-7: that there is a live message is durable before the platform gets it, and its place once the platform named it. After a
 *     crash the answer rewrites it. One whose place is lost is looked for by its key; where nobody can be asked, the answer is a
 *     new message.
 * OUTBOX-8: a call that takes long is named below the words, with the time it has taken, and so is a model that is long silent; the answer
 *     takes its place.
 * OUTBOX-9: a turn that ends without a word leaves none: its live message goes.
 */
import {
  type AccountPolicy,
  type Capabilities,
  type Channel,
  ChannelBusy,
  findGroup,
  type Outgoing,
  type Reads,
  type Records,
} from "../../core/contracts/index.ts";
import {
  AppError,
  answerIds,
  type Json,
  type LiveEvent,
  type ReplyRoute,
  readStepName,
  type SessionKey,
  type TurnId,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, type Crash, findSubject, type Log } from "../../core/kit/index.ts";
import { editPause, type Pace } from "./pace.ts";
import { pieces } from "./pieces.ts";
import { deleteDraft, readDraft, writeDraft } from "./store.ts";
import { progressText } from "./words.ts";

export interface LiveParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  log: Log;
  crash: Crash;
  pace: Pace;
  accounts: () => LiveAccounts;
  /** Where a turn answers. `isPrivate`: only the owner reads there, so what a call does may be shown. */
  findPlace: (
    db: Reads,
    turn: TurnId,
  ) => Promise<{ route: ReplyRoute; isPrivate: boolean; isGroup: boolean } | undefined>;
  /** The same text without the secrets that are known. */
  clean: (text: string) => string;
  /** How long a call runs before it is named. */
  progressAfterMs: () => number;
}

/** What live answers need of the accounts that show them. */
export interface LiveAccounts {
  get(channel: string, account: string): { can: Capabilities; open(): Promise<Channel> } | undefined;
  policy(route: ReplyRoute): AccountPolicy | undefined;
  /** Without any account a turn costs nothing here. */
  readonly size: number;
}

/** Kept as the place of a live message that is on its way to the platform. */
const PLACE_UNKNOWN = "";
/** How long an answer must take before it is shown live. */
const FIRST_MS = 900;
const TYPING_EVERY_MS = 4500;
/** How often a call's elapsed time is updated; platforms count edits. */
const PROGRESS_EVERY_MS = 10_000;
const LONGEST_WHAT = 60;
const SEND_TIMEOUT_MS = 10_000;
/** More turns than this at once are not shown live. */
const MOST = 200;

interface Showing {
  turn: TurnId;
  session: SessionKey;
  route: ReplyRoute;
  can: Capabilities;
  live: boolean;
  isPrivate: boolean;
  channel: Channel | undefined;
  startedAt: number;
  call: number;
  text: string;
  /** Since when the model has been asked and has said nothing. */
  askedAt: number | undefined;
  /** Calls under way by id, the oldest first. */
  running: Map<string, { name: string; what: string; since: number }>;
  /** What is on the platform. */
  shown: string;
  platformId: string | undefined;
  /** An earlier life sent it and died before it knew where it is. */
  lost: boolean;
  nextAt: number;
  /** From then on the platform takes another edit. */
  freeAt: number;
  typedAt: number;
  busy: Promise<void>;
  cancel: (() => void) | undefined;
  /** What is planned is only a sign of typing, or the time again: words do not wait for it. */
  resting: boolean;
  closed: boolean;
}

export class Live {
  private readonly parts: LiveParts;
  private readonly showing = new Map<TurnId, Showing>();
  /** Over, with a call to the platform still under way. */
  private readonly ending = new Map<TurnId, Showing>();
  /** Begun, and not yet known where they answer. */
  private readonly starting = new Set<TurnId>();
  private readonly off: () => void;

  constructor(parts: LiveParts) {
    this.parts = parts;
    this.off = parts.bus.on((event) => this.hear(event));
  }

  stop(): void {
    this.off();
    for (const one of this.showing.values()) this.close(one);
  }

  /**
   * The turn's live message, given up for the answer that rewrites it. Waits for an edit that is under way. Null: there may be one,
   * and the platform cannot be asked now.
   */
  async yield(turn: TurnId, route: ReplyRoute): Promise<string | null | undefined> {
    const one = this.showing.get(turn) ?? this.ending.get(turn);
    if (one) {
      this.close(one);
      await one.busy;
    }
    if (one?.platformId !== undefined) return one.platformId;
    const kept = await readDraft(this.parts.records, turn);
    return kept === PLACE_UNKNOWN ? this.locate(turn, route) : kept;
  }

  /** Where a live message is that was sent in an earlier life, by its key. */
  private async locate(turn: TurnId, route: ReplyRoute): Promise<string | null | undefined> {
    const found = this.findAccount(route);
    if (!found) return null;
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    const message: Outgoing = { route, key: answerIds.draft(turn), text: "…" };
    try {
      const channel = await found.open();
      // Where a key makes a message one, sending it again tells where it is.
      if (found.can.dedupes) return (await channel.send(message, signal)).platformId ?? undefined;
      return (await channel.find?.(message, signal)) ?? undefined;
    } catch (error) {
      return error instanceof AppError && error.retry !== "later" ? undefined : null;
    }
  }

  private hear(event: LiveEvent): void {
    switch (event.event) {
      case "turn.started":
        this.begin(event.turn, event.session).catch(() => this.starting.delete(event.turn));
        return;
      case "turn.delta": {
        const one = this.showing.get(event.turn);
        if (!one) return;
        if (one.call !== event.call) one.text = "";
        one.askedAt = undefined;
        one.call = event.call;
        one.text += event.text;
        this.wake(one);
        return;
      }
      case "turn.discarded": {
        const one = this.showing.get(event.turn);
        if (one && one.call === event.call) one.text = "";
        return;
      }
      case "turn.step": {
        const one = this.showing.get(event.turn);
        if (!one || readStepName(event.step).kind !== "model") return;
        one.askedAt = this.parts.clock.now();
        this.plan(one);
        return;
      }
      case "tool.call": {
        const one = this.showing.get(event.turn);
        if (!one) return;
        one.askedAt = undefined;
        const what = one.isPrivate ? this.describeCall(event.input) : "";
        one.running.set(event.id, { name: event.name, what, since: this.parts.clock.now() });
        this.plan(one);
        return;
      }
      case "tool.result":
        this.showing.get(event.turn)?.running.delete(event.id);
        return;
      case "turn.parked":
        this.starting.delete(event.turn);
        this.leave(event.turn).catch(() => {});
        return;
      case "turn.ended": {
        this.starting.delete(event.turn);
        const one = this.showing.get(event.turn);
        if (event.state === "silent") this.withdraw(event.turn).catch(() => {});
        else if (one) this.close(one);
        return;
      }
      default:
        return;
    }
  }

  private findAccount({ channel, account }: ReplyRoute) {
    return this.parts.accounts().get(channel, account);
  }

  private showsLive(route: ReplyRoute): boolean {
    return this.parts.accounts().policy(route)?.live ?? false;
  }

  /** Whether the agent may decide at the end to say nothing: then nothing is shown before (OUTBOX-9). */
  private mayStaySilent({ route, isGroup }: { route: ReplyRoute; isGroup: boolean }): boolean {
    return isGroup && findGroup(this.parts.accounts().policy(route), route.chat)?.mention === false;
  }

  private async begin(turn: TurnId, session: SessionKey): Promise<void> {
    if (this.parts.accounts().size === 0 || this.showing.has(turn) || this.showing.size >= MOST) return;
    this.starting.add(turn);
    const place = await this.parts.findPlace(this.parts.records, turn);
    const route = place?.route;
    const draft = await readDraft(this.parts.records, turn);
    const found = route && this.findAccount(route);
    // It may be over by now.
    if (!this.starting.delete(turn) || !place || !route || !found) return;
    const now = this.parts.clock.now();
    const one: Showing = {
      turn,
      session,
      route,
      can: found.can,
      live: this.showsLive(route) && found.can.editMs !== undefined && !this.mayStaySilent(place),
      isPrivate: place.isPrivate,
      channel: undefined,
      startedAt: now,
      call: -1,
      text: "",
      // The model is about to be asked; what comes before that is short.
      askedAt: now,
      running: new Map(),
      shown: "",
      platformId: draft || undefined,
      lost: draft === PLACE_UNKNOWN,
      nextAt: now + FIRST_MS,
      freeAt: now + FIRST_MS,
      typedAt: 0,
      busy: Promise.resolve(),
      cancel: undefined,
      resting: false,
      closed: false,
    };
    this.showing.set(turn, one);
    one.busy = found.open().then(
      (channel) => {
        one.channel = channel;
        this.plan(one);
      },
      () => this.close(one),
    );
  }

  private wake(one: Showing): void {
    if (one.resting && one.live) {
      one.cancel?.();
      one.cancel = undefined;
      one.resting = false;
      one.nextAt = Math.max(one.freeAt, this.parts.clock.now());
    }
    this.plan(one);
  }

  /** At most one edit under way and one planned. */
  private plan(one: Showing): void {
    if (one.closed || one.cancel || !one.channel) return;
    if (!one.live && !one.channel.typing) return;
    const wait = Math.max(0, one.nextAt - this.parts.clock.now());
    one.cancel = this.parts.clock.after(wait, () => {
      one.cancel = undefined;
      one.resting = false;
      one.busy = one.busy.then(() => this.show(one)).catch((error) => this.fail(one, error));
    });
  }

  private async show(one: Showing): Promise<void> {
    if (one.closed) return;
    const { clock, records, pace } = this.parts;
    const now = clock.now();
    if (one.platformId !== undefined && now < one.freeAt) {
      // Planned while the edit before was on its way, when nobody knew how long that would take.
      one.nextAt = one.freeAt;
      return this.plan(one);
    }
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    const channel = one.channel!;
    const words = [one.text.trim(), this.progress(one, now)].filter(Boolean).join("\n\n");
    const piece = one.live && words ? pieces(words, one.can)[0] : undefined;
    if (!piece) {
      if (channel.typing && now - one.typedAt >= TYPING_EVERY_MS) {
        one.typedAt = now;
        await channel.typing(one.route, signal);
      }
      const since = waitsSince(one);
      const due = since !== undefined && one.live ? since + this.parts.progressAfterMs() : Number.POSITIVE_INFINITY;
      one.freeAt = clock.now();
      one.nextAt = Math.max(one.freeAt + 1, Math.min(due, one.freeAt + TYPING_EVERY_MS));
      one.resting = true;
      this.plan(one);
      return;
    }
    if (piece.text !== one.shown) {
      const at = pace.free(one.route, one.can.pace);
      if (at > now) {
        // The chat is busy with messages that matter more.
        one.nextAt = at;
        this.plan(one);
        return;
      }
      if (one.lost) {
        const found = await this.locate(one.turn, one.route);
        one.lost = false;
        // Not to be asked now: the answer itself will ask again.
        if (found === null) return this.close(one);
        one.platformId = found;
      }
      pace.next(one.route, one.can.pace, now);
      const message = { route: one.route, key: answerIds.draft(one.turn), ...piece };
      if (one.platformId === undefined) {
        const { platformId } = await this.place(one, channel, message, signal);
        if (platformId === null) return this.close(one);
        one.platformId = platformId;
        await records.write((tx) => writeDraft(tx, { turn: one.turn, platformId, route: one.route }, clock.now()));
      } else {
        await channel.edit!({ route: one.route, platformId: one.platformId }, message, signal);
      }
      one.shown = piece.text;
    }
    const pause = editPause(one.can.pace, one.route.chat, one.can.editMs ?? FIRST_MS);
    one.freeAt = clock.now() + pause;
    one.nextAt = one.freeAt;
    if (waitsSince(one) === undefined) return;
    // Nothing else may happen for a while, so the elapsed time is updated. New text doesn't wait for that.
    one.nextAt = clock.now() + Math.max(pause, Math.min(PROGRESS_EVERY_MS, this.parts.progressAfterMs()));
    one.resting = true;
    this.plan(one);
  }

  /** Once it takes long, the running calls; a call may also wait for its turn. */
  private progress(one: Showing, now: number): string {
    const ms = now - (waitsSince(one) ?? now);
    return ms < this.parts.progressAfterMs() ? "" : progressText(ms, [...one.running.values()]);
  }

  /** What a call is about, in a few plain words. */
  private describeCall(input: Json): string {
    const told = findSubject(input);
    if (told === undefined) return "";
    const plain = this.parts
      .clean(told)
      .replace(/[`\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim();
    return plain.length > LONGEST_WHAT ? `${plain.slice(0, LONGEST_WHAT - 1)}…` : plain;
  }

  /** The turn said nothing: what was shown of it goes (OUTBOX-9). */
  private async withdraw(turn: TurnId): Promise<void> {
    if (this.parts.accounts().size === 0) return;
    const place = await this.parts.findPlace(this.parts.records, turn);
    const platformId = place && (await this.yield(turn, place.route));
    if (!place || !platformId) return;
    const channel = await this.findAccount(place.route)?.open();
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    await channel?.remove?.({ route: place.route, platformId }, signal);
    await this.parts.records.write((tx) => deleteDraft(tx, turn));
  }

  /** Sends the first of it. What surely was not taken is not looked for later. */
  private async place(one: Showing, channel: Channel, message: Outgoing, signal: AbortSignal) {
    const { records, clock, crash } = this.parts;
    const { turn, route } = one;
    await records.write((tx) => writeDraft(tx, { turn, platformId: PLACE_UNKNOWN, route }, clock.now()));
    try {
      const placed = await channel.send(message, signal);
      crash.at("live.placed");
      return placed;
    } catch (error) {
      if (error instanceof AppError) await records.write((tx) => deleteDraft(tx, turn));
      throw error;
    }
  }

  private fail(one: Showing, error: unknown): void {
    if (error instanceof ChannelBusy) {
      one.nextAt = this.parts.clock.now() + error.afterMs;
      this.plan(one);
      return;
    }
    this.parts.log.debug("a live answer was abandoned", { turn: one.turn, error: String(error) });
    this.close(one);
  }

  /** The turn waits for a person: what was said stays as it is, the answer will be a separate message. */
  private async leave(turn: TurnId): Promise<void> {
    const one = this.showing.get(turn);
    if (!one) return;
    this.close(one);
    await one.busy;
    if (one.platformId === undefined) return;
    await this.parts.records.write((tx) => deleteDraft(tx, turn));
    const piece = one.text.trim() ? pieces(one.text.trim(), one.can)[0] : undefined;
    const at = { route: one.route, platformId: one.platformId };
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    const message = { route: one.route, key: answerIds.draft(turn), ...(piece ?? { text: "…" }) };
    const tidy =
      piece || !one.channel!.remove ? one.channel!.edit!(at, message, signal) : one.channel!.remove(at, signal);
    await tidy.catch(() => {});
  }

  private close(one: Showing): void {
    one.closed = true;
    one.cancel?.();
    one.cancel = undefined;
    this.showing.delete(one.turn);
    this.ending.set(one.turn, one);
    void one.busy.finally(() => {
      if (this.ending.get(one.turn) === one) this.ending.delete(one.turn);
    });
  }
}

/** Since when nothing new could be said: the oldest call under way, or the model that was asked. */
function waitsSince({ running, askedAt }: Showing): number | undefined {
  const [first] = running.values();
  return first?.since ?? askedAt;
}
