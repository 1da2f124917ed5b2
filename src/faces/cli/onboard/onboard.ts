/**
 * `lares onboard`: the first run in three questions, each with an answer that Enter takes; flags answer them all. Run again
 * it changes what was set.
 *
 * CLI-5: nothing is written before the last of the three is answered. A channel comes after that: it is tried with the platform
 *     before it is kept, so it has questions of its own, and it needs a Lares that runs; where none does, one is started for it.
 */
import { join } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { defined, quoted } from "../../../core/kit/index.ts";
import { CONFIG_FILE, usualHome } from "../../../ground/config/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { duration, oneLine } from "../format.ts";
import { PRACTICE } from "../providers.ts";
import { commonWords } from "../words/common.ts";
import { onboardWords as words } from "../words/onboard.ts";
import { Asker, Interrupted } from "./ask.ts";
import { askModel, fromFlags, type ModelChoice, standard } from "./choice.ts";
import { changed, readFileText, save, whatWas } from "./write.ts";

/** A running Lares looks at its settings once a second. */
const HOLDS_WITHIN_MS = 4000;
const LOOK_MS = 100;

export const onboard: Action = async (ctx) => {
  const { out, options } = ctx;
  let asker: Asker | undefined;
  let off = () => {};
  let isWritten = false;
  try {
    const text = await readFileText(ctx);
    const before = await whatWas(text);
    const given = await fromFlags(ctx);
    const isSaid = given !== undefined || options.channel !== undefined;
    if (!isSaid && ctx.canAsk && !options.yes) {
      asker = new Asker(ctx.ports.stdin, ctx.ports.stderr);
      off = ctx.onSignal("SIGINT", () => asker?.interrupt());
    }
    const answers = asker
      ? await ask(ctx, asker, before)
      : { choice: given ?? standard(ctx, before), channel: options.channel !== undefined, how: [] };
    const { choice, how } = answers;
    const next = await changed(ctx, text, choice);
    const typed = choice.kind === "provider" && choice.key?.from === "typed" ? choice.key.text : undefined;
    if (next !== text) await save(ctx, next, typed !== undefined);
    isWritten = true;
    const model = (await whatWas(next)).model ?? PRACTICE;
    const tested = choice.kind === "practice" ? undefined : await test(ctx, model, next !== text);
    const file = join(ctx.home, CONFIG_FILE);
    out.say(
      sentence(choice, model),
      ...(ctx.ports.env.model && ctx.ports.env.model !== model ? [words.overridden(ctx.ports.env.model)] : []),
      ...(typed === undefined ? [] : [words.keyIsIn(typed.length > 12 ? typed.slice(-4) : "", file)]),
      next === text ? commonWords.nothingToChange : words.saved(file),
      ...(tested ? [testLine(tested)] : []),
    );
    const channel = answers.channel ? await connectChannel(ctx, asker) : undefined;
    out.document({
      model,
      file,
      changed: next !== text,
      key: keyPlace(choice),
      ...defined({ tested, channel: channel?.name }),
    });
    if (channel) out.say(...channel.lines);
    out.note(...how, ...(await later(ctx, how.length > 0 || channel !== undefined)));
    return tested && !tested.ok && tested.failed ? EXIT.failed : EXIT.done;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    out.note("", isWritten ? words.noChannel(out.hint) : words.nothingWritten);
    return EXIT.interrupted;
  } finally {
    off();
    asker?.close();
  }
};

async function ask(
  ctx: Context,
  asker: Asker,
  before: Parameters<typeof standard>[1],
): Promise<{ choice: ModelChoice; channel: boolean; how: string[] }> {
  const choice = await askModel(ctx, asker, before);
  const channel = await asker.choose(words.channelQuestion, [
    { text: "later", value: false },
    { text: words.channelYes, value: true },
  ]);
  const how = await asker.choose(words.startQuestion, [
    { text: "later", value: [] as string[] },
    { text: words.showHow, value: withTheComputer(ctx) },
  ]);
  return { choice, channel, how };
}

