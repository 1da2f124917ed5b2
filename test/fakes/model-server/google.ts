/**
 * Google's generative language API, as `POST /v1beta/models/<m>:streamGenerateContent` speaks it.
 *
 * Documentation: https://ai.google.dev/api/generate-content
 */
import {
  asList,
  asObject,
  asText,
  callId,
  cutText,
  finishOf,
  type Loose,
  pushUserParts,
  sse,
  withImages,
} from "./kit.ts";
import type { FailureKind, Figures, NormalMessage, NormalPart, NormalRequest, Reply, Speaker } from "./types.ts";

const FINISH = { stop: "STOP", "tool-calls": "STOP", length: "MAX_TOKENS", refusal: "SAFETY" } as const;

const FAILURES: Record<FailureKind, { status: number; word: string; message: string }> = {
  auth: { status: 400, word: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key." },
  billing: {
    status: 403,
    word: "PERMISSION_DENIED",
    message: "This API method requires billing to be enabled. Please enable billing on project #1.",
  },
  "rate-limit": { status: 429, word: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted (e.g. check quota)." },
  overload: { status: 503, word: "UNAVAILABLE", message: "The model is overloaded. Please try again later." },
  "context-overflow": {
    status: 400,
    word: "INVALID_ARGUMENT",
    message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
  },
  format: { status: 400, word: "INVALID_ARGUMENT", message: "Request contains an invalid argument." },
  "not-found": { status: 404, word: "NOT_FOUND", message: "models/no-such-model is not found for API version v1beta." },
  server: { status: 500, word: "INTERNAL", message: "An internal error has occurred." },
};

export const google: Speaker = {
  read(body) {
    const messages: NormalMessage[] = [];
    for (const content of asList(body.contents)) {
      const parts = asList(content.parts).map(readPart);
      if (content.role === "model") messages.push({ role: "assistant", parts });
      else pushUserParts(messages, parts);
    }
    return {
      system: asList(asObject(body.systemInstruction).parts)
        .map((part) => asText(part.text))
        .join("\n"),
      tools: asList(body.tools).flatMap((tool) => asList(tool.functionDeclarations).map((fn) => asText(fn.name))),
      messages,
      cacheMarks: 0,
    };
  },

  events(reply, figures, request) {
    const chunks: string[] = [];
    const push = (parts: Loose[], finish?: string) =>
      chunks.push(
        sse({
          candidates: [{ content: { parts, role: "model" }, index: 0, ...(finish ? { finishReason: finish } : {}) }],
          usageMetadata: usageOf(figures),
          modelVersion: request.model,
        }),
      );
    const { thinking } = reply;
    for (const text of cutText(thinking?.text ?? "", reply.pieces)) push([{ text, thought: true }]);
    for (const text of cutText(reply.text ?? "", reply.pieces)) push([{ text }]);
    const calls = callParts(reply, request);
    if (calls.length > 0) push(calls);
    push(
      calls.length === 0 && thinking?.signature ? [{ text: "", thoughtSignature: thinking.signature }] : [],
      FINISH[finishOf(reply)],
    );
    return chunks;
  },

  whole(reply, figures, request) {
    const parts: Loose[] = [];
    if (reply.thinking) parts.push({ text: reply.thinking.text, thought: true });
    if (reply.text) parts.push({ text: reply.text });
    parts.push(...callParts(reply, request));
    return {
      candidates: [{ content: { parts, role: "model" }, finishReason: FINISH[finishOf(reply)], index: 0 }],
      usageMetadata: usageOf(figures),
      modelVersion: request.model,
    };
  },

  failure(fail) {
    const known = FAILURES[fail.kind ?? "server"];
    const status = fail.status ?? known.status;
    return { status, body: { error: { code: status, message: fail.message ?? known.message, status: known.word } } };
  },

  failureEvent(fail) {
    return sse(this.failure(fail).body);
  },
};

function readPart(part: Loose): NormalPart {
  const signature = part.thoughtSignature ? { signature: asText(part.thoughtSignature) } : {};
  if (part.functionCall) {
    const call = asObject(part.functionCall);
    return { type: "tool-call", id: asText(call.id), name: asText(call.name), input: call.args, ...signature };
  }
  if (part.functionResponse) {
    const answer = asObject(part.functionResponse);
    const response = asObject(answer.response);
    const images = asList(answer.parts).map((inner) => {
      const inline = asObject(inner.inlineData);
      return { mediaType: asText(inline.mimeType), data: asText(inline.data) };
    });
    const text = asText(response.content ?? response);
    return { type: "tool-result", id: asText(answer.id ?? answer.name), text, ...withImages(images) };
  }
  if (part.inlineData) {
    const inline = asObject(part.inlineData);
    return { type: "image", mediaType: asText(inline.mimeType), data: asText(inline.data) };
  }
  if (part.thought) return { type: "thinking", text: asText(part.text), ...signature };
  return { type: "text", text: asText(part.text), ...signature };
}

/** Gemini signs the first function call of a parallel group. */
function callParts(reply: Reply, request: NormalRequest): Loose[] {
  return (reply.toolCalls ?? []).map((call, i) => ({
    functionCall: {
      id: callId(call, i, "call", request.messages.length),
      name: call.name,
      args: call.raw ?? call.input ?? {},
    },
    ...(i === 0 && reply.thinking?.signature ? { thoughtSignature: reply.thinking.signature } : {}),
  }));
}

function usageOf(figures: Figures): Loose {
  const prompt = figures.input + figures.cacheRead + figures.cacheWrite;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: figures.output,
    totalTokenCount: prompt + figures.output,
    cachedContentTokenCount: figures.cacheRead,
  };
}
