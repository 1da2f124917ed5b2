/**
 * One tool of an MCP server as a tool of ours: planned, judged and recorded like any other. What it says is text from outside.
 *
 * MCP-12: the plan is bound to the tool's digest, the server's definition and the exact arguments.
 */
import type { ActionPlan, Tool, ToolPlace, ToolResult } from "../../../core/contracts/index.ts";
import {
  AppError,
  type ImagePart,
  type Json,
  type JsonObject,
  type QuestionAnswer,
} from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { misfit } from "./arguments.ts";
import type { McpTool } from "./manifest.ts";
import { addressTool } from "./names.ts";
import { type CallAt, goOn, tellOutcome } from "./outcome.ts";
import type { CallOutcome, CallRequest } from "./peer.ts";
import type { OfferedTool } from "./servers.ts";

export interface McpPort {
  /** Throws TOOL_INPUT when the tool isn't offered to this agent now. */
  find(agent: string, server: string, tool: string): OfferedTool;
  /** Changes with the program or address that answers. */
  definition(server: string): string;
  call(server: string, request: CallRequest): Promise<CallOutcome>;
  /** Goes on with a call that a server of the older era holds open. */
  answer(server: string, key: string, given: QuestionAnswer, signal: AbortSignal): Promise<CallOutcome>;
  /** The folders a server may use. */
  roots(): readonly { uri: string; name: string }[];
  keepPicture(session: string, of: { name: string; bytes: Buffer }): Promise<ImagePart | undefined>;
}

export function createMcpTool(port: McpPort, offered: OfferedTool): Tool {
  const { server, tool, isRepeatable } = offered;
  const address = addressTool(server, tool.name);
  const callAt = (input: Json, place: ToolPlace, key: string, signal: AbortSignal): CallAt => ({
    port,
    offered,
    place,
    key,
    signal,
    again: ({ responses, requestState }) =>
      port.call(server, {
        tool: tool.name,
        digest: tool.digest,
        arguments: readArguments(address, tool, input),
        key,
        signal,
        answers: { responses, ...defined({ state: requestState }) },
        ...reporting(place),
      }),
  });
  return {
    spec: { name: tool.modelName, description: tool.description || address, input: tool.input },
    repeat: isRepeatable ? "safe" : "never",
    // Failures too: what is wrong with arguments is said in words of the schema, which its server wrote.
    words: { result: "outside", failure: "outside" },
    async plan(input, place): Promise<ActionPlan> {
      // Looked up again for each plan: the server's list may have changed since the tool was offered.
      const now = port.find(place.caller.agent, server, tool.name);
      const given = readArguments(address, now.tool, input);
      return {
        tool: "mcp",
        risk: "service",
        targets: [address],
        shown: `Call ${address} with\n${visible(JSON.stringify(given, null, 2))}`,
        binding: {
          server,
          tool: tool.name,
          digest: now.tool.digest,
          definition: port.definition(server),
          arguments: given,
        },
        ...(now.tool.hints.isDestructive ? { destroys: true } : {}),
      };
    },
    async run(input, place, key, signal): Promise<ToolResult> {
      const request = { tool: tool.name, digest: tool.digest, arguments: readArguments(address, tool, input) };
      const outcome = await port.call(server, { ...request, key, signal, ...reporting(place) });
      return tellOutcome(callAt(input, place, key, signal), outcome);
    },
    goOn: (input, place, { state, answer }, key, signal) => goOn(callAt(input, place, key, signal), state, answer),
  };
}

function reporting({ onProgress }: ToolPlace): Pick<CallRequest, "onProgress"> {
  if (!onProgress) return {};
  return { onProgress: ({ progress, total, message }) => onProgress({ done: progress, total, text: message }) };
}

function readArguments(address: string, tool: McpTool, input: Json): JsonObject {
  const given = input ?? {};
  // Checked here, because servers answer a wrong argument in very different and often useless ways.
  const problem = misfit({ type: "object", ...tool.input }, given);
  if (problem === undefined) return given as JsonObject;
  throw new AppError("TOOL_INPUT", {
    message: `${address}: ${problem}.`,
    hint: `It takes ${JSON.stringify(tool.input).slice(0, 2000)}`,
    retry: "after-change",
  });
}
