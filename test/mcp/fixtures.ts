/**
 * What the conformance suite expects a server to offer (its scenarios describe each), served by the same face as Lares' own tools. Only
 * the catalogue is the suite's; the route, the guard, tokens, sessions and streams are the program's.
 */
import { randomBytes } from "node:crypto";
import {
  CLIENT_CAPABILITIES_META_KEY,
  completable,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { McpCatalogue } from "../../src/faces/gateway/mcp/catalogue.ts";

/** One pixel, and one sample. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const codec = createRequestStateCodec({ key: randomBytes(32) });
const about = (name: string) => ({ description: `For the scenario that uses ${name}.` });
const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const form = (message: string, properties: Record<string, { type: "string" } | { type: "boolean" }>) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  });
const NAME = () => form("What is your name?", { name: { type: "string" } });
const sample = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: question } }],
    maxTokens,
  });

const cached = { ttlMs: 1000, cacheScope: "private" } as const;

/** Lists never change while a connection lasts, as in Lares' own catalogue, so no change of a list is announced. */
export const conformanceCatalogue: McpCatalogue = {
  options: {
    capabilities: { logging: {}, completions: {}, tools: {}, prompts: {}, resources: { subscribe: true } },
    requestState: { verify: codec.verify },
    cacheHints: { "tools/list": cached, "prompts/list": cached, "resources/list": cached, "resources/read": cached },
  },
  isFollowable: () => true,
  register(server) {
    contentTools(server);
    liveTools(server);
    askingTools(server);
    statefulTools(server);
    resources(server);
    prompts(server);
  },
};

function contentTools(server: McpServer): void {
  server.registerTool("test_simple_text", about("test_simple_text"), async () =>
    text("This is a simple text response for testing."),
  );
  const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
  server.registerTool("test_image_content", about("test_image_content"), async () => ({ content: [image] }));
  server.registerTool("test_audio_content", about("test_audio_content"), async () => ({
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }));
  const resource = (uri: string, mimeType: string, said: string) => ({
    type: "resource" as const,
    resource: { uri, mimeType, text: said },
  });
  server.registerTool("test_embedded_resource", about("test_embedded_resource"), async () => ({
    content: [resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }));
  server.registerTool("test_multiple_content_types", about("test_multiple_content_types"), async () => ({
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }));
  server.registerTool("test_error_handling", about("test_error_handling"), async () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

function liveTools(server: McpServer): void {
  server.registerTool("test_tool_with_logging", about("test_tool_with_logging"), async (ctx) => {
    for (const said of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await ctx.mcpReq.log("info", said);
      await rest(50);
    }
    return text("done");
  });
  server.registerTool("test_logging_tool", about("test_logging_tool"), async (ctx) => {
    await ctx.mcpReq.log("info", "a line for those who asked for lines");
    return text("done");
  });
  server.registerTool("test_tool_with_progress", about("test_tool_with_progress"), async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      await rest(50);
    }
    return text("done");
  });
  // Asking for what the client can't do is refused by the SDK.
  server.registerTool("test_missing_capability", about("test_missing_capability"), async () =>
    inputRequired({ inputRequests: { any: sample("Is sampling there?", 10) } }),
  );
}

/** The older era: the server asks the client while the call is open. */
function askingTools(server: McpServer): void {
  server.registerTool(
    "test_sampling",
    { ...about("test_sampling"), inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) => {
      const { content } = await ctx.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(content)}`);
    },
  );
  const asks = (name: string, message: string, requestedSchema: object) =>
    server.registerTool(name, about(name), async (ctx) => {
      const params = { message, requestedSchema } as Parameters<typeof ctx.mcpReq.elicitInput>[0];
      const { action, content } = await ctx.mcpReq.elicitInput(params);
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    });
  server.registerTool(
    "test_elicitation",
    { ...about("test_elicitation"), inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) => {
      const said = (description: string) => ({ type: "string" as const, description });
      const properties = { username: said("User's response"), email: said("User's email address") };
      const requestedSchema = { type: "object" as const, properties, required: ["username", "email"] };
      const { action, content } = await ctx.mcpReq.elicitInput({ message, requestedSchema });
      return text(`User response: action=${action}, content=${JSON.stringify(content)}`);
    },
  );
  asks("test_elicitation_sep1034_defaults", "Please look at these", {
    type: "object",
    properties: {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true },
    },
  });
  const titled = (...titles: string[]) => titles.map((title, i) => ({ const: `value${i + 1}`, title }));
  const options = ["option1", "option2", "option3"];
  asks("test_elicitation_sep1330_enums", "Please choose", {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") } },
    },
  });
}

/** The newer era: a call that needs something ends, and comes again with it. */
function statefulTools(server: McpServer): void {
  server.registerTool(
    "test_input_required_result_elicitation",
    about("test_input_required_result_elicitation"),
    async (ctx) => {
      const name = accepted(ctx, "user_name")?.name;
      return typeof name === "string"
        ? text(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: NAME() } });
    },
  );
  server.registerTool("test_streaming_elicitation", about("test_streaming_elicitation"), async (ctx) => {
    const name = accepted(ctx, "user_name")?.name;
    return typeof name === "string" ? text(`Hello, ${name}!`) : inputRequired({ inputRequests: { user_name: NAME() } });
  });
  once(server, "test_input_required_result_sampling", {
    capital_question: sample("What is the capital of France?", 100),
  });
  once(server, "test_input_required_result_list_roots", { client_roots: inputRequired.listRoots() });
  server.registerTool(
    "test_input_required_result_request_state",
    about("test_input_required_result_request_state"),
    async (ctx) => {
      const isBack = ctx.mcpReq.requestState<{ round: number }>()?.round === 1 && ctx.mcpReq.inputResponses?.confirm;
      if (isBack) return text("state-ok");
      return inputRequired({
        inputRequests: { confirm: form("Please confirm", { ok: { type: "boolean" } }) },
        requestState: await codec.mint({ round: 1 }),
      });
    },
  );
  server.registerTool(
    "test_input_required_result_tampered_state",
    about("test_input_required_result_tampered_state"),
    async (ctx) => {
      if (ctx.mcpReq.requestState() !== undefined) return text("state-ok");
      return inputRequired({ inputRequests: { user_name: NAME() }, requestState: await codec.mint({ round: 1 }) });
    },
  );
  server.registerTool(
    "test_input_required_result_multiple_inputs",
    about("test_input_required_result_multiple_inputs"),
    async (ctx) => {
      const { user_name, greeting, client_roots } = ctx.mcpReq.inputResponses ?? {};
      if (user_name && greeting && client_roots) return text(JSON.stringify({ user_name, greeting, client_roots }));
      return inputRequired({
        inputRequests: {
          user_name: NAME(),
          greeting: sample("Generate a greeting", 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await codec.mint({ round: 1 }),
      });
    },
  );
  server.registerTool(
    "test_input_required_result_multi_round",
    about("test_input_required_result_multi_round"),
    async (ctx) => {
      const state = ctx.mcpReq.requestState<{ round: number; name?: string }>();
      if (state?.round === 2) return text(`${state.name} likes ${String(accepted(ctx, "step2")?.color)}`);
      const name = accepted(ctx, "step1")?.name;
      if (state?.round === 1 && name !== undefined)
        return inputRequired({
          inputRequests: { step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }) },
          requestState: await codec.mint({ round: 2, name }),
        });
      return inputRequired({
        inputRequests: { step1: form("Step 1: What is your name?", { name: { type: "string" } }) },
        requestState: await codec.mint({ round: 1 }),
      });
    },
  );
  server.registerTool(
    "test_input_required_result_capabilities",
    about("test_input_required_result_capabilities"),
    async (ctx) => {
      const can = capabilities(ctx);
      const inputRequests: InputRequests = {
        ...(can.elicitation ? { user_name: NAME() } : {}),
        ...(can.sampling ? { greeting: sample("Generate a greeting", 50) } : {}),
      };
      return Object.keys(inputRequests).length && !ctx.mcpReq.inputResponses
        ? inputRequired({ inputRequests })
        : text("nothing to ask");
    },
  );
}

function once(server: McpServer, name: string, inputRequests: InputRequests): void {
  server.registerTool(name, about(name), async (ctx) => {
    const [key = ""] = Object.keys(inputRequests);
    const given = ctx.mcpReq.inputResponses?.[key];
    return given ? text(JSON.stringify(given)) : inputRequired({ inputRequests });
  });
}

function accepted(ctx: ServerContext, key: string): Record<string, unknown> | undefined {
  const given = ctx.mcpReq.inputResponses?.[key] as { action?: string; content?: Record<string, unknown> } | undefined;
  return given?.action === "accept" ? given.content : undefined;
}

function capabilities(ctx: ServerContext): { sampling?: object; elicitation?: object } {
  const envelope = (ctx.mcpReq.envelope ?? {}) as Record<string, unknown>;
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as { sampling?: object; elicitation?: object };
}

function resources(server: McpServer): void {
  const plain = (name: string, uri: string, mimeType: string, content: { text: string } | { blob: string }) =>
    server.registerResource(name, uri, { mimeType }, async () => ({ contents: [{ uri, mimeType, ...content }] }));
  plain("static text", "test://static-text", "text/plain", {
    text: "This is the content of the static text resource.",
  });
  plain("static binary", "test://static-binary", "image/png", { blob: PNG });
  plain("watched", "test://watched-resource", "text/plain", { text: "Watched." });
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const mimeType = "application/json";
  server.registerResource("template", template, { mimeType }, async (uri, { id }) => ({
    contents: [
      { uri: uri.href, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) },
    ],
  }));
}

function prompts(server: McpServer): void {
  const user = (said: string) => ({ role: "user" as const, content: { type: "text" as const, text: said } });
  server.registerPrompt("test_simple_prompt", about("test_simple_prompt"), async () => ({
    messages: [user("This is a simple prompt.")],
  }));
  const arg = () =>
    completable(z.string(), (given) => ["paris", "park", "party"].filter((one) => one.startsWith(given)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { ...about("test_prompt_with_arguments"), argsSchema: z.object({ arg1: arg(), arg2: z.string() }) },
    async ({ arg1, arg2 }) => ({ messages: [user(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { ...about("test_prompt_with_embedded_resource"), argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri: uri }) => ({
      messages: [
        {
          role: "user",
          content: { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded resource content." } },
        },
        user("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", about("test_prompt_with_image"), async () => ({
    messages: [
      { role: "user", content: { type: "image", data: PNG, mimeType: "image/png" } },
      user("Please analyze the image above."),
    ],
  }));
  server.registerPrompt(
    "test_input_required_result_prompt",
    about("test_input_required_result_prompt"),
    async (ctx) => {
      const context = accepted(ctx, "user_context")?.context;
      if (typeof context === "string") return { messages: [user(context)] };
      return inputRequired({
        inputRequests: { user_context: form("What context should the prompt use?", { context: { type: "string" } }) },
      });
    },
  );
}
