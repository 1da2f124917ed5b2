/**
 * `mcp_read`: what a server has to read (its resources), listed or one of them. Found by `tool_search` like the servers' tools, judged
 * by the same rules under the name `server/resource/ADDRESS`, and text from outside like everything a server says.
 */
import { z } from "zod";
import type { ActionPlan, Tool, ToolResult } from "../../../core/contracts/index.ts";
import { AppError } from "../../../core/domain/index.ts";
import { withoutHidden } from "../../../core/kit/index.ts";
import { visibleLine } from "../escape.ts";
import { parseInput } from "../input.ts";
import { labelled } from "../web/outside.ts";
import { addressTool } from "./listed/names.ts";

export interface ResourcePort {
  /** Whether this agent may read it. */
  mayRead(agent: string, server: string, address: string): boolean;
  definition(server: string): string;
  request(
    server: string,
    method: "resources/list" | "resources/read",
    params: object,
    signal: AbortSignal,
  ): Promise<unknown>;
}

const given = z.strictObject({ server: z.string().min(1).max(64), uri: z.string().min(1).max(2000).optional() });
const listed = z.looseObject({
  resources: z.array(
    z.looseObject({ uri: z.string(), name: z.string().optional(), description: z.string().optional() }),
  ),
});
const contents = z.looseObject({
  contents: z.array(z.looseObject({ uri: z.string(), text: z.string().optional(), blob: z.string().optional() })),
});
const MOST_LISTED = 200;
const MOST_ABOUT = 160;

export function createMcpRead(port: ResourcePort): Tool {
  return {
    spec: {
      name: "mcp_read",
      description: "Read a resource that an MCP server offers; without uri, list its resources.",
      input: {
        type: "object",
        properties: { server: { type: "string" }, uri: { type: "string", description: "omit to list" } },
        required: ["server"],
      },
    },
    repeat: "safe",
    words: { result: "outside", failure: "outside" },
    async plan(input, place): Promise<ActionPlan> {
      const { server, uri } = parseInput("mcp_read", given, input);
      const address = addressTool(server, `resource/${uri ?? ""}`);
      if (!port.mayRead(place.caller.agent, server, address)) {
        throw new AppError("TOOL_INPUT", {
          message: `There is no MCP server "${visibleLine(server)}" for you.`,
          hint: "Look for one with tool_search.",
          origin: "own",
        });
      }
      return {
        tool: "mcp",
        risk: "service",
        targets: [address],
        binding: { server, uri: uri ?? null, definition: port.definition(server) },
        shown: uri === undefined ? `List what ${server} has to read` : `Read ${visibleLine(uri)} of ${server}`,
      };
    },
    async run(input, place, key, signal): Promise<ToolResult> {
      const { server, uri } = parseInput("mcp_read", given, input);
      const text = uri === undefined ? await list(port, server, signal) : await read(port, server, uri, signal);
      const label = uri === undefined ? `Resources of ${server}` : `${uri} of ${server}`;
      return { text: (await labelled({ label, text, place, key })).text, origin: "outside" };
    },
  };
}

async function list(port: ResourcePort, server: string, signal: AbortSignal): Promise<string> {
  const found = listed.safeParse(await port.request(server, "resources/list", {}, signal));
  if (!found.success) throw unreadable(server);
  const lines = found.data.resources.slice(0, MOST_LISTED).map(({ uri, name, description }) => {
    const about = [name, description].filter(Boolean).join(": ").slice(0, MOST_ABOUT);
    return visibleLine(withoutHidden(`${uri}${about ? `  ${about}` : ""}`));
  });
  return lines.join("\n") || "It has nothing to read.";
}

async function read(port: ResourcePort, server: string, uri: string, signal: AbortSignal): Promise<string> {
  const found = contents.safeParse(await port.request(server, "resources/read", { uri }, signal));
  if (!found.success) throw unreadable(server);
  return found.data.contents.map((one) => one.text ?? `[${visibleLine(one.uri)}: not text]`).join("\n");
}

function unreadable(server: string): AppError {
  return new AppError("TOOL_INPUT", { message: `${server} answered in a way that can't be read.`, origin: "own" });
}
