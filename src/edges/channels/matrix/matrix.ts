/**
 * Matrix, by our own client of the client-server API.
 *
 * In: one long poll (`/sync`) after another. The since token is committed with the last event of its batch, so a batch that was
 * not taken is given again; a batch that was, is known by its event ids. A gap the server leaves in a busy room is read back.
 * Out: every message is a transaction named after its key: the homeserver makes one event of it, no matter how often it is sent.
 * Unencrypted rooms only: an encrypted message is handed on as unreadable, never dropped silently.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import type { AdapterParts } from "../account.ts";
import type { MatrixAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, react, remove, send, typing, unreact } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<MatrixAccount>): Channel {
  const state = makeState(parts);
  return {
    name: "matrix",
    account: parts.account,
    run: (door, signal) => listen(state, door, signal),
    async check(signal) {
      const { id, name = id } = await state.self.refresh(signal);
      return { id, name, note: "It reads unencrypted rooms only." };
    },
    send: (message, signal) => send(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: async (at, emoji, signal) => void (await react(state, at, emoji, signal)),
    unreact: (at, emoji, signal) => unreact(state, at, emoji, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
