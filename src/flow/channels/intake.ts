/**
 * From a platform's event to the inbox. Every kind of event takes the same path: check the sender first, then look at the
 * content. Someone who may not talk is never downloaded from, stored or answered, except for one pairing code (CHANNEL-3, CH-07).
 *
 * INTAKE-1: the position is committed in the transaction of the last event, or right after it when that left nothing to commit.
 * INTAKE-2: an event that can't be admitted because of its content is refused and logged; only our own trouble (the disk, the
 * engine) stops the connection, so that the platform sends the event again.
 * INTAKE-3: an event that stopped Lares twice is skipped, counted and logged, and the position moves on (I13); otherwise the
 * platform would send it again at every start.
 */
import type {
  AccountPolicy,
  Heard,
  PlatformEvent,
  Reads,
  Records,
  RemoteFile,
  Tx,
} from "../../core/contracts/index.ts";
import {
  type About,
  type AccountKey,
  type AgentId,
  AppError,
  type ApprovalDecision,
  acceptIds,
  answerWords,
  asId,
  assertNever,
  countScopes,
  hasWords,
  type InboundMessage,
  isAgentScope,
  type Json,
  noticeIds,
  personKeys,
  type ReplyRoute,
  senderAt,
  workKeys,
} from "../../core/domain/index.ts";
import {
  type Clock,
  type Crash,
  defined,
  type Guard,
  guarded,
  type Log,
  STOPPED_LARES,
  truthy,
} from "../../core/kit/index.ts";
import type { Acknowledgements } from "./acknowledge.ts";
import { type Count, countsFor, HOUR_MS, LoopWatch } from "./limits.ts";
import type { Pairings } from "./pairing.ts";
import { type Standing, standing } from "./standing.ts";
import { CURSOR, counted, countMessage, forgetCounts, listSenderGrants, readButton, writeKept } from "./store.ts";
import { ANSWERING_EACH_OTHER, limitText, ONLY_OWNER_ANSWERS, QUESTION_CLOSED } from "./words.ts";

export interface IntakeParts {
  records: Records;
  clock: Clock;
  crash: Crash;
  guard: Guard;
  log: Log;
  pairings: Pairings;
  inbox: {
    admit(
      message: InboundMessage,
      record: (tx: Tx, turn: string) => void,
    ): Promise<{ turn: string; duplicate: boolean }>;
    /** The agent a message would go to. */
    findAgent(message: InboundMessage): AgentId;
  };
  outbox: {
    /** When our last message to this chat left. */
    sentAt(route: ReplyRoute): number | undefined;
  };
  /** What each agent's owner set; here only how many messages it takes. */
  agents: () => Readonly<Record<string, { readonly messages?: AccountPolicy["limits"] } | undefined>>;
  acknowledgements: Acknowledgements;
  /** Takes a file into the home. Throws when it is too large or of a refused type. */
  store: (body: AsyncIterable<Uint8Array>, about: { name: string; by: string }) => Promise<{ id: string }>;
  answer: (approval: string, a: { decision: ApprovalDecision; by: string }) => Promise<string>;
  /** Whether a question with this code is open. */
  isOpen: (code: string) => Promise<boolean>;
  /** The question that a message on the platform shows, if it shows one. */
  questionAt: (route: ReplyRoute, platformId: string) => Promise<string | undefined>;
  /** The text of the message admitted under this id. */
  admittedText: (db: Reads, acceptId: string) => Promise<string | undefined>;
  /** Tokens that went through models since then: of an agent's turns, or of those an account brought. */
  tokensSince: (of: { agent: string } | AccountKey, since: number) => Promise<number>;
  /** Withdraws a message admitted under this id that no model has read; false if nothing of it is waiting. */
  withdraw: (acceptId: string, record: (tx: Tx) => void) => Promise<boolean>;
  /** Sends a message on a route without a turn: durable with the transaction, sent by `sent`. */
  say: (tx: Tx, m: { id: string; route: ReplyRoute; text: string }) => void;
  sent: (id: string) => void;
}

/** As many as an album of a platform holds. */
const MOST_FILES = 10;
const LONGEST_IN_ENVELOPE = 60;
const FETCH_PATIENCE_MS = 60_000;
const YES = new Set(["👍", "✅", "✔", "👌", "+1", "thumbsup", "white_check_mark", "heavy_check_mark"]);
const NO = new Set(["👎", "❌", "✖", "🚫", "-1", "thumbsdown", "x", "no_entry"]);

type Message = Extract<PlatformEvent, { kind: "message" | "edit" }>;
type May = Extract<Standing, { may: true }>;

export class Intake {
  private readonly parts: IntakeParts;
  private readonly loops = new LoopWatch();
  private swept = 0;

