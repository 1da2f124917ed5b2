/** What the gateway needs from the rest of Lares. It authenticates and translates, nothing else. */
import type { ChannelAnswer, ChannelRequest, Peer, PeerDoor, Speaker } from "../../core/contracts/index.ts";
import type { AppError } from "../../core/domain/index.ts";
import type { Clock, Log } from "../../core/kit/index.ts";
import {
  type Face,
  isMethod,
  type MethodName,
  type Parsed,
  type Principal,
  type Result,
} from "../../core/protocol/index.ts";
import type { GatewayConfig } from "./config.ts";
import type { EventStream } from "./live/events.ts";

export type Handler<M extends MethodName> = (params: Parsed<M>, caller: Caller) => Promise<Result<M>>;

export type Handlers = { [M in MethodName]: Handler<M> };

/** The same methods, each with something around it. */
export function mapHandlers(
  handlers: Handlers,
  wrap: <M extends MethodName>(name: M, handler: Handler<M>) => Handler<M>,
): Handlers {
  const out: Partial<Record<MethodName, unknown>> = {};
  for (const name of Object.keys(handlers)) if (isMethod(name)) out[name] = wrap(name, handlers[name]);
  return out as Handlers;
}

export interface Caller {
  principal: Principal;
  /** Channel of the reply route this caller's messages get. */
  channel: "http" | "ws";
  /** Where a person types; nothing for a program. */
  face?: Face;
  /** Its words are text from outside, regardless of its rights: another program's, which the owner has not read (I12). */
  outside?: boolean;
  /** Aborts when the caller went away. */
  signal: AbortSignal;
}

/** Who comes in with what. The access room keeps it. */
export interface Doorkeeper {
  /** Whom a token belongs to. Takes the same time whatever is given. */
  byToken(token: string): Principal | undefined;
  /** Whose login a cookie and the page's proof are. `unproven`: the cookie is good, the proof is missing or wrong. */
  byLogin(cookie: string, proof: string | undefined): Principal | "unknown" | "unproven";
  /** Uses a one-time code up and makes a login of it, durable when it resolves. */
  redeem(
    code: string,
    browser: string,
  ): Promise<
    { ok: true; cookie: string; proof: string; maxAgeS: number } | { ok: false; why: "used" | "expired" | "unknown" }
  >;
  /** Ends a token or login. False if there is none. */
  revoke(credential: string): Promise<boolean>;
  /** Calls back with each credential that ended, before `revoke` resolves. */
  onRevoked(listener: (credential: string) => void): () => void;
}

/** Files people send along. The attachments room keeps them. */
export interface AttachmentDoor {
  readonly mostBytes: number;
  /** Durable when it resolves. Throws an AppError and reads no further when it is not taken. */
  put(body: AsyncIterable<Uint8Array>, about: { name: string; by: string }): Promise<Attachment>;
  /** Nothing: there is none, or this caller may not see it. */
  get(
    id: string,
    asker: { id: string; isOwner: boolean },
  ): Promise<(Attachment & { content: Uint8Array<ArrayBuffer>; sha256: string }) | undefined>;
}

export interface Attachment {
  id: string;
  name: string;
  mediaType: string;
  bytes: number;
  kind: "image" | "text" | "file";
}

export interface GatewayParts {
  /** As it stands now: limits may change while it runs; address and port are read once. */
  config: () => GatewayConfig;
  version: string;
  /** How people call this program: `lares`, or another way that names no place on this machine. */
  program: string;
  door: Doorkeeper;
  handlers: Handlers;
  /** Why it is not serving, or nothing. */
  notReady: () => AppError | undefined;
  /** A delivery for a hook. Reads the body only when the headers are good. */
  hook: (
    name: string,
    headers: Readonly<Record<string, string | undefined>>,
    readBody: (most: number) => Promise<Buffer>,
  ) => Promise<{ accepted: boolean; duplicate?: boolean; why?: string }>;
  /** A platform's request to one of its accounts; the adapter checks whose it is, before the body where headers are enough. */
  channel: (
    channel: string,
    account: string,
    head: Omit<ChannelRequest, "body">,
    readBody: () => Promise<Buffer>,
  ) => Promise<ChannelAnswer>;
  /** A program that speaks for its own channel; throws when it may not. */
  speak: (account: string, token: string, peer: Peer) => Promise<Speaker>;
  /** A browser brings the end of a login to an MCP server. Which server's; undefined: of no login that is open. */
  endLogin: (query: string) => Promise<string | undefined>;
  /** The session a turn belongs to: `previous_response_id` names a turn. */
  findSession: (turn: string) => Promise<string | undefined>;
  attachments: AttachmentDoor;
  /** Tasks of other agents, at the instance that runs now. */
  peers: () => PeerDoor;
  /** What stands at an address of the web, under the network policy of the agents' own fetcher. Throws an AppError. */
  fetchFile: (url: string, maxBytes: number, signal: AbortSignal) => Promise<{ status: number; bytes: Uint8Array }>;
  /** Figures in Prometheus' text form. */
  metrics: () => Promise<string>;
  events: EventStream;
  /** Where the built UI is, or would be. */
  uiDir: string;
  clock: Clock;
  log: Log;
  /** Hides secrets, as the log does. */
  redact: (text: string) => string;
}
