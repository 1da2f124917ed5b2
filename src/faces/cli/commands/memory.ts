/** `lares memory`: what it knows, where that came from, how to add and to forget. */
import { AppError } from "../../../core/domain/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine, shortId, when } from "../format.ts";
import { table } from "../output.ts";
import { pick } from "../pick.ts";
import { readAll } from "../read-all.ts";
import { memoryWords as words } from "../words/memory.ts";
import { reportDeclined } from "./sessions.ts";

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
/** Facts of a list. */
const LISTED = 100;
/** Facts, and messages, of a preview. */
const MOST_PREVIEW = 20;

export const add: Action = async (ctx, [given = ""]) => {
  const { rpc, out, options, ports } = ctx;
  const text = (given === "-" ? await readAll(ports.stdin) : given).trim();
  if (!text) throw usage(words.nothingGiven, words.nothingGivenHint);
  const done = await rpc.call("memory.add", {
    text,
    ...(typeof options.source === "string" ? { source: options.source } : {}),
    ...readScope(ctx),
  });
  out.document(done);
  for (const old of done.replaced ?? []) out.say(words.replaces(out.hint, oneLine(old.text), shortId(done.id)));
  out.say(words.remembered(out.hint, shortId(done.id)));
  return EXIT.done;
};

export const search: Action = async (ctx, [query = ""]) => {
  const { rpc, out } = ctx;
  const asked = {
    query,
    ...readLimit(ctx),
    ...readScope(ctx),
    ...(ctx.options.sessions ? { in: ["memory" as const, "sessions" as const] } : {}),
  };
  const { results, missing = [] } = await rpc.call("memory.search", asked);
  out.items(results);
  // The best is read first; a search is not a chronicle.
  out.say(results.length ? words.found(results.length) : words.notFound(query), ...rows(ctx, results), ...missing);
  return EXIT.done;
};

export const list: Action = async (ctx) => {
  const { rpc, out } = ctx;
  const { limit = LISTED } = readLimit(ctx);
  // One more than is shown tells whether there are more.
  const { facts } = await rpc.call("memory.list", { limit: Math.min(limit + 1, LOOKED_THROUGH) });
  const newestLast = facts.slice(0, limit).sort((a, b) => a.at - b.at);
  out.items(newestLast);
  const isMore = facts.length > limit;
  out.say(facts.length ? words.some(newestLast.length, isMore) : words.none(out.hint), ...rows(ctx, newestLast));
  return EXIT.done;
};

export const forget: Action = async (ctx, [typed = ""]) => {
  const { rpc, out, options } = ctx;
  if (options.about?.length) return forgetAbout(ctx, options.about);
  if (!typed) throw usage(words.nameWhat, words.nameWhatHint);
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: words.list });
  if (!(await confirmed(ctx, words.forgetQuestion(oneLine(fact.text))))) return reportDeclined(ctx);
  const done = await rpc.call("memory.forget", { id: fact.id });
  if (!done.forgotten) {
    throw new AppError("NOT_FOUND", { message: words.alreadyForgotten, hint: words.seeList });
  }
  out.document({ id: fact.id, ...done });
  out.say(words.forgotten(oneLine(fact.text)));
  return EXIT.done;
};

/** Topics or people, past talk included: what goes is shown first. */
async function forgetAbout(ctx: Context, about: readonly string[]) {
  const { rpc, out } = ctx;
  const except = await readExcept(ctx, about);
  const going = await rpc.call("memory.forget", { about: [...about], ...except, preview: true });
  const { facts = [], said = [], names = [], similar = [], topics = [] } = going;
  if (similar.length > 0) out.note(words.similar(similar.slice(0, MOST_PREVIEW)));
  if (facts.length + said.length === 0) {
    out.document(going);
    out.say(...topics.map((topic) => words.noMention(topic.about)));
    return EXIT.done;
  }
  const what = words.factsAndMessages(facts.length, said.length);
  out.note(
    words.wouldForget(what),
    ...eachTopic(topics),
    ...(names.length > 1 ? [words.namesInIt(names.slice(0, MOST_PREVIEW))] : []),
    ...facts.slice(0, MOST_PREVIEW).map((fact) => `  ${shortId(fact.id)}  ${oneLine(fact.text)}`),
    ...said.slice(0, MOST_PREVIEW).map((one) => words.said(oneLine(one.text))),
    ...[facts.length, said.length].filter((n) => n > MOST_PREVIEW).map((n) => words.andMore(n - MOST_PREVIEW)),
    words.keepSome,
  );
  if (!(await confirmed(ctx, words.forgetAboutQuestion(topics.map((topic) => topic.about)))))
    return reportDeclined(ctx);
  // The topics as they were shown, so that nothing else goes.
  const done = await rpc.call("memory.forget", { about: topics.map(({ again }) => again), ...except });
  out.document(done);
  const missing = topics.filter((topic) => topic.facts + topic.said === 0);
  out.say(words.forgot(out.hint, what), ...missing.map((topic) => words.noMention(topic.about)));
  return EXIT.done;
}

