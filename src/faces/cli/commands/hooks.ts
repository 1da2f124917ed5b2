/** `lares hooks`: programs of yours that hear what happens, and may narrow what agents do. */
import { resolve } from "node:path";
import { asJson, isObject } from "../../../core/domain/index.ts";
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, elapsed, oneLine } from "../format.ts";
import { hookWords as words } from "../words/hooks.ts";

type ListedHook = Result<"hooks.list">["hooks"][number];
type ImportRow = Result<"hooks.import">["items"][number];

export const list: Action = async ({ rpc, out, clock }) => {
  const { hooks, problems } = await rpc.call("hooks.list", {});
  out.items(hooks);
  if (hooks.length === 0) {
    out.say(words.none);
    out.note(words.addOne(out.hint));
  } else out.say(words.some(hooks.length));
  for (const hook of hooks) {
    out.say(`${mark(hook, out.paint)} ${hook.name}${hook.shown ? `  ${oneLine(hook.shown)}` : ""}`);
    out.say(...hook.events.map((one) => `    ${describeEvent(one)}`), `    ${describeCalls(hook, clock.now())}`);
    if (hook.waiting > 0) out.say(`    ${words.waiting(hook.waiting)}`);
    if (hook.trouble !== undefined) out.say(`    ${oneLine(hook.trouble)}`);
  }
  for (const problem of problems) out.note(words.problem(oneLine(problem)));
  return EXIT.done;
};

function describeEvent({ event, mode, onFail }: ListedHook["events"][number]): string {
  const fails = mode === "answer" ? words.onFail[onFail] : "";
  return [`${words.hears[mode]} ${event}`, fails].filter(Boolean).join("; ");
}

function describeCalls({ calls, denied, timedOut, failures, last }: ListedHook, now: number): string {
  if (!last) return words.never;
  const figures = words.calls(calls, denied, timedOut, failures - timedOut);
  return `${figures}; ${words.last(words.result[last.result], elapsed(last.ms), ago(last.at, now))}`;
}

function mark({ last }: ListedHook, paint: (text: string, tone: "ok" | "fail" | "dim") => string): string {
  if (!last) return paint("○", "dim");
  return last.result === "failed" || last.result === "timed-out" ? paint("✕", "fail") : paint("✓", "ok");
}

export const test: Action = async ({ rpc, out, options }, [name = ""]) => {
  const facts = readFacts(options.facts);
  const done = await rpc.call("hooks.test", { name, ...truthy({ event: options.event, facts }) });
  out.document(done);
  out.say(words.tried(name, done.event, oneLine(done.said), elapsed(done.ms)));
  if (done.ignored.length > 0) out.say(words.ignored(done.ignored.map(oneLine).join(", ")));
  return done.ok ? EXIT.done : EXIT.failed;
};

function readFacts(given: string | undefined): Record<string, unknown> | undefined {
  if (given === undefined) return undefined;
  const facts = asJson(given);
  if (!isObject(facts)) throw usage(words.badFacts);
  return facts;
}

export const importHooks: Action = async (ctx, [path = ""]) => {
  const { rpc, out, options } = ctx;
  const from = resolve(path);
  const found = await rpc.call("hooks.import", { from });
  const { items } = found;
  const wanted = items.filter(({ state }) => state === "new");
  // Everything is shown before the question: the yes is for exactly these commands.
  out.say(...(items.length === 0 ? [words.nothing] : items.flatMap(describeImportable)));
  if (wanted.length === 0 || options.dryRun) {
    out.document(found);
    if (wanted.length === 0 && items.length > 0) out.say(words.nothingNew);
    return EXIT.done;
  }
  if (!(await confirmed(ctx, words.question(wanted.length)))) return EXIT.declined;
  const done = await rpc.call("hooks.import", { from, yes: wanted.map(({ id }) => id) });
  out.document(done);
  if (done.added > 0) out.say(words.added(done.added));
  if (done.changed > 0) out.say(words.changed(done.changed));
  else out.note(words.tryThem(out.hint));
  return done.added === wanted.length ? EXIT.done : EXIT.failed;
};

function describeImportable({ state, event, hears, matcher, command, timeout, why, file }: ImportRow): string[] {
  const facts = [
    hears,
    timeout !== undefined && words.seconds(timeout),
    words.isImportedAs[state],
    why && oneLine(why),
    file,
  ];
  return [
    `${words.importable[state]} ${oneLine([event, matcher].filter(Boolean).join(" "))}  ${oneLine(command)}`,
    `    ${facts.filter(Boolean).join("; ")}`,
  ];
}
