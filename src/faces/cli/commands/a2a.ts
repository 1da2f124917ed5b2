/** `lares a2a`: agents of others that may ask yours, and that yours may ask. */
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { manyLines, oneLine, shortId } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";
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

export const list: Action = async ({ rpc, out }) => {
  const { peers } = await rpc.call("a2a.list", {});
  const tokens = (await rpc.call("tokens.list", {})).tokens.filter(({ scopes }) => scopes.includes("peer"));
  out.document({ peers, tokens });
  if (peers.length > 0) out.say(words.askable(peers.length), ...table(peers.map(row), "  "));
  const shown = tokens.map(({ id, name }) => [shortId(id), oneLine(name)]);
  if (tokens.length > 0) out.say(words.asking(tokens.length), ...table(shown, "  "));
  if (peers.length + tokens.length === 0) {
    out.say(words.none);
    out.note(words.addOne(out.hint), words.letOne(out.hint));
  }
  return EXIT.done;
};

function row({ name, url, enabled, accepted, changed, open }: Result<"a2a.list">["peers"][number]): string[] {
  const known = changed ? words.changed : words.ready;
  const state = accepted ? known : words.notAccepted;
  return [name, enabled ? state : words.off, open > 0 ? words.open(open) : "", oneLine(url)];
}

export const add: Action = async (ctx, [name = "", url = ""]) => {
  const { rpc, out, options } = ctx;
  const given = options.tokenStdin === true ? await readToken(ctx, name) : undefined;
  const done = await rpc.call("a2a.add", { name, url, ...truthy({ token: given, replace: options.replace === true }) });
  out.document(done);
  out.say(words.added(oneLine(name)), ...lines(done.card));
  out.note(words.rule(out.hint, oneLine(name)));
  return EXIT.done;
};

async function readToken({ ports, out }: Context, name: string): Promise<string> {
  const text = (await readGiven("-", ports.stdin, (line) => out.note(line))).trim();
  if (text === "") throw usage(words.noToken, words.noTokenHint(name));
  return text;
}

export const test: Action = async ({ rpc, out, options }, [name = ""]) => {
  const done = await rpc.call("a2a.test", { name });
  out.document(done);
  const shown = oneLine(name);
  if (!done.ok) {
    const why = oneLine(done.why ?? "");
    // Once its card was read it has been reached, and the reason is a whole sentence.
    out.say(done.state === undefined ? words.fails(shown, why) : why);
    if (done.state !== undefined) out.note(words.newToken(out.hint, shown));
    return EXIT.failed;
  }
  if (done.state === "accepted") {
    out.say(words.asAccepted(shown));
    return EXIT.done;
  }
  out.say(done.state === "new" ? words.isNew(shown) : words.isChanged(shown));
  if (done.before !== undefined) out.say(`  ${words.before}`, ...lines(done.before), `  ${words.now}`);
  out.say(...lines(done.card ?? ""));
  if (options.accept !== true) {
    out.note(words.acceptIt(out.hint, shown));
    return EXIT.failed;
  }
  const { accepted } = await rpc.call("a2a.accept", { name, digest: done.digest ?? "" });
  out.say(accepted ? words.accepted(shown) : words.changedAgain(shown));
  return accepted ? EXIT.done : EXIT.failed;
};

export const remove: Action = async (ctx, [name = ""]) => {
  if (!(await confirmed(ctx, words.removeQuestion(oneLine(name))))) return EXIT.declined;
  const done = await ctx.rpc.call("a2a.remove", { name });
  ctx.out.document(done);
  ctx.out.say(done.removed ? words.removed(oneLine(name)) : words.notThere(oneLine(name)));
  if (done.rule) ctx.out.note(words.ruleRemoved(oneLine(name)));
  return done.removed ? EXIT.done : EXIT.notFound;
};

/** Somebody else's text, a line each. */
function lines(text: string): string[] {
  return manyLines(text, "    ");
}
