/** `lares memory`: what it knows, where that came from, how to add and to forget. */
import { AppError } from "../../../core/domain/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, plural, shortId, when } from "../format.ts";
import { table } from "../output.ts";
import { pick } from "../pick.ts";
import { readAll } from "../read-all.ts";
import { kept } from "./sessions.ts";

/** What a list or a search shows of a fact. */
interface Fact {
  id: string;
  text: string;
  at: number;
  source?: string | null;
  expiresAt?: number | undefined;
}

/** How many facts are looked through for the ending of an id. */
const LOOKED_THROUGH = 1000;
/** Facts, and messages, of a preview. */
const MOST_PREVIEW = 20;

export const add: Action = async (ctx, [given = ""]) => {
  const { rpc, out, options, ports } = ctx;
  const text = (given === "-" ? await readAll(ports.stdin) : given).trim();
  if (!text) throw usage("Nothing to remember.", 'For example: lares memory add "Ana prefers green tea"');
  const done = await rpc.call("memory.add", {
    text,
    ...(typeof options.source === "string" ? { source: options.source } : {}),
    ...scopeOf(ctx),
  });
  out.document(done);
  for (const old of done.replaced ?? [])
    out.say(out.hint`This replaces "${oneLine(old.text)}". Undo: lares memory undo ${shortId(done.id)}`);
  out.say(out.hint`Remembered. Forget it: lares memory forget ${shortId(done.id)}`);
  return EXIT.done;
};

export const search: Action = async (ctx, [query = ""]) => {
  const { rpc, out } = ctx;
  const asked = {
    query,
    ...limitOf(ctx),
    ...scopeOf(ctx),
    ...(ctx.options.sessions ? { in: ["memory" as const, "sessions" as const] } : {}),
  };
  const { results } = await rpc.call("memory.search", asked);
  out.items(results);
  // The best is read first; a search is not a chronicle.
  out.say(
    results.length ? `${plural(results.length, "fact")}, best match first.` : `Nothing found for "${query}".`,
    ...rows(ctx, results),
  );
  return EXIT.done;
};

export const list: Action = async (ctx) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.list", limitOf(ctx));
  const newestLast = [...facts].sort((a, b) => a.at - b.at);
  out.items(newestLast);
  out.say(
    facts.length
      ? `${plural(facts.length, "fact")}, newest last.`
      : out.hint`No memories yet. Add one: lares memory add "…"`,
    ...rows(ctx, newestLast),
  );
  return EXIT.done;
};

export const forget: Action = async (ctx, [typed = ""]) => {
  const { rpc, out, options } = ctx;
  if (options.about) return forgetAbout(ctx, options.about);
  if (!typed) throw usage("Name what to forget.", "Give an id, or a topic or person: --about Ana");
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: "lares memory list" });
  if (!(await confirmed(ctx, `Forget "${oneLine(fact.text)}"? This can't be undone.`))) return kept(ctx);
  const done = await rpc.call("memory.forget", { id: fact.id });
  if (!done.forgotten) {
    throw new AppError("NOT_FOUND", { message: "It was already forgotten.", hint: "See: lares memory list" });
  }
  out.document({ id: fact.id, ...done });
  out.say(`Forgotten: ${oneLine(fact.text)}`);
  return EXIT.done;
};

/** A topic or a person, past talk included: what goes is shown first. */
async function forgetAbout(ctx: Context, about: string) {
  const { rpc, out } = ctx;
  const going = await rpc.call("memory.forget", { about, preview: true });
  const { facts = [], said = [] } = going;
  if (facts.length + said.length === 0) {
    out.document(going);
    out.say(`Nothing mentions "${about}".`);
    return EXIT.done;
  }
  const what = `${plural(facts.length, "fact")} and ${plural(said.length, "message")} in past conversations`;
  out.note(
    `This would forget ${what}.`,
    ...facts.slice(0, MOST_PREVIEW).map((fact) => `  ${oneLine(fact.text)}`),
    ...said.slice(0, MOST_PREVIEW).map((one) => `  said: ${oneLine(one.text)}`),
  );
  if (!(await confirmed(ctx, `Forget everything that mentions "${about}"? This can't be undone.`))) return kept(ctx);
  const done = await rpc.call("memory.forget", { about });
  out.document(done);
  out.say(out.hint`Forgot ${what}. Conversations stay until you delete them: lares sessions delete`);
  return EXIT.done;
}

export const correct: Action = async (ctx, [typed = "", text = ""]) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: "lares memory list" });
  const done = await rpc.call("memory.correct", { id: fact.id, text });
  out.document(done);
  out.say(
    done.id === fact.id ? "It already says that." : out.hint`Corrected. Undo: lares memory undo ${shortId(done.id)}`,
  );
  return EXIT.done;
};

export const undo: Action = async (ctx, [typed = ""]) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: "lares memory list" });
  const { restored } = await rpc.call("memory.undo", { id: fact.id });
  if (!restored.length)
    throw new AppError("NOT_FOUND", {
      message: "There is no earlier version to restore.",
      hint: "See: lares memory list",
    });
  out.items(restored);
  out.say("Restored:", ...rows(ctx, restored));
  return EXIT.done;
};

export const pending: Action = async (ctx) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.pending", limitOf(ctx));
  out.items(facts);
  out.say(
    facts.length
      ? out.hint`${plural(facts.length, "fact")} to confirm: lares memory decide ID keep`
      : "Nothing to confirm.",
    ...facts.flatMap((fact) => [...rows(ctx, [fact]), ...(fact.why ? [`    ${out.paint(fact.why, "dim")}`] : [])]),
  );
  return EXIT.done;
};

export const decide: Action = async (ctx, [typed = "", word = ""]) => {
  const { rpc, out } = ctx;
  if (word !== "keep" && word !== "drop")
    throw usage(`"${word}" isn't an answer.`, "Say keep or drop: lares memory decide 3f9a2c keep");
  const { facts } = await rpc.call("memory.pending", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "waiting fact", list: "lares memory pending" });
  const done = await rpc.call("memory.decide", { id: fact.id, keep: word === "keep" });
  out.document({ id: fact.id, keep: word === "keep", ...done });
  out.say(done.decided ? (word === "keep" ? "Confirmed." : "Discarded.") : "It was already decided.");
  return EXIT.done;
};

function rows({ clock, out }: Context, facts: readonly Fact[]): string[] {
  return table(
    facts.map((f) => [
      shortId(f.id),
      ago(f.at, clock.now()),
      oneLine(f.text),
      [f.expiresAt === undefined ? "" : `until ${when(f.expiresAt)}`, f.source ? oneLine(f.source) : ""]
        .filter(Boolean)
        .map((text) => out.paint(text, "dim"))
        .join("  "),
    ]),
    "  ",
  );
}

function scopeOf({ options }: Context): { scope?: string } {
  return typeof options.scope === "string" ? { scope: options.scope } : {};
}

function limitOf({ options }: Context): { limit?: number } {
  return typeof options.limit === "number" ? { limit: options.limit } : {};
}
