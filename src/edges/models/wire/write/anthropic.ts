/**
 * A request in the words of Anthropic's Messages protocol.
 *
 * WRITE-2: messages of one side that follow each other become one message: the roles alternate.
 * WRITE-3: an answer's calls stand behind its texts, but not on the other side of a thinking block: signatures cover the order.
 */
import { assertNever, isObject } from "../../../../core/domain/index.ts";
import { defined } from "../../../../core/kit/index.ts";
import type { SdkMessage, SdkOptions, SdkProviderOptions } from "../sdk.ts";
import { findAbilities, type ModelAbilities } from "./anthropic-models.ts";
import type { RequestWriter } from "./index.ts";

type Block = Record<string, unknown>;
type Turn = { role: "user" | "assistant"; content: Block[] };
type Content<Role extends SdkMessage["role"]> = Extract<SdkMessage, { role: Role }>["content"];
type Result = Extract<Content<"tool">[number], { type: "tool-result" }>;

export const writeAnthropic: RequestWriter = ({ provider, credential, modelId, options }) => {
  // What a schema may contain differs by model and is rewritten for them; only callers of the API ask for one.
  if (options.responseFormat?.type === "json" && options.responseFormat.schema) return undefined;
  const abilities = findAbilities(modelId);
  const {
    effort,
    toolStreaming = true,
    disableParallelToolUse,
  } = (options.providerOptions?.anthropic ?? {}) as {
    effort?: string;
    toolStreaming?: boolean;
    disableParallelToolUse?: boolean;
  };
  const thinking = thinkingFor(options, abilities);
  const isThinking = thinking !== undefined && thinking.type !== "disabled";
  const marks = new Marks();
  const system = options.prompt.flatMap((message) =>
    message.role === "system"
      ? [{ type: "text", text: message.content, cache_control: marks.take(message.providerOptions) }]
      : [],
  );
  const messages = toTurns(options.prompt, marks);
  const { tools, choice } = toolsFor(options, {
    marks,
    eager: toolStreaming,
    mayForce: abilities.forced && thinking?.type !== "enabled",
    ...(disableParallelToolUse ? { oneCall: true } : {}),
  });
  const body = {
    model: modelId,
    max_tokens: roomFor(options, thinking, abilities),
    ...sampling(options, isThinking, abilities),
    stop_sequences: options.stopSequences,
    thinking,
    output_config: effort ? { effort } : undefined,
    system: system.length ? system : undefined,
    messages,
    tools,
    tool_choice: choice,
    stream: true,
  };
  return {
    url: `${provider.baseUrl}/messages`,
    headers: {
      "anthropic-version": "2023-06-01",
      "x-api-key": credential.key,
      ...(tools && abilities.formats ? { "anthropic-beta": "structured-outputs-2025-11-13" } : {}),
    },
    body,
  };
};

/** Anthropic takes four marks. One that is too many is left out, the later ones first. */
class Marks {
  private left = 4;

  take(options: SdkProviderOptions | undefined): unknown {
    const mark = options?.anthropic?.cacheControl;
    if (!mark || this.left-- <= 0) return undefined;
    return mark;
  }
}

type Thinking = { type: string; budget_tokens?: number; display?: string };

/** What the model takes of what was asked for: the newest ones think in their own way only. */
function thinkingFor(options: SdkOptions, abilities: ModelAbilities): Thinking | undefined {
  const asked = options.providerOptions?.anthropic?.thinking as
    | { type: "disabled" | "enabled" | "adaptive"; budgetTokens?: number; display?: string }
    | undefined;
  if (!asked) return undefined;
  switch (asked.type) {
    case "disabled":
      if (abilities.off === "yes") return { type: "disabled" };
      return abilities.off === "between tools" ? { type: "between_tools" } : undefined;
    case "enabled":
      return abilities.budgets ? { type: "enabled", budget_tokens: asked.budgetTokens ?? 1024 } : { type: "adaptive" };
    case "adaptive":
      return { type: "adaptive", ...defined({ display: asked.display }) };
    default:
      return assertNever(asked.type);
  }
}

function roomFor(options: SdkOptions, thinking: Thinking | undefined, { most, isKnown }: ModelAbilities): number {
  const room = (options.maxOutputTokens ?? most) + (thinking?.budget_tokens ?? 0);
  return isKnown ? Math.min(room, most) : room;
}

function sampling({ temperature, topP }: SdkOptions, isThinking: boolean, abilities: ModelAbilities): Block {
  if (isThinking || !abilities.sampling) return {};
  if (temperature === undefined) return { top_p: topP };
  // Claude takes one of the two; others that speak this protocol may need both.
  return { temperature: Math.min(Math.max(temperature, 0), 1), top_p: abilities.isClaude ? undefined : topP };
}

