/** One connection to the XMPP server. It doesn't reconnect: when it ends, `run` is started again. */
import { AppError } from "../../../core/domain/index.ts";
import { isLoopbackHost } from "../../../core/kit/index.ts";
import { refused } from "../sending.ts";
import type { XmppClient, XmppLibrary } from "./library.ts";
import type { XmppLive, XmppState } from "./state.ts";

const PATIENCE_MS = 20_000;

type Connection = Pick<XmppLive, "client" | "xml">;
type Authenticate = (credentials: object, mechanism?: string) => Promise<void>;

export async function connect({ config, library, log, me }: XmppState, resource: string): Promise<Connection> {
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
  try {
    await client.start();
    return { client, xml };
  } catch (error) {
    await disconnect(client);
    throw loginError(error);
  }
}

/** Only there may a password go over an unencrypted connection. */
export function isOnThisMachine(service = ""): boolean {
  return URL.canParse(service) && isLoopbackHost(new URL(service).hostname);
}

export async function disconnect(client: XmppClient): Promise<void> {
  await client.disconnect(500).catch(() => {});
}

/** The server works through our stanzas in order: its answer to this ping says that it has those before it. */
export async function ping({ client, xml }: Connection): Promise<void> {
  const iq = xml("iq", { type: "get" }, xml("ping", { xmlns: "urn:xmpp:ping" }));
  await client.iqCaller.request(iq, PATIENCE_MS).catch((error: { name?: string }) => {
    // A server that doesn't know pings says so, which is an answer, too.
    if (error.name !== "StanzaError") throw error;
  });
}

function loginError(error: unknown): AppError {
  const { condition, name, message } = error as { condition?: string; name?: string; message?: string };
  if (name === "SASLError") {
    return new AppError("CHANNEL_SEND", {
      message: `The XMPP server refused the login (${condition ?? message}).`,
      hint: "Enter the right address and password: lares channels add xmpp",
      retry: "later",
      cause: error,
    });
  }
  return refused(`The XMPP server can't be used: ${message ?? String(error)}`, "later", error);
}
