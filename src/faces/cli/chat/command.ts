/** `lares chat`: one message with -m or from a pipe, else a conversation in the terminal. */

import { hasWords } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Action, Context } from "../context.ts";
import { usage } from "../exit.ts";
import { readAll } from "../read-all.ts";
import { chatWords as words } from "../words/chat.ts";

export const chat: Action = async (ctx) => {
  const { options, ports } = ctx;
  const given = options.message === "-" || (options.message === undefined && !ports.stdin.isTTY);
  const message = given ? (await readAll(ports.stdin)).trim() : options.message;
  if (message !== undefined) {
    if (!hasWords(message)) throw usage(words.empty, words.emptyHint);
    return (await import("./one.ts")).sendOne(ctx, message);
  }
  mustBeTerminal(ctx);
  return (await import("./interactive.ts")).converse(ctx);
};

function mustBeTerminal({ options, ports }: Context): void {
  if (options.json || options.input === false || !ports.stdout.isTTY) {
    throw usage(words.needsTerminal, words.needsTerminalHint);
  }
  if (options.idempotencyKey !== undefined) throw usage(words.keyNeedsMessage);
}

export function target({ options }: Context): { session?: string; user?: string; agent?: string } {
  return truthy({ session: options.session, user: options.user, agent: options.agent });
}