function toolsFor(
  { tools, toolChoice }: SdkOptions,
  how: { marks: Marks; eager: boolean; mayForce: boolean; oneCall?: true },
): { tools?: Block[]; choice?: Block } {
  if (!tools?.length) return {};
  const written = tools.flatMap((tool): Block[] => {
    if (tool.type !== "function") return [];
    return [
      {
        name: tool.name,
        description: tool.description,
        input_schema: tool.inputSchema,
        cache_control: how.marks.take(tool.providerOptions),
        ...(how.eager ? { eager_input_streaming: true } : {}),
      },
    ];
  });
  const one = how.oneCall ? { disable_parallel_tool_use: true } : {};
  switch (toolChoice?.type) {
    case "auto":
      return { tools: written, choice: { type: "auto", ...one } };
    case "none":
      return { tools: written, choice: { type: "none" } };
    case "required":
      return { tools: written, choice: { type: how.mayForce ? "any" : "auto", ...one } };
    case "tool":
      if (how.mayForce) return { tools: written, choice: { type: "tool", name: toolChoice.toolName, ...one } };
      return { tools: written.filter((tool) => tool.name === toolChoice.toolName), choice: { type: "auto", ...one } };
    case undefined:
      return { tools: written, ...(how.oneCall ? { choice: { type: "auto", ...one } } : {}) };
    default:
      return assertNever(toolChoice);
  }
}

function toTurns(prompt: SdkOptions["prompt"], marks: Marks): Turn[] {
  const turns: Turn[] = [];
  for (const message of prompt) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, content: [] };
      turns.push(turn);
    }
    const { providerOptions } = message;
    message.content.forEach((part, i) => {
      const isLast = i === message.content.length - 1;
      const mark = marks.take(part.providerOptions) ?? (isLast ? marks.take(providerOptions) : undefined);
      const block = toBlock(part, mark);
      if (block) turn.content.push(block);
    });
  }
  trimAnswer(prompt.at(-1), turns.at(-1));
  for (const turn of turns) if (turn.role === "assistant") turn.content = callsLast(turn.content);
  return turns;
}

/** Blanks at the end of an answer that the model is to continue are refused; the library takes those at its beginning, too. */
function trimAnswer(message: SdkMessage | undefined, turn: Turn | undefined): void {
  const part = message?.role === "assistant" ? message.content.at(-1) : undefined;
  const block = turn?.content.at(-1);
  if (part?.type === "text" && block) block.text = part.text.trim();
}

type Part = Exclude<SdkMessage, { role: "system" }>["content"][number];

function toBlock(part: Part, mark: unknown): Block | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, cache_control: mark };
    case "file":
      return {
        type: "image",
        source: { type: "base64", media_type: part.mediaType, data: part.data },
        cache_control: mark,
      };
    case "reasoning":
      return toThought(part.text, part.providerOptions?.anthropic);
    case "tool-call":
      return {
        type: "tool_use",
        id: part.toolCallId,
        name: part.toolName,
        input: asObject(part.input),
        cache_control: mark,
      };
    case "tool-result":
      return toResult(part, mark);
    case "tool-approval-response":
      // The library's own way of asking people. Lares parks the turn instead, so none is ever written.
      throw new Error("an approval is no part of a request");
    default:
      return assertNever(part);
  }
}

/** Thinking without a signature can't be given back. Marks are not allowed on it. */
function toThought(thinking: string, meta: SdkProviderOptions[string] | undefined): Block | undefined {
  if (typeof meta?.signature === "string") return { type: "thinking", thinking, signature: meta.signature };
  return typeof meta?.redactedData === "string" ? { type: "redacted_thinking", data: meta.redactedData } : undefined;
}

function toResult({ toolCallId, output }: Result, mark: unknown): Block {
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: toResultContent(output),
    is_error: output.type === "error-text" ? true : undefined,
    cache_control: mark,
  };
}

function toResultContent(output: Result["output"]): unknown {
  if (output.type === "content") return output.value.map(toPiece);
  return "value" in output ? output.value : undefined;
}

function toPiece(piece: Extract<Result["output"], { type: "content" }>["value"][number]): Block | undefined {
  if (piece.type === "text") return { type: "text", text: piece.text };
  if (piece.type !== "image-data") return undefined;
  return { type: "image", source: { type: "base64", media_type: piece.mediaType, data: piece.data } };
}

/** An input that a model gave as a text is read as the object it should have been, where it can be. */
function asObject(input: unknown): unknown {
  if (typeof input !== "string") return input;
  try {
    const parsed: unknown = JSON.parse(input);
    return isObject(parsed) ? parsed : input;
  } catch {
    return input;
  }
}

function callsLast(blocks: Block[]): Block[] {
  const sorted: Block[] = [];
  let calls: Block[] = [];
  for (const block of blocks) {
    if (block.type === "tool_use") {
      calls.push(block);
      continue;
    }
    if (block.type === "thinking" || block.type === "redacted_thinking") {
      sorted.push(...calls);
      calls = [];
    }
    sorted.push(block);
  }
  return [...sorted, ...calls];
}
