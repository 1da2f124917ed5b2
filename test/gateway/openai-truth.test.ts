/** `/v1` tells the truth: who answered, what was asked for and not done, and nothing is left behind for ever. */

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/kit/index.ts";
import { directiveScript, type ModelServer, startModelServer } from "../fakes/model-server/index.ts";
import { pretend } from "../support/pretend.ts";
import { openInstance, openScripted, type TestInstance, TOKEN, until } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
let client: OpenAI;
beforeAll(async () => {
  instance = await openScripted();
  client = clientOf(instance);
});
afterAll(() => instance.stop());

const clientOf = (at: TestInstance) => new OpenAI({ apiKey: TOKEN, baseURL: `${at.app.url}/v1`, maxRetries: 0 });
const body = () => instance.model.requests.at(-1)!.body;
const said = (content: string) => [{ role: "user" as const, content }];
const refusal = (over: object) =>
  client.chat.completions.create(pretend({ model: "lares", messages: said("say:x"), ...over })).then(
    () => undefined,
    (error: unknown) => error as { status: number; param: string; message: string; code: string },
  );

interface Facts {
  lares?: { turn: string; state: string; practice?: boolean; notices: string[] };
}

async function streamed(at: OpenAI, over: object = {}) {
  const { data, response } = await at.chat.completions
    .create(pretend({ model: "lares", stream: true, messages: said("say:one two"), ...over }))
    .withResponse();
  const chunks: (OpenAI.ChatCompletionChunk & Facts)[] = [];
  for await (const chunk of pretend<AsyncIterable<OpenAI.ChatCompletionChunk>>(data)) chunks.push(chunk);
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
  return { chunks, text, headers: response.headers, last: chunks.at(-1)! };
}

describe("a turn that is stopped", () => {
  const slow = "gap:200 say:one two three four five six seven eight nine ten";
  const stopIt = async () => {
    const { turn, session } = await until("the turn", async () =>
      (await instance.rpc("turns.list", { open: true })).turns.find((one) => one.state === "running"),
    );
    await instance.rpc("chat.abort", { session });
    return turn;
  };

  test("ends a stream with an error and no finish reason, as the answer is not complete", async () => {
    const data = await client.chat.completions.create({ model: "lares", stream: true, messages: said(slow) });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    let failure: { code?: string | null | undefined; message?: string } = {};
    let stopping: Promise<string> | undefined;
    try {
      for await (const chunk of data) {
        chunks.push(chunk);
        if (chunk.choices[0]?.delta.content) stopping ??= stopIt();
      }
    } catch (error) {
      failure = error as typeof failure;
    }
    const turn = await stopping;
    // What was cut off was used: its tokens are guessed, and not none.
    const { usage } = await instance.rpc("turns.get", { turn: turn! });
    expect(usage).toMatchObject({ inputTokens: expect.any(Number), cost: null });
    expect(usage!.inputTokens).toBeGreaterThan(0);
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual([]);
    expect(failure).toMatchObject({ code: "turn_stopped", message: expect.stringContaining("stopped") });
  });

  test("is an error of its own when it was not streamed, and response.failed in a stream of responses", async () => {
    const stopping = stopIt();
    const whole = await client.chat.completions.create({ model: "lares", messages: said(slow) }).catch((e) => e);
    await stopping;
    expect(whole).toMatchObject({ status: 409, code: "turn_stopped" });
    const events = await client.responses.create({ model: "lares", input: slow, stream: true });
    const types: string[] = [];
    let again: Promise<unknown> | undefined;
    for await (const event of events) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") again ??= stopIt();
    }
    await again;
    expect(types.at(-1)).toBe("response.failed");
    expect(types).not.toContain("response.completed");
  });
});