  constructor(parts: IntakeParts) {
    this.parts = parts;
  }

  /** `passOver` counts and logs a skipped event (INTAKE-3). */
  async hear(
    { passOver, ...at }: AccountKey & { passOver: (event: { kind: string; id: string }) => void },
    policy: AccountPolicy,
    events: readonly PlatformEvent[],
    cursor?: Json,
  ): Promise<Heard[]> {
    const { records, crash, guard } = this.parts;
    let kept = cursor === undefined;
    const heard: Heard[] = [];
    for (const [i, event] of events.entries()) {
      const record = (tx: Tx) => {
        if (cursor === undefined || i < events.length - 1) return;
        writeKept(tx, at, CURSOR, cursor);
        kept = true;
      };
      const take = async () => {
        crash.at("channel.heard", () => ("text" in event ? event.text : event.id));
        return this.one(at, policy, event, record);
      };
      const leave = async (): Promise<Heard> => {
        passOver(event);
        return { outcome: "refused", say: STOPPED_LARES };
      };
      const key = workKeys.event(at, event.chat.id, event.id);
      heard.push(await guarded(guard, key, take, leave));
    }
    if (!kept) await records.write((tx) => writeKept(tx, at, CURSOR, cursor));
    if (events.length) crash.at("channel.taken");
    return heard;
  }

  private async one(
    at: AccountKey,
    policy: AccountPolicy,
    event: PlatformEvent,
    record: (tx: Tx) => void,
  ): Promise<Heard> {
    const { records, log, pairings } = this.parts;
    if (event.kind === "delete") return this.deleted(at, event, record);
    const addressed = await this.answersByCode(event);
    const may = standing(
      policy,
      addressed ? { ...event, addressed } : event,
      await listSenderGrants(records, at, event.sender.id),
    );
    const route = toRoute(at, event);
    if (!may.may) {
      log.debug("not taken", { ...at, why: may.why, kind: event.kind });
      if (may.pair && event.kind === "message") await pairings.ask(at, event.sender, route, record);
      return { outcome: may.cause === "not-addressed" ? "ignored" : "refused" };
    }
    switch (event.kind) {
      case "message":
      case "edit":
        return this.message(at, policy, event, may, route, record);
      case "button": {
        const button = await readButton(records, event.button);
        if (!button) return { outcome: "ignored", say: QUESTION_CLOSED };
        return this.answered(button.approval, button.decision, event, may);
      }
      case "reaction": {
        // Platforms may add a skin tone or a variation selector to an emoji.
        const sign = event.emoji.replace(/[\ufe0f\u{1f3fb}-\u{1f3ff}]/gu, "");
        const decision = decisionBy(sign);
        const asked = !event.removed && decision ? await this.parts.questionAt(route, event.message) : undefined;
        return asked ? this.answered(asked, decision!, event, may) : { outcome: "ignored" };
      }
      case "member":
        return { outcome: "ignored" };
      default:
        return assertNever(event);
    }
  }

  /** The platform reports a deleted message. All this can do is keep a waiting one from being answered. */
  private async deleted(
    at: AccountKey,
    event: Extract<PlatformEvent, { kind: "delete" }>,
    record: (tx: Tx) => void,
  ): Promise<Heard> {
    const id = acceptIds.message({ ...at, chat: event.chat.id }, event.message);
    if (await this.parts.withdraw(id, record))
      this.parts.log.info("a message was deleted before it was read", { ...at, message: event.message });
    return { outcome: "ignored" };
  }

  /** In a group, the code of an open approval addresses us just like our name. */
  private async answersByCode(event: PlatformEvent): Promise<boolean> {
    if (event.kind !== "message" || event.chat.kind !== "group" || event.addressed) return false;
    const code = answerWords(event.text)?.code;
    return code !== undefined && (await this.parts.isOpen(code));
  }

  private async answered(approval: string, decision: ApprovalDecision, event: PlatformEvent, may: May): Promise<Heard> {
    if (!may.mayApprove) return { outcome: "refused", say: ONLY_OWNER_ANSWERS };
    try {
      const by = event.sender.name ? `${event.sender.name} (${event.sender.id})` : event.sender.id;
      return { outcome: "answered", say: await this.parts.answer(approval, { decision, by }) };
    } catch (error) {
      if (error instanceof AppError && (error.code === "ALREADY_ANSWERED" || error.code === "NOT_FOUND"))
        return { outcome: "answered", say: error.message };
      throw error;
    }
  }

