/** `lares mcp`: other programs whose tools agents may use. */
import { resolve } from "node:path";
import { pause, quoted, truthy } from "../../../core/kit/index.ts";
import type { Result } from "../../../core/protocol/index.ts";
import { confirmed } from "../confirm.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { ago, oneLine } from "../format.ts";
import { table } from "../output.ts";
import { readGiven } from "../read-all.ts";
import { mcpWords as words } from "../words/talk.ts";
import { askSecret } from "./secrets.ts";

type Server = Result<"mcp.list">["servers"][number];
type ImportRow = Result<"mcp.import">["items"][number];

export const list: Action = async ({ rpc, out, clock }) => {
  const { servers } = await rpc.call("mcp.list", {});
  out.items(servers);
  if (servers.length === 0) {
    out.say(words.none);
    out.note(words.addOne(out.hint));
    return EXIT.done;
  }
  out.say(
    words.some(servers.length),
    ...table(
      servers.map((one) => [mark(one, out), one.name, one.state, counts(one), about(one, clock.now())]),
      "  ",
    ),
  );
  for (const { name, held } of servers) if (held > 0) out.note(words.lookAt(out.hint, name));
  return EXIT.done;
};

export const add: Action = async (ctx, [name]) => {
  const { rpc, out, options } = ctx;
  const text = await readDefinition(ctx, name);
  const given = { text, ...truthy({ name, replace: options.replace === true }) };
  let done = await rpc.call("mcp.add", given);
  // The same text again: what was added the first time isn't refused because of that.
  if (await giveSecrets(ctx, done.needs)) done = join(done, await rpc.call("mcp.add", given));
  out.document(done);
  for (const one of done.added) out.say(words.added(one.name, oneLine(one.target)));
  for (const one of done.refused) out.say(words.notAdded(oneLine(one.name), oneLine(one.reason)));
  out.note(...done.notes.map(oneLine), ...done.added.map((one) => words.tryIt(out.hint, one.name)));
  return done.added.length > 0 ? EXIT.done : EXIT.failed;
};

type AddResult = Result<"mcp.add">;

function join(first: AddResult, second: AddResult): AddResult {
  const known = new Set(first.added.map(({ name }) => name));
  return {
    added: [...first.added, ...second.added],
    refused: second.refused.filter(({ name }) => !known.has(name)),
    notes: [...new Set([...first.notes, ...second.notes])],
    needs: second.needs,
  };
}

/** Asks in a terminal for what a definition needs. True: something was stored. */
async function giveSecrets(ctx: Context, needs: AddResult["needs"]): Promise<boolean> {
  if (!ctx.canAsk) return false;
  let isStored = false;
  for (const { secret, about } of needs) {
    const value = await askSecret(ctx, words.askSecret(secret, oneLine(about ?? "")));
    if (value === undefined) break;
    if (value === "") continue;
    await ctx.rpc.call("secrets.set", { name: secret, value });
    isStored = true;
  }
  return isStored;
}

async function readDefinition({ options, ports, out }: Context, name: string | undefined): Promise<string> {
  const { command, address: url, jsonFile } = options;
  const given = [command, url, jsonFile].filter((one) => one !== undefined);
  if (given.length !== 1) throw usage(words.oneSource, words.oneSourceHint);
  if (jsonFile !== undefined) return readGiven(jsonFile, ports.stdin, (line) => out.note(line));
  if (name === undefined) throw usage(words.needsName, words.needsNameHint);
  return JSON.stringify(truthy({ command, url }));
}

