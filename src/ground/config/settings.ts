/**
 * The settings while the program runs. `view` is what the rooms hold: it looks like the config and always answers with the
 * values that hold now.
 *
 * SETTINGS-1: a reload never writes the file. A section with a problem keeps its last good values; the problem is shown.
 * SETTINGS-2: what cannot change under way keeps the values it was started with, and says that it needs a restart.
 */
import { join } from "node:path";
import type { AdviceContext, ConfigAdvice } from "../../core/contracts/index.ts";
import { AppError, type Json, toJson } from "../../core/domain/index.ts";
import type { Bus, Log } from "../../core/kit/index.ts";
import { asSentence, truthy } from "../../core/kit/index.ts";
import { newAdvice, standing, toProblem } from "./advise.ts";
import { configSchemaJson, explain } from "./describe.ts";
import { getFromFile, setInFile } from "./edit.ts";
import { CONFIG_FILE, type LoadedConfig, readText, reviewConfig, saveConfig } from "./load.ts";
import { isMask, maskSecrets } from "./mask.ts";
import type { ConfigProblem } from "./problems.ts";
import { type Config, type ConfigSchema, findEffect } from "./schema.ts";
import { type FileWatch, watchFile } from "./watch.ts";

export interface SettingsParts<Schema extends ConfigSchema> {
  home: string;
  schema: Schema;
  variables: Readonly<Record<string, string | undefined>>;
  overrides: Readonly<Record<string, Json>>;
  loaded: LoadedConfig<Config<Schema>>;
  bus: Bus;
  log: Log;
  /** What `vault:NAME` in the file stands for. */
  lookUp?: (text: string) => string;
  /** From now on this value must not be printed. */
  addSecret: (value: string) => void;
  /** These sections hold new values. */
  changed: (sections: readonly Section<Schema>[]) => Promise<void>;
}

export type Section<Schema extends ConfigSchema> = keyof Config<Schema> & string;

/** What settings may refer to beside the file: agents with a folder in the home, and jobs. */
type KnownNames = Pick<AdviceContext, "folders" | "jobs">;

/** What a change did: the sections that hold new values, and those that wait for a restart. */
interface Taken<Schema extends ConfigSchema> {
  changed: Section<Schema>[];
  restart: Section<Schema>[];
}

export class Settings<Schema extends ConfigSchema> {
  readonly view: Config<Schema>;
  readonly file: string;
  private readonly parts: SettingsParts<Schema>;
  private readonly names: readonly Section<Schema>[];
  private now: Config<Schema>;
  /** What the file says, good sections only: what the next start would use. */
  private wanted: Config<Schema>;
  private text: string;
  private exists: boolean;
  private problems: readonly ConfigProblem[] = [];
  private quarantined: readonly string[] = [];
  private readonly secrets = new Set<string>();
  private watch: FileWatch | undefined;
  private line: Promise<unknown> = Promise.resolve();

  constructor(parts: SettingsParts<Schema>) {
    this.parts = parts;
    this.names = Object.keys(parts.schema.slices) as Section<Schema>[];
    this.file = join(parts.home, CONFIG_FILE);
    this.now = parts.loaded.config;
    this.wanted = this.now;
    this.text = parts.loaded.text;
    this.exists = parts.loaded.exists;
    for (const secret of parts.loaded.secrets) this.secrets.add(secret);
    const view = {};
    for (const name of this.names) {
      Object.defineProperty(view, name, { enumerable: true, get: () => this.now[name] });
    }
    this.view = view as Config<Schema>;
  }

  start(): void {
    this.watch = watchFile(this.file, async () => void (await this.reload()));
  }

  stop(): void {
    this.watch?.stop();
  }

  /** Looks at the file now. Resolves when a change was taken in. */
  look(): Promise<void> {
    return this.watch?.look() ?? Promise.resolve();
  }

  /** Sentences for people: what is wrong, and what waits for a restart. */
  sentences(): string[] {
    const restart = this.restart();
    return [
      ...this.problems.map(
        (p) => `lares.yaml${p.line === undefined ? "" : ` line ${p.line}`}: ${p.message}.${this.kept(p)}`,
      ),
      ...(restart.length ? [`lares.yaml: the change of ${restart.join(", ")} needs a restart.`] : []),
    ];
  }

