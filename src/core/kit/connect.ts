/** Whether something listens at an address. */
import { connect } from "node:net";
import { isLoopbackHost } from "./address.ts";

/** Longer, and a person would call it unreachable, too. */
const REACH_MS = 2000;

/** Connects and hangs up again. Never throws. */
export function canConnect({ host, port }: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(REACH_MS, () => end(false));
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}

/** Where a URL leads, as a socket wants it. */
export function readAddress(url: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (protocol === "https:" ? 443 : 80) };
}

/**
 * The beginning of a sentence when this URL leads to this machine and nothing listens there. Elsewhere only the network knows,
 * and a check of the settings must work without one.
 */
export async function silenceAt(url: string): Promise<string | undefined> {
  const to = readAddress(url);
  if (!isLoopbackHost(to.host) || (await canConnect(to))) return undefined;
  return `No server answers at ${new URL(url).origin}`;
}
