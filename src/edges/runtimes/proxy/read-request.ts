/** What a runtime asks for, from the path and the body of its request. */
import type { ModelApi, RelayCall } from "../../../core/contracts/index.ts";
import { asCount, asObject, findObject } from "../../../core/domain/index.ts";
import { parseJson } from "../../../core/kit/index.ts";

/** `list`: which models there are. The model and whether it streams stand in the path for Google, else in the body. */
export type AskedPath = { api: ModelApi; kind: RelayCall["kind"] | "list"; model?: string; stream?: boolean };

const PATHS: Readonly<Record<string, AskedPath>> = {
  "POST /v1/messages": { api: "anthropic", kind: "answer" },
  "POST /v1/messages/count_tokens": { api: "anthropic", kind: "count" },
  "POST /v1/chat/completions": { api: "openai-chat", kind: "answer" },
  "POST /v1/responses": { api: "openai-responses", kind: "answer" },
  "GET /v1/models": { api: "openai-chat", kind: "list" },
  "GET /v1beta/models": { api: "google", kind: "list" },
};

const GOOGLE = "/v1beta/models/";
const GOOGLE_VERBS: Readonly<Record<string, Pick<AskedPath, "kind" | "stream">>> = {
  generateContent: { kind: "answer", stream: false },
  streamGenerateContent: { kind: "answer", stream: true },
  countTokens: { kind: "count", stream: false },
};

/** Undefined for a path that no wire format has. */
export function readPath(method: string, path: string): AskedPath | undefined {
  const known = PATHS[`${method} ${path}`];
  if (known || method !== "POST" || !path.startsWith(GOOGLE)) return known;
  const colon = path.lastIndexOf(":");
  const verb = GOOGLE_VERBS[path.slice(colon + 1)];
  const model = decode(path.slice(GOOGLE.length, colon));
  return verb && model ? { api: "google", model, ...verb } : undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The wire format whose errors a caller of an unknown path most likely reads. */
export function guessApi(path: string): ModelApi {
  if (path.startsWith("/v1beta")) return "google";
  return path.startsWith("/v1/messages") ? "anthropic" : "openai-chat";
}

/** What passes on behind the question mark. Everything else, a key above all, stays here. */
const QUERIES = ["alt", "beta"];

export function keepQuery(query: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const name of QUERIES) {
    const value = query.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept.toString();
}

export interface AskedBody {
  model: string;
  stream: boolean;
  /** Longest answer that it allows. */
  maxOutputTokens: number | undefined;
  /** Bytes of everything but pictures. */
  bytes: number;
  pictures: number;
}

/** A sentence where it can't be understood. */
export function readBody(asked: AskedPath, raw: Buffer): AskedBody | string {
  let parsed: unknown;
  try {
    parsed = parseJson(raw.toString("utf8"));
  } catch (error) {
    return `The request is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const body = findObject(parsed);
  if (!body) return "The request is not a JSON object.";
  const model = asked.model ?? body.model;
  if (typeof model !== "string" || model === "") return "The request names no model.";
  const { bytes, pictures } = measure(body);
  return {
    model,
    stream: asked.stream ?? body.stream === true,
    maxOutputTokens: findLimit(body),
    bytes: raw.length - bytes,
    pictures,
  };
}

function findLimit(body: Record<string, unknown>): number | undefined {
  const limit =
    asCount(body.max_tokens) ??
    asCount(body.max_completion_tokens) ??
    asCount(body.max_output_tokens) ??
    asCount(asObject(body.generationConfig).maxOutputTokens);
  const answers = asCount(body.n) ?? asCount(asObject(body.generationConfig).candidateCount) ?? 1;
  return limit === undefined ? undefined : limit * Math.max(1, answers);
}

/** Where the four formats put the bytes of a picture or document. */
const BINARY = new Set(["data", "url", "image_url", "file_data"]);
/** Shorter texts are texts. */
const SHORTEST_BINARY = 1000;

/** How many bytes of the request are pictures: providers count those by their size on the screen. */
function measure(top: Record<string, unknown>): { bytes: number; pictures: number } {
  let bytes = 0;
  let pictures = 0;
  const waiting: object[] = [top];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    for (const [key, value] of Object.entries(one)) {
      if (typeof value === "object" && value !== null) waiting.push(value);
      else if (typeof value === "string" && value.length > SHORTEST_BINARY && BINARY.has(key) && !value.includes(" ")) {
        bytes += value.length;
        pictures++;
      }
    }
  }
  return { bytes, pictures };
}
