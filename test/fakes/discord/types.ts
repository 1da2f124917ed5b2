/**
 * What a test sees of the fake Discord.
 *
 * Documentation: see server.ts
 */
import type { Faults } from "../wire/index.ts";

export type Loose = Record<string, unknown>;

export interface DiscordPerson {
  id: string;
  username?: string;
  global_name?: string;
  bot?: boolean;
}

export interface DiscordMessage {
  id: string;
  channel: string;
  author: DiscordPerson;
  content: string;
  nonce?: string;
  components: Loose[];
  replyTo?: string;
  edits: number;
  deleted: boolean;
  files: { name: string; bytes: Buffer }[];
  /** What the platform tells bots about it. */
  body: Loose;
}

export interface DiscordFake {
  url: string;
  token: string;
  bot: { id: string; username: string };
  /** What the bot said, in order. */
  sent: DiscordMessage[];
  calls: { route: string; params: Loose; at: number; status: number }[];
  faults: Faults;
  /** Seconds named by an ordered 429. */
  retryAfter: number;
  /** Messages a channel takes in `perMs`; 0 is no limit. */
  limits: { perChannel: number; perMs: number };
  reactions: { channel: string; message: string; emoji: string }[];
  /** Also those that were taken back. */
  reacted: { channel: string; message: string; emoji: string }[];
  callbacks: { id: string; type: number; data?: Loose }[];
  downloads: string[];
  heartbeatMs: number;
  identifies: number;
  resumes: number;
  /** Heartbeats are taken and not acknowledged, events not sent: the socket looks open. */
  zombie: boolean;
  connections(): number;
  /** Sessions that have a connection now. */
  listening(): number;
  say(channel: string, from: string | DiscordPerson, text: string, more?: Loose): string;
  edit(id: string, text: string): void;
  /** Somebody deletes their message: bots are told its id and place, not by whom. */
  remove(id: string): void;
  press(from: string | DiscordPerson, label: string, messageId?: string): string;
  react(channel: string, from: string, messageId: string, emoji: string): void;
  sendFile(
    channel: string,
    from: string | DiscordPerson,
    file: { name: string; type: string; bytes: Buffer; claims?: number; text?: string },
  ): string;
  dispatch(type: string, body: Loose): void;
  /** Channels that are direct; others belong to the guild. */
  direct: Set<string>;
  threads: Map<string, string>;
  /** Asks every connection to reconnect (op 7). */
  askReconnect(): void;
  /** Closes every connection with this code. */
  closeWith(code: number): void;
  /** Cuts the sockets without a word. */
  cutSockets(): void;
  /** Forgets the sessions: the next RESUME is invalid. */
  forgetSessions(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}
