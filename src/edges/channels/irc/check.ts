/** Whether the server lets us in, and whether it says who is logged in. */
import { randomUUID } from "node:crypto";
import { IrcConnection } from "./connection.ts";
import type { IrcState } from "./state.ts";

export async function check({ config }: IrcState, signal: AbortSignal) {
  // Under another nick: the running account has this one.
  const nick = `${config.nick.slice(0, 12)}${randomUUID().slice(0, 3)}`;
  const irc = new IrcConnection({ ...config, nick }, () => {}, signal);
  try {
    await irc.register();
    const note = irc.knowsAccounts
      ? "People who are logged in are known by their account."
      : "This server doesn't say who is logged in: people are known by nick!user@host, which is weak.";
    return { id: `${config.nick}@${config.host}`, name: config.nick, note };
  } finally {
    irc.close();
  }
}
