/**
 * The outbox: intended → sending → sent. Whatever leaves Lares unasked leaves through here.
 *
 * OUTBOX-1: an answer is intended in the transaction that ends its turn; a repeated intention is the same rows (I6).
 * OUTBOX-2: the claim is durable before the platform is called. A claim without an outcome after a crash is repeated only where the
 *     platform deduplicates, or can be asked and has nothing; elsewhere it is `uncertain` and the person gets one honest note.
 * OUTBOX-3: one chat's messages go out one after another, in order; one chat's trouble touches no other.
 * OUTBOX-4: a delivery that stopped Lares twice is given up as failed, with the reason (I13).
 */
import {
  type Button,
  type Capabilities,
  type Channel,
  ChannelBusy,
  type HookLog,
  type Outgoing,
  type OutgoingFile,
  type Records,
  SendUncertain,
  type Tx,
} from "../../core/contracts/index.ts";
import {
  AppError,
  answerIds,
  type DeliveryId,
  deliveryId,
  isAboutApproval,
  isAskedAnswer,
  isNote,
  isTurnAnswer,
  PULLED,
  type ReplyRoute,
  type SessionKey,
  type TurnId,
  workKeys,
} from "../../core/domain/index.ts";
import {
  type Apart,
  Branches,
  type Bus,
  backoffMs,
  type Clock,
  type Crash,
  deadline,
  defined,
  type Guard,
  type Log,
  pause,
  STOPPED_LARES,
  truthy,
} from "../../core/kit/index.ts";
import type { OutboxConfig } from "./config.ts";
import { Pace } from "./pace.ts";
import { type MessagePiece, pieces } from "./pieces.ts";
import {
  type Delivery,
  type DeliveryState,
  deleteDraft,
  deliveryById,
  type Extra,
  findPlatformId,
  insertDelivery,
  listLost,
  listOutstanding,
  listParts,
  outstanding,
  saidSince,
  updateDelivery,
} from "./store.ts";
import {
  EXPIRED,
  FILE_GONE,
  fileNotSent,
  INTERRUPTED,
  interrupted,
  notConfigured,
  UNREACHABLE,
  unconfirmed,
} from "./words.ts";

/** What a message asks. `once`: there is nothing to keep, so "always" is not offered. */
export interface AskedApproval {
  approval: string;
  textWithButtons: string;
  once?: true;
}

/** A message that wants to leave. */
export interface Intention {
  /** Identifies the message forever: intending it again is a no-op (I6). */
  answer: string;
  turn: TurnId;
  session: SessionKey;
  route: ReplyRoute;
  text: string;
  /** A question: with buttons where there are some, and then without the typed code. */
  question?: AskedApproval;
  /** Attachments of this turn, by id. */
  files?: readonly string[];
}

/** What the outbox needs of the accounts that send. */
export interface OutboxAccounts {
  /** The account a route names; nothing where it is not configured. */
  get(channel: string, account: string): { can: Capabilities; open(): Promise<Channel> } | undefined;
  /** How a message fared on its account. */
  sent(route: ReplyRoute, ok: boolean, detail?: string): void;
}

export interface LiveMessages {
  /** The live answer of a turn, released by its writer: this message replaces it. Null: the platform must be queried later. */
  yield(turn: TurnId, route: ReplyRoute): Promise<string | null | undefined>;
}

export interface OutboxParts {
  records: Records;
  accounts: () => OutboxAccounts;
  /** Buttons for a question; what they mean is kept, the platform sees only ids. */
  buttons: (tx: Tx, question: AskedApproval) => Button[];
  file: (id: string) => Promise<OutgoingFile | undefined>;
  live: () => LiveMessages;
  config: () => OutboxConfig;
  clock: Clock;
  crash: Crash;
  /** Sending is guarded: what stopped Lares twice is given up. */
  guard: Guard;
  bus: Bus;
  hooks: HookLog;
  log: Log;
}

const UNKNOWN: Capabilities = {
  dialect: "raw",
  limit: 4000,
  unit: "utf16",
  dedupes: false,
  buttons: 0,
  files: 0,
  hears: [],
  does: [],
  pace: { chatMs: 0, accountMs: 0 },
};

