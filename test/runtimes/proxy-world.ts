/** The model proxy over the real models, budget and records, before the scripted model server. */
import { join } from "node:path";
import type { ModelApi } from "../../src/core/contracts/index.ts";
import { makeModelFinder } from "../../src/core/contracts/index.ts";
import { asId, type SessionKey, type TurnId } from "../../src/core/domain/index.ts";
import { type Clock, silentLog, systemClock } from "../../src/core/kit/index.ts";
import { createModels, modelsConfig } from "../../src/edges/models/index.ts";
import { ModelProxy } from "../../src/edges/runtimes/index.ts";
import { lastRecordedCall, recordUsage } from "../../src/flow/turns/index.ts";
import { openRecords } from "../../src/ground/records/index.ts";
import { Budget, budgetsConfig, lastHold, ProxiedCalls } from "../../src/mind/budget/index.ts";

export interface LedgerLine {
  call: number;
  runtime: string;
  basis: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
}

export interface ProxyWorldOptions {
  home: string;
  models?: Record<string, unknown>;
  budgets?: Parameters<typeof budgetsConfig.parse>[0];
  env?: Record<string, string>;
  clock?: Clock;
}

export const TURN = asId<TurnId>("run-1");
export const SESSION = asId<SessionKey>("agent:main:main");

export async function openProxyWorld({
  home,
  models = {},
  budgets = {},
  env = {},
  clock = systemClock,
}: ProxyWorldOptions) {
  const records = await openRecords(join(home, "lares.db"), (error) => {
    throw error;
  });
  const made = createModels(modelsConfig.parse(models), { env, clock, log: silentLog });
  const parsed = budgetsConfig.parse(budgets);
  const model = makeModelFinder(made);
  const budget = await Budget.open({ records, clock, config: () => parsed, model, recordUsage });
  const ledger = new ProxiedCalls({
    budget,
    records,
    clock,
    recordUsage,
    lastCall: async (turn) => Math.max(await lastRecordedCall(records, turn), await lastHold(records, turn)),
  });
  const proxy = new ModelProxy({ relay: made.relay, ledger, listModels: () => made.list(), clock, log: silentLog });
  return {
    records,
    budget,
    proxy,
    grant: (more: Partial<Parameters<ModelProxy["grant"]>[0]> = {}) =>
      proxy.grant({
        run: "run-1",
        turn: TURN,
        session: SESSION,
        agent: "main",
        runtime: "claude-code",
        until: clock.now() + 3_600_000,
        ...more,
      }),
    ledger: () =>
      records.all<LedgerLine>(
        "SELECT call, runtime, basis, model, input_tokens, output_tokens, cost FROM usage ORDER BY call",
      ),
    holds: () => records.all("SELECT turn, call FROM budget_hold"),
    async close() {
      await proxy.close();
      records.close();
    },
  };
}

/** A plain request in each format: where it goes, what it says, and where the token stands. */
export const FORMATS: Record<
  ModelApi,
  (
    token: string,
    text: string,
    stream: boolean,
  ) => { path: string; headers: Record<string, string>; body: Record<string, unknown> }
> = {
  anthropic: (token, text, stream) => ({
    path: "/v1/messages",
    headers: { "x-api-key": token, "anthropic-version": "2023-06-01" },
    body: { model: "claude-sonnet-4-5", max_tokens: 1000, stream, messages: [{ role: "user", content: text }] },
  }),
  "openai-chat": (token, text, stream) => ({
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${token}` },
    body: {
      model: "gpt-4.1",
      max_completion_tokens: 1000,
      stream,
      stream_options: stream ? { include_usage: true } : undefined,
      messages: [{ role: "user", content: text }],
    },
  }),
  "openai-responses": (token, text, stream) => ({
    path: "/v1/responses",
    headers: { authorization: `Bearer ${token}` },
    body: { model: "gpt-5", max_output_tokens: 1000, stream, input: [{ role: "user", content: text }] },
  }),
  google: (token, text, stream) => ({
    path: `/v1beta/models/gemini-2.5-flash:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    headers: { "x-goog-api-key": token },
    body: { contents: [{ role: "user", parts: [{ text }] }], generationConfig: { maxOutputTokens: 1000 } },
  }),
};

/** All four formats at one scripted server. */
export function allProviders(url: string, keys: string[] = ["provider-key-1"]): Record<string, unknown> {
  return {
    providers: {
      anthropic: { api: "anthropic", baseUrl: url, keys, models: priced("claude-sonnet-4-5") },
      openai: { api: "openai-responses", baseUrl: `${url}/v1`, keys, models: priced("gpt-5") },
      chat: { api: "openai-chat", baseUrl: `${url}/v1`, keys, models: priced("gpt-4.1") },
      google: { api: "google", baseUrl: `${url}/v1beta`, keys, models: priced("gemini-2.5-flash") },
    },
    patienceMs: 2000,
  };
}

function priced(model: string) {
  return { [model]: { contextWindow: 100_000, maxOutput: 8000, price: { input: 1000, output: 1000 } } };
}

export function call(
  base: string,
  request: { path: string; headers: Record<string, string>; body: unknown },
  signal?: AbortSignal,
) {
  return fetch(`${base}${request.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...request.headers },
    body: typeof request.body === "string" ? request.body : JSON.stringify(request.body),
    signal: signal ?? null,
  });
}
