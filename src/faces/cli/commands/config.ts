/** `lares config`: works on the file itself, so it works when nothing runs. A running gateway is asked to read a change at once. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ConfigAdvice } from "../../../core/contracts/index.ts";
import { AppError, type Json } from "../../../core/domain/index.ts";
import { nearest, parseJson } from "../../../core/kit/index.ts";
import {
  CONFIG_FILE,
  configSchemaJson,
  explain,
  findEffect,
  getFromFile,
  loadConfig,
  maskSecrets,
  newAdvice,
  parseConfig,
  readText,
  saveConfig,
  setInFile,
  standing,
} from "../../../ground/config/index.ts";
import { adviceContext, adviceNow } from "../advice.ts";
import type { Action, Context } from "../context.ts";
import { EXIT, usage } from "../exit.ts";
import { table } from "../output.ts";
import { wayToSet } from "../set-together.ts";
import { commonWords } from "../words/common.ts";
import { configWords as words } from "../words/set-up.ts";

export const get: Action = async (ctx, [key]) => {
  const { out } = ctx;
  const loaded = await load(ctx);
  // What the file says comes first, so that a reference stays a reference.
  const written = key === undefined ? undefined : await getFromFile(loaded.text, key);
  const value = written ?? at(loaded.config as Json, key);
  if (value === undefined) {
    const known = explain(await ctx.ports.configSchema()).some((one) => one.key === key);
    throw known ? new AppError("NOT_FOUND", words.unset(key ?? "")) : await unknownKey(ctx, key ?? "");
  }
  const shown = maskSecrets(value, new Set(loaded.secrets), key?.split(".").at(-1));
  if (out.json) out.document(shown);
  else out.say(typeof shown === "string" ? shown : JSON.stringify(shown, null, 2));
  if (key !== undefined && written === undefined) out.note(words.isDefault);
  return EXIT.done;
};

export const set: Action = async (ctx, [key = "", given]) => {
  if ((given === undefined) !== (ctx.options.unset === true)) {
    throw usage(words.giveValue, words.giveValueHint(key));
  }
  return change(ctx, key, given);
};

export const unset: Action = (ctx, [key = ""]) => change(ctx, key, undefined);

/** Without a value the key is removed, and its default holds. */
async function change(ctx: Context, key: string, given: string | undefined): Promise<number> {
  const { out, home } = ctx;
  const text = (await readText(join(home, CONFIG_FILE), home)) ?? "";
  const next = given === undefined ? await without(ctx, text, key) : await withValue(ctx, text, key, given);
  let notYet: string[] = [];
  if (next === text) {
    out.note(commonWords.nothingToChange);
  } else {
    const fresh = newAdvice(await advice(ctx, next), await advice(ctx, text).catch(() => []));
    await saveConfig(home, next);
    out.note(words.changed(given === undefined, key, join(home, CONFIG_FILE)));
    const { note, advice: gatewayAdvice } = await whenItHolds(ctx, key);
    const found = gatewayAdvice ?? standing(fresh);
    const idle = found.filter(({ holds }) => !holds).map(inWords);
    const less = found.filter(({ holds }) => holds).map(inWords);
    out.note(...(idle.length ? listed(words.butNotYet, idle) : [note]), ...listed(words.butLess, less));
    notYet = [...idle, ...less];
    // Once Lares has read the file, what is new is no longer new.
    const created = fresh.filter((one) => !standing(fresh).includes(one)).map(({ message }) => message);
    out.note(...created);
    notYet.push(...created);
  }
  const more = notYet.length ? { advice: notYet } : {};
  out.document({ key, file: join(home, CONFIG_FILE), changed: next !== text, ...more });
  return EXIT.done;
}

function inWords({ path, message }: { path: string; message: string }): string {
  return `${path}: ${message}`;
}

function listed(heading: string, lines: readonly string[]): string[] {
  return lines.length ? [heading, ...lines.map((line) => `  ${line}`)] : [];
}

/** The file without this key. A key that nobody knows was not meant, unless it stands in the file. */
async function without(ctx: Context, text: string, key: string): Promise<string> {
  const next = await checked(ctx, text, key, undefined);
  const known = explain(await ctx.ports.configSchema()).some((one) => leadsTo(key, one.key));
  if (next === text && !known) throw await unknownKey(ctx, key);
  return next;
}

