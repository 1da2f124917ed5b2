/**
 * A channel speaks one platform for one account and knows nothing about agents, sessions or who may talk.
 *
 * CHANNEL-1: it acknowledges to the platform only after `door.hear` resolved (I1); what it acknowledged is never heard again, what it
 *     did not is heard again after a restart. A platform with a position (offset, since token, UID) hands it along as `cursor`:
 *     it is committed with the last event and found again by `door.cursor`.
 * CHANNEL-2: `send` and `edit` throw `AppError("CHANNEL_SEND")` when the platform surely did not take it (retry "later" or "never"),
 *     `ChannelBusy` when it says when to come back, and `SendUncertain` when it may have taken it. They never repeat on their own.
 * CHANNEL-3: nothing is downloaded, and nothing is answered, before the door said that the sender may talk.
 * CHANNEL-4: an adapter that cannot go on throws from `run`; it is run again after a wait. It keeps no retry loop of its own.
 */

import { AppError } from "../domain/errors.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { ReplyRoute, Voice } from "../domain/message.ts";

/** How text is written on the platform; see the renderers. `raw`: the agent's markdown as it is. */
export type ChannelDialect =
  | "raw"
  | "plain"
  | "commonmark"
  | "telegram"
  | "slack"
  | "discord"
  | "whatsapp"
  | "matrix"
  | "mattermost"
  | "email"
  | "xmpp"
  | "signal"
  | "irc"
  | "teams"
  | "nostr";

/**
 * What reaches us from a platform besides direct text messages. `threads`: a message in a thread is answered in that thread, which is
 * a separate conversation. `deletions`: the platform says when a message was deleted.
 */
export type Hears = "groups" | "files" | "threads" | "edits" | "reactions" | "deletions";

/** What an adapter does besides sending, each by methods of `Channel`: `react` by `react` and `unreact`. Edits are `editMs`. */
export type Does = "react" | "remove" | "typing";

/**
 * What a platform can do. Declared beside the account's configuration, so that it is known without loading the adapter. The channel
 * contract (test/contracts/channel.ts) tries every part that is declared here, and fails where it cannot.
 */
export interface Capabilities {
  /** How its text is written. */
  dialect: ChannelDialect;
  /** Longest text of one message. */
  limit: number;
  /** What `limit` counts: UTF-16 units, bytes, or code points. */
  unit: "utf16" | "bytes" | "codepoints";
  /** True when the platform deduplicates on `key`: an uncertain send may then be repeated. */
  dedupes: boolean;
  /** Buttons of one message; 0: a typed code instead. */
  buttons: number;
  /** Most messages of one answer, where more would be a flood: the rest is named, not sent. */
  most?: number;
  /** Bytes of the largest file that can be sent; 0: none. */
  files: number;
  /**
   * Fastest the platform takes messages: to one chat, and over the account. `perMinute`: most messages and edits in a minute, in
   * chats where the platform counts them.
   */
  pace: { chatMs: number; accountMs: number; perMinute?: (chat: string) => number | undefined };
  /** Fastest one message may be edited; without `edit` there are no live answers. */
  editMs?: number;
  /** What it reports besides direct text messages. */
  hears: readonly Hears[];
  /** What it can do besides sending. */
  does: readonly Does[];
  /** While connected it hears the platform (a poll's answer, a heartbeat) at least this often; longer silence is a dead line. */
  silenceMs?: number;
}

/** What a person, or the platform, did. `id` is the platform's and stable: heard again, it is the same event (I2). */
export type PlatformEvent = {
  id: string;
  at?: number;
  chat: { id: string; kind: "direct" | "group"; thread?: string; title?: string };
  /** The platform's stable id; names are for people and never identity (CH-01). */
  sender: { id: string; name?: string; isBot?: boolean };
} & (
  | {
      kind: "message";
      text: string;
      files?: RemoteFile[];
      /** In a group: it names the bot, or answers one of its messages. The name itself is taken out of `text`. */
      addressed?: boolean;
      /** The sender forwards what somebody else wrote: text from outside, no matter who sends it. */
      forwarded?: boolean;
      /** Whose words they were, where the platform says it: a name, for people and models, never identity. */
      forwardedFrom?: string;
      /** What the sender said aloud: as a recording among the files, or as text that a program made of it. */
      voice?: Voice;
      /** What it answers, when the platform shows that. */
      quote?: { sender?: string; name?: string; text: string };
    }
  | { kind: "edit"; message: string; text: string; addressed?: boolean; forwarded?: boolean }
  | { kind: "reaction"; message: string; emoji: string; removed?: boolean }
  /**
   * The message is gone on the platform. The adapter hands on only what the platform, or the message's own writer, deleted; where the
   * platform doesn't say who did it, the sender's id is empty.
   */
  | { kind: "delete"; message: string }
  | { kind: "button"; message?: string; button: string }
  | { kind: "member"; change: "joined" | "left" }
);