  /** Reads the file again. The same text changes nothing. */
  reload(): Promise<Taken<Schema>> {
    return this.inLine(async () => {
      let text: string | undefined;
      try {
        text = await readText(this.file, this.parts.home);
      } catch (error) {
        this.problems = [{ path: "", message: error instanceof AppError ? error.message : String(error) }];
        return this.tell([]);
      }
      if (text === undefined && this.exists) this.parts.log.info("lares.yaml is gone: the defaults hold");
      if ((text ?? "") === this.text && (text !== undefined) === this.exists)
        return { changed: [], restart: this.restart() };
      this.exists = text !== undefined;
      return this.take(text ?? "");
    });
  }

  /** What holds now, as data: it was parsed from YAML. */
  private plain(): Json {
    return this.now as unknown as Json;
  }

  async get(path: string | undefined) {
    const value = path === undefined ? this.plain() : at(this.plain(), path);
    if (value === undefined) throw unknownKey(path ?? "");
    const written = path === undefined ? undefined : await getFromFile(this.text, path).catch(() => undefined);
    const key = path?.split(".").at(-1);
    return {
      file: this.file,
      exists: this.exists,
      value: maskSecrets(value, this.secrets, key),
      ...(written === undefined ? {} : { written: maskSecrets(written, this.secrets, key) }),
      quarantined: [...this.quarantined],
      restart: this.restart() as string[],
      problems: this.problems.map((p) => ({ ...p })),
    };
  }

  /**
   * Changes one key of the file. A result with a new problem is refused, and then nothing is written. `advice`: what is new in it
   * and doesn't work as things are.
   */
  async set(path: string, value: Json | undefined, known: KnownNames) {
    const before = await this.advice(this.wanted, known);
    let fresh: readonly ConfigAdvice[] = [];
    const changed = await this.change([[path, value]], async (config) => {
      fresh = newAdvice(await this.advice(config, known), before);
      const never = fresh.filter(({ weight }) => weight === "never");
      return never.map(({ path: at, message }) => ({ path: at, message: `${at}: ${message}` }));
    });
    const advice = fresh.map((one) => `${one.path}: ${one.message}`);
    const effect = findEffect(this.parts.schema, path) ?? "restart";
    return { path, effect, ...changed, ...(advice.length ? { advice } : {}) };
  }

  private advice(config: Config<Schema>, known: KnownNames): Promise<readonly ConfigAdvice[]> {
    const { schema, variables, home } = this.parts;
    return schema.advise({ config, ...known, home, env: variables, running: true, now: Date.now() });
  }

  /** Several keys in one step; `undefined` removes one. A name with a dot in it is given as a list of parts. */
  change(
    edits: readonly (readonly [path: string | readonly string[], value: Json | undefined])[],
    refuse: (config: Config<Schema>) => Promise<readonly ConfigProblem[]> = async () => [],
  ) {
    if (edits.some(([, value]) => value !== undefined && isMask(value))) {
      throw new AppError("BAD_REQUEST", {
        message: "This value is a masked secret, not the secret itself.",
        hint: "Send the whole secret, or leave the key as it is.",
        details: { field: "value" },
      });
    }
    return this.inLine(async () => {
      let text = (await readText(this.file, this.parts.home)) ?? "";
      for (const [path, value] of edits) text = await setInFile(text, path, value);
      const before = new Set(this.problems.map((p) => `${p.path} ${p.message}`));
      const { problems, config } = await this.review(text);
      const fresh = [...problems.filter((p) => !before.has(`${p.path} ${p.message}`)), ...(await refuse(config))];
      if (fresh.length) {
        throw new AppError("CONFIG_INVALID", {
          message: asSentence(fresh.map((p) => p.message).join("; ")),
          hint: "Nothing was changed. See the keys: lares config schema",
          retry: "after-change",
          details: { problems: fresh.map((p) => ({ ...p })) },
        });
      }
      await saveConfig(this.parts.home, text);
      this.exists = true;
      return this.take(text);
    });
  }

  async check(text: string | undefined, known: KnownNames) {
    const given = text ?? (await readText(this.file, this.parts.home)) ?? "";
    const { problems, config } = await this.review(given);
    const advice = standing(await this.advice(config, known));
    const all = [...problems.map((p) => ({ ...p })), ...advice.map(toProblem)];
    return { ok: problems.length === 0 && advice.every(({ weight }) => weight === "note"), problems: all };
  }