/** A send that hangs longer than this may have been taken: it is uncertain. */
const SEND_TIMEOUT_MS = 30_000;
/** A platform that wants a longer pause is asked again after this one. */
const MOST_PAUSE_MS = 3_600_000;

export class Outbox {
  private readonly parts: OutboxParts;
  private readonly routes = new Map<string, Delivery[]>();
  private readonly known = new Set<DeliveryId>();
  /** Turns with intentions written since they were last woken. What an earlier process left is taken up at the start. */
  private readonly intended = new Set<TurnId>();
  private stopped = false;
  private readonly stopping = new AbortController();
  readonly pace = new Pace();

  constructor(parts: OutboxParts) {
    this.parts = parts;
  }

  /** Takes up everything that was intended and not confirmed before the last stop. */
  async start(): Promise<void> {
    for (const d of await outstanding(this.parts.records)) this.queue(d);
  }

  stop(): void {
    this.stopped = true;
    this.stopping.abort();
  }

  /** Writes the intention. Returns without a row where the caller fetches the answer itself. */
  intend(tx: Tx, m: Intention): void {
    const found = this.findAccount(m.route);
    if (found === "pull") return;
    const can = found?.can ?? UNKNOWN;
    const buttons = m.question && can.buttons >= 2 ? this.parts.buttons(tx, m.question) : [];
    const pieces = this.render(buttons.length ? m.question!.textWithButtons : m.text, can);
    pieces.forEach(({ text, ...forms }, part) => {
      const isLast = part === pieces.length - 1;
      const extra: Extra = {
        ...forms,
        ...(isLast && buttons.length ? { buttons: buttons.slice(0, can.buttons) } : {}),
        ...(isLast && m.files?.length ? { files: [...m.files] } : {}),
      };
      this.insert(tx, m, part, text, extra);
    });
  }

  /** A question is answered: its message says so and loses its buttons, where the platform can edit. Writes with the answer. */
  async rewriteQuestion(m: {
    turn: TurnId;
    session: SessionKey;
    route: ReplyRoute;
    approval: string;
    outcome: string;
  }): Promise<((tx: Tx) => void) | undefined> {
    const found = this.findAccount(m.route);
    if (found === "pull" || found?.can.editMs === undefined) return;
    const asked = (await listParts(this.parts.records, answerIds.ask(m.turn, m.approval))).at(-1);
    if (!asked) return;
    const outcome = this.render(m.outcome, found.can)[0];
    const was = asked.extra ? (JSON.parse(asked.extra) as Extra) : {};
    const html = was.html === undefined ? {} : { html: `${was.html}<br>${outcome?.html ?? outcome?.text ?? ""}` };
    const text = `${asked.text}\n\n${outcome?.text ?? ""}`;
    return (tx) =>
      this.insert(tx, { ...m, answer: answerIds.asked(m.turn, m.approval) }, 0, text, { ...html, edits: asked.id });
  }

  /** `pull`: nothing is pushed there, the caller fetches the answer. */
  private findAccount({ channel, account }: ReplyRoute): ReturnType<OutboxAccounts["get"]> | "pull" {
    return PULLED.has(channel) ? "pull" : this.parts.accounts().get(channel, account);
  }

  /** The same text gives the same pieces. */
  private render(text: string, can: Capabilities): MessagePiece[] {
    this.parts.crash.at("outbox.rendering", () => text);
    return pieces(text, can);
  }

  private insert(tx: Tx, m: Omit<Intention, "text">, part: number, text: string, extra: Extra): void {
    const { answer, turn, session, route } = m;
    const now = this.parts.clock.now();
    const id = deliveryId(answer, part);
    const expiresAt = now + this.parts.config().expireAfterHours * 3_600_000;
    const row = { id, part, answer, turn, session, route, text, extra, attempts: 0, nextAt: now, expiresAt };
    insertDelivery(tx, { ...row, state: "intended" }, now);
    this.intended.add(turn);
  }

