/**
 * What a server of the newer era wants to know before it goes on: it ended the call with a list of requests, and gets the same call
 * again with the responses. Requests are answered one after the other, some by us, some by a person. Pure.
 */
import { z } from "zod";
import type { Json, JsonObject, QuestionAnswer, QuestionForm } from "../../../../core/domain/index.ts";
import { defined, isTooDeep } from "../../../../core/kit/index.ts";
import { samplingIsOff } from "../sampling/sampling.ts";
import { readQuestion } from "./questions.ts";

const MOST_REQUESTS = 8;
/** All of it is stored with the parked turn. */
const MOST_STATE = 256 * 1024;
const DEEPEST = 40;

/** What is known so far; stored with the parked turn. */
export type Collected = {
  requests: { key: string; method: string; params: Json }[];
  responses: Record<string, Json>;
  /** The server's own, returned to it byte for byte. */
  requestState?: string;
  /** What was asked and not given, for the model and the person. */
  notes: string[];
};

export type Step =
  | { kind: "ask"; key: string; shown: string; form: QuestionForm }
  /** Text that a model should write for the server. */
  | { kind: "sample"; key: string; params: Json }
  | { kind: "complete" };

const requests = z.record(z.string(), z.looseObject({ method: z.string(), params: z.unknown().optional() }));

/** Undefined for what is no list of requests, or too much of it. */
export function startCollecting(given: { requests: unknown; state?: string }): Collected | undefined {
  const read = requests.safeParse(given.requests);
  if (!read.success) return undefined;
  const all = Object.entries(read.data).map(([key, { method, params }]) => ({
    key,
    method,
    params: (params ?? {}) as Json,
  }));
  const text = JSON.stringify([all, given.state ?? null]);
  if (all.length > MOST_REQUESTS || text.length > MOST_STATE || isTooDeep(text, DEEPEST)) return undefined;
  return { requests: all, responses: {}, notes: [], ...defined({ requestState: given.state }) };
}

/** The next thing to find out. What needs nobody is filled in on the way. */
export function nextStep(
  server: string,
  collected: Collected,
  { roots, maySample }: { roots: readonly { uri: string; name: string }[]; maySample: boolean },
): Step {
  for (const { key, method, params } of collected.requests) {
    if (Object.hasOwn(collected.responses, key)) continue;
    if (method === "elicitation/create") {
      const read = readQuestion(server, params);
      if (!("refused" in read)) return { kind: "ask", key, ...read };
      collected.notes.push(`${read.refused}. It was declined.`);
      collected.responses[key] = { action: "decline" };
    } else if (method === "roots/list") {
      collected.responses[key] = { roots: roots.map((root) => ({ ...root })) };
    } else if (method === "sampling/createMessage" && maySample) {
      return { kind: "sample", key, params };
    } else if (method === "sampling/createMessage") {
      collected.notes.push(samplingIsOff(server));
      collected.responses[key] = {};
    } else {
      // A response it can't use is better than none: without it the server would ask the same again.
      collected.notes.push(`${server} asked for ${method.slice(0, 60)}, which Lares doesn't know.`);
      collected.responses[key] = {};
    }
  }
  return { kind: "complete" };
}

export function respond(collected: Collected, key: string, answer: QuestionAnswer): void {
  const response: JsonObject =
    answer.action === "accept" ? { action: "accept", content: answer.content } : { action: answer.action };
  collected.responses[key] = response;
}
