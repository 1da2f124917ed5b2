/** What we use of Baileys, in types of our own: the package is optional and isn't there when this is compiled. */
import type { Json } from "../../../core/domain/index.ts";

export interface MessageKey {
  remoteJid?: string | null;
  remoteJidAlt?: string | null;
  fromMe?: boolean | null;
  id?: string | null;
  participant?: string | null;
  participantAlt?: string | null;
}

export interface WebMessage {
  key: MessageKey;
  message?: Record<string, unknown> | null;
  messageTimestamp?: unknown;
  pushName?: string | null;
}

export interface ConnectionUpdate {
  connection?: "open" | "connecting" | "close";
  qr?: string;
  lastDisconnect?: { error?: { message?: string; output?: { statusCode?: number } } };
}

export interface Socket {
  user?: { id: string; lid?: string; name?: string };
  ev: {
    on(event: "connection.update", listener: (update: ConnectionUpdate) => void): void;
    on(event: "creds.update", listener: (changed: object) => void): void;
    on(event: "messages.upsert", listener: (batch: { messages: WebMessage[]; type: string }) => void): void;
  };
  sendMessage(
    jid: string,
    content: Record<string, unknown>,
    options?: { messageId?: string },
  ): Promise<{ key: MessageKey } | undefined>;
  /** Asks the sender's phone for a file that the server no longer has. Passed back to the library as it is. */
  updateMediaMessage?: unknown;
  sendPresenceUpdate(type: "composing" | "paused", jid: string): Promise<void>;
  requestPairingCode(number: string): Promise<string>;
  end(error: Error | undefined): void;
}

export interface KeyStore {
  get(type: string, ids: string[]): Promise<Record<string, unknown>>;
  set(data: Record<string, Record<string, unknown> | undefined>): Promise<void>;
}

export interface Credentials {
  registered?: boolean;
  [name: string]: unknown;
}

export interface Library {
  connect(options: { auth: { creds: Credentials; keys: KeyStore }; browser: [string, string, string] }): Socket;
  newCredentials(): Credentials;
  /** Some stored values are messages of the protocol and not plain objects. */
  revive(type: string, value: unknown): unknown;
  download(message: WebMessage, socket: Socket): Promise<AsyncIterable<Uint8Array>>;
}

/** Where the adapter stores what must outlive the process. */
export interface CredentialKeeper {
  keep(name: string, value: Json | undefined): Promise<void>;
  kept(name: string): Promise<Json | undefined>;
}
