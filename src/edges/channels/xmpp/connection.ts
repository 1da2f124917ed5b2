/** One connection to the XMPP server. It doesn't reconnect: when it ends, `run` is started again. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../../core/domain/index.ts";
import { asSentence, isLoopbackHost } from "../../../core/kit/index.ts";
import { refused, unreached, whyUnreached } from "../sending.ts";
import type { XmppClient, XmppLibrary, XmppSocket } from "./library.ts";
import type { XmppState } from "./state.ts";

const PATIENCE_MS = 20_000;
/** Connecting, encryption and login together. */
const LOGIN_MS = 30_000;
const GOODBYE_MS = 500;

export interface XmppConnection {
  client: XmppClient;
  xml: XmppLibrary["xml"];
  /** Says goodbye; a server that doesn't answer that is cut off. */
  close(): Promise<void>;
}

type Authenticate = (credentials: object, mechanism?: string) => Promise<void>;

export async function connect(
  { config, library, log, me }: XmppState,
  resource: string,
  signal: AbortSignal,
): Promise<XmppConnection> {
  const { client: make, xml } = await library<XmppLibrary>("@xmpp/client");
  const [username, domain] = me.split("@") as [string, string];
  const isLocal = isOnThisMachine(config.service);
  const client = make({
    service: config.service ?? `xmpp://${domain}`,
    domain,
    resource,
    timeout: PATIENCE_MS,
    // Called after STARTTLS, where there is any, so that the password never goes over an unencrypted connection.
    credentials: async (authenticate: Authenticate, mechanisms: string[]) => {
      if (!isLocal && !client.isSecure()) throw new Error("the connection is not encrypted");
      // The library computes SCRAM in JavaScript and blocks everything else for a second or more; within TLS, PLAIN reveals no more.
      const mechanism = mechanisms.includes("PLAIN") ? "PLAIN" : mechanisms[0];
      await authenticate({ username, password: config.password }, mechanism);
    },
  });
  client.reconnect.stop();
  client.on("error", (error) => log.debug("XMPP", { error: String(error) }));
  const cut = watchSockets(client);
  try {
    await logIn(client, signal);
  } catch (error) {
    cut();
    throw loginError(error, config.service ?? domain);
  }
  const close = async () => {
    await Promise.race([client.disconnect().catch(() => {}), sleep(GOODBYE_MS)]);
    cut();
  };
  return { client, xml, close };
}

/**
 * Not `client.start()`: its promise for being online is left without a handler when the stream can't be opened, and a reset after
 * that would end the process. It also waits forever when the server takes the connection and then says nothing.
 */
async function logIn(client: XmppClient, signal: AbortSignal): Promise<void> {
  const { service, domain } = client.options;
  const within = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
  const ended = new Promise<never>((_resolve, reject) => {
    client.on("error", reject);
    const giveUp = () => reject(signal.aborted ? signal.reason : new Error("it did not answer in time"));
    if (within.aborted) giveUp();
    else within.addEventListener("abort", giveUp, { once: true });
  });
  ended.catch(() => {});
  const online = new Promise<void>((resolve) => client.on("online", () => resolve()));
  const opened = client.connect(service).then(() => client.open({ domain }));
  await Promise.race([Promise.all([opened, online]), ended]);
}

/**
 * The library lets go of a socket that doesn't close in time, but leaves it open and without a listener, so that a later reset
 * would end the process. So each socket gets a listener of ours for its whole life. Returns how to close them all for good.
 */
function watchSockets(client: XmppClient): () => void {
  const sockets = new Set<XmppSocket>();
  let isCut = false;
  const attach = client._attachSocket.bind(client);
  client._attachSocket = (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    attach(socket);
    if (isCut) destroy(socket);
  };
  return () => {
    isCut = true;
    for (const socket of sockets) destroy(socket);
  };
}

/** Over plain TCP it is Node's own socket; TLS and WebSocket are wrapped. */
function destroy(socket: XmppSocket): void {
  if (socket.destroy) socket.destroy();
  else if (socket.socket?.destroy) socket.socket.destroy();
  else socket.socket?.close?.();
}

/** Only there may a password go over an unencrypted connection. */
export function isOnThisMachine(service = ""): boolean {
  return URL.canParse(service) && isLoopbackHost(new URL(service).hostname);
}

/** The server works through our stanzas in order: its answer to this ping says that it has those before it. */
export async function ping({ client, xml }: Pick<XmppConnection, "client" | "xml">): Promise<void> {
  const iq = xml("iq", { type: "get" }, xml("ping", { xmlns: "urn:xmpp:ping" }));
  await client.iqCaller.request(iq, PATIENCE_MS).catch((error: { name?: string }) => {
    // A server that doesn't know pings says so, which is an answer, too.
    if (error.name !== "StanzaError") throw error;
  });
}

function loginError(error: unknown, where: string): AppError {
  const { condition, name, message } = error as { condition?: string; name?: string; message?: string };
  if (error instanceof AppError) return error;
  if (name === "SASLError") {
    return new AppError("CHANNEL_SEND", {
      message: `The XMPP server refused the login (${condition ?? message}).`,
      hint: "Enter the right address and password: lares channels add xmpp",
      retry: "later",
      cause: error,
    });
  }
  if (whyUnreached(error)) {
    return unreached(`the XMPP server ${where}`, error, "Check the address and the service, then try again.");
  }
  const why = asSentence(condition ?? message ?? String(error));
  return refused(`The XMPP server ${where} can't be used: ${why}`, "later", error);
}
