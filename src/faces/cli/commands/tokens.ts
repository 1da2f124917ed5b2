/** `lares tokens`: who can get in, and how to let somebody in or out. */
import type { Params } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, oneLine, shortId } from "../format.ts";
import { table } from "../output.ts";
import { pick } from "../pick.ts";
import { tokenWords as words } from "../words/set-up.ts";

export const list: Action = async ({ rpc, out, clock }) => {
  const { tokens, logins } = await rpc.call("tokens.list", {});
  out.items([...tokens.map((t) => ({ kind: "token", ...t })), ...logins.map((l) => ({ kind: "login", ...l }))]);
  const now = clock.now();
  const used = (at: number | undefined) => (at === undefined ? words.neverUsed : words.used(ago(at, now)));
  out.say(
    words.some(tokens.length, logins.length),
    ...table(
      [
        ...tokens.map((t) => ["token", shortId(t.id), oneLine(t.name), t.scopes.join(", "), used(t.lastUsedAt)]),
        ...logins.map((l) => ["login", shortId(l.id), oneLine(l.browser), l.scopes.join(", "), used(l.lastUsedAt)]),
      ],
      "  ",
    ),
  );
  if (tokens.length || logins.length) out.note(words.revokeOne(out.hint));
  return EXIT.done;
};

/** The token alone on stdout, so that `$(lares tokens create …)` works. */
export const create: Action = async ({ rpc, out, options }, [name = ""]) => {
  const scopes = (Array.isArray(options.scope) ? options.scope : ["read"]) as Params<"tokens.create">["scopes"];
  const made = await rpc.call("tokens.create", { name, scopes });
  out.document(made);
  out.say(made.token);
  out.note(words.created(oneLine(made.name), made.scopes.join(", ")), words.revokeIt(out.hint, shortId(made.id)));
  return EXIT.done;
};

export const revoke: Action = async ({ rpc, out }, [typed = ""]) => {
  const { tokens, logins } = await rpc.call("tokens.list", {});
  const known = [...tokens, ...logins.map((l) => ({ id: l.id, name: l.browser }))];
  const { id, name } = pick(known, typed, { noun: "token", list: words.list });
  const done = await rpc.call("tokens.revoke", { id });
  out.document(done);
  out.say(done.revoked ? words.revoked(oneLine(name)) : words.alreadyRevoked(oneLine(name)));
  return EXIT.done;
};
