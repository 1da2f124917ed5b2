/** What leaves for IRC: lines. A send is taken when the server has answered the PING behind it. */
import type { Outgoing } from "../../../core/contracts/index.ts";
import { findTarget } from "./nicks.ts";
import { getLive, type IrcState } from "./state.ts";

export async function send(state: IrcState, message: Outgoing): Promise<{ platformId: null }> {
  const irc = getLive(state);
  const target = await findTarget(state, irc, message.route.chat);
  for (const line of message.text.split(/\r?\n/)) if (line) await irc.say(target, line);
  return { platformId: null };
}
