/** `lares a2a`: agents of others that may ask yours, and that yours may ask. */
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { oneLine, shortId } from "../format.ts";
import { a2aWords as words } from "../words/talk.ts";

/** The token alone on stdout, so that `$(lares a2a token …)` works. */
export const token: Action = async ({ rpc, out }, [name = ""]) => {
  const made = await rpc.call("tokens.create", { name, scopes: ["peer"] });
  out.document(made);
  out.say(made.token);
  const { url } = await rpc.call("status", {});
  out.note(words.tokenMade(oneLine(made.name)), words.cardAt(oneLine(url)), words.revokeIt(out.hint, shortId(made.id)));
  return EXIT.done;
};
