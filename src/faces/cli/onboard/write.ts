/** A choice as a change of lares.yaml. Comments and everything else stay. */
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { assertNever, type Json } from "../../../core/domain/index.ts";
import {
  CONFIG_FILE,
  getFromFile,
  parseConfig,
  readText,
  saveConfig,
  setInFile,
} from "../../../ground/config/index.ts";
import type { Context } from "../context.ts";
import { PRACTICE, PROVIDERS } from "../providers.ts";
import type { Before, ModelChoice } from "./choice.ts";

export async function readFileText({ home }: Context): Promise<string> {
  return (await readText(join(home, CONFIG_FILE), home)) ?? "";
}

export async function whatWas(text: string): Promise<Before> {
  const model = await getFromFile(text, "models.default");
  const providers = await getFromFile(text, "models.providers");
  return {
    model: typeof model === "string" ? model : undefined,
    providers: providers !== null && typeof providers === "object" ? Object.keys(providers) : [],
  };
}

export async function changed(ctx: Context, text: string, choice: ModelChoice): Promise<string> {
  switch (choice.kind) {
    case "keep":
      return text;
    case "model":
      return setInFile(text, "models.default", choice.model);
    case "practice":
      return (await wouldAnswer(ctx, text)) ? setInFile(text, "models.default", PRACTICE) : text;
    case "provider": {
      const at = ["models", "providers", choice.provider];
      const changes: [path: string[], value: Json | undefined][] = [
        [["models", "default"], choice.model],
        ...(choice.baseUrl === undefined ? [] : [[[...at, "baseUrl"], choice.baseUrl] as [string[], Json]]),
        ...(choice.key === undefined ? [] : [[[...at, "keys"], [keyText(choice.key)]] as [string[], Json]]),
      ];
      let next = text;
      for (const [path, value] of changes) {
        const has = await getFromFile(next, path);
        // What is so already is left as it is written, with its comments.
        if (JSON.stringify(has) !== JSON.stringify(value)) next = await setInFile(next, path, value);
      }
      return next;
    }
    default:
      return assertNever(choice);
  }
}

/** Nothing is saved that could not be loaded again; a key is never in a file that others can read. */
export async function save(ctx: Context, text: string, holdsKey: boolean): Promise<void> {
  const file = join(ctx.home, CONFIG_FILE);
  await parseConfig({ text, file, schema: await ctx.ports.configSchema(), env: ctx.ports.env.variables });
  // A new file is made 0600; an old one keeps its mode, so it is closed before the key is in it.
  if (holdsKey && (await stat(file).catch(() => undefined))) await chmod(file, 0o600);
  await saveConfig(ctx.home, text);
}

/** Whether something other than the practice model would answer: only then it must be said. */
async function wouldAnswer({ ports }: Context, text: string): Promise<boolean> {
  const { model, providers } = await whatWas(text);
  const variables = PROVIDERS.flatMap(({ keyEnv, urlEnv }) => [keyEnv, urlEnv]);
  const inEnvironment = variables.some((name) => name !== undefined && ports.env.variables[name]?.trim());
  return model !== undefined || providers.length > 0 || inEnvironment;
}

function keyText(key: NonNullable<(ModelChoice & { kind: "provider" })["key"]>): string {
  return key.from === "env" ? `\${${key.variable}}` : key.text;
}