  private async message(
    at: AccountKey,
    policy: AccountPolicy,
    event: Message,
    may: May,
    route: ReplyRoute,
    record: (tx: Tx) => void,
  ): Promise<Heard> {
    const { clock, log } = this.parts;
    const files = event.kind === "message" ? (event.files ?? []).slice(0, MOST_FILES) : [];
    const isBot = event.sender.isBot === true;
    const { text, answers } = await this.read(at, policy, event, route);
    if (text === undefined || (!hasWords(text) && !files.length)) return { outcome: "ignored" };
    const message: InboundMessage = {
      route,
      sender: { id: event.sender.id, ...truthy({ name: event.sender.name }) },
      platformId: event.id,
      authority: may.authority,
      mayApprove: may.mayApprove,
      ...(event.chat.kind === "group" ? { isGroup: true } : {}),
      ...(bringsOthersWords(event) ? { outside: true } : {}),
      text,
      about: toAbout(event, answers),
      ...(may.agent ? { agent: asId<AgentId>(may.agent) } : {}),
      ...defined({ tools: may.tools }),
    };
    const known = await this.parts.admittedText(
      this.parts.records,
      acceptIds.message({ ...at, chat: route.chat }, event.id),
    );
    if (known === undefined) {
      const stop = await this.refusal(at, policy, message, isBot, clock.now());
      if (stop !== undefined) {
        log.warn("a message was refused by a limit", { ...at, sender: event.sender.id, limit: stop.by });
        await this.notice(stop, route, (tx) => {
          record(tx);
          // Only the first gets a notice; the count is recorded.
          countMessage(tx, countScopes.refused(at, event.sender.id), toHour(clock.now()));
        });
        return { outcome: "refused", say: stop.text };
      }
    }
    try {
      const fetched = known === undefined ? await this.fetch(files, message) : { ids: [], lost: [] };
      const by = makeOwnerKey(message);
      const admitted = await this.parts.inbox.admit(
        {
          ...message,
          about: { ...message.about, ...(fetched.lost.length ? { lost: fetched.lost } : {}) },
          ...(fetched.ids.length ? { attachments: { ids: fetched.ids, by } } : {}),
        },
        (tx, turn) => {
          record(tx);
          const emoji = event.kind === "message" ? policy.acknowledge : undefined;
          if (emoji) this.parts.acknowledgements.note(tx, { turn, at, route, message: event.id, emoji });
          const scopes = this.listCounts(at, policy, message, isBot).filter(({ unit }) => unit === "messages");
          for (const scope of new Set(scopes.map((one) => one.scope))) countMessage(tx, scope, toHour(clock.now()));
        },
      );
      if (!admitted.duplicate) this.parts.acknowledgements.set(admitted.turn);
      return { outcome: admitted.duplicate ? "known" : "admitted", turn: admitted.turn };
    } catch (error) {
      // Only our own trouble stops the connection (INTAKE-2).
      if (!(error instanceof AppError) || /^(STORAGE|NOT_READY|INTERNAL|HOME|DATABASE)/.test(error.code)) throw error;
      log.warn("a message could not be admitted", { ...at, code: error.code, error: error.message });
      await this.notice({ id: noticeIds.refused(event.id), text: error.message }, route, record);
      return { outcome: "refused", say: error.message };
    }
  }

  /** The message's text and what it replies to, leaving out what may not be seen (PI-09). No text means nothing new was said. */
  private async read(
    at: AccountKey,
    policy: AccountPolicy,
    event: Message,
    route: ReplyRoute,
  ): Promise<{ text?: string; answers?: About["answers"] }> {
    if (event.kind === "edit") {
      const before = await this.parts.admittedText(
        this.parts.records,
        acceptIds.message({ ...at, chat: route.chat }, event.message),
      );
      // Platforms also report an edit when a link gets its preview.
      return before === undefined || before === event.text ? {} : { text: event.text };
    }
    const { quote } = event;
    if (!quote) return { text: event.text };
    const mine = quote.sender === undefined || quote.sender === event.sender.id;
    const judged = { chat: event.chat, sender: { id: quote.sender ?? "" }, kind: "reaction" as const };
    const seen = mine || standing(policy, judged, await listSenderGrants(this.parts.records, at, quote.sender!)).may;
    if (!seen) return { text: event.text, answers: { text: "a message of somebody who may not talk here" } };
    const answers = { ...truthy({ name: quote.name }), text: quote.text };
    // The envelope has room for the beginning of a quotation; a longer one goes before the text.
    const isLong = quote.text.length > LONGEST_IN_ENVELOPE;
    const quoted = `> ${quote.text.slice(0, 2000).replaceAll("\n", "\n> ")}\n\n`;
    return { text: isLong ? quoted + event.text : event.text, answers };
  }

