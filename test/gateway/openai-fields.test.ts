/** Every field of OpenAI's request schemas has a verdict, and the verdict is what happens. */

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMPLETION_FIELDS, type FieldVerdicts, RESPONSE_FIELDS } from "../../src/core/protocol/index.ts";
import { directiveScript, type ModelServer } from "../fakes/model-server/index.ts";
import { openScripted, type TestInstance, TOKEN } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
let client: OpenAI;
beforeAll(async () => {
  instance = await openScripted();
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${instance.app.url}/v1`, maxRetries: 0 });
});
afterAll(() => instance.stop());

type Completion = keyof OpenAI.ChatCompletionCreateParams;
type Response = keyof OpenAI.Responses.ResponseCreateParams;
// A field that OpenAI adds fails to compile here until it has a verdict.
const completions: Record<Completion, unknown> = COMPLETION_FIELDS;
const responses: Record<Response, unknown> = RESPONSE_FIELDS;

const said = (content: string) => [{ role: "user" as const, content }];
const tool = { name: "look", parameters: { type: "object", properties: {} } };
const asked = () => instance.model.requests.at(-1)!;

interface Ended {
  /** What the caller got. */
  text: string;
  /** What the provider was sent. */
  body: Record<string, unknown>;
  /** All the instructions the model read. */
  system: string;
}
/** A value that differs from the default, and what shows that it was honoured. */
type Honoured = [value: unknown, shows: (ended: Ended) => void];
const sends = (name: string, value: unknown) => (ended: Ended) => expect(ended.body[name]).toEqual(value);
const says = (text: RegExp) => (ended: Ended) => expect(ended.text).toMatch(text);
const reads = (text: string) => (ended: Ended) => expect(ended.system).toContain(text);
/** Shown by a test of its own, here or in the files beside. */
const elsewhere = () => {};

const COMPLETION_HONOURED: Record<string, Honoured> = {
  messages: [said("say:these words"), says(/these words/)],
  model: ["scripted", sends("model", "scripted")],
  user: ["ana", says(/agent:main:http:owner:ana/)],
  stream: [true, says(/^data: /)],
  stream_options: [{ include_usage: true }, elsewhere],
  temperature: [0.5, sends("temperature", 0.5)],
  top_p: [0.5, sends("top_p", 0.5)],
  presence_penalty: [1, sends("presence_penalty", 1)],
  frequency_penalty: [1, sends("frequency_penalty", 1)],
  seed: [7, sends("seed", 7)],
  stop: ["END", sends("stop", ["END"])],
  max_tokens: [77, sends("max_tokens", 77)],
  max_completion_tokens: [78, sends("max_tokens", 78)],
  response_format: [{ type: "json_object" }, sends("response_format", { type: "json_object" })],
  reasoning_effort: ["high", sends("reasoning_effort", "high")],
  verbosity: ["low", reads("Keep your answers short.")],
  tools: [[{ type: "function", function: tool }], ({ body }) => expect(JSON.stringify(body.tools)).toContain('"look"')],
  tool_choice: ["none", elsewhere],
  parallel_tool_calls: [false, elsewhere],
};
const RESPONSE_HONOURED: Record<string, Honoured> = {
  input: ["say:these words", says(/these words/)],
  instructions: ["Speak Latin.", reads("Speak Latin.")],
  model: ["scripted", sends("model", "scripted")],
  user: ["ben", says(/agent:main:http:owner:ben/)],
  stream: [true, says(/^event: /)],
  temperature: [0.5, sends("temperature", 0.5)],
  top_p: [0.5, sends("top_p", 0.5)],
  max_output_tokens: [79, sends("max_tokens", 79)],
  text: [{ verbosity: "high", format: { type: "json_object" } }, reads("Answer in detail.")],
  reasoning: [{ effort: "minimal" }, sends("reasoning_effort", "low")],
  metadata: [{ a: "b" }, says(/"metadata":\{"a":"b"\}/)],
  previous_response_id: [null, elsewhere],
  tools: [[{ type: "function", ...tool }], ({ body }) => expect(JSON.stringify(body.tools)).toContain('"look"')],
  tool_choice: ["none", elsewhere],
  parallel_tool_calls: [false, says(/"parallel_tool_calls":false/)],
};
/** What an honest client would send where a field is refused or ignored. Anything else is a plain text. */
const OTHERS: Record<string, unknown> = {
  n: 2,
  logprobs: true,
  top_logprobs: 3,
  logit_bias: { 50256: -100 },
  modalities: ["text", "audio"],
  functions: [tool],
  background: true,
};

describe.each([
  ["/v1/chat/completions", { model: "lares", messages: said('say:{"x":1}') }, completions, COMPLETION_HONOURED],
  ["/v1/responses", { model: "lares", input: 'say:{"x":1}' }, responses, RESPONSE_HONOURED],
] as const)("%s", (path, base, table, honoured) => {
  const send = async (over: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
    return instance.ask(path, { method: "POST", headers, body: JSON.stringify({ ...base, ...over }) });
  };

  test.each(Object.entries(table as FieldVerdicts))("%s", async (field, verdict) => {
    if (verdict.verdict === "honoured") {
      const [value, shows] = honoured[field]!;
      const { status, text } = await send({ [field]: value });
      expect(status, text).toBe(200);
      shows({ text, body: asked().body, system: asked().system });
      return;
    }
    const before = instance.model.requests.length;
    const given = OTHERS[field] ?? "something";
    const { status, json, text } = await send({ [field]: given });
    if (verdict.verdict === "ignored") {
      expect(status, text).toBe(200);
      expect(asked().body[field]).not.toEqual(given);
      return;
    }
    expect(status, text).toBe(400);
    expect(json.error).toMatchObject({ param: field, message: expect.stringContaining(verdict.note) });
    expect(instance.model.requests.length).toBe(before);
    for (const fine of [null, ...(verdict.fine ?? [])]) expect((await send({ [field]: fine })).status).toBe(200);
  });
});

describe("parallel_tool_calls", () => {
  const functions = [{ type: "function" as const, function: tool }];
  const two = [0, 1].map((n) => ({ name: "look", input: { n } }));

  test("false leaves one call, also where the model makes two; without it both come", async () => {
    instance.model.use(() => ({ toolCalls: two }));
    try {
      const ask = (over: object) =>
        client.chat.completions.create({ model: "lares", messages: said("look"), tools: functions, ...over });
      expect((await ask({})).choices[0]!.message.tool_calls).toHaveLength(2);
      const one = await ask({ parallel_tool_calls: false });
      expect(one.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [{}] } });
      expect(one.choices[0]!.message.tool_calls).toHaveLength(1);
    } finally {
      instance.model.use(directiveScript());
    }
  });
});
