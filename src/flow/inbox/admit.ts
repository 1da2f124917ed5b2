/**
 * The single door. Whatever wants a turn comes through here: it is recognised if it came before, given an agent and a
 * session, its reply route is fixed, and it is durable when this returns (I1, I2, I7).
 */
import {
  type Accepted,
  CANCEL,
  type Capabilities,
  type HookLog,
  type Reads,
  type Tx,
} from "../../core/contracts/index.ts";
import {
  type AgentId,
  AppError,
  acceptIds,
  accountPrefix,
  commandLane,
  type EventLabel,
  hasWords,
  type ImagePart,
  type InboundMessage,
  type Json,
  type LaneClass,
  listFiles,
  resumeIds,
  type SessionKey,
  type TextPart,
  type TurnId,
  toJson,
  unknownAgent,
} from "../../core/domain/index.ts";
import { type Bus, type Clock, defined, type IdMaker, longStamp, stampIn, truthy } from "../../core/kit/index.ts";
import type { InboxConfig } from "./config.ts";
import { cleanLabel, envelope, shownBy } from "./envelope.ts";
import { whatItReplaces } from "./replace.ts";
import { type Placement, place } from "./routing.ts";
import { type AdmittedRow, type AdmittingRooms, findPerson, lastMessage, readAsked, recordAdmission } from "./store.ts";

export interface Admitted extends Accepted {
  session: SessionKey;
  agent: AgentId;
}

/** What the inbox needs from the engine. */
export interface Acceptor {
  accept(
    m: { id: string; fresh?: boolean; session: SessionKey; lane: LaneClass; body: Json },
    record?: (tx: Tx, turn: TurnId) => void,
    /** Called once it is durable and before its first segment runs; not for a duplicate. */
    announce?: (turn: TurnId) => void,
  ): Promise<Accepted>;
  resume(turn: TurnId, event: { id: string; name: string; value: Json }): Promise<"taken" | "late" | "unknown">;
  running(session: SessionKey): TurnId | undefined;
}

/**
 * Slash commands act at once and answer in words. `undefined`: the text is no command. `says`: what the agent gets in its place, in
 * somebody else's words. May be asked twice for one message, so what
 * must not be done for a message that comes again, to stop these turns, is left to the admission.
 */
export interface Commands {
  run(
    text: string,
    at: { placement: Placement; message: InboundMessage },
  ): Promise<string | { reply: string; stop?: Stop } | { says: string } | undefined>;
}

export type Stop = { turns: TurnId[]; why: string };

/** Files that were uploaded before the message that names them. */
export interface AttachedFiles {
  /** Holds them for a message of this session until `release`. Throws when one cannot be used. */
  hold(
    ids: readonly string[],
    session: SessionKey,
    asker: { id: string; isOwner: boolean; agent?: AgentId },
  ): Promise<{
    parts: (TextPart | ImagePart)[];
    /** They become the session's, in the transaction that admits the message. */
    record(tx: Tx): void;
    release(): void;
  }>;
}

/** Group chats that are rooms of teams. */
export interface TeamRoomChats {
  /** Whether there are any. */
  readonly isUsed: boolean;
  /** Who answers a message there, in which session; undefined for every other chat. */
  place(message: InboundMessage): { agent: AgentId; session: SessionKey } | undefined;
  /** Written with the admission. Does nothing for every other session. */
  noteAdmitted(tx: Tx, turn: TurnId, message: InboundMessage, of: Pick<Placement, "session" | "person" | "text">): void;
}