  /** After the intention is durable: sends what this turn left. */
  async wake(turn: TurnId): Promise<void> {
    // Nothing for most turns: an HTTP caller fetches the answer.
    if (!this.intended.delete(turn)) return;
    for (const d of await listOutstanding(this.parts.records, turn)) this.queue(d);
  }

  /** The platform took it and could not deliver it after all: it failed, with the reason. */
  async undelivered(at: { channel: string; account: string }, key: string, why: string): Promise<void> {
    const d = await deliveryById(this.parts.records, key);
    if (d?.route.channel !== at.channel || d.route.account !== at.account) return;
    if (d.state === "sending") {
      // Its own answer is still on the way; said again it finds the row settled.
      throw new AppError("NOT_READY", { message: "The message is still being sent.", retry: "later" });
    }
    if (d.state === "sent" || d.state === "uncertain") await this.close(d, "failed", why);
  }

  /** What a turn, or any turn since then, had to say and nobody got, for good: each turn once. Questions and notes are not meant. */
  lost(of: { turn: TurnId } | { since: number }): Promise<{ turn: TurnId; error: string }[]> {
    return listLost(this.parts.records, of);
  }

  /**
   * Whether these questions, and nothing else, were shown in this chat since then and before `saidAt`: only then can a bare yes or no
   * there mean one of them.
   */
  async onlyAsked(
    route: ReplyRoute,
    asked: readonly string[],
    when: { since: number; saidAt: number },
  ): Promise<boolean> {
    const said = await saidSince(this.parts.records, route, when.since);
    const isAbout = ({ answer }: { answer: string }, id: string) => isAboutApproval(answer, id);
    if (!said.every((one) => isAskedAnswer(one.answer) || asked.some((id) => isAbout(one, id)))) return false;
    return asked.every((id) =>
      said.some((one) => isAbout(one, id) && /^(sent|uncertain)$/.test(one.state) && one.at <= when.saidAt),
    );
  }

  /** When the last message to this chat left. */
  sentAt(route: ReplyRoute): number | undefined {
    return this.pace.sentAt(route);
  }

  private queue(d: Delivery): void {
    if (this.stopped || this.known.has(d.id)) return;
    this.known.add(d.id);
    const key = JSON.stringify([d.route.channel, d.route.account, d.route.chat, d.route.thread ?? null]);
    const line = this.routes.get(key);
    if (line) {
      line.push(d);
      return;
    }
    const fresh = [d];
    this.routes.set(key, fresh);
    void this.drain(key, fresh);
  }

  private async drain(key: string, line: Delivery[]): Promise<void> {
    while (line.length && !this.stopped) {
      const head = line[0]!;
      await this.until(this.dueAt(head.nextAt));
      if (this.stopped) return;
      const done = await this.underGuard(head).catch((error) => {
        this.parts.log.error("delivery broke", { delivery: head.id, error: String(error) });
        return true;
      });
      if (!done) continue;
      line.shift();
      this.known.delete(head.id);
    }
    this.routes.delete(key);
  }

  /** A time further ahead than any wait was noted before the clock was set back: it is due. */
  private dueAt(nextAt: number): number {
    const now = this.parts.clock.now();
    return nextAt > now + Math.max(this.parts.config().mostRetryMs, MOST_PAUSE_MS) ? now : nextAt;
  }

  private async underGuard(d: Delivery): Promise<boolean> {
    const { guard } = this.parts;
    const key = workKeys.delivery(d.id);
    if (guard.suspicion(key) === "convicted") {
      const done = await this.close(d, "failed", STOPPED_LARES);
      guard.forgive(key);
      return done;
    }
    await guard.turn(key);
    const work = guard.begin(key);
    try {
      return await this.attempt(d, new Branches(work.doing).apart);
    } finally {
      work.end(!this.stopped);
    }
  }