export const importServers: Action = async (ctx, [given]) => {
  const { rpc, out, options } = ctx;
  const from = truthy({ file: given && resolve(given) });
  let found = await rpc.call("mcp.import", from);
  const needs = found.items.filter(({ name }) => options.only === undefined || name === options.only);
  if (
    await giveSecrets(
      ctx,
      needs.flatMap((one) => one.needs ?? []),
    )
  )
    found = await rpc.call("mcp.import", from);
  const items = found.items.filter(({ name }) => options.only === undefined || name === options.only);
  const isWanted = ({ state }: ImportRow) => state === "new" || (state === "changed" && options.replace === true);
  const wanted = items.filter(isWanted);
  if (items.length === 0) {
    out.document(found);
    out.say(words.nothingToImport);
    if (given === undefined) out.note(words.importPlaces);
    return EXIT.done;
  }
  // Everything is shown before the question: the yes is for exactly these commands.
  out.say(...items.flatMap((item) => describeImportable(item)));
  const changed = items.filter(({ state }) => state === "changed").length;
  if (changed > 0 && options.replace !== true)
    out.note(words.importReplaces(out.hint, changed, given ? ` ${quoted(given)}` : ""));
  out.note(...found.notes.map(oneLine));
  if (wanted.length === 0 || options.dryRun) {
    out.document(found);
    if (wanted.length === 0) out.say(words.nothingNew);
    return EXIT.done;
  }
  if (!(await confirmed(ctx, words.importQuestion(wanted.length)))) return EXIT.declined;
  const done = await rpc.call("mcp.import", { ...from, yes: wanted.map(({ id }) => id) });
  out.document(done);
  for (const name of done.added)
    out.say(words.added(name, oneLine(items.find((one) => one.name === name)?.target ?? "")));
  out.note(...done.notes.map(oneLine), ...done.added.map((name) => words.tryIt(out.hint, name)));
  return done.added.length === wanted.length ? EXIT.done : EXIT.failed;
};

function describeImportable({ state, name, product, file, target, gets, why }: ImportRow): string[] {
  const facts = [words.isImportedAs[state], why && oneLine(why), gets.length > 0 && words.importGets(gets.join(", "))];
  return [
    `${words.importable[state]} ${oneLine(name)}  ${oneLine(target ?? "")}`,
    `    ${[`${product}, ${file}`, ...facts]
      .filter(Boolean)
      .map((one) => oneLine(String(one)))
      .join("; ")}`,
  ];
}

export const test: Action = async (ctx, [name = ""]) => {
  const { rpc, out } = ctx;
  const done = await withNews(ctx, name, rpc.call("mcp.test", { name }));
  out.document(done);
  out.say(done.ok ? words.works(name, done.tools, done.ms) : words.fails(name, oneLine(done.why ?? "")));
  for (const one of done.quarantined) out.say(words.cannotUse(oneLine(one.name), oneLine(one.reason)));
  if (!done.ok && done.complaints.length > 0)
    out.say(words.itSaid, ...done.complaints.map((line) => `  ${oneLine(line)}`));
  if (done.held > 0) out.note(words.lookAt(out.hint, name));
  return done.ok ? EXIT.done : EXIT.failed;
};

/** Programs that are fetched first take a while, and some hang: what the server wrote last shows which. */
const NEWS_MS = 3000;

async function withNews<T>({ rpc, out, clock }: Context, name: string, work: Promise<T>): Promise<T> {
  const from = clock.now();
  let stop = () => {};
  let isOver = false;
  const look = async () => {
    const { lines } = await rpc.call("mcp.logs", { name, limit: 1 });
    const seconds = Math.round((clock.now() - from) / 1000);
    if (!isOver) out.note(words.stillConnecting(name, seconds, oneLine(lines.at(-1) ?? "")));
  };
  const tick = () => {
    // If it can't be asked now, the test itself says why.
    if (!isOver) stop = clock.after(NEWS_MS, () => void look().then(tick, () => {}));
  };
  tick();
  return work.finally(() => {
    isOver = true;
    stop();
  });
}

export const tools: Action = async (ctx, [name = ""]) => {
  const { rpc, out, options } = ctx;
  const found = await rpc.call("mcp.tools", { name, ...truthy({ fresh: options.fresh === true }) });
  out.document(found);
  for (const one of found.tools) {
    out.say(...paragraph(one.about));
    if (one.notOffered) out.say(`  ${words.notOffered(oneLine(one.notOffered))}`);
    if (one.pinned) out.say(`  ${words.isPinned}`);
    if (one.notPinned) out.note(words.notPinned(one.name, one.notPinned));
  }
  for (const one of found.held) {
    out.say(one.why === "new" ? words.isNew(oneLine(one.name)) : words.isChanged(oneLine(one.name)));
    if (one.before !== undefined) out.say(`  ${words.before}`, ...paragraph(one.before, "    "));
    out.say(`  ${words.now}`, ...paragraph(one.now, "    "));
  }
  for (const one of found.quarantined) out.say(words.cannotUse(oneLine(one.name), oneLine(one.reason)));
  if (found.tools.length + found.held.length + found.quarantined.length === 0) out.note(words.noTools(out.hint, name));
  if (options.accept === true) {
    const { accepted } = await rpc.call("mcp.accept", { name });
    out.say(words.accepted(accepted));
  } else if (found.held.length > 0) out.note(words.acceptThem(out.hint, name));
  return EXIT.done;
};

