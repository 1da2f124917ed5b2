import { expect, it } from "vitest";
import { silentLog, systemClock } from "../../core/kit/index.ts";
import { createModels, modelsConfig, PRACTICE_MODEL } from "../../edges/models/index.ts";
import { PRACTICE, PROVIDERS } from "./providers.ts";

const primary = (env: Record<string, string>, config: object = {}) =>
  createModels(modelsConfig.parse(config), { env, clock: systemClock, log: silentLog }).primary();

it.each(PROVIDERS.map((p) => [p.name, p] as const))("%s is found by its variable, with the same model", (_, p) => {
  const env: Record<string, string> = p.keyEnv ? { [p.keyEnv]: "k" } : { [p.urlEnv!]: p.url };
  expect(primary(env).id).toBe(`${p.name}/${p.model}`);
});

it("the practice model has the same name, and can be chosen beside a key", () => {
  expect(PRACTICE).toBe(PRACTICE_MODEL);
  expect(primary({ ANTHROPIC_API_KEY: "k" }, { default: PRACTICE }).practice).toBe(true);
});
