/** `lares channels`: where people talk to it, and whether that works. */
import { readFileSync } from "node:fs";
import { nearest, truthy } from "../../../core/kit/index.ts";
import type { Params, Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { oneLine, plural } from "../format.ts";
import { Asker, Interrupted } from "../onboard/ask.ts";
import { table } from "../output.ts";
import { readAll } from "../read-all.ts";
import { channelWords as words } from "../words/channels.ts";
import { commonWords } from "../words/common.ts";
import { reportDeclined } from "./sessions.ts";

export const list: Action = async ({ rpc, out }) => {
  const { channels } = await rpc.call("channels.list", {});
  out.items(channels);
  const failed = channels.filter((c) => c.state === "down").length;
  out.say(
    channels.length ? words.some(channels.length, failed) : words.none(out.hint),
    ...table(
      channels.map((c) => [mark(c.state, out.paint), c.name, oneLine(c.detail ?? c.as ?? "")]),
      "  ",
    ),
  );
  return EXIT.done;
};

export const status: Action = async ({ rpc, out }, [name = ""]) => {
  const c = await rpc.call("channels.status", { name });
  out.document(c);
  const { waiting, sent, uncertain, failed } = c.deliveries;
  const rows = [
    ["connected", yesOrNo(c.connected)],
    ["receiving", c.hearing === null ? words.notKnown : yesOrNo(c.hearing)],
    ["sending", c.sending === null ? words.nothingSent : yesOrNo(c.sending)],
    ...(c.as ? [[words.knownAs, oneLine(c.as)]] : []),
    ...(c.restarts ? [["reconnected", plural(c.restarts, "time")]] : []),
    ...(c.unreadable ? [["unreadable", words.unreadable(out.hint, c.unreadable)]] : []),
    ...(c.passedOver?.length ? [["skipped", words.skipped(oneLine(c.passedOver.join(", ")))]] : []),
    ["deliveries", words.deliveries(sent, waiting, uncertain, failed)],
    ...(c.lastError ? [[words.lastError, out.ours(oneLine(c.lastError))]] : []),
  ];
  out.say(
    `${mark(c.state, out.paint)}: ${c.name}${c.detail ? `, ${out.ours(oneLine(c.detail))}` : ""}`,
    ...table(rows, "  "),
  );
  return c.state === "down" ? EXIT.failed : EXIT.done;
};

const yesOrNo = (is: boolean) => (is ? "yes" : "no");

type State = Result<"channels.list">["channels"][number]["state"];

function mark(state: State, paint: Context["out"]["paint"]): string {
  if (state === "down") return paint("✕ down", "fail");
  return state === "ok" ? paint("● ok", "ok") : `○ ${state}`;
}

type Kind = Awaited<ReturnType<typeof listKinds>>[number];
const listKinds = async ({ rpc }: Context) => (await rpc.call("channels.kinds", {})).kinds;

export const add: Action = async (ctx, [typed]) => {
  const { out } = ctx;
  const asker = ctx.canAsk ? new Asker(ctx.ports.stdin, ctx.ports.stderr) : undefined;
  const off = asker && ctx.onSignal("SIGINT", () => asker.interrupt());
  try {
    const { added, lines } = await connect(ctx, typed, asker);
    out.document(added);
    out.say(...lines);
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    out.note(commonWords.nothingChanged);
    return EXIT.interrupted;
  } finally {
    off?.();
    asker?.close();
  }
};

/** Connects one through the running Lares: asks for what is missing, tries it, keeps it. Nothing is kept when it fails. */
export async function connect(ctx: Context, typed: string | undefined, asker: Asker | undefined) {
  const { rpc, out, options } = ctx;
  const kinds = await listKinds(ctx);
  const given = await readFields(ctx);
  const kind = typed === undefined ? await chosen(kinds, asker) : named(kinds, typed);
  if (!kind.installed) {
    out.note(words.installing(kind.packages.join(", ")));
    await rpc.call("channels.install", { channel: kind.name });
  }
  for (const { field, what, secret } of kind.asks) {
    if (given[field] !== undefined) continue;
    if (!asker) {
      if (secret) throw usage(words.needs(kind.title, field, what), words.needsHint(field));
      continue;
    }
    const answer = secret ? await asker.secret(`${what}:`) : await asker.line(`${what}:`);
    if (answer) given[field] = answer;
  }
  out.note(words.checking);
  const account = options.name ?? "main";
  const added = await rpc.call("channels.add", {
    channel: kind.name,
    account,
    fields: given,
    ...truthy({ replace: options.replace }),
  });
  const id = added.who.id && added.who.id !== added.who.name ? ` (${oneLine(added.who.id)})` : "";
  const lines = [
    `${out.paint("●", "ok")} ${added.name}: ${oneLine(added.who.name)}${id}`,
    ...(added.who.note ? [`  ${oneLine(added.who.note)}`] : []),
    `  ${out.ours(added.hint)}`,
  ];
  return { added, lines };
}

export const test: Action = async ({ rpc, out, options }, [name = ""]) => {
  const found = await rpc.call("channels.test", { name, ...truthy({ chat: options.to }) });
  out.document(found);
  out.say(
    `${out.paint("●", "ok")} ${name}: ${oneLine(found.name)} (${oneLine(found.id)})`,
    ...(found.note ? [`  ${oneLine(found.note)}`] : []),
    ...(found.sent ? [words.testSent(out.hint, name)] : []),
  );
  return EXIT.done;
};

export const remove: Action = async (ctx, [name = ""]) => {
  if (!(await confirmed(ctx, words.removeQuestion(name)))) return reportDeclined(ctx);
  const done = await ctx.rpc.call("channels.remove", { name });
  ctx.out.document(done);
  ctx.out.say(words.removed(name), words.conversationsStay(ctx.out.hint));
  return EXIT.done;
};

async function chosen(kinds: readonly Kind[], asker: Asker | undefined): Promise<Kind> {
  if (!asker) throw usage(words.whichKind, words.kinds(kinds.map((k) => k.name).join(", ")));
  return asker.choose(
    words.whichOne,
    kinds.map((kind) => ({ text: kind.title, value: kind })),
  );
}

function named(kinds: readonly Kind[], typed: string): Kind {
  const found = kinds.find((kind) => kind.name === typed);
  if (found) return found;
  const names = kinds.map((kind) => kind.name);
  const near = nearest(typed, names);
  throw usage(words.unknown(typed), near ? commonWords.didYouMean(near) : words.known(names.join(", ")));
}

type Fields = Params<"channels.add">["fields"];

/** `--set token=@FILE`, `--set token=-`, `--set port=6697`, `--set owners=["1"]`. */
async function readFields({ options, ports }: Context): Promise<Fields> {
  const fields: Fields = {};
  for (const one of options.set ?? []) {
    const at = one.indexOf("=");
    if (at < 1) throw usage(words.notAField(one), words.notAFieldHint);
    const [field, value] = [one.slice(0, at), one.slice(at + 1)];
    if (value === "-") fields[field] = (await readAll(ports.stdin)).trim();
    else if (value.startsWith("@")) fields[field] = readFileSync(value.slice(1), "utf8").trim();
    else fields[field] = /^(true|false|-?\d+(\.\d+)?|[[{].*)$/s.test(value) ? asJson(value) : value;
  }
  return fields;
}

/** A long number is an id, and ids are texts. */
function asJson(value: string): Fields[string] {
  if (/^-?\d{7,}$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