/** A file that is still on the platform. */
export interface RemoteFile {
  /** The sender's name for it; a label, never a path. */
  name?: string;
  /** As the platform claims; the real type is read from the bytes. */
  mediaType?: string;
  /** Its size, if the platform says so. */
  bytes?: number;
  /** Called only for senders who may talk (CH-07), and stopped when too much comes. */
  open(signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
}

/** The outcome of an event. All outcomes may be acknowledged to the platform. */
export interface Heard {
  /** `known`: heard before. `answered`: a command or approval was handled. `refused`: with a reason in the log. `ignored`: not for us. */
  outcome: "admitted" | "known" | "answered" | "refused" | "ignored";
  /** A message for the person who pressed a button, if the platform can show one. */
  say?: string;
  /** The turn that will answer it, when admitted. */
  turn?: string;
}

/** Lares, as an adapter sees it. */
export interface ChannelHost {
  /** In order. Durable when it resolves; when it throws, do not acknowledge and do not go on: let `run` end. */
  hear(events: readonly PlatformEvent[], cursor?: Json): Promise<Heard[]>;
  /** What `hear` last committed. */
  cursor(): Promise<Json | undefined>;
  /** Small things that must outlive the process: a device's credentials, a gateway session. */
  keep(name: string, value: Json | undefined): Promise<void>;
  /** What `keep` last stored under this name. */
  kept(name: string): Promise<Json | undefined>;
  /** The platform answers: logged in, a poll came back, a heartbeat was returned. `behind`: how much it says waits for us. */
  alive(behind?: number): void;
  /** The name people address the bot by, once known; shown in status. */
  known(as: string): void;
  /** The platform took the message with this key and could not deliver it after all. */
  undelivered(key: string, why: string): Promise<void>;
  /**
   * Something came that should be read here and does not fit: counted in the account's status, and logged once for each kind.
   * `id` is the platform's own number for it; what it says is never given. Go on behind it: it would not fit the next time either.
   */
  unreadable(kind: string, id: string): void;
  /**
   * Reads one raw thing of the platform under guard, before there is an event (I13). One that stopped Lares twice while it was read is
   * skipped, counted and named in the account's status: undefined means continue with the next. `read` must not await anything.
   */
  read<T>(given: Raw, read: () => T): T | undefined;
}

/** Something a platform sent, as it came. */
export interface Raw {
  /** What the platform calls it, for status and log. */
  kind: string;
  /** The platform's own number for it, the same when it is sent again. Without one, it is known by its content. */
  id: string | number | undefined;
  /** The raw content, to identify it if it has no id. */
  value: unknown;
}

export interface Button {
  /** Opaque and short (at most 24 characters); comes back as it is in a `button` event. */
  id: string;
  /** What the button says. */
  label: string;
  /** Lets a platform colour it. */
  kind: "yes" | "no" | "plain";
}

export interface OutgoingFile {
  /** The name the recipient sees. */
  name: string;
  /** Its type, from its own bytes. */
  mediaType: string;
  /** Its size. */
  bytes: number;
  /** Its content. Throws if it has been deleted since. */
  read(): Promise<Uint8Array>;
}

/** One message to a platform, already in its dialect and within its limit. */
export interface Outgoing {
  /** The chat and thread it goes to. */
  route: ReplyRoute;
  /** Same key on every try of the same part: a platform that deduplicates gets it as its idempotency key. */
  key: string;
  /** In the platform's dialect and within its limit; may be empty with files. */
  text: string;
  /** Where the dialect has two forms (mail, Matrix): the rich one. */
  html?: string;
  /** Where the dialect is ranges over the text (Signal). */
  styles?: Json;
  /** At most `Capabilities.buttons`. */
  buttons?: readonly Button[];
  /** Sent with the text; only where `Capabilities.files` allows. */
  files?: readonly OutgoingFile[];
}

/** A message that is on the platform. */
export interface Placed {
  /** The chat it is in. */
  route: ReplyRoute;
  /** The platform's id for it, as `send` returned it. */
  platformId: string;
}

/** A request to `/channels/<name>/<account>`, its body bounded and not parsed. */
export interface ChannelRequest {
  /** GET is for a platform's verification handshake. */
  method: "GET" | "POST";
  /** Lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Never a place for secrets (WH-07). */
  query: Readonly<Record<string, string>>;
  /** Raw bytes, so that a signature can be checked over exactly these. */
  body: Buffer;
}

export interface ChannelAnswer {
  /** 2xx only after `hear` has resolved (CHANNEL-1). */
  status: number;
  /** JSON, or text as it is. */
  body?: Json;
  /** Additional response headers. */
  headers?: Readonly<Record<string, string>>;
}

/** A program outside that speaks for an account over the gateway's WebSocket. */
export interface Peer {
  /** Does nothing once it is gone. */
  send(frame: JsonObject): void;
  /** Closes the connection; the program may connect again. */
  close(why: string): void;
}

export interface Speaker {
  /** A frame from the program. Throws for a frame that doesn't fit. */
  take(frame: JsonObject): void;
  /** The connection has closed. */
  gone(): void;
}

export interface Channel {
  /** The platform, as in `channels.<name>`. */
  readonly name: string;
  /** The account's name in the settings. */
  readonly account: string;
  /** Connects and listens until the signal aborts; throws when it cannot go on (CHANNEL-4). */
  run?(door: ChannelHost, signal: AbortSignal): Promise<void>;
  /** Before a request's body is read: throws what the headers are enough to refuse (WH-05). */
  knock?(head: Omit<ChannelRequest, "body">): void;
  /** A request of the platform. The signature is checked first, over the raw body; answers 2xx only after `hear` (CHANNEL-1). */
  receive?(request: ChannelRequest, door: ChannelHost): Promise<ChannelAnswer>;
  /** A program wants to speak for this account; throws UNAUTHORIZED when the token is not its token. */
  speak?(token: string, peer: Peer, door: ChannelHost): Speaker;
  /** Who we are there; throws with what to do when the credentials are wrong. Sends nothing. */
  check(signal: AbortSignal): Promise<{ id: string; name: string; note?: string }>;
  /** Sends one message and returns its id on the platform, if it has one. Throws as CHANNEL-2 says. */
  send(message: Outgoing, signal: AbortSignal): Promise<{ platformId: string | null }>;
  /**
   * Whether a message that may have been taken is there, by its key: its id; null when it surely is not and may be sent again;
   * undefined when nobody can tell. For platforms without deduplication that can be asked.
   */
  find?(message: Outgoing, signal: AbortSignal): Promise<string | null | undefined>;
  /** Idempotent: editing to the same text changes nothing. */
  edit?(at: Placed, message: Outgoing, signal: AbortSignal): Promise<void>;
  /** Deletes one of our messages. Idempotent. */
  remove?(at: Placed, signal: AbortSignal): Promise<void>;
  /** Adds our reaction to somebody's message. Idempotent. */
  react?(at: Placed, emoji: string, signal: AbortSignal): Promise<void>;
  /** Removes our reaction. Not an error if there is none. */
  unreact?(at: Placed, emoji: string, signal: AbortSignal): Promise<void>;
  /** Shows that an answer is being written; wears off on its own. A failure is ignored. */
  typing?(route: ReplyRoute, signal: AbortSignal): Promise<void>;
}

/** Who may talk through an account, and to whom. An empty list is nobody (CH-03). */
export interface AccountPolicy {
  /** Direct messages of people who are not listed: asked to pair, refused, taken, or none at all. */
  dm: "pairing" | "allowlist" | "open" | "off";
  /** Stable ids of people who may write directly. */
  allow: readonly string[];
  /** Stable ids of the owner: may write anywhere the account listens, and may answer approvals. */
  owners: readonly string[];
  /** Groups by chat id; `*` stands for all others. A group without a line is not listened to. */
  groups: Readonly<Record<string, GroupPolicy>>;
  /** Whether other bots are listened to. */
  bots: boolean;
  /** The platform vouches for its people: anyone who may write is "known", not a stranger. */
  vouched?: boolean;
  /** Answers appear while they are written, where the platform can edit. */
  live: boolean;
  /** The reaction set on a message while it is worked on. */
  acknowledge?: string | undefined;
  /** Limits for everyone but the owner. */
  limits: MessageLimits;
}

/** The line for a group: its own, or that of all others. */
export function findGroup(policy: AccountPolicy | undefined, chat: string): GroupPolicy | undefined {
  return policy?.groups[chat] ?? policy?.groups["*"];
}

export interface GroupPolicy {
  /** Stable ids, or `*` for every member. */
  allow: readonly string[];
  /** Only messages that name the bot or answer it. */
  mention: boolean;
  /** The agent that answers in this group; default: routing decides. */
  agent?: string;
  /** Tools its turns may use; without a word, the agent's. */
  tools?: readonly string[];
}

export interface MessageLimits {
  /** Messages accepted per hour in one chat. */
  maxMessagesPerHour?: number | undefined;
  /** Messages accepted per hour from one person. */
  maxMessagesPerUser?: number | undefined;
  /** Tokens the account's turns may use per day. */
  maxTokensPerDay?: number | undefined;
}

/** The platform may or may not have taken it: the connection broke after the request was written. */
export class SendUncertain extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "SendUncertain";
  }
}

/** The platform took nothing and says when to come back. */
export class ChannelBusy extends AppError {
  readonly afterMs: number;

  constructor(afterMs: number, message = "The platform asks for a pause.") {
    super("CHANNEL_SEND", { message, retry: "later" });
    this.name = "ChannelBusy";
    this.afterMs = afterMs;
  }
}
