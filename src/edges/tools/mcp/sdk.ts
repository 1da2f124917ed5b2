/** The SDK as Lares uses it. Loaded with the first server that is wanted: it weighs 29 MB in memory and 150 ms to load. */
import { Client } from "@modelcontextprotocol/client";
import type { JsonObject, QuestionAnswer } from "../../../core/domain/index.ts";

export interface ClientOptions {
  version: string;
  /** How long the question about its era may take: a program that is fetched first needs a while. */
  probeMs: number;
  /** The folders a server may use, as it learns from us: the workspace, nothing else. */
  roots: readonly { uri: string; name: string }[];
  onToolsChanged(): void;
  /** A server of the older era asks a person something, in the middle of a call. */
  onQuestion(params: unknown): Promise<QuestionAnswer>;
}

export function createClient({ version, probeMs, roots, onToolsChanged, onQuestion }: ClientOptions): Client {
  const client = new Client(
    { name: "lares", version },
    {
      capabilities: { roots: {}, elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: probeMs } },
      // If a person must be asked, we ask, and the turn waits for them without a connection.
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { onChanged: onToolsChanged, autoRefresh: false } },
    },
  );
  client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const answer = await onQuestion(params);
    return answer.action === "accept" ? { action: "accept", content: plainContent(answer.content) } : answer;
  });
  return client;
}

/** What a form takes: no nesting. */
function plainContent(content: JsonObject): Record<string, string | number | boolean | string[]> {
  return content as Record<string, string | number | boolean | string[]>;
}