  private listCounts(at: AccountKey, policy: AccountPolicy, message: InboundMessage, isBot: boolean): Count[] {
    const agent = this.parts.inbox.findAgent(message);
    const limits = this.parts.agents()[agent]?.messages ?? {};
    const person = personKeys.at(at.channel, message.sender.id);
    return countsFor(
      { account: policy.limits, agent: limits },
      { account: at, agent, person },
      {
        isOwner: message.authority === "owner",
        isBot,
        chat: message.route.chat,
      },
    );
  }

  /** The limit this message exceeds, with an id that allows one notice per window. */
  private async refusal(
    at: AccountKey,
    policy: AccountPolicy,
    message: InboundMessage,
    isBot: boolean,
    now: number,
  ): Promise<{ by: "loop" | "limit"; id: string; text: string } | undefined> {
    const { records, outbox } = this.parts;
    const chat = JSON.stringify([at.channel, at.account, message.route.chat, message.sender.id]);
    const loop = this.loops.judge(chat, now, outbox.sentAt(message.route));
    if (loop !== "fine") {
      return { by: "loop", id: noticeIds.loop(chat, toHour(now)), text: ANSWERING_EACH_OTHER };
    }
    if (now - this.swept > HOUR_MS) {
      this.swept = now;
      await records.write((tx) => forgetCounts(tx, toHour(now) - 24));
    }
    for (const count of this.listCounts(at, policy, message, isBot)) {
      const used =
        count.unit === "messages"
          ? await counted(records, count.scope, toHour(now), count.hours)
          : await this.parts.tokensSince(
              isAgentScope(count.scope) ? { agent: this.parts.inbox.findAgent(message) } : at,
              now - 24 * HOUR_MS,
            );
      const { scope, hours = 1 } = count;
      const id = noticeIds.limit({ scope, hours, window: Math.floor(toHour(now) / hours), chat });
      if (used >= count.most) return { by: "limit", id, text: limitText(count) };
    }
  }

  /** Said once: the same id again is the same message. */
  private async notice(n: { id: string; text: string }, route: ReplyRoute, record: (tx: Tx) => void): Promise<void> {
    await this.parts.records.write((tx) => {
      this.parts.say(tx, { ...n, route });
      record(tx);
    });
    this.parts.sent(n.id);
  }

  /** Downloads the files. One that can't be downloaded is named to the model instead. */
  private async fetch(files: readonly RemoteFile[], message: InboundMessage) {
    const ids: string[] = [];
    const lost: { name: string; why: string }[] = [];
    for (const file of files) {
      const name = file.name ?? "file";
      try {
        const body = await file.open(AbortSignal.timeout(FETCH_PATIENCE_MS));
        ids.push((await this.parts.store(body, { name, by: makeOwnerKey(message) })).id);
      } catch (error) {
        const why = error instanceof AppError ? error.message : "it could not be fetched.";
        this.parts.log.info("an attachment was left out", { channel: message.route.channel, why: String(error) });
        lost.push({ name, why });
      }
    }
    return { ids, lost };
  }
}

/**
 * Whether it was forwarded or quotes something, so that not all of it is the sender's own words (I12). What the bot said may come
 * from a page, and what a person quotes of themselves may have been forwarded. A command or an answer to an approval counts even
 * if it quotes the bot: the text is the sender's alone, and the quotation isn't part of it.
 */
function bringsOthersWords(event: Message): boolean {
  if (event.forwarded === true) return true;
  if (event.kind === "edit" || !event.quote) return false;
  const isOthers = event.quote.sender !== undefined && event.quote.sender !== event.sender.id;
  return isOthers || !(event.text.startsWith("/") || answerWords(event.text) !== undefined);
}

function toAbout(event: Message, answers: About["answers"]): About {
  return {
    ...defined({ saidAt: event.at, title: event.chat.title || undefined }),
    ...(event.kind === "edit" ? { isEdited: true } : {}),
    ...(event.kind === "message" && event.forwarded ? { forwardedFrom: event.forwardedFrom ?? (true as const) } : {}),
    ...defined({ answers }),
    ...(event.kind === "message" && event.voice ? { voice: event.voice } : {}),
  };
}

function toRoute(at: AccountKey, event: PlatformEvent): ReplyRoute {
  return { ...at, chat: event.chat.id, ...truthy({ thread: event.chat.thread }) };
}

function makeOwnerKey(message: InboundMessage): string {
  return senderAt(message.route, message.sender.id);
}

function toHour(now: number): number {
  return Math.floor(now / HOUR_MS);
}

function decisionBy(sign: string): "allow-once" | "deny" | undefined {
  if (YES.has(sign)) return "allow-once";
  return NO.has(sign) ? "deny" : undefined;
}
