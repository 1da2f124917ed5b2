/**
 * The whole config is a table of slices; each room declares its own slice with zod and app/ joins them here.
 *
 * zod is imported as a type only: the rooms that declare slices already loaded it, and a command that merely wants the
 * environment does not pay the 55 ms.
 */
import type { z } from "zod";
import type { AdviceContext, ConfigAdvice } from "../../core/contracts/index.ts";
import type { DeepReadonly } from "../../core/kit/index.ts";

export type Slices = Readonly<Record<string, z.ZodType>>;

export interface ConfigSchema<S extends Slices = Slices> {
  readonly slices: S;
  /** When a change of a key takes effect; the longest path that leads to the key decides. */
  readonly effects: Readonly<Record<string, Effect>>;
  /** What is well written and would still not work. A file is not refused for it. */
  readonly advise: (at: AdviceContext) => Promise<readonly ConfigAdvice[]>;
}

/**
 * `live`: at once. `session`: in conversations that begin afterwards, or after /reload; open ones keep what they began with.
 * `restart`: at the next start.
 */
export type Effect = "live" | "session" | "restart";

/** When a change of this key takes effect. `*` in the table stands for a name of one's own. */
export function findEffect({ effects }: Pick<ConfigSchema, "effects">, path: string): Effect | undefined {
  const parts = path.split(/[.[]/);
  const fits = Object.keys(effects).filter((key) => {
    const wanted = key.split(".");
    return wanted.length <= parts.length && wanted.every((word, i) => word === "*" || word === parts[i]);
  });
  const longest = fits.sort((a, b) => b.split(".").length - a.split(".").length)[0];
  return longest === undefined ? undefined : effects[longest];
}

/** What loading yields: each slice's output, frozen all the way down. */
export type Config<Schema extends ConfigSchema> = {
  readonly [Name in keyof Schema["slices"]]: DeepReadonly<z.output<Schema["slices"][Name]>>;
};

/** Joins the rooms' slices. A slice that is an object may be left out of the file: then all its defaults hold. */
export function defineConfig<S extends Slices>(
  slices: S,
  effects: ConfigSchema["effects"] = {},
  advise: ConfigSchema["advise"] = async () => [],
): ConfigSchema<S> {
  for (const name of Object.keys(slices)) {
    if (isForbiddenKey(name)) throw new Error(`"${name}" cannot be the name of a config slice`);
  }
  return Object.freeze({ slices: Object.freeze({ ...slices }), effects: Object.freeze({ ...effects }), advise });
}

/** Names that reach into JavaScript's own objects when merged carelessly (DO-09). Never a key of ours, wherever they stand. */
export function isForbiddenKey(key: string): boolean {
  return key === "__proto__" || key === "constructor" || key === "prototype";
}

/**
 * What this room needs to see of a zod schema: enough to walk it beside a value. The names are those of zod 4's public
 * introspection (`schema._zod.def`).
 */
export interface Def {
  type: string;
  shape?: Readonly<Record<string, z.ZodType>>;
  catchall?: z.ZodType;
  innerType?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  options?: readonly z.ZodType[];
  items?: readonly z.ZodType[];
  in?: z.ZodType;
  getter?: () => z.ZodType;
  defaultValue?: unknown;
  discriminator?: string;
  entries?: Readonly<Record<string, string | number>>;
  values?: readonly unknown[];
  format?: string;
  checks?: readonly { _zod: { def: { format?: string } } }[];
}

export function readDef(schema: z.ZodType): Def {
  return schema._zod.def as unknown as Def;
}

/** Wrappers that change what is allowed around a value, not the shape of the value. */
const WRAPPERS = new Set([
  "optional",
  "default",
  "prefault",
  "nullable",
  "readonly",
  "nonoptional",
  "catch",
  "success",
]);

/** The schema inside its wrappers: what the file's value looks like when it is there. */
export function inside(schema: z.ZodType): z.ZodType {
  let at = schema;
  for (;;) {
    const def = readDef(at);
    if (WRAPPERS.has(def.type) && def.innerType) at = def.innerType;
    else if (def.type === "pipe" && def.in) at = def.in;
    else if (def.type === "lazy" && def.getter) at = def.getter();
    else return at;
  }
}

/** True when an object schema names its keys and takes no others. */
export function isClosed(def: Def): boolean {
  return def.type === "object" && (def.catchall === undefined || readDef(def.catchall).type === "never");
}
