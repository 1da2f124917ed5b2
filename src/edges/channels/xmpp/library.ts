/** The part of @xmpp/client that the adapter uses; the package has no types. */
export interface Xml {
  name: string;
  attrs: Record<string, string | undefined>;
  is(name: string, xmlns?: string): boolean;
  getChild(name: string, xmlns?: string): Xml | undefined;
  getChildren(name: string, xmlns?: string): Xml[];
  getChildText(name: string, xmlns?: string): string | null;
  text(): string;
}

/** What the library connects with: a socket of Node's, or its own wrapper around one. */
export interface XmppSocket {
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy?(): unknown;
  socket?: { destroy?(): unknown; close?(): unknown } | null;
}

export interface XmppClient {
  options: { service: string; domain: string };
  start(): Promise<unknown>;
  stop(): Promise<unknown>;
  connect(service: string): Promise<unknown>;
  open(options: { domain: string }): Promise<unknown>;
  disconnect(): Promise<unknown>;
  /** Called with each new socket, before it connects. */
  _attachSocket(socket: XmppSocket): void;
  send(stanza: Xml): Promise<void>;
  isSecure(): boolean;
  status: string;
  jid: { toString(): string } | null;
  on(event: "stanza", listener: (stanza: Xml) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "online" | "disconnect" | "offline", listener: () => void): void;
  reconnect: { stop(): void };
  iqCaller: { request(iq: Xml, timeoutMs?: number): Promise<Xml> };
}

export interface XmppLibrary {
  client(options: object): XmppClient;
  xml(name: string, attrs?: Record<string, string | undefined>, ...children: (Xml | string)[]): Xml;
}

export const NS = {
  delay: "urn:xmpp:delay",
  forward: "urn:xmpp:forward:0",
  mam: "urn:xmpp:mam:2",
  form: "jabber:x:data",
  rsm: "http://jabber.org/protocol/rsm",
  stanzaId: "urn:xmpp:sid:0",
  correct: "urn:xmpp:message-correct:0",
  states: "http://jabber.org/protocol/chatstates",
  retract: "urn:xmpp:message-retract:1",
  reactions: "urn:xmpp:reactions:0",
  muc: "http://jabber.org/protocol/muc",
  mucUser: "http://jabber.org/protocol/muc#user",
  occupant: "urn:xmpp:occupant-id:0",
  omemo: /^(eu\.siacs\.conversations\.axolotl|urn:xmpp:omemo:\d)$/,
} as const;

export function bare(address: string | undefined): string {
  return (address ?? "").split("/")[0]!.toLowerCase();
}

export function readResource(address: string | undefined): string {
  return (address ?? "").split(/\/(.*)/s)[1] ?? "";
}