/** Whether a key is one of these, or a part of the way to it: `agents.<name>.model`, `schedules[].name`. */
function leadsTo(key: string, known: string): boolean {
  const wanted = known.replaceAll("[]", ".<name>").split(".");
  return key.split(/[.[]/).every((part, i) => wanted[i] === part || wanted[i] === "<name>");
}

/** The running gateway reads the file before it answers, so the change holds for the next command. */
async function whenItHolds(
  ctx: Context,
  key: string,
): Promise<{ note: string; advice?: { path: string; message: string; holds?: boolean | undefined }[] }> {
  if (!existsSync(join(ctx.home, "gateway.json"))) return { note: words.nextStart };
  try {
    const { quarantined, problems } = await ctx.rpc.call("config.get", {});
    const section = key.split(".")[0] ?? key;
    if (quarantined.includes(section)) {
      const why = problems.filter((problem) => problem.path.split(".")[0] === section).map((one) => one.message);
      return { note: words.stillUsing(section, why.join("; ")) };
    }
    // It knows better than this terminal which keys and variables there are.
    const checked = await ctx.rpc.call("config.check", {});
    const note = words.applies[findEffect(await ctx.ports.configSchema(), key) ?? "restart"];
    return { note, advice: checked.problems.filter(({ path }) => isWithin(path, key) || isWithin(key, path)) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { note: words.notReloaded(error.message) };
  }
}

function isWithin(path: string, of: string): boolean {
  return path === of || (path.startsWith(of) && /^[.[]/.test(path.slice(of.length)));
}

/** What doesn't work in a text that can be loaded. */
async function advice(ctx: Context, text: string): Promise<readonly ConfigAdvice[]> {
  const configSchema = await ctx.ports.configSchema();
  const env = ctx.ports.env.variables;
  const { config } = await parseConfig({ schema: configSchema, env, text });
  return configSchema.advise(adviceContext(config, ctx.home, env));
}

export const check: Action = async (ctx) => {
  const { out } = ctx;
  const loaded = await load(ctx);
  const found = await adviceNow(ctx, loaded.config);
  const told = found.map(({ path, message }) => `${path}: ${message}`);
  const ok = found.every(({ weight }) => weight === "note");
  out.document({ ok, file: loaded.file, exists: loaded.exists, ...(told.length ? { advice: told } : {}) });
  if (told.length) {
    out.say(words.validButNotAll(loaded.file), ...told.map((one) => `  ${one}`));
    return ok ? EXIT.done : EXIT.failed;
  }
  out.say(loaded.exists ? words.valid(loaded.file) : words.noFile(loaded.file));
  return EXIT.done;
};

export const explainKeys: Action = async (ctx, [key]) => {
  const { out } = ctx;
  const all = explain(await ctx.ports.configSchema());
  const keys = key === undefined ? all : all.filter((k) => k.key === key || k.key.startsWith(`${key}.`));
  if (!keys.length) throw await unknownKey(ctx, key ?? "");
  out.items(keys);
  out.say(
    ...table(
      keys.map((k) => [k.key, k.type, k.default === undefined ? "" : `= ${JSON.stringify(k.default)}`, k.sentence]),
    ),
  );
  return EXIT.done;
};

export const schema: Action = async (ctx) => {
  const found = await configSchemaJson(await ctx.ports.configSchema());
  ctx.out.raw(`${JSON.stringify(found, null, ctx.out.json ? 0 : 2)}\n`);
  return EXIT.done;
};

async function load(ctx: Context) {
  return loadConfig({ home: ctx.home, schema: await ctx.ports.configSchema(), env: ctx.ports.env.variables });
}

/** `8080` and `true` are what they look like, unless the key wants text. */
async function withValue(ctx: Context, text: string, key: string, given: string): Promise<string> {
  let value: Json = given;
  try {
    value = parseJson(given) as Json;
  } catch {
    return checked(ctx, text, key, given);
  }
  try {
    return await checked(ctx, text, key, value);
  } catch (error) {
    if (typeof value === "object" && value !== null) throw error;
    return checked(ctx, text, key, given).catch(() => {
      throw error;
    });
  }
}

/** Nothing is saved that could not be loaded again. */
async function checked(ctx: Context, text: string, key: string, value: Json | undefined): Promise<string> {
  const next = await setInFile(text, key, value);
  const file = join(ctx.home, CONFIG_FILE);
  const all = { file, schema: await ctx.ports.configSchema(), env: ctx.ports.env.variables };
  try {
    await parseConfig({ ...all, text: next });
  } catch (error) {
    // A file that had a problem before says so itself; else it is the value, and the file is in order.
    await parseConfig({ ...all, text });
    throw refusedValue(key, error, value === undefined ? undefined : await wayToSet(ctx, { text, key, value }));
  }
  const before = await advice(ctx, text).catch(() => []);
  const never = newAdvice(await advice(ctx, next), before).filter(({ weight }) => weight === "never");
  if (never.length) throw notSet(key, never.map((one) => one.message).join("; "));
  return next;
}

function refusedValue(key: string, error: unknown, way: Awaited<ReturnType<typeof wayToSet>>): unknown {
  if (!(error instanceof AppError) || error.code !== "CONFIG_INVALID") return error;
  const problems = (error.details?.problems ?? []) as { message: string }[];
  const hint =
    way && (way.first === undefined ? words.setTogether(way.command) : words.setFirst(way.first, way.command));
  return notSet(key, problems.map((problem) => problem.message).join("; "), { cause: error, hint });
}

function notSet(
  key: string,
  why: string,
  { cause, hint }: { cause?: unknown; hint?: string | undefined } = {},
): AppError {
  return new AppError("CONFIG_INVALID", {
    message: words.notSet(key, why),
    hint: hint ?? words.notSetHint(key),
    retry: "after-change",
    cause,
  });
}

function at(config: Json, key: string | undefined): Json | undefined {
  if (key === undefined) return config;
  let here: unknown = config;
  for (const part of key.split(".")) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string, unknown>)[part];
  }
  return here as Json | undefined;
}

async function unknownKey(ctx: Context, key: string): Promise<AppError> {
  const keys = explain(await ctx.ports.configSchema()).map((k) => k.key);
  const near = nearest(key, keys);
  return new AppError("NOT_FOUND", {
    message: words.unknownKey(key),
    hint: near ? commonWords.didYouMean(near) : words.seeKeys(keys.length),
  });
}
