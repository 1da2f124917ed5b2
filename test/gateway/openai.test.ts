/** The official `openai` client against `/v1`: models, chat, stream, tools, responses, errors. */

import OpenAI, { APIError, AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PNG } from "../attachments/support.ts";
import type { ModelServer } from "../fakes/model-server/index.ts";
import { makePdf } from "../support/pdf.ts";
import { pretend } from "../support/pretend.ts";
import { openScripted, type TestInstance, TOKEN } from "./support.ts";

let instance: TestInstance & { model: ModelServer };
let client: OpenAI;
beforeAll(async () => {
  instance = await openScripted();
  client = new OpenAI({ apiKey: TOKEN, baseURL: `${instance.app.url}/v1`, maxRetries: 2 });
});
afterAll(() => instance.stop());

const last = () => instance.model.requests.at(-1)!;
const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "The weather of a place.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

describe("pictures and files", () => {
  const parts = () => last().messages.flatMap((m) => m.parts);
  const data = `data:image/png;base64,${PNG.toString("base64")}`;
  const picture = { type: "image", mediaType: "image/png", data: PNG.toString("base64") };

  test("a data: picture and a PDF in a chat reach the model; earlier ones are named and shown again", async () => {
    const file = {
      filename: "bill.pdf",
      file_data: `data:application/pdf;base64,${makePdf("It is 42").toString("base64")}`,
    };
    const first = [
      { type: "text" as const, text: "What is this?" },
      { type: "image_url" as const, image_url: { url: data } },
      { type: "file" as const, file },
    ];
    const { response } = await client.chat.completions
      .create({ model: "lares", messages: [{ role: "user", content: first }] })
      .withResponse();
    expect(parts()).toContainEqual(picture);
    expect(JSON.stringify(parts())).toContain("It is 42");
    const session = decodeURI(response.headers.get("x-lares-session")!);
    const { messages } = await instance.rpc("chat.history", { session });
    expect(messages[0]!.content.map((p) => p.type)).toEqual(["text", "text", "image", "text"]);
    await client.chat.completions.create({
      model: "lares",
      messages: [
        { role: "user", content: first.slice(0, 2) },
        { role: "assistant", content: "A pixel." },
        { role: "user", content: "say:white" },
      ],
    });
    expect(parts()).toContainEqual(picture);
    expect(JSON.stringify(parts())).toContain("[Attached here: a picture. Shown with the last message.]");
  });

  test("responses take them too; a private address, a foreign scheme and what is no picture are refused", async () => {
    const ask = (url: string) =>
      client.responses.create({
        model: "lares",
        input: [{ role: "user", content: [{ type: "input_image", image_url: url, detail: "auto" }] }],
      });
    await ask(data);
    expect(parts()).toContainEqual(picture);
    await expect(ask("http://127.0.0.1:9/secret.png")).rejects.toMatchObject({ status: 403 });
    await expect(ask("file:///etc/passwd")).rejects.toMatchObject({ status: 400 });
    await expect(ask("data:image/png;base64,UEsDBBQAAAAIAAAAIQA=")).rejects.toMatchObject({ status: 415 });
  });
});