describe("who answered", () => {
  test("a stream has the turn's headers before its first word, and names the model that answered", async () => {
    const { headers, last, text, chunks } = await streamed(client);
    expect(headers.get("x-lares-model")).toBe("openai/scripted");
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set(["openai/scripted"]));
    expect(headers.get("x-lares-turn")).toMatch(/^t_/);
    expect(headers.get("x-lares-session")).toContain("once-");
    expect(headers.get("x-lares-state")).toBeTruthy();
    expect(last).toMatchObject({ model: "openai/scripted", lares: { state: "answered", notices: [] } });
    expect(last.lares!.turn).toBe(headers.get("x-lares-turn"));
    expect(text).toBe("one two");
    const { data, response } = await client.chat.completions
      .create({ model: "lares", messages: said("say:whole") })
      .withResponse();
    expect(data.model).toBe("openai/scripted");
    expect(response.headers.get("x-lares-model")).toBe("openai/scripted");
    expect((await client.responses.create({ model: "lares", input: "say:r" })).model).toBe("openai/scripted");
    const events = await client.responses.create({ model: "lares", input: "say:r", stream: true }).withResponse();
    expect(events.response.headers.get("x-lares-turn")).toMatch(/^t_/);
    expect(events.response.headers.get("x-lares-model")).toBe("openai/scripted");
    const models: string[] = [];
    for await (const event of events.data) if ("response" in event) models.push(event.response.model);
    expect(models).toEqual(["openai/scripted", "openai/scripted", "openai/scripted"]);
  });

  test("the practice model is labelled, whole and streamed", async () => {
    const at = await openInstance();
    try {
      const practice = clientOf(at);
      const { data, response } = await practice.chat.completions
        .create({ model: "lares", messages: said("hello") })
        .withResponse();
      expect(data.model).toBe("practice/practice");
      expect((data as Facts).lares?.practice).toBe(true);
      expect(response.headers.get("x-lares-practice")).toBe("true");
      const { last, text, headers } = await streamed(practice, { messages: said("hello") });
      expect(headers.get("x-lares-practice")).toBe("true");
      expect(last).toMatchObject({ model: "practice/practice", lares: { practice: true } });
      expect(text).toMatch(/practice model/);
    } finally {
      await at.stop();
    }
  });

  test("when a fallback answered, the answer says so beside its words, whole and streamed", async () => {
    const model = await startModelServer();
    const at = await openInstance({
      config: `models:
  default: mine/broken
  fallbacks: [mine/working]
  patienceMs: 1
  providers:
    mine: { api: openai-chat, baseUrl: "${model.url}/v1", keys: [k], models: { broken: {}, working: {} } }
`,
    });
    model.use((request) =>
      request.model === "broken" ? { fail: { kind: "billing" } } : { text: '{"from":"the other"}' },
    );
    try {
      const other = clientOf(at);
      const { last, text } = await streamed(other);
      expect(last.model).toBe("mine/working");
      expect(last.lares!.notices.join()).toContain("mine/broken");
      // What the model said is the content, to the letter: programs read it.
      expect(text).toBe('{"from":"the other"}');
      for (const more of [{}, { response_format: { type: "json_object" as const } }]) {
        const ask = { model: "lares", messages: said("again"), ...more };
        const { data, response } = await other.chat.completions.create(ask).withResponse();
        expect(data.choices[0]!.message.content).toBe('{"from":"the other"}');
        expect((data as Facts).lares!.notices).toEqual([expect.stringContaining("mine/broken")]);
        expect(decodeURIComponent(response.headers.get("x-lares-notice")!)).toContain("mine/broken");
      }
      const answer = await other.responses.create({ model: "lares", input: "again" });
      expect(answer.output_text).toBe('{"from":"the other"}');
      expect((answer as Facts).lares!.notices).toHaveLength(1);
    } finally {
      await at.stop();
      await model.close();
    }
  });
});

