/** `lares context`: what the model reads of a conversation, what each part costs, compacting and its undo. */
import { AppError } from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import type { Action } from "../context.ts";
import { EXIT } from "../exit.ts";
import { ago, count, visible } from "../format.ts";
import { type Hint, table } from "../output.ts";
import { contextWords as words } from "../words/talk.ts";
import { requestLines } from "./context-request.ts";
import { suggestNearSession } from "./sessions.ts";

type Ledger = Result<"context.get">;
const BAR = 24;

export const context: Action = async (ctx, [session = ""]) => {
  const { rpc, out, options } = ctx;
  if (options.compact && options.undo) {
    throw new AppError("BAD_REQUEST", { message: words.notBoth });
  }
  if (options.undo) {
    const done = await suggestNearSession(ctx, session, () => rpc.call("context.undo", { session }));
    out.document(done);
    out.say(words.inFullAgain(done.messages));
    return EXIT.done;
  }
  if (options.compact) {
    const params = { session, ...truthy({ focus: options.focus }) };
    const done = await suggestNearSession(ctx, session, () => rpc.call("context.compact", params));
    out.document(done);
    out.say(inWords(done, session, out.hint));
    return EXIT.done;
  }
  if (options.request) {
    const params = { session, ...defined({ text: options.say }) };
    const next = await suggestNearSession(ctx, session, () => rpc.call("context.request", params));
    out.document(next);
    out.say(...requestLines(next, out.paint));
    return EXIT.done;
  }
  const ledger = await suggestNearSession(ctx, session, () => rpc.call("context.get", { session }));
  out.document(ledger);
  const share = Math.round((ledger.tokens / ledger.window) * 100);
  const by = ledger.counted ? words.counted : "estimated";
  out.say(
    words.ledger(count(ledger.tokens), count(ledger.window), share, by, visible(ledger.model)),
    ...table(
      ledger.sections.filter((s) => s.tokens > 0).map((s) => line(s, ledger)),
      "  ",
    ),
    "",
    words.messages(ledger.messages.shown, count(ledger.messages.older), count(ledger.threshold)),
    ...compacted(ledger, ctx.clock.now()),
    ...(options.notes ? notes(ledger) : []),
  );
  return EXIT.done;
};

function line(section: Ledger["sections"][number], { tokens }: Ledger): string[] {
  const bar = "▇".repeat(Math.max(1, Math.round((section.tokens / Math.max(tokens, 1)) * BAR)));
  return [section.name, words.tokens(count(section.tokens)), bar];
}

function compacted({ compactions }: Ledger, now: number): string[] {
  return compactions.slice(0, 5).map((c) => {
    const state = c.state === "undone" ? ", undone" : "";
    return words.compactedAt(ago(c.at, now), words.how[c.how], c.messages, count(c.before), count(c.after), state);
  });
}

function notes({ notes: n }: Ledger): string[] {
  const part = (title: string, text: string) =>
    text ? ["", title, ...text.split("\n").map((l) => `  ${visible(l)}`)] : [];
  return [...part("Remembered", n.remembered), ...part(words.carriedOver, n.carried)];
}

function inWords(done: Result<"context.compact">, session: string, hint: Hint): string {
  if (done.state === "nothing") return words.nothingYet;
  if (done.state === "going on") return words.inBackground(hint, session);
  return words.compacted(hint, words.how[done.how!], done.messages!, count(done.before!), count(done.after!), session);
}