describe("models", () => {
  test("are listed and found", async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toContain("lares");
    expect(ids).toContain("lares/main");
    expect(ids).toContain("openai/scripted");
    expect(await client.models.retrieve("lares/main")).toMatchObject({ id: "lares/main", object: "model" });
    await expect(client.models.retrieve("nobody/knows")).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe("chat completions", () => {
  test("a question is answered, with usage and our headers", async () => {
    const { data, response } = await client.chat.completions
      .create({ model: "lares", messages: [{ role: "user", content: "say:hello there" }] })
      .withResponse();
    expect(data.choices[0]).toMatchObject({
      finish_reason: "stop",
      message: { role: "assistant", content: "hello there" },
    });
    expect(data.usage!.total_tokens).toBeGreaterThan(0);
    expect(response.headers.get("x-lares-state")).toBe("answered");
    expect(response.headers.get("x-lares-turn")).toMatch(/^t_/);
  });

  test("without `user` the caller's history is the history, as messages and not as a text (OPENAI-2)", async () => {
    await client.chat.completions.create({
      model: "lares",
      messages: [
        { role: "system", content: "Speak like a pirate." },
        { role: "user", content: "My name is Ana." },
        { role: "assistant", content: "Ahoy Ana." },
        { role: "user", content: [{ type: "text", text: "say:fine" }] },
      ],
    });
    expect(last().system).toContain("Speak like a pirate.");
    expect(last().messages.map((m) => m.role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(last().messages[0])).toContain("My name is Ana.");
    await client.chat.completions.create({ model: "lares", messages: [{ role: "user", content: "say:alone" }] });
    expect(last().messages).toHaveLength(1);
  });

  test("with `user` the session remembers", async () => {
    const say = (content: string) =>
      client.chat.completions.create({ model: "lares", user: "openai-ana", messages: [{ role: "user", content }] });
    await say("say:first");
    await say("say:second");
    expect(JSON.stringify(last().messages)).toContain("say:first");
  });

  test("streams in pieces, ends with a reason, and with usage when asked", async () => {
    const stream = await client.chat.completions.create({
      model: "lares",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "say:one two three four" }],
    });
    let text = "";
    let pieces = 0;
    let finish: string | null = null;
    let tokens = 0;
    for await (const chunk of stream) {
      const choice = chunk.choices[0];
      if (choice?.delta.content) {
        text += choice.delta.content;
        pieces++;
      }
      finish = choice?.finish_reason ?? finish;
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect(text).toBe("one two three four");
    expect(pieces).toBeGreaterThan(1);
    expect(finish).toBe("stop");
    expect(tokens).toBeGreaterThan(0);
  });

  test("the client's own helper assembles the stream", async () => {
    const runner = client.chat.completions.stream({
      model: "lares",
      messages: [{ role: "user", content: "say:assembled" }],
    });
    expect(await runner.finalContent()).toBe("assembled");
  });

  test("tools of the client are returned as calls, and their outcomes go on (OPENAI-1)", async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "user", content: 'tool:get_weather {"city":"Lisbon"} then: say:it is {results}' },
    ];
    const first = await client.chat.completions.create({ model: "lares", messages, tools: [weather] });
    expect(first.choices[0]!.finish_reason).toBe("tool_calls");
    const call = first.choices[0]!.message.tool_calls![0]!;
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } });
    expect(JSON.parse((call as { function: { arguments: string } }).function.arguments)).toEqual({ city: "Lisbon" });
    expect(last().tools).toEqual(["get_weather"]);
    messages.push(first.choices[0]!.message, { role: "tool", tool_call_id: call.id, content: "sunny, 21 °C" });
    const second = await client.chat.completions.create({ model: "lares", messages, tools: [weather] });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "it is sunny, 21 °C" } });
    expect(last().messages.map((m) => m.role)).toEqual(["user", "assistant", "tool"]);
  });

  test("several calls at once, streamed, and the helper that runs tools", async () => {
    const runner = client.chat.completions.stream({
      model: "lares",
      tools: [weather],
      messages: [{ role: "user", content: 'tool:get_weather {"city":"Rome"} tool:get_weather {"city":"Oslo"}' }],
    });
    const message = await runner.finalMessage();
    expect(message.tool_calls).toHaveLength(2);
    const asked: string[] = [];
    const run = client.chat.completions.runTools({
      model: "lares",
      messages: [{ role: "user", content: 'tool:get_weather {"city":"Bonn"} then: say:done with {results}' }],
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "The weather.",
            parameters: weather.function.parameters,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              asked.push(city);
              return `rain in ${city}`;
            },
          },
        },
      ],
    });
    expect(await run.finalContent()).toBe("done with rain in Bonn");
    expect(asked).toEqual(["Bonn"]);
  });

  test("tool_choice none offers nothing", async () => {
    await client.chat.completions.create({
      model: "lares",
      tools: [weather],
      tool_choice: "none",
      messages: [{ role: "user", content: "say:none" }],
    });
    expect(last().tools).toEqual([]);
  });

  test("a turn that waits for a person answers with a sentence that names the approval", async () => {
    const at = await openScripted({ config: "gateway:\n  http:\n    wait: 0.2\n" });
    try {
      const other = new OpenAI({ apiKey: TOKEN, baseURL: `${at.app.url}/v1` });
      const { data, response } = await other.chat.completions
        .create({ model: "lares", messages: [{ role: "user", content: 'tool:exec {"command":"touch x"}' }] })
        .withResponse();
      expect(response.headers.get("x-lares-state")).toBe("parked");
      expect(data.choices[0]!.message.content).toContain("approval");
    } finally {
      await at.stop();
    }
  });
});