export const login: Action = async (ctx, [name = ""]) => {
  const { rpc, out, options, ports } = ctx;
  const done = await rpc.call("mcp.login", { name, ...truthy({ ended: options.ended }) });
  out.document(done);
  if (done.link === undefined) {
    out.say(words.loggedIn(name));
    return EXIT.done;
  }
  out.say(words.openThis, `  ${oneLine(done.link)}`);
  out.note(words.thenPaste(out.hint, name));
  // A script goes on; a person waits for the browser.
  return ports.stdout.isTTY ? waitForBrowser(ctx, name) : EXIT.done;
};

/** How often it looks whether the browser came back. */
const LOOK_MS = 1000;

async function waitForBrowser({ rpc, out, clock, onSignal }: Context, name: string): Promise<number> {
  const stopped = new AbortController();
  const off = onSignal("SIGINT", () => stopped.abort());
  const one = async () => (await rpc.call("mcp.list", {})).servers.find((server) => server.name === name);
  out.note(words.waitingForBrowser);
  // The clock's timers don't keep the process alive, and between two looks nothing else does.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    let server = await one();
    while (server?.loggingIn && !stopped.signal.aborted) {
      await pause(clock, LOOK_MS, stopped.signal);
      if (!stopped.signal.aborted) server = await one();
    }
    if (stopped.signal.aborted) {
      out.note(words.stoppedWaiting(out.hint, name));
      return EXIT.interrupted;
    }
    const isIn = server?.state === "ready";
    out.say(isIn ? words.loggedIn(name) : words.notLoggedIn(out.hint, name));
    return isIn ? EXIT.done : EXIT.failed;
  } finally {
    clearInterval(hold);
    off();
  }
}

export const logs: Action = async ({ rpc, out, options }, [name = ""]) => {
  const { lines, problem } = await rpc.call("mcp.logs", { name, ...truthy({ limit: options.limit }) });
  out.items(lines);
  if (lines.length === 0) out.note(words.silent(name));
  else out.say(...lines.map(oneLine));
  if (problem !== undefined) out.note(words.lastFailure(oneLine(problem)));
  return EXIT.done;
};

export const remove: Action = async (ctx, [name = ""]) => {
  if (!(await confirmed(ctx, words.removeQuestion(oneLine(name))))) return EXIT.declined;
  const done = await ctx.rpc.call("mcp.remove", { name });
  ctx.out.document(done);
  ctx.out.say(done.removed ? words.removed(name) : words.notThere(oneLine(name)));
  if (done.secrets.length > 0) ctx.out.say(words.removedSecrets(done.secrets.map(oneLine).join(", ")));
  return done.removed ? EXIT.done : EXIT.failed;
};

/** Checked only if it worked the last time, and nothing of it waits for a person. */
function mark({ state, listed, held }: Server, out: Context["out"]): string {
  if (state === "paused" || state === "needs-login" || state === "failed") return out.paint("✕", "fail");
  if (state === "off" || !listed) return "–";
  return held > 0 ? out.paint("!", "wait") : out.paint("✓", "ok");
}

function about({ why, at, target }: Server, now: number): string {
  if (why === undefined) return oneLine(target);
  return oneLine(at === undefined ? why : `${why} (${ago(at, now)})`);
}

function counts({ listed, tools: n, held, quarantined }: Server): string {
  if (!listed) return words.neverListed;
  const parts = [words.tools(n), held > 0 && words.held(held), quarantined > 0 && words.unusable(quarantined)];
  return parts.filter(Boolean).join(", ");
}

/** Somebody else's text, a line each, indented below what it belongs to. */
function paragraph(text: string, indent = "  "): string[] {
  const [first = "", ...rest] = text.split("\n").map(oneLine);
  return [`${indent.slice(2)}${first}`, ...rest.map((line) => `${indent}${line}`)];
}