/** One line for each of several topics, so that nobody takes one for found that wasn't. */
function eachTopic(topics: NonNullable<Result<"memory.forget">["topics"]>): string[] {
  return topics.flatMap(({ about, facts, said, apart }) => [
    ...(topics.length > 1 && facts + said > 0 ? [words.topicLine(about, facts, said)] : []),
    ...(facts + said === 0 ? [words.noMention(about)] : []),
    ...(apart ? [words.takenAsOne(about, apart)] : []),
  ]);
}

/** What stays: names and words as they are, short ids of facts in full. */
async function readExcept({ rpc, options }: Context, about: readonly string[]): Promise<{ except?: string[] }> {
  if (!options.except?.length) return {};
  const { facts = [] } = await rpc.call("memory.forget", { about: [...about], preview: true });
  const full = (typed: string) => facts.find(({ id }) => shortId(id) === typed)?.id ?? typed;
  return { except: options.except.map(full) };
}

export const correct: Action = async (ctx, [typed = "", text = ""]) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: words.list });
  const done = await rpc.call("memory.correct", { id: fact.id, text });
  out.document(done);
  out.say(done.id === fact.id ? words.sameAlready : words.corrected(out.hint, shortId(done.id)));
  return EXIT.done;
};

export const undo: Action = async (ctx, [typed = ""]) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.list", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: "fact", list: words.list });
  const { restored } = await rpc.call("memory.undo", { id: fact.id });
  if (!restored.length)
    throw new AppError("NOT_FOUND", {
      message: words.noEarlier,
      hint: words.seeList,
    });
  out.items(restored);
  out.say("Restored:", ...rows(ctx, restored));
  return EXIT.done;
};

export const pending: Action = async (ctx) => {
  const { rpc, out } = ctx;
  const { facts } = await rpc.call("memory.pending", readLimit(ctx));
  out.items(facts);
  out.say(
    facts.length ? words.toConfirm(out.hint, facts.length) : words.nothingToConfirm,
    ...facts.flatMap((fact) => [...rows(ctx, [fact]), ...(fact.why ? [`    ${out.paint(fact.why, "dim")}`] : [])]),
  );
  return EXIT.done;
};

export const decide: Action = async (ctx, [typed = "", word = ""]) => {
  const { rpc, out } = ctx;
  if (word !== "keep" && word !== "drop") throw usage(words.notAnAnswer(word), words.notAnAnswerHint);
  const { facts } = await rpc.call("memory.pending", { limit: LOOKED_THROUGH });
  const fact = pick(facts, typed, { noun: words.waitingFact, list: words.pending });
  const done = await rpc.call("memory.decide", { id: fact.id, keep: word === "keep" });
  out.document({ id: fact.id, keep: word === "keep", ...done });
  const said = word === "keep" ? words.confirmed : words.discarded;
  out.say(done.decided ? said : words.alreadyDecided);
  return EXIT.done;
};

function rows({ clock, out }: Context, facts: readonly Fact[]): string[] {
  return table(
    facts.map((f) => [
      shortId(f.id),
      ago(f.at, clock.now()),
      oneLine(f.text),
      [f.expiresAt === undefined ? "" : words.until(when(f.expiresAt)), f.source ? oneLine(f.source) : ""]
        .filter(Boolean)
        .map((text) => out.paint(text, "dim"))
        .join("  "),
    ]),
    "  ",
  );
}

function readScope({ options }: Context): { scope?: string } {
  return typeof options.scope === "string" ? { scope: options.scope } : {};
}

function readLimit({ options }: Context): { limit?: number } {
  return typeof options.limit === "number" ? { limit: options.limit } : {};
}
