/** Where a relayed call goes and under which headers: ours for the credentials, the caller's for the format (RELAY-3). */
import type { ModelApi, RelayCall } from "../../../core/contracts/index.ts";
import { assertNever } from "../../../core/domain/index.ts";
import type { Credential } from "../providers.ts";
import type { RelayTarget } from "./targets.ts";

export function requestUrl({ provider, modelId }: RelayTarget, call: RelayCall): string {
  const query = call.query === "" ? "" : `?${call.query}`;
  return `${provider.baseUrl}${path(call, modelId)}${query}`;
}

function path(call: RelayCall, modelId: string): string {
  switch (call.api) {
    case "anthropic":
      return call.kind === "count" ? "/messages/count_tokens" : "/messages";
    case "openai-chat":
      return "/chat/completions";
    case "openai-responses":
      return "/responses";
    case "google": {
      const answer = call.stream ? "streamGenerateContent" : "generateContent";
      return `/models/${encodeURIComponent(modelId)}:${call.kind === "count" ? "countTokens" : answer}`;
    }
    default:
      return assertNever(call.api);
  }
}

/** What the wire formats define; everything else a caller sends stays here. */
const FROM_CALLER = ["accept", "content-type", "anthropic-version", "anthropic-beta", "openai-beta"];

export function requestHeaders(api: ModelApi, key: Credential, call: RelayCall): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": "lares" };
  for (const name of FROM_CALLER) {
    const value = call.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return { ...headers, ...credentialHeaders(api, key) };
}

function credentialHeaders(api: ModelApi, { key }: Credential): Record<string, string> {
  switch (api) {
    case "anthropic":
      return { "x-api-key": key };
    case "google":
      return { "x-goog-api-key": key };
    case "openai-chat":
    case "openai-responses":
      return { authorization: `Bearer ${key}` };
    default:
      return assertNever(api);
  }
}

/** What a caller learns from the provider's headers. Cookies, hosts and connections are between the provider and us. */
const TO_CALLER = ["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id", "x-should-retry"];
const LIMITS = ["anthropic-ratelimit-", "x-ratelimit-"];

export function answerHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const isPassed = TO_CALLER.includes(name) || LIMITS.some((prefix) => name.startsWith(prefix));
    if (isPassed && typeof value === "string") passed[name] = value;
  }
  return passed;
}
