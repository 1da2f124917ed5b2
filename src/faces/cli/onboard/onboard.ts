/**
 * `lares onboard`: the first run in three questions, each with an answer that Enter takes; flags answer them all. Run again
 * it changes what was set.
 *
 * N1: nothing is written before the last question is answered.
 */
import { join } from "node:path";
import { AppError } from "../../../core/domain/index.ts";
import { CONFIG_FILE } from "../../../ground/config/index.ts";
import type { Action, Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { duration, oneLine } from "../format.ts";
import { PRACTICE } from "../providers.ts";
import { Asker, Interrupted } from "./ask.ts";
import { askModel, fromFlags, type ModelChoice, standard } from "./choice.ts";
import { changed, readFileText, save, whatWas } from "./write.ts";

/** A running Lares looks at its settings once a second. */
const HOLDS_WITHIN_MS = 4000;
const LOOK_MS = 100;

export const onboard: Action = async (ctx) => {
  const { out } = ctx;
  try {
    const text = await readFileText(ctx);
    const before = await whatWas(text);
    const given = await fromFlags(ctx);
    const { choice, how } =
      given || !ctx.canAsk || ctx.options.yes
        ? { choice: given ?? standard(ctx, before), how: [] }
        : await ask(ctx, before);
    const next = await changed(ctx, text, choice);
    const typed = choice.kind === "provider" && choice.key?.from === "typed" ? choice.key.text : undefined;
    if (next !== text) await save(ctx, next, typed !== undefined);
    const model = (await whatWas(next)).model ?? PRACTICE;
    const tested = choice.kind === "practice" ? undefined : await test(ctx, model, next !== text);
    const file = join(ctx.home, CONFIG_FILE);
    out.document({ model, file, changed: next !== text, key: keyPlace(choice), ...(tested ? { tested } : {}) });
    out.say(
      sentence(choice, model),
      ...(ctx.ports.env.model && ctx.ports.env.model !== model
        ? [`LARES_MODEL says ${ctx.ports.env.model}, which goes before it.`]
        : []),
      ...(typed === undefined
        ? []
        : [`The key …${typed.length > 12 ? typed.slice(-4) : ""} is in ${file}, which only you can read (0600).`]),
      next === text ? "Nothing had to be changed." : `Written to ${file}.`,
      ...(tested ? [testLine(tested)] : []),
    );
    out.note(...how, ...later(ctx, how.length > 0));
    return tested && !tested.ok && tested.failed ? EXIT.failed : EXIT.done;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    out.note("", "Nothing was written.");
    return EXIT.interrupted;
  }
};

async function ask(
  ctx: Context,
  before: Parameters<typeof standard>[1],
): Promise<{ choice: ModelChoice; how: string[] }> {
  const asker = new Asker(ctx.ports.stdin, ctx.ports.stderr);
  const off = ctx.onSignal("SIGINT", () => asker.interrupt());
  const laterOr = (how: string[]) => [
    { text: "later", value: [] as string[] },
    { text: "say how", value: how },
  ];
  try {
    const choice = await askModel(ctx, asker, before);
    const channel = await asker.choose("A channel to talk through, beside terminal and browser?", laterOr(CHANNEL));
    const start = await asker.choose("Start it with the computer?", laterOr(START));
    return { choice, how: [...channel, ...start] };
  } finally {
    off();
    asker.close();
  }
}

const CHANNEL = ["Channels are in lares.yaml. What there is: lares config explain channels"];
const START = [
  "To start it with the computer: crontab -e, and add the line",
  "  @reboot lares gateway run",
  "Variables that lares.yaml refers to must be set there too.",
];

function later(ctx: Context, wasTold: boolean): string[] {
  const where = ctx.home === ctx.ports.env.home ? "" : ` --home ${ctx.home}`;
  return [
    ...(wasTold ? [] : ["A channel, or a start with the computer: any time, lares onboard."]),
    `Next: lares gateway run${where}, then lares chat${where}`,
  ];
}

function sentence(choice: ModelChoice, model: string): string {
  if (choice.kind === "practice") return "The practice model will answer: rules, not a language model.";
  if (choice.kind === "keep" && model === PRACTICE) return "What was set up stays.";
  if (choice.kind !== "provider") return `${model} will answer.`;
  const { key, baseUrl } = choice;
  const how = key?.from === "env" ? `, with the key in ${key.variable}` : baseUrl ? `, at ${baseUrl}` : "";
  return `${model} will answer${how}.`;
}

function keyPlace(choice: ModelChoice): "environment" | "file" | "none" {
  if (choice.kind !== "provider" || !choice.key) return "none";
  return choice.key.from === "env" ? "environment" : "file";
}

type Tested = { ok: true; ms: number } | { ok: false; why: string; failed: boolean };

function testLine(tested: Tested): string {
  if (tested.ok) return `Tested: it answered in ${duration(tested.ms)}.`;
  return tested.failed ? `Tested, and it failed: ${tested.why}` : `Not tested: ${tested.why}`;
}

/** One tiny request through the running Lares: only it knows the models. */
async function test(ctx: Context, model: string, isNew: boolean): Promise<Tested> {
  const { rpc } = ctx;
  const skipped = (why: string): Tested => ({ ok: false, why, failed: false });
  try {
    if (isNew && !(await holds(ctx, model))) return skipped("it holds from the next start of the gateway.");
    const [provider = "", ...name] = model.split("/");
    const told = await rpc.call("models.test", { provider, model: name.join("/") });
    if (told.ok) return { ok: true, ms: told.ms };
    return { ok: false, why: oneLine(told.message ?? "the model did not answer."), failed: true };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "GATEWAY_DOWN" || error.code === "NOT_READY") return skipped("Lares is not running.");
    if (error.code === "UNAUTHORIZED" || error.code === "FORBIDDEN") return skipped(oneLine(error.message));
    return { ok: false, why: oneLine(error.message), failed: true };
  }
}

/** Whether the running Lares has taken the change. */
async function holds({ rpc, clock }: Context, model: string): Promise<boolean> {
  const until = clock.now() + HOLDS_WITHIN_MS;
  for (;;) {
    const status = await rpc.call("status", {});
    if (status.model.id === model) return true;
    if (clock.now() >= until) return false;
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}