export interface InboxParts {
  config: () => InboxConfig;
  engine: Acceptor;
  commands: Commands;
  /** Asks these turns to stop. Idempotent; one that has ended is left alone. */
  stop: (stop: Stop) => Promise<void>;
  /** Whether a message with this id was admitted before. */
  isKnown: (db: Reads, acceptId: string) => Promise<boolean>;
  hasSession: (db: Reads, session: string) => Promise<boolean>;
  /** How many sessions whose keys start with `prefix` were created since then; at most `most`. */
  sessionsSince: (db: Reads, prefix: string, since: number, most: number) => Promise<number>;
  /** What an admission leaves with other rooms. */
  rooms: AdmittingRooms;
  /** The messages admitted so far. */
  messages: Reads;
  attachments: AttachedFiles;
  teamRooms: TeamRoomChats;
  /** Where it was written and what is shown there, in a few words: "on Telegram (files up to 50 MB)". */
  where: (message: Pick<InboundMessage, "route" | "face">, can: Capabilities | undefined) => string;
  accounts: () => { get(channel: string, account: string): { can: Capabilities } | undefined };
  /** The zone a person's clock shows; the owner's where none is known. */
  findZone: (person: string) => Promise<string>;
  hooks: HookLog;
  agents: { exists(agent: AgentId): boolean; names(): string[] };
  clock: Clock;
  ids: IdMaker;
  bus: Bus;
}

/** What of a message its envelope depends on. */
export type Spoken = Pick<
  InboundMessage,
  "given" | "about" | "more" | "route" | "sender" | "isGroup" | "origin" | "authority" | "receivedAt"
>;

/** What a turn is started with: everything it needs to know about its cause. */
export type TurnBody =
  | {
      kind: "message";
      agent: string;
      person: string;
      route: Json;
      model: string | null;
      origin: "person" | "event";
      given?: Json;
      tools?: Json;
      terms?: Json;
      replaces?: TurnId;
    }
  | { kind: "command"; agent: string; route: Json; reply: string; stop?: Stop };

export type Inbox = ReturnType<typeof makeInbox>;

export function makeInbox(parts: InboxParts) {
  return {
    /** The line before a message that would be admitted now. Writes nothing. */
    envelope: async (message: Spoken, at: Pick<Placement, "session" | "person">): Promise<string | null> =>
      (await ownLines(parts, message, at, { at: message.receivedAt ?? parts.clock.now() })).envelope,

    /** The agent a message would go to. */
    findAgent: (message: InboundMessage): AgentId =>
      (parts.teamRooms.isUsed ? parts.teamRooms.place(message)?.agent : undefined) ??
      place(parts.config(), message).agent,

    /** The person a message would be from. */
    findPerson: (message: InboundMessage): Placement["person"] => place(parts.config(), message).person,

    /** `record` is written in the transaction that admits it; not at all when it came before. */
    async admit(sent: InboundMessage, record?: (tx: Tx, turn: TurnId) => void): Promise<Admitted> {
      let message = sent;
      const room = parts.teamRooms.isUsed ? parts.teamRooms.place(message) : undefined;
      const placement = { ...place(parts.config(), message), ...room };
      if (!parts.agents.exists(placement.agent)) throw unknownAgent(placement.agent, parts.agents.names());
      await mayBegin(parts, placement.session, message);
      const given = makeAcceptId(message);
      const id = given ?? parts.ids.next("m");
      // A platform that repeats a message must not make a command act again: "/stop" would stop a later turn.
      const isNew = given === undefined || !(await parts.isKnown(parts.messages, given));
      // A command somebody else wrote is not the sender's.
      const said =
        isNew && !message.outside ? await parts.commands.run(placement.text, { placement, message }) : undefined;
      const { reply, stop: stopping } = readReply(said);
      if (typeof said === "object" && "says" in said) {
        placement.text = said.says;
        message = { ...message, outside: true };
      }
      const replaced =
        isNew && reply === undefined && message.replaces
          ? await whatItReplaces(parts.messages, placement, message.replaces, message.authority ?? "stranger")
          : undefined;
      // Only what runs for the old message, or for a later one, makes way; the data says so too, should we die here.
      const running = parts.engine.running(placement.session);
      if (replaced) placement.mode = running && replaced.stop.includes(running) ? "interrupt" : "followup";
      const ids = isNew && reply === undefined ? (message.attachments?.ids ?? []) : [];
      const asker = {
        id: message.attachments?.by ?? "",
        isOwner: message.authority === "owner",
        ...(mayUseFiles(message) ? { agent: placement.agent } : {}),
      };
      const held = ids.length ? await parts.attachments.hold(ids, placement.session, asker) : undefined;
      const fresh = given === undefined;
      const asked = { id, fresh, message, placement, reply, stop: stopping, held, record };
      const admitted = await accept(parts, asked).finally(() => held?.release());
      // In this order: a platform that sends it again finds it admitted, and what began since then goes on. A crash in between is
      // made good by the command's own turn.
      if (stopping && !admitted.duplicate) await parts.stop(stopping);
      if (admitted.duplicate && message.fingerprint !== undefined) return asBefore(parts, id, message, admitted);
      if (replaced) await stop(parts, admitted, replaced.stop);
      else if (placement.mode === "interrupt" && reply === undefined && !admitted.duplicate)
        await interrupt(parts, admitted);
      return admitted;
    },
  };
}