  /** One try. True when this delivery needs no more tries. */
  private async attempt(d: Delivery, apart: Apart): Promise<boolean> {
    const { clock, crash } = this.parts;
    if (clock.now() >= d.expiresAt) return this.close(d, "expired", EXPIRED);
    const found = this.findAccount(d.route);
    if (!found || found === "pull") return this.wait(d, notConfigured(d.route.channel));
    const { can } = found;
    const edits = await apart("asks", () => this.editedBy(d, can));
    if (edits === "skip") return this.close(d, "sent", "");
    if (edits === null) return this.wait(d, UNREACHABLE);
    // Repeating an edit is harmless.
    const repeatable = can.dedupes || edits !== undefined;
    const channel = await apart("asks", () => found.open()).catch((error: unknown) => String(error));
    if (typeof channel === "string") return this.wait(d, channel);
    if (d.state === "sending" && !repeatable) {
      const there = await apart("asks", () => this.look(d, channel, can));
      if (there === "later") return this.wait(d, UNREACHABLE);
      if (there === undefined) return this.uncertain(d, INTERRUPTED);
      if (there !== null) return this.taken(d, there);
    }
    await apart("waits", () => this.myTurn(d.route, can.pace));
    if (this.stopped) return true;
    crash.at("outbox.before");
    d.state = "sending";
    d.attempts++;
    await this.save(d);
    crash.at("outbox.claimed", () => d.text);
    const within = deadline(this.stopping.signal, SEND_TIMEOUT_MS);
    try {
      const message = await this.outgoing(d, can);
      const platformId = await apart("asks", () => this.put(channel, edits, message, within.signal));
      within.done();
      crash.at("send.after");
      return await this.taken(d, platformId);
    } catch (error) {
      within.done();
      if (this.stopped) return true;
      const message = error instanceof Error ? error.message : String(error);
      this.parts.accounts().sent(d.route, false, message);
      const surelyNot = error instanceof AppError;
      if (surelyNot && error.retry === "never") {
        // The live answer is gone, or the platform takes no more edits of it: the answer goes as a separate message.
        if (edits !== undefined && d.extra.edits === undefined) {
          await this.parts.records.write((tx) => deleteDraft(tx, d.turn));
          return this.retry(d, message, 0);
        }
        return this.close(d, "failed", message);
      }
      if (error instanceof ChannelBusy) return this.retry(d, message, error.afterMs);
      if (surelyNot || repeatable) return this.retry(d, message);
      // Still claimed: the next try asks the platform first.
      if (channel.find) return this.wait(d, message);
      return this.uncertain(d, error instanceof SendUncertain ? message : interrupted(message));
    }
  }

  /** Waits for the platform's pace: first for the chat, then for a place in the account's line. */
  private async myTurn(route: ReplyRoute, rule: Capabilities["pace"]): Promise<void> {
    const { clock } = this.parts;
    for (let isMine = false; !isMine && !this.stopped; ) {
      const place = this.pace.next(route, rule, clock.now());
      await this.until(place.at);
      isMine = place.isMine;
    }
    while (!this.stopped) {
      const at = this.pace.hold(route, rule, clock.now());
      if (!at) return;
      await this.until(at);
    }
  }

  /** The platform has it. */
  private async taken(d: Delivery, platformId: string | null): Promise<boolean> {
    const { records, clock, crash, accounts, hooks } = this.parts;
    d.state = "sent";
    await records.write((tx) => {
      updateDelivery(tx, d.id, { ...d, platformId }, clock.now());
      if (d.part === 0) deleteDraft(tx, d.turn);
      hooks.record(tx, "message.sent", d.id, () => {
        const { session, turn, text, route } = d;
        return { session, turn, channel: route.channel, chat: route.chat, text };
      });
    });
    crash.at("outbox.recorded");
    accounts().sent(d.route, true);
    this.pace.sent(d.route, clock.now());
    this.tell(d);
    return true;
  }

  /** Whether the platform has what a broken try left; see `Channel.find`. */
  private async look(d: Delivery, channel: Channel, can: Capabilities): Promise<string | null | undefined | "later"> {
    if (!channel.find) return undefined;
    const within = deadline(this.stopping.signal, SEND_TIMEOUT_MS);
    try {
      return await channel.find(await this.outgoing(d, can), within.signal);
    } catch (error) {
      // Not allowed to ask is no answer; not reached is one that comes later.
      return error instanceof AppError && error.retry !== "later" ? undefined : "later";
    } finally {
      within.done();
    }
  }

