/** The SDK as Lares uses it. Loaded with the first server that is wanted: it weighs 29 MB in memory and 150 ms to load. */
import { Client, type CreateMessageResult } from "@modelcontextprotocol/client";
import type { JsonObject, QuestionAnswer } from "../../../../core/domain/index.ts";
import { TASKS_EXTENSION } from "../tasks/wire.ts";

export interface ClientOptions {
  version: string;
  /** How long the question about its era may take: a program that is fetched first needs a while. */
  probeMs: number;
  /** The folders a server may use, as it learns from us. */
  roots: readonly { uri: string; name: string }[];
  onToolsChanged(): void;
  /** A server of the older era asks a person something, in the middle of a call. */
  onQuestion(params: unknown): Promise<QuestionAnswer>;
  /** A server wants text from a model. Absent: it may not. */
  onSample?: (params: unknown) => Promise<JsonObject>;
}

export function createClient(options: ClientOptions): Client {
  const { version, probeMs, roots, onToolsChanged, onQuestion, onSample } = options;
  const client = new Client(
    { name: "lares", version },
    {
      capabilities: {
        roots: {},
        elicitation: { form: {}, url: {} },
        extensions: { [TASKS_EXTENSION]: {} },
        ...(onSample ? { sampling: {} } : {}),
      },
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
  if (onSample)
    client.setRequestHandler("sampling/createMessage", async ({ params }) => {
      return (await onSample(params)) as CreateMessageResult;
    });
  return client;
}

/** What a form takes: no nesting. */
function plainContent(content: JsonObject): Record<string, string | number | boolean | string[]> {
  return content as Record<string, string | number | boolean | string[]>;
}