function readReply(said: Awaited<ReturnType<Commands["run"]>>): { reply: string | undefined; stop?: Stop } {
  if (typeof said !== "object") return { reply: said };
  return "says" in said ? { reply: undefined } : said;
}

/** The workspace is closed to guests, and a program that brings its own conversation has no use for ours. */
function mayUseFiles({ authority, given }: InboundMessage): boolean {
  return (authority === "owner" || authority === "known") && !isOwnConversation(given);
}

function isOwnConversation(given: InboundMessage["given"]): boolean {
  return given?.instructions !== undefined || given?.history !== undefined || given?.tools !== undefined;
}

/** New sessions a day for one token or account that isn't the owner's. People have a handful; programs that need more use `once`. */
const MOST_SESSIONS = 1000;
const DAY_MS = 86_400_000;

/** A token that makes up names must not fill the database. The owner isn't counted, and a session that is there costs nothing. */
async function mayBegin(parts: InboxParts, session: SessionKey, message: InboundMessage): Promise<void> {
  const { messages, clock } = parts;
  if (message.authority === "owner" || message.brief) return;
  const prefix = accountPrefix(session, message.route);
  if (prefix === undefined || (await parts.hasSession(messages, session))) return;
  const made = await parts.sessionsSince(messages, prefix, clock.now() - DAY_MS, MOST_SESSIONS);
  if (made < MOST_SESSIONS) return;
  throw new AppError("TOO_MANY", {
    message: `${MOST_SESSIONS} new conversations were started from here within a day, which is the limit.`,
    hint: "Continue in an existing one, or try again tomorrow.",
    retry: "later",
  });
}

/**
 * The place it was given then, when the same was asked; else a conflict. Compared after the engine knows it again, so two
 * requests at the same moment are compared too.
 */
async function asBefore(parts: InboxParts, id: string, message: InboundMessage, now: Admitted): Promise<Admitted> {
  const before = await readAsked(parts.messages, id);
  if (!before) return now;
  const isSame =
    (before.fingerprint ?? message.fingerprint) === message.fingerprint &&
    (message.session ?? before.session) === before.session &&
    (message.agent ?? before.agent) === before.agent;
  if (isSame) return { ...now, session: before.session as SessionKey, agent: before.agent as AgentId };
  throw new AppError("CONFLICT", {
    message: "This idempotency key was used for another message, user or conversation.",
    hint: "Use a new key for a new message; the same key only to send the same one again.",
    details: { field: "idempotencyKey" },
  });
}

interface Accepting {
  id: string;
  fresh: boolean;
  message: InboundMessage;
  placement: Placement;
  reply: string | undefined;
  stop: Stop | undefined;
  held: Awaited<ReturnType<AttachedFiles["hold"]>> | undefined;
  record: ((tx: Tx, turn: TurnId) => void) | undefined;
}

