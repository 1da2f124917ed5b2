/** The official MCP client at the server face of a Lares under test, in either era of the protocol. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { PROGRAM } from "./lares.ts";

export type Era = "legacy" | "modern";
export const ERAS: readonly Era[] = ["legacy", "modern"];

export interface Called {
  text: string;
  isError: boolean;
  /** The structured result. */
  out: Record<string, unknown>;
}

export interface McpClient {
  client: Client;
  names(): Promise<string[]>;
  call(name: string, input?: object, options?: { onprogress?: (message: string) => void }): Promise<Called>;
  read(uri: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

export async function openMcp(url: string, token: string, era: Era): Promise<McpClient> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  return connectMcp(transport, era);
}

export async function connectMcp(transport: Parameters<Client["connect"]>[0], era: Era): Promise<McpClient> {
  const client = new Client(
    { name: "a test", version: "1" },
    { versionNegotiation: { mode: era === "legacy" ? "legacy" : "auto" } },
  );
  await client.connect(transport);
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async call(name, input = {}, options = {}) {
      const { onprogress } = options;
      const result = await client.callTool(
        { name, arguments: input as Record<string, unknown> },
        onprogress ? { onprogress: ({ message }) => onprogress(message ?? "") } : {},
      );
      const [first] = result.content;
      return {
        text: first?.type === "text" ? first.text : "",
        isError: result.isError === true,
        out: (result.structuredContent ?? {}) as Record<string, unknown>,
      };
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      const [first] = contents;
      return JSON.parse(first && "text" in first ? first.text : "{}") as Record<string, unknown>;
    },
    close: () => client.close(),
  };
}

/** Through `lares mcp serve`, as a program that starts it would be. */
export async function openMcpBridge(
  at: { home: string; token: string },
  era: Era,
): Promise<McpClient & { pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, "mcp", "serve", "--home", at.home],
    env: { PATH: process.env.PATH ?? "", HOME: at.home, LARES_TOKEN: at.token },
    stderr: "inherit",
  });
  const opened = await connectMcp(transport, era);
  return { ...opened, pid: transport.pid ?? 0 };
}
