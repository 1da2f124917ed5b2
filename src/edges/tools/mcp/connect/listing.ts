/** What a server offers, read page by page and without the SDK's schema, which refuses the whole list for one bad tool. */
import type { Client } from "@modelcontextprotocol/client";
import { type Manifest, MOST_TOOLS, readManifest } from "../listed/manifest.ts";
import { type McpPrompt, readPrompts } from "../listed/prompts.ts";
import { unjudged } from "./past-sdk.ts";

/** Pages of a list; a list without end is cut (the SDK's bound). */
const MOST_PAGES = 64;

export interface ServerLists {
  manifest: Manifest;
  prompts: McpPrompt[];
}

/** `timeout`: for each page. */
export async function listAll(client: Client, server: string, timeout: number): Promise<ServerLists> {
  const manifest = readManifest(server, await listTools(client, timeout));
  const prompts = client.getServerCapabilities()?.prompts ? await listPrompts(client, timeout) : [];
  return { manifest, prompts };
}

async function listTools(client: Client, timeout: number): Promise<unknown[]> {
  const { looseList } = await import("./loose.ts");
  const tools: unknown[] = [];
  let cursor: string | undefined;
  // A server that never ends its list must not keep us reading it.
  for (let page = 0; page < MOST_PAGES && tools.length <= MOST_TOOLS; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const found = await client.request({ method: unjudged("tools/list"), params }, looseList, { timeout });
    tools.push(...found.tools);
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

/** The first page: nobody types more names than that. A server that can't list them has none. */
async function listPrompts(client: Client, timeout: number): Promise<McpPrompt[]> {
  const { loosePrompts } = await import("./loose.ts");
  const found = await client
    .request({ method: unjudged("prompts/list"), params: {} }, loosePrompts, { timeout })
    .catch(() => undefined);
  return readPrompts(found?.prompts ?? []);
}
