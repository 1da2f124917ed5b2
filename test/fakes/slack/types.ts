/**
 * What a test sees of the fake Slack.
 *
 * Documentation: see server.ts
 */
import type { Faults } from "../wire/index.ts";

export type Loose = Record<string, unknown>;

export interface SlackMessage {
  channel: string;
  ts: string;
  user: string;
  text: string;
  thread_ts?: string;
  blocks?: Loose[];
  metadata?: Loose;
  edits: number;
  deleted: boolean;
  /** Only this person sees it. */
  ephemeral?: string;
  files?: { id: string; name: string; bytes?: Buffer; mimetype?: string; size?: number }[];
  subtype?: string;
  bot_id?: string;
}

export interface SlackFake {
  url: string;
  appToken: string;
  botToken: string;
  signingSecret: string;
  botUser: string;
  botId: string;
  team: string;
  /** What the bot said, in order. */
  sent: SlackMessage[];
  calls: { method: string; params: Loose; at: number; error?: string }[];
  faults: Faults;
  /** Seconds named by an ordered 429. */
  retryAfter: number;
  limits: { perChannelMs: number };
  /** How long an envelope may stay unacked; Slack's is 3 s. */
  ackMs: number;
  holdsWhileAway: boolean;
  reactions: { channel: string; ts: string; name: string }[];
  downloads: string[];
  /** Envelopes and posts that were acknowledged, and those given up after three retries. */
  acked: string[];
  lost: string[];
  connections(): number;
  /** Where events go over HTTP instead of the socket. */
  eventsUrl: string | undefined;
  interactiveUrl: string | undefined;
  /** Returns the message's ts. */
  say(channel: string, user: string, text: string, more?: Loose): string;
  event(body: Loose, id?: string): string;
  edit(ts: string, text: string): void;
  remove(ts: string): void;
  react(user: string, channel: string, ts: string, name: string): void;
  press(user: string, button: string, ts?: string): void;
  sendFile(
    channel: string,
    user: string,
    file: { name: string; type: string; bytes: Buffer; claims?: number; text?: string },
  ): string;
  /** Sends a disconnect frame to every connection. */
  disconnect(reason: "warning" | "refresh_requested" | "link_disabled"): void;
  /** Cuts the sockets without a word. */
  cutSockets(): void;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}
