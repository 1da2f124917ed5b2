/** `lares plugins`: folders of others with skills, tools and hooks. */
import { resolve } from "node:path";
import { truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { oneLine } from "../format.ts";
import { table } from "../output.ts";
import { pluginWords as words } from "../words/plugins.ts";

type Plugin = Result<"plugins.list">["plugins"][number];
type Staged = Result<"plugins.stage">;

const MOST_SHOWN = 20;

export const list: Action = async ({ rpc, out }) => {
  const { plugins } = await rpc.call("plugins.list", {});
  out.items(plugins);
  if (plugins.length === 0) {
    out.say(words.none);
    out.note(words.addOne(out.hint));
    return EXIT.done;
  }
  out.say(
    words.some(plugins.length),
    ...table(
      plugins.map((one) => [
        mark(one, out),
        `${one.name} ${oneLine(one.version)}`.trim(),
        words.state[one.state],
        one.offers.join(", ") || words.offersNothing,
        oneLine(one.why ?? one.description),
      ]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const install: Action = async (ctx, [source = ""]) => {
  const from = isAddress(source) ? source : resolve(source);
  const staged = await ctx.rpc.call("plugins.stage", { from });
  return decide(ctx, staged, ["install", source]);
};

export const update: Action = async (ctx, [name = ""]) => {
  const staged = await ctx.rpc.call("plugins.stage", { name });
  return decide(ctx, staged, ["update", name]);
};

/** Shows what was staged and takes the yes, which is bound to its digest. */
async function decide(ctx: Context, staged: Staged, what: readonly string[]): Promise<number> {
  const { rpc, out, options } = ctx;
  const { name, digest } = staged;
  show(ctx, staged);
  const isNo = options.digest === undefined ? !(await mayAccept(ctx, staged, what)) : options.digest !== digest;
  if (isNo) {
    await rpc.call("plugins.discard", { digest });
    if (options.digest !== undefined) throw usage(words.otherDigest(options.digest), words.otherDigestHint);
    return EXIT.declined;
  }
  const done = await rpc.call("plugins.accept", { digest });
  out.document(done);
  if (done.state === "on") out.say(staged.changes ? words.updated(name) : words.installed(name));
  else out.say(words.notUsed(name, out.ours(done.why ?? "")));
  return EXIT.done;
}

async function mayAccept(ctx: Context, { name, digest, changes }: Staged, what: readonly string[]): Promise<boolean> {
  const { out, options, canAsk } = ctx;
  if (!options.yes && !canAsk) {
    await ctx.rpc.call("plugins.discard", { digest });
    out.note(words.sayYes(out.hint, what.join(" "), digest));
  }
  return confirmed(ctx, changes ? words.updateQuestion(name) : words.installQuestion(name));
}

function show({ out }: Context, staged: Staged): void {
  const { name, version, changes, rights, findings, notes } = staged;
  out.say(
    words.title(name, oneLine(version), staged.files),
    ...(staged.description ? [`  ${oneLine(staged.description)}`] : []),
  );
  if (staged.exactly !== undefined) out.say(words.exactly(oneLine(staged.exactly)));
  out.say(words.digest(staged.digest));
  if (changes) {
    out.say(words.update(oneLine(changes.version), oneLine(version)));
    section(out, words.asksNew, changes.rights.added);
    section(out, words.gives, changes.rights.removed);
    const { added, removed, changed } = changes.files;
    const files = [
      ...added.map((path) => `+ ${path}`),
      ...removed.map((path) => `- ${path}`),
      ...changed.map((path) => `~ ${path}`),
    ];
    if (files.length === 0) out.say(words.same);
    section(out, words.files, files);
  }
  if (rights.length === 0) out.say(words.asksNothing);
  else {
    section(out, words.asks, rights);
    out.say(words.confined(out.ours(staged.confined)));
  }
  if (staged.skills.length > 0) out.say(words.skills(staged.skills.join(", ")));
  section(
    out,
    words.found,
    findings.map(({ path, what }) => `${path} ${what}`),
  );
  section(out, words.leftOut, notes);
}

/** Somebody else's text, a line each. */
function section(out: Context["out"], title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  out.say(title, ...lines.slice(0, MOST_SHOWN).map((line) => `  ${oneLine(line)}`));
  if (lines.length > MOST_SHOWN) out.say(words.more(lines.length - MOST_SHOWN));
}

export const remove: Action = async (ctx, [name = ""]) => {
  const { rpc, out, options, home } = ctx;
  const deleteData = options.deleteData === true;
  if (!(await confirmed(ctx, words.removeQuestion(oneLine(name), deleteData)))) return EXIT.declined;
  const done = await rpc.call("plugins.remove", { name, ...truthy({ deleteData }) });
  out.document(done);
  out.say(words.removed(name));
  if (!deleteData) out.note(words.dataKept(out.hint, home, name));
  return EXIT.done;
};

export const enable: Action = async ({ rpc, out }, [name = ""]) => {
  const done = await rpc.call("plugins.enable", { name });
  out.document(done);
  out.say(done.state === "on" ? words.enabled(name) : words.notUsed(name, out.ours(done.why ?? "")));
  return EXIT.done;
};

export const disable: Action = async ({ rpc, out }, [name = ""]) => {
  out.document(await rpc.call("plugins.disable", { name }));
  out.say(words.disabled(name));
  return EXIT.done;
};

export const doctor: Action = async ({ rpc, out }, [name]) => {
  const { plugins } = await rpc.call("plugins.doctor", { ...truthy({ name }) });
  out.items(plugins);
  if (plugins.length === 0) out.say(words.none);
  for (const { name: one, problems } of plugins) {
    if (problems.length === 0) out.say(words.fine(one));
    else for (const problem of problems) out.say(words.wrong(one, oneLine(out.ours(problem))));
  }
  return plugins.every(({ problems }) => problems.length === 0) ? EXIT.done : EXIT.failed;
};

function mark({ state }: Plugin, out: Context["out"]): string {
  if (state === "on") return out.paint("✓", "ok");
  return state === "off" ? "–" : out.paint("✕", "fail");
}

function isAddress(source: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|npm:|git@)/.test(source);
}