  /** The message on the platform that this delivery rewrites; `skip`: there is none and nothing new is wanted. */
  private async editedBy(d: Delivery, can: Capabilities): Promise<string | "skip" | null | undefined> {
    const canEdit = can.editMs !== undefined;
    if (d.extra.edits !== undefined)
      return (canEdit && (await findPlatformId(this.parts.records, d.extra.edits))) || "skip";
    if (!canEdit || d.part > 0 || !isTurnAnswer(d.answer) || d.extra.files) return undefined;
    return this.parts.live().yield(d.turn, d.route);
  }

  private async put(
    channel: Channel,
    edits: string | undefined,
    message: Outgoing,
    signal: AbortSignal,
  ): Promise<string | null> {
    if (edits === undefined) return (await channel.send(message, signal)).platformId;
    await channel.edit!({ route: message.route, platformId: edits }, message, signal);
    return edits;
  }

  private async outgoing(d: Delivery, can: Capabilities): Promise<Outgoing> {
    const { html, styles, buttons, files = [] } = d.extra;
    const found: OutgoingFile[] = [];
    const notes: string[] = [];
    for (const id of files) {
      const file = await this.parts.file(id);
      if (file && file.bytes <= can.files) found.push(file);
      else notes.push(file ? fileNotSent(file.name, can.files) : FILE_GONE);
    }
    return {
      route: d.route,
      key: d.id,
      text: [d.text, ...notes].join("\n"),
      // Where there is a rich form, people see only that.
      ...(html === undefined ? {} : { html: [html, ...notes.map(asHtml)].join("<br>") }),
      ...defined({ styles, buttons }),
      ...(found.length ? { files: found } : {}),
    };
  }

  /** Surely not taken: it may be tried as if for the first time. */
  private retry(d: Delivery, error: string, afterMs?: number): Promise<boolean> {
    d.state = "intended";
    return this.wait(d, error, afterMs);
  }

  /** Not now. What is known about an earlier try stays known. */
  private async wait(d: Delivery, error: string, afterMs?: number): Promise<boolean> {
    const { firstRetryMs, mostRetryMs } = this.parts.config();
    const wait = { firstMs: firstRetryMs, mostMs: mostRetryMs, jitter: 0.2 };
    const pause = afterMs === undefined ? backoffMs(wait, Math.max(d.attempts, 1)) : Math.min(afterMs, MOST_PAUSE_MS);
    d.nextAt = this.parts.clock.now() + pause;
    await this.save(d, { error });
    this.tell(d, error);
    return false;
  }

  private async close(d: Delivery, state: DeliveryState, error: string): Promise<boolean> {
    d.state = state;
    await this.save(d, { error });
    this.parts.crash.at("outbox.closed");
    this.tell(d, error);
    return true;
  }

  /** Not repeated blindly: marked, and one note says so. A note itself gets no note. */
  private async uncertain(d: Delivery, error: string): Promise<boolean> {
    d.state = "uncertain";
    const isItselfNote = isNote(d.answer);
    const at = this.parts.clock.now();
    // One transaction: a crash between the mark and its note would leave the person without a word.
    await this.parts.records.write((tx) => {
      updateDelivery(tx, d.id, { ...d, error }, at);
      if (isItselfNote) return;
      this.intend(tx, {
        answer: answerIds.note(d.id),
        turn: d.turn,
        session: d.session,
        route: d.route,
        text: unconfirmed(d.text),
      });
    });
    this.tell(d, error);
    if (!isItselfNote) await this.wake(d.turn);
    return true;
  }

  private save(d: Delivery, more: { platformId?: string | null; error?: string } = {}): Promise<void> {
    const at = this.parts.clock.now();
    return this.parts.records.write((tx) => updateDelivery(tx, d.id, { ...d, ...more }, at));
  }

  private tell(d: Delivery, error?: string): void {
    const { session, turn, id, state } = d;
    this.parts.bus.emit({ event: "delivery", session, turn, delivery: id, state, ...truthy({ error }) });
  }

  private until(at: number): Promise<void> {
    const wait = at - this.parts.clock.now();
    return wait <= 0 ? Promise.resolve() : pause(this.parts.clock, wait, this.stopping.signal);
  }
}

function asHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
