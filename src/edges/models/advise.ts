/** Keys that name a model which can't answer. */
import type { AdviceContext, AdviceTable, ConfigAdvice } from "../../core/contracts/index.ts";
import { silenceAt } from "../../core/kit/index.ts";
import type { ModelsConfig } from "./config.ts";
import { PRACTICE_MODEL } from "./practice/index.ts";
import { describeProviders, keyHint } from "./providers.ts";

const NO_STAND_IN: Omit<ConfigAdvice, "path"> = {
  message: `${PRACTICE_MODEL} can't stand in for a model: it only answers when no other model is set up. Remove it.`,
  weight: "never",
};

export const modelAdvice: AdviceTable = {
  "models.default": async (value, at) => (await judge(value, at)) ?? overruled(value, at),
  "models.fallbacks.*": (value, at) => (value === PRACTICE_MODEL ? NO_STAND_IN : judge(value, at)),
  "agents.*.model": judge,
  "agents.*.heartbeat.model": judge,
  "schedules.*.model": judge,
  "memory.capture.model": judge,
  "memory.condense.model": judge,
  "context.summariser": judge,
  "goals.judge": judge,
  "models.providers.*.baseUrl": async (value) => {
    const silence = await silenceAt(String(value));
    return silence === undefined ? undefined : { message: `${silence}. Start the server, or correct the address.` };
  },
  "context.models.*": (_values, at, name) => judge(name, at),
};

async function judge(
  value: unknown,
  { config, env, running }: AdviceContext,
): Promise<Omit<ConfigAdvice, "path"> | undefined> {
  const id = String(value);
  const slash = id.indexOf("/");
  if (slash < 1 || slash === id.length - 1) {
    const message = `"${id}" isn't a model. Give provider/model, such as anthropic/claude-sonnet-5-5.`;
    return { message, weight: "never" };
  }
  if (id === PRACTICE_MODEL) return undefined;
  const name = id.slice(0, slash);
  const providers = describeProviders(config.models as ModelsConfig, env);
  const provider = providers.find((one) => one.name === name);
  if (!provider) {
    const known = providers.map((one) => one.name).join(", ");
    return { message: `There is no provider "${name}". Known: ${known}. ${keyHint(name)}` };
  }
  if (provider.ready) return silence(id, provider.baseUrl);
  if (running) return { message: `${id} can't answer: ${name} isn't set up. ${keyHint(name)}` };
  // The service may have a key that this terminal doesn't have.
  const message = `${id} can't answer with what this terminal has: ${name} isn't set up. ${keyHint(name)}`;
  return { message, weight: "note" };
}

async function silence(id: string, baseUrl: string | undefined): Promise<Omit<ConfigAdvice, "path"> | undefined> {
  const found = baseUrl === undefined ? undefined : await silenceAt(baseUrl);
  if (found === undefined) return undefined;
  return { message: `${id} can't answer: ${found}. Start the server, or choose another model.` };
}

function overruled(value: unknown, { env }: AdviceContext): Omit<ConfigAdvice, "path"> | undefined {
  const pinned = env.LARES_MODEL?.trim();
  if (!pinned || pinned === value) return undefined;
  return { message: `LARES_MODEL is set to ${pinned} and goes before it. Unset that variable.`, weight: "note" };
}