async function accept(parts: InboxParts, m: Accepting): Promise<Admitted> {
  const { id, fresh, message, placement, reply, held } = m;
  const { agent, session, person, mode, text } = placement;
  const lane = message.lane ?? "interactive";
  const at = message.receivedAt ?? parts.clock.now();
  const body = toBody(m);
  const attachments = listFiles(held?.parts ?? []);
  const files = attachments.flatMap((file) => file.path ?? []);
  const ours = reply === undefined ? await ownLines(parts, message, placement, { at, files }) : NO_LINES;
  // A command has nothing to say to the model, so it does not wait for the session's turn.
  const lane_of = reply === undefined ? session : commandLane(session);
  const isOpened = parts.hooks.observes("session.opened") && !(await parts.hasSession(parts.messages, session));
  const write = (tx: Tx, turn: TurnId) => {
    recordAdmission(tx, parts.rooms, {
      turn,
      acceptId: id,
      fingerprint: message.fingerprint,
      session,
      agent,
      person,
      route: message.route,
      lane,
      mode,
      text,
      at,
      authority: message.authority ?? "stranger",
      isEvent: message.origin === "event",
      isGroup: message.isGroup ?? false,
      outside: message.outside ?? false,
      attached: [...(held?.parts ?? []), ...ours.more],
      envelope: ours.envelope,
      shown: ours.shown,
      label: ours.label,
      title: message.about?.title,
      face: message.face,
      name: message.origin === "event" ? undefined : message.sender.name,
      forModel: reply === undefined,
      brief: message.brief ?? false,
    });
    held?.record(tx);
    m.record?.(tx, turn);
    if (parts.teamRooms.isUsed && reply === undefined) parts.teamRooms.noteAdmitted(tx, turn, message, placement);
    if (isOpened) parts.hooks.record(tx, "session.opened", `${session}/${turn}`, () => ({ agent, session }));
    parts.hooks.record(tx, "message.received", turn, () => {
      const { channel, chat } = message.route;
      return { agent, session, turn, channel, chat, sender: person, text };
    });
  };
  const announce = (turn: TurnId) =>
    parts.bus.emit({
      event: "turn.accepted",
      session,
      turn,
      text,
      route: message.route,
      ...defined({ label: ours.label }),
      ...(attachments.length ? { attachments } : {}),
    });
  const accepted = await parts.engine.accept({ id, fresh, session: lane_of, lane, body }, write, announce);
  return { ...accepted, session, agent };
}

function toBody({
  message,
  placement,
  reply,
  stop,
}: Pick<Accepting, "message" | "placement" | "reply" | "stop">): TurnBody {
  const { agent, person } = placement;
  const route = toJson(message.route);
  if (reply !== undefined) return { kind: "command", agent, route, reply, ...(stop ? { stop: { ...stop } } : {}) };
  return {
    kind: "message",
    agent,
    person,
    route,
    model: message.model ?? null,
    origin: message.origin ?? "person",
    ...(message.given ? { given: toJson(message.given) } : {}),
    ...(message.tools ? { tools: [...message.tools] } : {}),
    ...(message.terms ? { terms: toJson(message.terms) } : {}),
    ...truthy({ replaces: message.replaces }),
  };
}

interface OwnLines {
  /** Before the message; null for a caller that brings its own conversation: nothing of ours belongs in it. */
  envelope: string | null;
  /** What a reader of all these lines takes for today. */
  shown?: AdmittedRow["shown"];
  label?: EventLabel;
  /** What else happened, each behind a separate line. */
  more: TextPart[];
}

const NO_LINES: OwnLines = { envelope: null, more: [] };

