/**
 * IRC.
 *
 * In: a server keeps nothing and expects no acknowledgement. What is said while we are away is lost, and so is what was on its way
 * when the power went; docs/CHANNELS.md says so. A line has no id (except for `msgid`, where the server gives one).
 * Out: one line after another, as fast as servers allow. An answer goes to the person who was heard, not to anyone who has taken their
 * nick since: the server is asked first.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { check } from "./check.ts";
import type { IrcAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { send } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<IrcAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "irc",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    check: (signal) => check(state, signal),
    send: (message) => send(state, message),
  };
}