/** Through the Lares that runs, or through one that is started for it and stopped again. */
async function connectChannel(ctx: Context, asker: Asker | undefined): Promise<{ name: string; lines: string[] }> {
  const { connect } = await import("../commands/channels.ts");
  const isRunning = await ctx.rpc.call("health", {}).then(
    () => true,
    (error: unknown) => {
      if (error instanceof AppError && error.code === "GATEWAY_DOWN") return false;
      throw error;
    },
  );
  if (!isRunning) ctx.out.note(words.startingBriefly);
  const started = isRunning ? undefined : await ctx.ports.runGateway({ home: ctx.home, port: 0 });
  try {
    const { added, lines } = await connect(ctx, ctx.options.channel, asker);
    return { name: added.name, lines };
  } catch (error) {
    if (error instanceof AppError && !error.hint) {
      throw new AppError(error.code, { message: error.message, hint: words.tryChannelAgain, cause: error });
    }
    throw error;
  } finally {
    await started?.stop();
  }
}

function withTheComputer(ctx: Context): string[] {
  return [words.crontab.do, words.crontab.line(ctx.ports.program?.anywhere, elsewhere(ctx)), words.crontab.variables];
}

/** The flag that names this home in a crontab, which has no LARES_HOME. */
function elsewhere(ctx: Context): string {
  return ctx.home === usualHome(ctx.ports.env) ? "" : ` --home ${quoted(ctx.home)}`;
}

async function later(ctx: Context, wasTold: boolean): Promise<string[]> {
  const { hint } = ctx.out;
  return [
    ...(wasTold ? [] : [words.laterOnboard(hint)]),
    (await isUp(ctx)) ? words.isRunning(hint) : words.next(ctx.out.hintElsewhere),
  ];
}

/** One that runs but does not let us in still runs: a second one could not start beside it. */
function isUp(ctx: Context): Promise<boolean> {
  return ctx.rpc.call("health", {}).then(
    () => true,
    (error: unknown) => !(error instanceof AppError && error.code === "GATEWAY_DOWN"),
  );
}

function sentence(choice: ModelChoice, model: string): string {
  if (choice.kind === "practice") return words.willUsePractice;
  if (choice.kind === "keep" && model === PRACTICE) return words.unchanged;
  if (choice.kind !== "provider") return words.willUse(model);
  const { key, baseUrl } = choice;
  if (key?.from === "env") return words.willUseKey(model, key.variable);
  return baseUrl ? words.willUseAt(model, baseUrl) : words.willUse(model);
}

function keyPlace(choice: ModelChoice): "environment" | "file" | "none" {
  if (choice.kind !== "provider" || !choice.key) return "none";
  return choice.key.from === "env" ? "environment" : "file";
}

type Tested = { ok: true; ms: number } | { ok: false; why: string; failed: boolean };

function testLine(tested: Tested): string {
  if (tested.ok) return words.tested(duration(tested.ms));
  return tested.failed ? words.testFailed(tested.why) : words.notTested(tested.why);
}

/** One tiny request through the running Lares: only it knows the models. */
async function test(ctx: Context, model: string, isNew: boolean): Promise<Tested> {
  const { rpc } = ctx;
  const skipped = (why: string): Tested => ({ ok: false, why, failed: false });
  try {
    if (isNew && !(await holds(ctx, model))) return skipped(words.afterRestart);
    const [provider = "", ...name] = model.split("/");
    const told = await rpc.call("models.test", { provider, model: name.join("/") });
    if (told.ok) return { ok: true, ms: told.ms };
    return { ok: false, why: oneLine(told.message ?? words.noAnswer), failed: true };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "GATEWAY_DOWN") return skipped(commonWords.notRunning);
    if (error.code === "NOT_READY" || error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN")
      return skipped(oneLine(error.message));
    return { ok: false, why: oneLine(error.message), failed: true };
  }
}

/** Whether the running Lares has taken the change. */
async function holds({ rpc, clock }: Context, model: string): Promise<boolean> {
  const until = clock.now() + HOLDS_WITHIN_MS;
  // The clock's timers don't keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    for (;;) {
      const status = await rpc.call("status", {});
      if (status.model.id === model) return true;
      if (clock.now() >= until) return false;
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    }
  } finally {
    clearInterval(alive);
  }
}
