/**
 * Live answers: while a turn runs its words appear in the chat, in one message that is edited at the platform's pace and in the
 * end becomes the answer. Only for looking: what is lost here is never part of the answer.
 *
 * V1: the final message is always whole; it goes through the outbox and rewrites the live one (an edit may be repeated safely).
 * V2: a quick answer is not shown live: nothing flickers, and nothing is sent twice.
 * V3: the live message's place is durable once the platform named it, so that after a crash the answer still rewrites it.
 */
import { type Capabilities, type Channel, ChannelBusy, type Records } from "../../core/contracts/index.ts";
import type { LiveEvent, ReplyRoute, SessionKey, TurnId } from "../../core/domain/index.ts";
import type { Bus, Clock, Log } from "../../core/kit/index.ts";
import type { Piece } from "./outbox.ts";
import { editPause, type Pace } from "./pace.ts";
import { deleteDraft, readDraft, writeDraft } from "./store.ts";

export interface LiveParts {
  records: Records;
  clock: Clock;
  bus: Bus;
  log: Log;
  pace: Pace;
  /** The account a route names, when its answers are shown live. */
  channel: (route: ReplyRoute) => { can: Capabilities; open(): Promise<Channel>; live: boolean } | undefined;
  /** Whether there is any account at all: without one a turn costs nothing here. */
  any: () => boolean;
  routeOf: (turn: TurnId) => Promise<ReplyRoute | undefined>;
  pieces: (text: string, can: Capabilities) => Piece[];
}

/** How long an answer must take before it is shown live. */
const FIRST_MS = 900;
const TYPING_EVERY_MS = 4500;
const SEND_TIMEOUT_MS = 10_000;
/** More turns than this at once are not shown live. */
const MOST = 200;

interface Showing {
  turn: TurnId;
  session: SessionKey;
  route: ReplyRoute;
  can: Capabilities;
  live: boolean;
  channel: Channel | undefined;
  startedAt: number;
  call: number;
  text: string;
  tool: string | undefined;
  /** What is on the platform. */
  shown: string;
  platformId: string | undefined;
  nextAt: number;
  typedAt: number;
  busy: Promise<void>;
  cancel: (() => void) | undefined;
  closed: boolean;
}

export class Live {
  private readonly parts: LiveParts;
  private readonly showing = new Map<TurnId, Showing>();
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

  /** The turn's live message, given up for the answer that rewrites it. Waits for an edit that is under way. */
  async yield(turn: TurnId): Promise<string | undefined> {
    const one = this.showing.get(turn);
    if (one) {
      this.close(one);
      await one.busy;
    }
    return one?.platformId ?? (await readDraft(this.parts.records, turn));
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
        one.call = event.call;
        one.text += event.text;
        one.tool = undefined;
        this.plan(one);
        return;
      }
      case "turn.discarded": {
        const one = this.showing.get(event.turn);
        if (one && one.call === event.call) one.text = "";
        return;
      }
      case "tool.call": {
        const one = this.showing.get(event.turn);
        if (!one) return;
        one.tool = event.name;
        this.plan(one);
        return;
      }
      case "turn.parked":
        this.starting.delete(event.turn);
        this.leave(event.turn).catch(() => {});
        return;
      case "turn.ended": {
        this.starting.delete(event.turn);
        const one = this.showing.get(event.turn);
        if (one) this.close(one);
        return;
      }
    }
  }

  private async begin(turn: TurnId, session: SessionKey): Promise<void> {
    if (!this.parts.any() || this.showing.has(turn) || this.showing.size >= MOST) return;
    this.starting.add(turn);
    const route = await this.parts.routeOf(turn);
    const draft = await readDraft(this.parts.records, turn);
    const found = route && this.parts.channel(route);
    // It may be over by now.
    if (!this.starting.delete(turn) || !route || !found) return;
    const now = this.parts.clock.now();
    const one: Showing = {
      ...{ turn, session, route, can: found.can, live: found.live && found.can.editMs !== undefined },
      channel: undefined,
      startedAt: now,
      call: -1,
      text: "",
      tool: undefined,
      shown: "",
      platformId: draft,
      nextAt: now + FIRST_MS,
      typedAt: 0,
      busy: Promise.resolve(),
      cancel: undefined,
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

  /** At most one edit under way and one planned. */
  private plan(one: Showing): void {
    if (one.closed || one.cancel || !one.channel) return;
    if (!one.live && !one.channel.typing) return;
    const wait = Math.max(0, one.nextAt - this.parts.clock.now());
    one.cancel = this.parts.clock.after(wait, () => {
      one.cancel = undefined;
      one.busy = one.busy.then(() => this.show(one)).catch((error) => this.fail(one, error));
    });
  }

  private async show(one: Showing): Promise<void> {
    if (one.closed) return;
    const { clock, records, pace } = this.parts;
    const now = clock.now();
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    const channel = one.channel!;
    const words = [one.text.trim(), one.tool ? `_${one.tool} …_` : ""].filter(Boolean).join("\n\n");
    const piece = one.live && words ? this.parts.pieces(words, one.can)[0] : undefined;
    if (!piece) {
      if (channel.typing && now - one.typedAt >= TYPING_EVERY_MS) {
        one.typedAt = now;
        await channel.typing(one.route, signal);
      }
      one.nextAt = clock.now() + TYPING_EVERY_MS;
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
      pace.next(one.route, one.can.pace, now);
      const message = { route: one.route, key: `${one.turn}:draft`, ...piece };
      if (one.platformId === undefined) {
        const { platformId } = await channel.send(message, signal);
        if (platformId === null) return this.close(one);
        one.platformId = platformId;
        await records.write((tx) => writeDraft(tx, { turn: one.turn, platformId, route: one.route }, clock.now()));
      } else {
        await channel.edit!({ route: one.route, platformId: one.platformId }, message, signal);
      }
      one.shown = piece.text;
    }
    one.nextAt = clock.now() + editPause(one.can.pace, one.route.chat, one.can.editMs ?? FIRST_MS);
  }

  private fail(one: Showing, error: unknown): void {
    if (error instanceof ChannelBusy) {
      one.nextAt = this.parts.clock.now() + error.afterMs;
      this.plan(one);
      return;
    }
    this.parts.log.debug("a live answer was given up", { turn: one.turn, error: String(error) });
    this.close(one);
  }

  /** The turn waits for a person: what was said stays as it is, the answer will be a message of its own. */
  private async leave(turn: TurnId): Promise<void> {
    const one = this.showing.get(turn);
    if (!one) return;
    this.close(one);
    await one.busy;
    if (one.platformId === undefined) return;
    await this.parts.records.write((tx) => deleteDraft(tx, turn));
    const piece = one.text.trim() ? this.parts.pieces(one.text.trim(), one.can)[0] : undefined;
    const at = { route: one.route, platformId: one.platformId };
    const signal = AbortSignal.timeout(SEND_TIMEOUT_MS);
    const message = { route: one.route, key: `${turn}:draft`, ...(piece ?? { text: "…" }) };
    const tidy =
      piece || !one.channel!.remove ? one.channel!.edit!(at, message, signal) : one.channel!.remove(at, signal);
    await tidy.catch(() => {});
  }

  private close(one: Showing): void {
    one.closed = true;
    one.cancel?.();
    one.cancel = undefined;
    this.showing.delete(one.turn);
  }
}
