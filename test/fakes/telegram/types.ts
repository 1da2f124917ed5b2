/**
 * What a test sees of the fake Telegram.
 *
 * Documentation: see server.ts
 */
import type { Buffer } from "node:buffer";
import type { Faults } from "../wire/index.ts";

export interface Person {
  id: number;
  first_name?: string;
  last_name?: string;
  username?: string;
  is_bot?: boolean;
}

export type Loose = Record<string, unknown>;

export interface Shown {
  chat: number;
  message_id: number;
  /** As a person reads it: tags gone, entities resolved. */
  text: string;
  /** As it was sent. */
  source: string;
  thread?: number;
  replyTo?: number;
  buttons: { text: string; data: string }[];
  edits: number;
  deleted: boolean;
  file?: { kind: string; name: string; bytes: Buffer };
}

export interface TelegramFake {
  url: string;
  token: string;
  bot: { id: number; username: string };
  /** What stands in the chats, in the order it was sent. */
  sent: Shown[];
  /** Every Bot API call that reached the platform, with its parameters. */
  calls: { method: string; params: Loose; at: number; status: number }[];
  /** Updates the platform still holds. */
  pending(): number;
  faults: Faults;
  /** Seconds named by an ordered 429. */
  retryAfter: number;
  /** Refuses a message to a chat that got one less than `perChatMs` ago, and the one too many in a second; 0 is no limit. */
  limits: { perChatMs: number; perSecond: number };
  /** Groups that live on under another id. */
  moved: Map<number, number>;
  /** People who stopped the bot. */
  blocked: Set<number>;
  reactions: { chat: number; message: number; emoji: string[] }[];
  answered: { id: string; text?: string }[];
  webhook: { url: string; secret?: string } | undefined;
  say(chat: number, from: number | Person, text: string, more?: Loose): number;
  /** An update of any kind, as Telegram would number it. */
  update(body: Loose): number;
  edit(chat: number, from: number | Person, messageId: number, text: string): number;
  press(from: number | Person, button: string, messageId?: number): string;
  react(chat: number, from: number | Person, messageId: number, emoji: string): number;
  /** Sends a file; `download` counts how often it was fetched. */
  sendFile(
    chat: number,
    from: number | Person,
    file: {
      name: string;
      type: string;
      bytes: Buffer;
      kind?: "document" | "photo" | "voice";
      claims?: number;
      caption?: string;
    },
  ): string;
  downloads: string[];
  polls: number;
  /** Whether somebody waits for updates now. */
  polling(): boolean;
  conflicts: number;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}
