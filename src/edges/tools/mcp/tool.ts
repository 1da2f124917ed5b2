/**
 * One tool of an MCP server as a tool of ours: planned, judged and recorded like any other. What it says is text from outside.
 *
 * MCP-12: the plan is bound to the tool's digest, the server's definition and the exact arguments.
 */
import {
  type ActionPlan,
  OutcomeUnknown,
  type Tool,
  type ToolPlace,
  type ToolResult,
} from "../../../core/contracts/index.ts";
import { AppError, assertNever, type ImagePart, type Json, type JsonObject } from "../../../core/domain/index.ts";
import { defined } from "../../../core/kit/index.ts";
import { visible } from "../escape.ts";
import { labelled } from "../web/outside.ts";
import { misfit } from "./arguments.ts";
import type { McpTool } from "./manifest.ts";
import { addressTool } from "./names.ts";
import type { CallOutcome, CallRequest } from "./peer.ts";
import { readAnswer } from "./result.ts";
import type { OfferedTool } from "./servers.ts";

export interface McpPort {
  /** Throws TOOL_INPUT when the tool isn't offered to this agent now. */
  find(agent: string, server: string, tool: string): OfferedTool;
  /** Changes with the program or address that answers. */
  definition(server: string): string;
  call(server: string, request: CallRequest): Promise<CallOutcome>;
  keepPicture(session: string, of: { name: string; bytes: Buffer }): Promise<ImagePart | undefined>;
}

export function createMcpTool(port: McpPort, offered: OfferedTool): Tool {
  const { server, tool, isRepeatable } = offered;
  const address = addressTool(server, tool.name);
  return {
    spec: { name: tool.modelName, description: tool.description || address, input: tool.input },
    repeat: isRepeatable ? "safe" : "never",
    // Failures too: what is wrong with arguments is said in words of the schema, which its server wrote.
    words: { result: "outside", failure: "outside" },
    async plan(input, place): Promise<ActionPlan> {
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
      const given = readArguments(address, tool, input);
      const outcome = await port.call(server, {
        ...{ tool: tool.name, digest: tool.digest, arguments: given, signal },
      });
      return tellOutcome(port, { offered, place, key }, outcome);
    },
  };
}

function readArguments(address: string, tool: McpTool, input: Json): JsonObject {
  const given = input ?? {};
  const problem = misfit({ type: "object", ...tool.input }, given);
  if (problem === undefined) return given as JsonObject;
  throw new AppError("TOOL_INPUT", {
    message: `${address}: ${problem}.`,
    hint: `It takes ${JSON.stringify(tool.input).slice(0, 2000)}`,
    retry: "after-change",
  });
}

async function tellOutcome(
  port: McpPort,
  { offered: { server, tool, isRepeatable }, place, key }: { offered: OfferedTool; place: ToolPlace; key: string },
  outcome: CallOutcome,
): Promise<ToolResult> {
  const address = addressTool(server, tool.name);
  switch (outcome.kind) {
    case "answered": {
      const { whole, pictures, meta, isError } = readAnswer(server, outcome.answer);
      const { text, spill } = await labelled({ label: `Answer of ${address}`, text: whole, place, key });
      const images: ImagePart[] = [];
      for (const [n, { bytes }] of pictures.entries()) {
        const kept = await port.keepPicture(place.caller.session, { name: `${tool.modelName}-${n + 1}`, bytes });
        if (kept) images.push(kept);
      }
      return {
        ...{ text, origin: "outside" },
        meta: { ...meta, ...defined({ spill }) },
        ...(isError ? { isError: true } : {}),
        ...(images.length > 0 ? { images } : {}),
      };
    }
    case "refused":
      return {
        ...(await labelled({ label: `${address} was not called, or refused`, text: outcome.why, place, key })),
        ...{ isError: true, origin: "outside" },
      };
    case "unknown": {
      const why = `${address} was called and did not answer (${firstLine(outcome.why)}).`;
      if (!isRepeatable) throw new OutcomeUnknown(why);
      return { text: `${why} It may be called again.`, isError: true, origin: "outside" };
    }
    case "input-required":
      return {
        text: `${address} wants to ask something first, which it can't do here. Nothing was done. Call it with all it needs.`,
        ...{ isError: true, origin: "own" },
      };
    default:
      return assertNever(outcome);
  }
}

function firstLine(text: string): string {
  return visible(text.split("\n", 1)[0]!.slice(0, 200));
}
