/** What the gateway needs from the house. It authenticates and translates, nothing else. */
import type { LiveEvent } from "../../core/domain/index.ts";
import type { Bus, Log } from "../../core/kit/index.ts";
import type { MethodName, Parsed, Result, Scope } from "../../core/protocol/index.ts";
import type { GatewayConfig } from "./config.ts";

/** Who calls. Scopes are computed here from the credential, never taken from the client. */
export interface Principal {
  id: string;
  scopes: ReadonlySet<Scope>;
}

export type Handlers = {
  [M in MethodName]: (params: Parsed<M>, caller: Caller) => Promise<Result<M>>;
};

export interface Caller {
  principal: Principal;
  /** Channel of the reply route this caller's messages get. */
  channel: "http" | "ws";
  /** Aborts when the caller went away. */
  signal: AbortSignal;
}

export interface GatewayParts {
  config: GatewayConfig;
  version: string;
  /** The principal a token belongs to, if any. Constant time in the token. */
  authenticate: (token: string) => Principal | undefined;
  handlers: () => Handlers;
  /** Why it is not serving, or nothing. */
  notReady: () => string | undefined;
  /** Signed messages for a webhook account. */
  webhook: (
    account: string,
    headers: { timestamp: string; signature: string },
    body: Buffer,
  ) => Promise<{ turn: string; duplicate: boolean }>;
  bus: Bus;
  log: Log;
}

export type Listener = (event: LiveEvent) => void;