/** What Lares itself writes into the message. Computed once and stored with it (INBOX-3). */
async function ownLines(
  parts: InboxParts,
  message: Spoken,
  { session, person }: Pick<Placement, "session" | "person">,
  { at, files = [] }: { at: number; files?: readonly string[] },
): Promise<OwnLines> {
  const { given, about = {}, route, sender } = message;
  const { label, zone: named, ...facts } = about;
  const labelled = label ? { label: cleaned(label) } : {};
  if (isOwnConversation(given)) return { ...NO_LINES, ...labelled };
  const isPerson = message.origin !== "event";
  const last = await lastMessage(parts.messages, session);
  // Events in somebody's session use that person's time zone.
  const whose = isPerson ? person : ((await findPerson(parts.messages, session)) ?? person);
  const zone = named ?? (await parts.findZone(whose));
  const isShared = message.isGroup || (last !== undefined && last.person !== person);
  const standing = ({ owner: "owner", known: "known", outside: "guest", stranger: "guest" } as const)[
    message.authority ?? "outside"
  ];
  const can = parts.accounts().get(route.channel, route.account)?.can;
  const where = { at, zone, channel: route.channel, where: parts.where(message, can) };
  const clock = named === undefined ? { whose, zone } : last?.clock;
  const line = envelope({
    ...where,
    ...(named === undefined ? { whose } : {}),
    ...defined({ last }),
    ...(isPerson && isShared ? { speaker: { name: sender.name ?? sender.id, standing } } : {}),
    ...defined({ label: label?.text }),
    ...(files.length ? { files } : {}),
    ...facts,
  });
  let shown = shownBy({ ...where, ...facts });
  const more = (message.more ?? []).flatMap((one): TextPart[] => {
    const { text, isMaterial = false } = one;
    const said = {
      ...where,
      saidAt: one.at,
      label: one.label.text,
      isMaterial,
      last: { at, channel: route.channel, shown },
    };
    shown = shownBy(said);
    const own: TextPart = { type: "text", text: envelope(said), ours: true, label: cleaned(one.label) };
    return !hasWords(text) ? [own] : [own, { type: "text", text }];
  });
  const kept = { day: shown, ...defined({ view: last?.view, clock }) };
  return { envelope: line, shown: kept, more, ...labelled };
}

/** The line before something that enters the history without coming through the door: the outcome of a call that waited. */
export async function ownLine(
  parts: Pick<InboxParts, "messages" | "findZone">,
  of: { session: SessionKey; label: EventLabel; at: number },
): Promise<TextPart> {
  const { session, label, at } = of;
  const last = await lastMessage(parts.messages, session);
  const zone = await parts.findZone((await findPerson(parts.messages, session)) ?? "");
  const channel = last?.channel ?? "";
  const text = envelope({ at, zone, channel, label: label.text, ...defined({ last }) });
  return { type: "text", text, ours: true, label: cleaned(label) };
}

/** A time, with its date, in the time zone of the session's person. */
export async function stampFor(
  parts: Pick<InboxParts, "messages" | "findZone">,
  of: { session: SessionKey; at: number },
): Promise<string> {
  const zone = await parts.findZone((await findPerson(parts.messages, of.session)) ?? "");
  return longStamp(stampIn(zone, of.at));
}

function cleaned(label: EventLabel): EventLabel {
  return { ...label, text: cleanLabel(label.text) };
}

/** The running turn ends at its next safe point, with a visible outcome; this message's own turn is next. */
async function interrupt(parts: InboxParts, admitted: Admitted): Promise<void> {
  const running = parts.engine.running(admitted.session);
  if (running) await stop(parts, admitted, [running]);
}

async function stop(parts: InboxParts, admitted: Admitted, turns: readonly TurnId[]): Promise<void> {
  for (const turn of turns) {
    if (turn === admitted.turn) continue;
    await parts.engine.resume(turn, {
      id: resumeIds.interrupt(admitted.turn),
      name: CANCEL,
      value: { why: "a newer message interrupted it" },
    });
  }
}

/**
 * The same platform message or key has the same id, by which the engine recognises it forever. Undefined if a message has
 * neither.
 */
function makeAcceptId({ route, idempotencyKey, platformId }: InboundMessage): string | undefined {
  if (idempotencyKey) return acceptIds.idempotent(route, idempotencyKey);
  return platformId ? acceptIds.message(route, platformId) : undefined;
}
