/**
 * Signal, through a signal-cli daemon.
 *
 * In: signal-cli confirms messages to Signal by itself, before we have committed them, and forgets what it has handed over. So a small
 * process that outlives a kill of Lares holds the stream and writes down what comes (listener.ts); we read what it wrote and commit how
 * far (mailbox.ts). With `--receive-mode=on-connection` messages wait at Signal while nobody listens.
 * Out: `send` takes no idempotency key and is never repeated when its outcome is unknown.
 */
import type { Channel } from "../../../core/contracts/index.ts";
import { asText } from "../../../core/domain/index.ts";
import type { AdapterParts } from "../account.ts";
import type { SignalAccount } from "./config.ts";
import { listen } from "./listen.ts";
import { edit, react, remove, send, typing, unreact } from "./send.ts";
import { makeState } from "./state.ts";

export function create(parts: AdapterParts<SignalAccount>): Channel {
  const { account, config } = parts;
  const state = makeState(parts);
  return {
    name: "signal",
    account,
    run: (door, signal) => listen(state, door, signal),
    async check(signal) {
      const { version } = await state.rpc.call("version", {}, signal, true);
      return { id: config.number, name: config.number, note: `signal-cli ${asText(version) ?? ""}`.trim() };
    },
    send: (message, signal) => send(state, message, signal),
    edit: (at, message, signal) => edit(state, at, message, signal),
    remove: (at, signal) => remove(state, at, signal),
    react: (at, emoji, signal) => react(state, at, emoji, signal),
    unreact: (at, emoji, signal) => unreact(state, at, emoji, signal),
    typing: (route, signal) => typing(state, route, signal),
  };
}