  async schema() {
    return {
      schema: (await configSchemaJson(this.parts.schema)) as Json,
      keys: explain(this.parts.schema).map((key) => toJson(key)),
    };
  }

  private review(text: string) {
    const { schema, variables, overrides, lookUp } = this.parts;
    return reviewConfig({ schema, env: variables, lookUp, overrides, text, last: this.wanted });
  }

  private async take(text: string): Promise<Taken<Schema>> {
    const { config, problems, quarantined, secrets } = await this.review(text);
    for (const secret of secrets) {
      this.secrets.add(secret);
      this.parts.addSecret(secret);
    }
    this.text = text;
    this.problems = problems;
    this.quarantined = quarantined;
    this.wanted = config;
    const before = this.now;
    this.now = Object.freeze(
      Object.fromEntries(this.names.map((name) => [name, this.readNext(name, before[name], config[name])])),
    ) as Config<Schema>;
    const changed = this.names.filter((name) => !same(before[name], this.now[name]));
    if (changed.length) await this.parts.changed(changed);
    return this.tell(changed);
  }

  /** A section that is read once keeps its values, except for the keys in it that can change under way. */
  private readNext(name: Section<Schema>, before: unknown, given: unknown): unknown {
    const { effects } = this.parts.schema;
    if (effects[name] !== "restart") return given;
    const live = Object.keys(effects).filter((key) => key.startsWith(`${name}.`) && effects[key] === "live");
    if (live.length === 0) return before;
    const keys = live.map((key) => key.slice(name.length + 1));
    const fresh = keys.map((key) => [key, (given as Record<string, unknown>)[key]]);
    return Object.freeze({ ...(before as object), ...Object.fromEntries(fresh) });
  }

  private tell(changed: Section<Schema>[]): Taken<Schema> {
    const restart = this.restart();
    const problems = this.sentences();
    const { log, bus } = this.parts;
    for (const problem of this.problems) {
      log.warn("lares.yaml has a problem", {
        message: problem.message,
        ...truthy({ at: problem.excerpt }),
      });
    }
    if (changed.length) log.info("lares.yaml changed", { sections: changed });
    if (restart.length) log.warn("lares.yaml changed: a restart is needed", { sections: restart });
    bus.emit({ event: "config.changed", changed, restart, problems });
    return { changed, restart };
  }

  private restart(): Section<Schema>[] {
    return this.names.filter((name) => !same(this.now[name], this.wanted[name]));
  }

  private kept(problem: ConfigProblem): string {
    const section = problem.path.split(/[.[]/)[0]!;
    if (!this.quarantined.includes(section))
      return problem.path === "" ? " Everything keeps its last good values." : "";
    return ` The section ${section} keeps its last good values.`;
  }

  /** Whether this text stands in the file, as a value or as a part of one. */
  async refersTo(value: string): Promise<boolean> {
    const text = (await readText(this.file, this.parts.home)) ?? "";
    const isPart = (letter: string | undefined) => letter !== undefined && /\w/.test(letter);
    // Also in the middle of a value: `--token=vault:NAME`.
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
      if (!isPart(text[at - 1]) && !isPart(text[at + value.length])) return true;
    }
    return false;
  }

  /** One change after another: two writers would lose one of two edits. */
  private inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.line.then(work, work);
    this.line = done.catch(() => {});
    return done;
  }
}

/** How a room reads its own section, or one part of it: what holds at the moment it asks. */
export function makeReader<C, Name extends keyof C>(config: C, name: Name): () => C[Name];
export function makeReader<C, Name extends keyof C, Key extends keyof C[Name]>(
  config: C,
  name: Name,
  key: Key,
): () => C[Name][Key];
export function makeReader<C, Name extends keyof C, Key extends keyof C[Name]>(config: C, name: Name, key?: Key) {
  return key === undefined ? () => config[name] : () => config[name][key];
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function at(value: Json, path: string): Json | undefined {
  let here: Json | undefined = value;
  for (const part of path.split(/\.|(?=\[\d+\])/)) {
    const key = part.replace(/^\[(\d+)\]$/, "$1");
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, Json>)[key];
  }
  return here;
}

function unknownKey(path: string): AppError {
  return new AppError("NOT_FOUND", {
    message: `There is no setting "${path}".`,
    hint: "All keys: lares config schema",
  });
}
