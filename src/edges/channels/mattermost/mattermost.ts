/**
 * Mattermost: its event stream for what happens, its REST API for everything else.
 *
 * In: the server expects no acknowledgement of its events, so the stream is only the fast way. The cursor is the newest post taken;
 * after every start and every break the posts since then are read over REST (with an overlap: posts are known by their ids).
 * Out: every post carries its key in its props, so a send that may have been taken is looked for among the chat's posts before it
 * is sent again. A first try that is still on its way then is caught by `pending_post_id`, which the server remembers for 30 seconds.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import { receivePress } from "./buttons.ts";
import type { MattermostAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, find, react, remove, send, typing, unreact } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<MattermostAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "mattermost",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    ...(parts.config.callback ? { receive: (request, door) => receivePress(state, request, door) } : {}),
    check: (signal) => state.api.me(signal),
    send: (message, signal) => send(state, message, signal),
    find: (message, signal) => find(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, emoji, signal) => unreact(state, at, emoji, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
