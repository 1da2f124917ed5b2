/**
 * One tool of an MCP server as a tool of ours: planned, judged and recorded like any other. What it says is text from outside.
 *
 * MCP-12: the plan is bound to the tool's digest, the server's definition and the exact arguments.
 */
import type { ActionPlan, Tool, ToolCaller, ToolPlace } from "../../../core/contracts/index.ts";
import {
  AppError,
  type ImagePart,
  type Json,
  type JsonObject,
  type QuestionAnswer,
} from "../../../core/domain/index.ts";
import { asSentence, defined } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { misfit } from "./call/arguments.ts";
import type { CallOutcome, CallRequest } from "./call/call.ts";
import { type CallAt, goOn, tellOutcome } from "./call/outcome.ts";
import type { McpTool } from "./listed/manifest.ts";
import { addressTool } from "./listed/names.ts";
import type { Sampled } from "./sampling/sampling.ts";
import type { OfferedTool } from "./servers.ts";
import { endTask, findTask, type TaskPort } from "./tasks/outcome.ts";

export interface McpPort extends TaskPort {
  /** Whether the owner lets this server have a model write for it. */
  samples(server: string): boolean;
  sample(server: string, asked: { caller: ToolCaller; params: unknown }, signal: AbortSignal): Promise<Sampled>;
  /** A person agreed to it. */
  allowSampling(server: string): void;
  /** Throws TOOL_INPUT when the tool isn't offered to this agent now. */
  find(agent: string, server: string, tool: string): OfferedTool;
  call(server: string, request: CallRequest): Promise<CallOutcome>;
  /** Goes on with a call that a server of the older era holds open. */
  answer(server: string, key: string, given: QuestionAnswer, signal: AbortSignal): Promise<CallOutcome>;
  /** Says once per id what only the owner can put right. False where it has to come with the turn's answer. */
  tellOwner(caller: ToolCaller, notice: { id: string; text: string }): Promise<boolean>;
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
        ...sampling(place, signal),
      }),
  });
  const sampling = ({ caller }: ToolPlace, signal: AbortSignal): Pick<CallRequest, "onSample"> => ({
    onSample: {
      ask: (params) => port.sample(server, { caller, params }, signal),
      allow: () => port.allowSampling(server),
    },
  });
  const run: Tool["run"] = async (input, place, key, signal) => {
    const request = { tool: tool.name, digest: tool.digest, arguments: readArguments(address, tool, input) };
    const outcome = await port.call(server, {
      ...request,
      key,
      signal,
      ...reporting(place),
      ...sampling(place, signal),
    });
    return tellOutcome(callAt(input, place, key, signal), outcome);
  };
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
    // A repeatable call runs again after a crash, but not while the server still works on the first one.
    run: async (input, place, key, signal) =>
      (isRepeatable ? await findTask(port, offered, key) : undefined) ?? run(input, place, key, signal),
    async probe(input, place, key, { signal }) {
      const ok =
        (await findTask(port, offered, key)) ?? (isRepeatable ? await run(input, place, key, signal) : undefined);
      return ok && { ok };
    },
    after: (_input, place, { on }) => endTask(port, offered, place, on),
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
    message: asSentence(`${address}: ${problem}`),
    hint: `It takes ${JSON.stringify(tool.input).slice(0, 2000)}`,
    retry: "after-change",
  });
}
