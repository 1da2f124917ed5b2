/** A request in the words of Chat Completions, as everybody but OpenAI itself takes them. */
import { assertNever } from "../../../../core/domain/index.ts";
import { COMPATIBLE, type SdkMessage, type SdkOptions } from "../sdk.ts";
import type { RequestWriter } from "./index.ts";

type Message = Record<string, unknown>;
type Assistant = Extract<SdkMessage, { role: "assistant" }>;
type Person = Extract<SdkMessage, { role: "user" }>;
type Results = Extract<SdkMessage, { role: "tool" }>;

export const writeOpenAiChat: RequestWriter = ({ provider, credential, modelId, options }) => {
  const { tools } = options;
  const body = {
    model: modelId,
    max_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    response_format: options.responseFormat?.type === "json" ? { type: "json_object" } : undefined,
    stop: options.stopSequences,
    seed: options.seed,
    reasoning_effort: options.providerOptions?.[COMPATIBLE]?.reasoningEffort,
    messages: options.prompt.flatMap(toMessages),
    tools: tools?.length ? tools.flatMap(toTools) : undefined,
    tool_choice: tools?.length ? toChoice(options.toolChoice) : undefined,
    stream: true,
    stream_options: { include_usage: true },
  };
  return {
    url: `${provider.baseUrl}/chat/completions`,
    headers: { authorization: `Bearer ${credential.key}` },
    body,
  };
};

function toMessages(message: SdkMessage): Message[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: toContent(message) }];
    case "assistant":
      return [toAnswer(message)];
    case "tool":
      return toResults(message);
    default:
      return assertNever(message);
  }
}

/** A text alone is sent as a text: not every server takes a list. */
function toContent({ content }: Person): unknown {
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return only.text;
  return content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${String(part.data)}` } },
  );
}

function toAnswer({ content }: Assistant): Message {
  let text = "";
  let reasoning = "";
  const calls: Message[] = [];
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") reasoning += part.text;
    else if (part.type === "tool-call") {
      const signature = part.providerOptions?.google?.thoughtSignature;
      calls.push({
        id: part.toolCallId,
        type: "function",
        function: { name: part.toolName, arguments: JSON.stringify(part.input) },
        ...(signature ? { extra_content: { google: { thought_signature: String(signature) } } } : {}),
      });
    }
  }
  return {
    role: "assistant",
    content: calls.length ? text || null : text,
    reasoning_content: reasoning || undefined,
    tool_calls: calls.length ? calls : undefined,
  };
}

function toResults({ content }: Results): Message[] {
  return content.flatMap((part): Message[] => {
    if (part.type !== "tool-result") return [];
    const { output } = part;
    const text = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify(output);
    return [{ role: "tool", tool_call_id: part.toolCallId, content: text }];
  });
}

function toTools(tool: NonNullable<SdkOptions["tools"]>[number]): Message[] {
  if (tool.type !== "function") return [];
  const { name, description, inputSchema: parameters } = tool;
  return [{ type: "function", function: { name, description, parameters } }];
}

function toChoice(choice: SdkOptions["toolChoice"]): unknown {
  return choice?.type === "tool" ? { type: "function", function: { name: choice.toolName } } : choice?.type;
}
