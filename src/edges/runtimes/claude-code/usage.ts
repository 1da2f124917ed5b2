/**
 * What a result of Claude Code adds to the use. Its money and its tokens by model are totals of the whole session, also after it was taken up
 * again in a new process, so the totals before are kept in the run's token. Pure.
 */
import { asCount, asObject, isObject, type JsonObject, NO_USAGE, type Usage } from "../../../core/domain/index.ts";

/** By model: everything that its session has used. */
export type UsedByModel = Readonly<Record<string, ModelUse>>;

type ModelUse = Omit<Usage, "cost"> & { cost: number };

export interface AddedUse {
  model: string | null;
  usage: Usage;
}

/** More models than a session has. */
const MOST_MODELS = 50;

/** `total`: what the next result is compared with. */
export function addedSince(
  before: UsedByModel,
  result: Readonly<Record<string, unknown>>,
): { total: UsedByModel; added: AddedUse[] } {
  if (!isObject(result.modelUsage)) return { total: before, added: plainUse(result.usage) };
  const total: Record<string, ModelUse> = { ...before };
  const added: AddedUse[] = [];
  for (const [model, said] of Object.entries(result.modelUsage).slice(0, MOST_MODELS)) {
    const now = readUse(asObject(said));
    const was = Object.hasOwn(before, model) ? before[model] : undefined;
    total[model] = now;
    const since = was ? minus(now, was) : now;
    if (KEYS.some((key) => since[key] > 0)) added.push({ model, usage: since });
  }
  return { total, added };
}

const KEYS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "cost"] as const;

/** A smaller total is a new count: the session was begun again. */
function minus(now: ModelUse, was: ModelUse): ModelUse {
  if (KEYS.some((key) => now[key] < was[key])) return now;
  const since = { ...now };
  for (const key of KEYS) since[key] = now[key] - was[key];
  return since;
}

function readUse(said: Record<string, unknown>): ModelUse {
  return {
    ...NO_USAGE,
    inputTokens: asCount(said.inputTokens) ?? 0,
    outputTokens: asCount(said.outputTokens) ?? 0,
    cacheReadTokens: asCount(said.cacheReadInputTokens) ?? 0,
    cacheWriteTokens: asCount(said.cacheCreationInputTokens) ?? 0,
    cost: asCount(said.costUSD) ?? 0,
  };
}

/** `usage` is of one result alone, and knows no money. */
function plainUse(usage: unknown): AddedUse[] {
  const said = asObject(usage);
  const found = {
    ...NO_USAGE,
    inputTokens: asCount(said.input_tokens) ?? 0,
    outputTokens: asCount(said.output_tokens) ?? 0,
    cacheReadTokens: asCount(said.cache_read_input_tokens) ?? 0,
    cacheWriteTokens: asCount(said.cache_creation_input_tokens) ?? 0,
    cost: null,
  };
  return found.inputTokens + found.outputTokens > 0 ? [{ model: null, usage: found }] : [];
}

/** From a run's token, which may be months old. */
export function readTotals(stored: unknown): UsedByModel {
  const totals: Record<string, ModelUse> = {};
  for (const [model, said] of Object.entries(asObject(stored)).slice(0, MOST_MODELS)) {
    const use = asObject(said);
    const read: ModelUse = { ...NO_USAGE, cost: 0 };
    for (const key of KEYS) read[key] = asCount(use[key]) ?? 0;
    totals[model] = read;
  }
  return totals;
}

export function writeTotals(totals: UsedByModel): JsonObject {
  return Object.fromEntries(
    Object.entries(totals).map(([model, use]) => [model, Object.fromEntries(KEYS.map((key) => [key, use[key]]))]),
  );
}