describe("a stream that fails", () => {
  /** The lines as they are sent, without a client that reads them. */
  const raw = async (path: string, body: object) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}` };
    const answer = await instance.ask(path, {
      method: "POST",
      headers,
      body: JSON.stringify({ stream: true, ...body }),
    });
    const data = answer.text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
    return { ...answer, data };
  };

  test("before its first word is an ordinary error, with its status and the turn", async () => {
    const answer = await raw("/v1/chat/completions", { model: "lares", messages: said("fail:auth") });
    expect(answer).toMatchObject({ status: 502, json: { error: { type: "server_error", code: "turn_failed" } } });
    expect(answer.headers["x-lares-turn"]).toMatch(/^t_/);
    expect((await raw("/v1/responses", { model: "lares", input: "fail:auth" })).status).toBe(502);
  });

  test("midway ends with an error object, without a finish reason and without [DONE]; the client throws it", async () => {
    const broken = 'say:one two three four tool:list {"path":"."} then: fail:auth';
    const answer = await raw("/v1/chat/completions", { model: "lares", messages: said(broken) });
    expect(answer.status).toBe(200);
    const chunks = answer.data.map((line) => JSON.parse(line) as { choices?: { finish_reason: string | null }[] });
    expect(chunks.filter((chunk) => chunk.choices).length).toBeGreaterThan(1);
    expect(chunks.flatMap((chunk) => chunk.choices?.map((c) => c.finish_reason) ?? []).filter(Boolean)).toEqual([]);
    expect(chunks.at(-1)).toEqual({
      error: { message: expect.stringContaining("key"), type: "server_error", code: "turn_failed", param: null },
    });
    // The reason is in the error and not in the answer's words.
    expect(JSON.stringify(chunks.slice(0, -1))).not.toContain("rejected");
    const thrown = await streamed(client, { messages: said(`again ${broken}`) }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(OpenAI.APIError);
    expect(thrown).toMatchObject({ code: "turn_failed" });
    const last = (await raw("/v1/responses", { model: "lares", input: broken })).data.at(-1)!;
    expect(JSON.parse(last)).toMatchObject({ type: "response.failed", response: { model: "openai/scripted" } });
  });

  test("headers wait for the model, and not for ever", async () => {
    const clock = new HeldClock();
    const model = await startModelServer();
    const at = await openInstance({
      clock,
      config: `models:
  default: mine/slow
  providers: { mine: { api: openai-chat, baseUrl: "${model.url}/v1", keys: [k], models: { slow: {} } } }
`,
    });
    let answer: () => void = () => {};
    const asked = new Promise<void>((heard) => {
      model.use(async () => {
        heard();
        await new Promise<void>((go) => {
          answer = go;
        });
        return { text: "at last" };
      });
    });
    try {
      const stream = clientOf(at).chat.completions.create({ model: "lares", stream: true, messages: said("x") });
      await asked;
      clock.fire(20_000);
      const { data, response } = await stream.withResponse();
      expect(response.headers.get("x-lares-turn")).toMatch(/^t_/);
      expect(response.headers.get("x-lares-model")).toBe(null);
      answer();
      const models = new Set<string>();
      for await (const chunk of data) models.add(chunk.model);
      expect(models).toEqual(new Set(["mine/slow"]));
    } finally {
      await at.stop();
      await model.close();
    }
  });
});

/** Real time, except that timers of one length can be let go by hand. */
class HeldClock {
  private readonly held = new Map<number, Set<() => void>>();
  now = () => systemClock.now();
  after(ms: number, run: () => void): () => void {
    const cancel = systemClock.after(ms, run);
    const all = this.held.get(ms) ?? new Set();
    this.held.set(ms, all.add(run));
    return () => {
      all.delete(run);
      cancel();
    };
  }
  fire(ms: number): void {
    const all = this.held.get(ms);
    if (!all?.size) throw new Error(`nothing waits ${ms} ms`);
    for (const run of all) run();
  }
}

describe("settings", () => {
  test("the practice model answers JSON when JSON is asked for, and refuses a schema with a sentence", async () => {
    const at = await openInstance();
    try {
      const practice = clientOf(at).chat.completions;
      const ask = { model: "lares", messages: said("hello"), response_format: { type: "json_object" as const } };
      const whole = JSON.parse((await practice.create(ask)).choices[0]!.message.content!) as object;
      expect(whole).toEqual({ answer: expect.stringContaining("practice model"), practice: true });
      expect(JSON.parse((await streamed(clientOf(at), ask)).text)).toEqual(whole);
      const json_schema = { name: "answer", schema: { type: "object" } };
      for (const stream of [false, true]) {
        const response_format = { type: "json_schema" as const, json_schema };
        const error = await practice.create({ ...ask, stream, response_format }).catch((e: unknown) => e);
        expect(error).toMatchObject({ status: 400, message: expect.stringContaining("practice model follows rules") });
      }
    } finally {
      await at.stop();
    }
  });

  describe("a format that was asked for is checked", () => {
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const any = { type: "json_object" as const };
    const shaped = { type: "json_schema" as const, json_schema: { name: "answer", schema } };
    const create = (words: string, response_format: object) =>
      client.chat.completions.create(pretend({ model: "lares", messages: said(words), response_format })).then(
        (answer) => pretend<OpenAI.ChatCompletion>(answer).choices[0]!.message.content,
        (error: unknown) => error as { status: number; code: string; message: string; param: string },
      );
    const fenced = 'Here it is:\n```json\n{"n": 7}\n```';

    test.each([
      ["an object", 'say:{"n":7}', any, '{"n":7}'],
      ["an object of the schema", 'say:{"n":7}', shaped, '{"n":7}'],
      ["a list is no object", "say:[1]", any, /isn't a JSON object/],
      ["words", "say:seven", any, /isn't JSON/],
      ["words, with a schema", "say:seven", shaped, /isn't JSON/],
      ["another shape", 'say:{"m":7}', shaped, /n/],
    ])("%s", async (_what, words, format, expected) => {
      const whole = await create(words, format);
      const stream = await streamed(client, { messages: said(words), response_format: format }).catch(
        (e: unknown) => e,
      );
      if (typeof expected === "string") {
        expect([whole, (stream as { text: string }).text]).toEqual([expected, expected]);
        return;
      }
      const wrong = { code: "answer_format", message: expect.stringMatching(expected), param: "response_format" };
      expect(whole).toMatchObject({ status: 502, ...wrong });
      expect(stream).toBeInstanceOf(OpenAI.APIError);
      expect(stream).toMatchObject({ code: "answer_format" });
      // The list of turns says what the callers got.
      const { turns } = await instance.rpc("turns.list", { limit: 2 });
      const failed = { state: "failed", failure: "answer-format", reason: expect.stringMatching(expected) };
      expect(turns).toMatchObject([failed, failed]);
    });

    test("JSON that a model wrapped is unwrapped, whole and streamed, in both doors", async () => {
      instance.model.use(() => ({ text: fenced, pieces: 6, gapMs: 1 }));
      try {
        expect(await create("x", shaped)).toBe('{"n": 7}');
        expect((await streamed(client, { response_format: any })).text).toBe('{"n": 7}');
        const format = { type: "json_schema" as const, name: "answer", schema };
        const answer = await client.responses.create({ model: "lares", input: "x", text: { format } });
        expect(answer.output_text).toBe('{"n": 7}');
        let text = "";
        const events = await client.responses.create({ model: "lares", input: "x", text: { format }, stream: true });
        for await (const event of events) if (event.type === "response.output_text.delta") text += event.delta;
        expect(text).toBe('{"n": 7}');
      } finally {
        instance.model.use(directiveScript());
      }
    });

    test("responses say it with their own words, and an answer that was cut stays what it is", async () => {
      const text = { format: { type: "json_object" as const } };
      const wrong = await client.responses.create({ model: "lares", input: "say:no", text }).catch((e: unknown) => e);
      expect(wrong).toMatchObject({ status: 502, code: "answer_format", param: "text.format" });
      const types: string[] = [];
      const events = await client.responses.create({ model: "lares", input: "say:no", text, stream: true });
      for await (const event of events) types.push(event.type);
      expect(types.at(-1)).toBe("response.failed");
      expect(types).not.toContain("response.output_text.delta");
      instance.model.use(() => ({ text: '{"n": 1', finish: "length" }));
      try {
        expect(await create("x", any)).toBe('{"n": 1');
      } finally {
        instance.model.use(directiveScript());
      }
    });

    test("a schema that can't be checked is refused before anything is asked", async () => {
      const asked = instance.model.requests.length;
      const odd = { type: "json_schema", json_schema: { name: "odd", schema: { $ref: "https://example.com/x.json" } } };
      expect(await create("say:x", odd)).toMatchObject({ status: 400, param: "response_format" });
      expect(instance.model.requests).toHaveLength(asked);
      // An expression of the caller's is not run.
      const pattern = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
      const slow = { type: "json_schema", json_schema: { name: "slow", schema: pattern } };
      expect(await create(`say:{"a":"${"a".repeat(40)}!"}`, slow)).toContain("aaa");
    });
  });

  test("reach the provider, in both doors", async () => {
    await client.chat.completions.create({
      model: "lares",
      messages: said('say:{"a":1}'),
      max_tokens: 77,
      temperature: 0.25,
      top_p: 0.5,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      seed: 7,
      stop: ["END"],
      response_format: { type: "json_object" },
    });
    expect(body()).toMatchObject({
      max_tokens: 77,
      temperature: 0.25,
      top_p: 0.5,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      seed: 7,
      stop: ["END"],
      response_format: { type: "json_object" },
    });
    await client.chat.completions.create({ model: "lares", messages: said("say:x"), max_completion_tokens: 12 });
    expect(body()).toMatchObject({ max_tokens: 12 });
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
    await client.chat.completions.create({
      model: "lares",
      messages: said('say:{"a":1}'),
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    });
    // A compatible server is asked for JSON, and reads the schema in the instructions.
    expect(body().response_format).toEqual({ type: "json_object" });
    expect(instance.model.requests.at(-1)!.system).toContain(JSON.stringify(schema));
    await client.responses.create({
      model: "lares",
      input: 'say:{"a":1}',
      max_output_tokens: 33,
      temperature: 0,
      top_p: 0.9,
      text: { format: { type: "json_object" } },
    });
    expect(body()).toMatchObject({
      max_tokens: 33,
      temperature: 0,
      top_p: 0.9,
      response_format: { type: "json_object" },
    });
  });

  test("a stop word ends the answer, also where the provider ignores it, and pieces of it are not streamed", async () => {
    const whole = await client.chat.completions.create({
      model: "lares",
      messages: said("say:before END after"),
      stop: "END",
    });
    expect(whole.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "before" } });
    const { text } = await streamed(client, { messages: said("say:before END after"), stop: ["E", "never"] });
    expect(text.trim()).toBe("before");
  });

  test("a stop text is in nothing that the caller reads, not in our notices either, whole and streamed", async () => {
    const at = await openInstance();
    try {
      for (const stop of ["practice", "\n\n", "model", "hello"]) {
        const ask = { model: "lares", messages: said("hello"), temperature: 0.5, stop };
        const whole = await clientOf(at).chat.completions.create(ask);
        expect(whole.choices[0]!.message.content, stop).not.toContain(stop);
        expect((whole as Facts).lares).toMatchObject({ practice: true, notices: [expect.any(String)] });
        const { text, last } = await streamed(clientOf(at), ask);
        expect(text, stop).not.toContain(stop);
        expect(last.lares).toMatchObject({ practice: true });
      }
      const other = await clientOf(at).chat.completions.create({ model: "lares", messages: said("hello"), stop: "@@" });
      expect(other.choices[0]!.message.content).toMatch(/practice model/);
    } finally {
      await at.stop();
    }
  });

  test("a setting the model doesn't take is named in a notice, thinking too", async () => {
    const model = await startModelServer();
    const at = await openInstance({
      config: `models:
  default: mine/gpt-5-mini
  providers: { mine: { api: openai-chat, baseUrl: "${model.url}/v1", keys: [k], models: { gpt-5-mini: {} } } }
`,
    });
    try {
      const ask = (reasoning_effort: "none" | "low") =>
        clientOf(at).chat.completions.create({ model: "lares", messages: said("say:x"), reasoning_effort });
      expect(((await ask("low")) as Facts).lares!.notices).toEqual([]);
      expect(model.requests.at(-1)!.body.reasoning_effort).toBe("low");
      expect(((await ask("none")) as Facts).lares!.notices).toEqual([
        "mine/gpt-5-mini does not take reasoning_effort; it answered without.",
      ]);
    } finally {
      await at.stop();
      await model.close();
    }
  });

  test("a stream that breaks off and is asked for again goes on where it was, and repeats nothing", async () => {
    const text = "one two three four five six seven eight nine ten";
    let calls = 0;
    instance.model.use(() => ({ text, gapMs: 5, pieces: 12, ...(++calls < 3 ? { cut: true } : {}) }));
    try {
      expect((await streamed(client, { messages: said("x") })).text).toBe(text);
      expect(calls).toBe(3);
      // Another model says something else: that begins below.
      calls = 0;
      instance.model.use(() =>
        ++calls === 1 ? { text, gapMs: 5, pieces: 12, cut: true } : { text: "Nothing of that." },
      );
      expect((await streamed(client, { messages: said("x") })).text).toMatch(/^one two[^\n]*\n\nNothing of that\.$/);
    } finally {
      instance.model.use(directiveScript());
    }
  });

  test("an answer cut at the limit says so: finish_reason length, status incomplete", async () => {
    instance.model.use(() => ({ text: "half a", finish: "length" }));
    try {
      const whole = await client.chat.completions.create({ model: "lares", messages: said("x"), max_tokens: 2 });
      expect(whole.choices[0]!.finish_reason).toBe("length");
      const response = await client.responses.create({ model: "lares", input: "x", max_output_tokens: 2 });
      expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    } finally {
      instance.model.use(directiveScript());
    }
  });

  test("a forced tool is forced; what cannot be done is refused with a sentence that names the field", async () => {
    const tool = (name: string) => ({ type: "function" as const, function: { name, parameters: { type: "object" } } });
    await client.chat.completions.create({
      model: "lares",
      messages: said("say:x"),
      tools: [tool("a"), tool("b")],
      tool_choice: { type: "function", function: { name: "b" } },
    });
    expect(body().tool_choice).toEqual({ type: "function", function: { name: "b" } });
    await client.chat.completions.create({
      model: "lares",
      messages: said("say:x"),
      tools: [tool("a")],
      tool_choice: "required",
    });
    expect(body().tool_choice).toBe("required");
    for (const [over, param] of [
      [{ tools: [tool("a")], tool_choice: { type: "function", function: { name: "zzz" } } }, "tool_choice"],
      [{ tool_choice: "required" }, "tool_choice"],
      [{ temperature: 9 }, "temperature"],
      [{ max_tokens: 0 }, "max_tokens"],
      [{ stop: [""] }, "stop.0"],
      [{ response_format: { type: "xml" } }, "response_format.type"],
      [{ logprobs: true }, "logprobs"],
      [{ logit_bias: { 50256: -100 } }, "logit_bias"],
      [{ modalities: ["text", "audio"] }, "modalities"],
    ] as const) {
      const error = await refusal(over);
      expect(error, JSON.stringify(over)).toMatchObject({ status: 400, param });
      expect(error!.message.length).toBeGreaterThan(20);
    }
  });
});

test("a parked turn reports what it has used so far, whole and streamed", async () => {
  const at = await openScripted({ config: "gateway: { http: { wait: 0.05 } }\n" });
  try {
    const ask = said('tool:exec {"command":"touch x"} then: say:done');
    const whole = await clientOf(at).chat.completions.create({ model: "lares", messages: ask });
    expect((whole as Facts).lares!.state).toBe("parked");
    expect(whole.usage!.prompt_tokens).toBeGreaterThan(100);
    expect(whole.usage!.completion_tokens).toBeGreaterThan(0);
    const { last } = await streamed(clientOf(at), { messages: ask, stream_options: { include_usage: true } });
    expect(last.usage!.prompt_tokens).toBeGreaterThan(100);
    const response = await clientOf(at).responses.create({ model: "lares", input: ask[0]!.content });
    expect(response.usage!.input_tokens).toBeGreaterThan(100);
  } finally {
    await at.stop();
  }
});

describe("models", () => {
  test("an unknown one is refused with the known names, streamed or not; a bare name finds its model", async () => {
    for (const name of ["gpt-nonsense", "nobody/knows", "lares/nobody"]) {
      for (const stream of [false, true]) {
        const error = await refusal({ model: name, stream });
        expect(error, name).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
        expect(error!.message).toContain("openai/scripted");
        expect(error!.message).toContain("lares/main");
      }
    }
    const found = await client.chat.completions.create({ model: "scripted", messages: said("say:found") });
    expect(found.model).toBe("openai/scripted");
  });
});

test("a call without `user` leaves no conversation behind for ever; named ones and people's stay", async () => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const at = await openInstance({ clock });
  try {
    const practice = clientOf(at);
    const first = await practice.responses.create({ model: "lares", input: "hello" });
    await practice.chat.completions.create({ model: "lares", messages: said("hello") });
    await practice.chat.completions.create({ model: "lares", user: "ana", messages: said("hello") });
    const { response } = await practice.chat.completions
      .create({ model: "lares", messages: said("hello") })
      .withResponse();
    const named = decodeURI(response.headers.get("x-lares-session")!);
    await at.rpc("sessions.rename", { session: named, title: "Keep me" });
    expect((await at.rpc("sessions.list", {})).sessions).toHaveLength(4);
    // A day is not over: everything is there, and a response can be continued.
    ahead = 23 * 3_600_000;
    await at.restart();
    await clientOf(at).responses.create({ model: "lares", input: "hello", previous_response_id: first.id });
    expect((await at.rpc("sessions.list", {})).sessions).toHaveLength(4);
    ahead = 26 * 3_600_000;
    await at.restart();
    await expect.poll(async () => (await at.rpc("sessions.list", {})).sessions.length).toBe(3);
    ahead = 50 * 3_600_000;
    await at.restart();
    await expect.poll(async () => (await at.rpc("sessions.list", {})).sessions.length).toBe(2);
    expect((await at.rpc("usage.summary", {})).total).toBeTruthy();
  } finally {
    await at.stop();
  }
});

test("a used-up budget is an error as OpenAI has it, not an answer: plain, streamed, and in the list of conversations", async () => {
  const poor = await openScripted({ config: "budgets: { perDay: { calls: 1 } }\n" });
  try {
    const at = clientOf(poor);
    await at.chat.completions.create({ model: "lares", messages: said("say:one") });
    const ask = (over: object) =>
      at.chat.completions.create(pretend({ model: "lares", user: "u", messages: said("say:two"), ...over }));
    const plain = await ask({}).catch((error: unknown) => error as { status: number; code: string; message: string });
    expect(plain).toMatchObject({ status: 429, code: "insufficient_quota" });
    expect((plain as { message: string }).message).toContain("The budget for today does not allow another model call");
    const stream = pretend<AsyncIterable<OpenAI.ChatCompletionChunk>>(
      await ask({ stream: true }).catch((e: unknown) => [e]),
    );
    const heard: unknown[] = [];
    try {
      for await (const chunk of stream) heard.push(chunk);
    } catch (error) {
      heard.push(error);
    }
    expect(JSON.stringify(heard)).not.toContain('"finish_reason":"stop"');
    expect(heard.at(-1)).toMatchObject({ code: "insufficient_quota" });
    const { sessions } = await poor.rpc("sessions.list", {});
    expect(sessions.some(({ last }) => last?.state === "declined" && last.failure === "budget")).toBe(true);
  } finally {
    await poor.stop();
  }
});