describe("responses", () => {
  test("a text is answered, and previous_response_id goes on in the same session", async () => {
    const first = await client.responses.create({ model: "lares", input: "say:hello", instructions: "Be short." });
    expect(first.output_text).toBe("hello");
    expect(first.status).toBe("completed");
    expect(last().system).toContain("Be short.");
    const second = await client.responses.create({
      model: "lares",
      previous_response_id: first.id,
      input: "say:again",
    });
    expect(second.output_text).toBe("again");
    expect(JSON.stringify(last().messages)).toContain("say:hello");
    expect(second.previous_response_id).toBe(first.id);
  });

  test("messages as input carry their own history", async () => {
    const answer = await client.responses.create({
      model: "lares",
      input: [
        { role: "developer", content: "Be kind." },
        { role: "user", content: "Earlier." },
        { role: "assistant", content: "Yes." },
        { role: "user", content: [{ type: "input_text", text: "say:now" }] },
      ],
    });
    expect(answer.output_text).toBe("now");
    expect(last().messages.map((m) => m.role)).toEqual(["user", "assistant", "user"]);
  });

  test("streams the events the client knows", async () => {
    const stream = client.responses.stream({ model: "lares", input: "say:streamed words here" });
    const types: string[] = [];
    let text = "";
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    expect(text).toBe("streamed words here");
    expect(types[0]).toBe("response.created");
    expect(types.at(-1)).toBe("response.completed");
    expect((await stream.finalResponse()).output_text).toBe("streamed words here");
  });

  test("function tools: the call comes out, the outcome goes in by previous_response_id", async () => {
    const tools = [{ type: "function" as const, strict: false, ...weather.function }];
    const first = await client.responses.create({
      model: "lares",
      tools,
      input: 'tool:get_weather {"city":"Graz"} then: say:so {results}',
    });
    const call = first.output.find((item) => item.type === "function_call")!;
    expect(call).toMatchObject({ name: "get_weather", arguments: '{"city":"Graz"}' });
    const second = await client.responses.create({
      model: "lares",
      tools,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: (call as { call_id: string }).call_id, output: "snow" }],
    });
    expect(second.output_text).toBe("so snow");
    expect(last().messages.map((m) => m.role)).toEqual(["user", "assistant", "tool"]);
  });
});

describe("errors", () => {
  test("have OpenAI's shape: 401, 404, 400, and a failed turn is not tried again", async () => {
    const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${instance.app.url}/v1`, maxRetries: 0 });
    const refused = await stranger.models.list().then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(refused).toBeInstanceOf(AuthenticationError);
    expect(refused).toMatchObject({ status: 401, code: "invalid_api_key", type: "authentication_error" });
    const ask = (over: object) =>
      client.chat.completions
        .create(pretend({ model: "lares", messages: [{ role: "user", content: "say:x" }], ...over }))
        .then(
          () => undefined,
          (e: unknown) => e,
        );
    expect(await ask({ model: "nobody/knows" })).toMatchObject({ status: 404, code: "model_not_found" });
    expect(await ask({ model: "lares/nobody" })).toMatchObject({ status: 404, code: "model_not_found" });
    expect(await ask({ messages: [] })).toBeInstanceOf(BadRequestError);
    expect(await ask({ messages: [{ role: "assistant", content: "x" }] })).toMatchObject({
      status: 400,
      param: "messages",
    });
    expect(await ask({ n: 3 })).toMatchObject({ status: 400, param: "n" });
    expect(
      await ask({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:" } }] }] }),
    ).toMatchObject({ status: 400 });
    const gone = await client.responses.create({ model: "lares", input: "x", previous_response_id: "resp_none" }).then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(gone).toBeInstanceOf(NotFoundError);
    const before = instance.model.requests.length;
    const failed = await ask({ messages: [{ role: "user", content: "fail:auth" }] });
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 502, code: "turn_failed" });
    expect(instance.model.requests.length - before).toBe(1);
    expect((await instance.ask("/v1/nothing", { headers: { authorization: `Bearer ${TOKEN}` } })).json).toMatchObject({
      error: { code: "not_found" },
    });
  });

  test("the same idempotency key is the same turn", async () => {
    const ask = () =>
      client.chat.completions.create(
        { model: "lares", messages: [{ role: "user", content: "say:once" }] },
        { headers: { "Idempotency-Key": "openai-1" } },
      );
    const [a, b] = [await ask(), await ask()];
    expect(b.id).toBe(a.id);
  });
});
