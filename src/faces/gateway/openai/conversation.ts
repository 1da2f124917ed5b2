/**
 * From the messages of an OpenAI request to `chat.send`. Both doors (chat completions, responses) are first brought to one
 * list of `Said`; what is new is the message, what was before is the caller's history.
 *
 * OPENAI-1: with tools of its own the caller drives: ours are not offered, a call ends the turn, and the next request brings the
 *      outcomes.
 * OPENAI-2: a request that brings its own conversation (no `user`, or tools) is a separate conversation: nothing is mixed.
 */
import type { Context } from "hono";
import {
  type AnswerSettings,
  AppError,
  asObject,
  type Given,
  hasWords,
  type JsonObject,
  type ModelMessage,
  type ToolResultPart,
} from "../../../core/domain/index.ts";
import { defined, truthy } from "../../../core/kit/index.ts";
import type { Params } from "../../../core/protocol/index.ts";
import { toCaller } from "../call.ts";
import type { HttpEnv } from "../http.ts";
import type { GatewayParts } from "../ports.ts";
import { bring, MOST_FILES, type RequestedFile } from "./files.ts";
import type { Chosen } from "./known.ts";

export type SaidMessage =
  | { role: "system"; text: string }
  | { role: "user"; text: string; files: RequestedFile[] }
  | { role: "assistant"; text: string; calls: { id: string; name: string; input: string }[] }
  | { role: "tool"; id: string; text: string };

export interface ClientTool {
  name: string;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
}

export interface ChatRequest {
  /** The agent or model that `model` means. */
  chosen: Chosen;
  said: SaidMessage[];
  settings: AnswerSettings;
  instructions?: string | undefined;
  /** Chooses the session. */
  user?: string | undefined;
  /** Goes on in this session. */
  session?: string | undefined;
  tools?: ClientTool[] | undefined;
  /** `none`, `auto`, `required`, or the name of one tool. */
  toolChoice?: string | undefined;
  key?: string | undefined;
}

/** What people see in the session when a request brought outcomes and no words. */
const RESULTS_LABEL = "Outcomes of the caller's tools";

/** Words in base64 are a third longer than their bytes. */
export function mostBytes(parts: GatewayParts): number {
  return parts.config().http.maxBodyBytes + Math.ceil((parts.attachments.mostBytes * 4) / 3);
}

/** The same, with the pictures and files as attachments. They are taken in last: a request that is wrong leaves nothing. */
export async function asChatWithFiles(
  c: Context<HttpEnv>,
  parts: GatewayParts,
  asked: ChatRequest,
): Promise<Params<"chat.send">> {
  const params = asChat(asked);
  const files = listFiles(asked, params.once === true);
  if (!files.length) return params;
  const { principal, signal } = toCaller(c);
  if (!principal.scopes.has("write"))
    throw new AppError("FORBIDDEN", { message: '"chat.send" needs the right "write".' });
  return { ...params, attachments: await bring(parts, principal, files, signal) };
}

/** Those of the new message; and in a conversation the caller keeps itself, the newest of those before it. */
function listFiles({ said }: ChatRequest, isOwn: boolean): RequestedFile[] {
  const all = said.map((m) => (m.role === "user" ? m.files : []));
  const files = isOwn ? all.flat() : (all.at(-1) ?? []);
  if ((all.at(-1)?.length ?? 0) > MOST_FILES) {
    throw new AppError("BAD_REQUEST", {
      message: `A message takes up to ${MOST_FILES} pictures and files.`,
      hint: "Send the others with the next one.",
      details: { field: "messages" },
    });
  }
  return files.slice(-MOST_FILES);
}

function asChat(asked: ChatRequest): Params<"chat.send"> {
  const { said, user, session, key } = asked;
  const instructions = [asked.instructions, ...said.map((m) => (m.role === "system" ? m.text : ""))];
  const talk = said.filter((m) => m.role !== "system");
  const last = talk.at(-1);
  if (!last || last.role === "assistant" || (last.role === "user" && !hasWords(last.text) && !last.files.length)) {
    throw new AppError("BAD_REQUEST", {
      message: "The last message is not a user's message with text, nor the outcome of a tool call.",
      hint: "End the messages with one of these.",
      details: { field: "messages" },
    });
  }
  const bringsTools = asked.tools !== undefined || talk.some((m) => m.role === "tool");
  const isOwn = !session && (!user || bringsTools);
  const { before, results, text } = split(talk);
  const given = makeGiven(
    { ...asked, instructions: instructions.filter(Boolean).join("\n\n") },
    isOwn ? before : [],
    results,
    !text && last.role === "tool",
  );
  const without = isOwn ? { once: true } : { user: user! };
  return {
    message: text || (last.role === "user" ? "" : RESULTS_LABEL),
    ...(session ? { session } : without),
    ...asked.chosen,
    ...truthy({ idempotencyKey: key }),
    ...(Object.keys(given).length ? { given: given as NonNullable<Params<"chat.send">["given"]> } : {}),
  };
}

/** The new words are the user messages at the end; outcomes of tools directly before them are new too. */
function split(talk: SaidMessage[]): {
  before: SaidMessage[];
  results: Extract<SaidMessage, { role: "tool" }>[];
  text: string;
} {
  let at = talk.length;
  const last = talk.at(-1)!;
  // Only the last user message is new: what was before it, the caller only repeats.
  if (last.role === "user") at--;
  let from = at;
  while (from > 0 && talk[from - 1]!.role === "tool") from--;
  return {
    before: talk.slice(0, from),
    results: talk.slice(from, at) as Extract<SaidMessage, { role: "tool" }>[],
    text: last.role === "user" ? last.text : "",
  };
}

function makeGiven(
  asked: ChatRequest,
  before: SaidMessage[],
  results: { id: string; text: string }[],
  silent: boolean,
): Given {
  const names = new Map(
    before.flatMap((m) => (m.role === "assistant" ? m.calls.map((c) => [c.id, c.name] as const) : [])),
  );
  const history = before.flatMap((m): ModelMessage[] => {
    if (m.role === "user") return [{ role: "user", content: [{ type: "text", text: m.text + attachedLine(m.files) }] }];
    if (m.role === "tool") return [{ role: "tool", content: [outcome(m, names)] }];
    if (m.role !== "assistant") return [];
    const calls = m.calls.map((c) => ({
      type: "tool-call" as const,
      id: c.id,
      name: c.name,
      input: parseInput(c.input),
    }));
    const text = m.text ? [{ type: "text" as const, text: m.text }] : [];
    return text.length + calls.length ? [{ role: "assistant", content: [...text, ...calls] }] : [];
  });
  const { tools, more, toolChoice } = choose(asked);
  const settings = { ...asked.settings, ...defined({ toolChoice }) };
  const instructions = [asked.instructions, more].filter(Boolean).join("\n\n");
  return {
    ...truthy({ instructions }),
    ...(history.length ? { history: joinResults(history) } : {}),
    ...(results.length ? { results: results.map((r) => outcome(r, names)) } : {}),
    ...truthy({ tools, silent }),
    ...(Object.keys(settings).length ? { settings } : {}),
  };
}

/** Where they were said they are only named: the pictures themselves come with the new message. */
function attachedLine(files: readonly RequestedFile[]): string {
  const names = files.map((f) => f.name ?? "a picture");
  return names.length ? `\n[Attached here: ${names.join(", ")}. Shown with the last message.]` : "";
}

/** A forced choice is a setting, and said in words as well: not every provider has the setting. */
function choose({ tools, toolChoice = "auto" }: ChatRequest): {
  tools?: Given["tools"];
  more?: string;
  toolChoice?: AnswerSettings["toolChoice"];
} {
  const isNamed = !["auto", "required", "none"].includes(toolChoice);
  if (toolChoice === "required" || isNamed) mustOffer(tools, isNamed ? toolChoice : undefined);
  if (!tools) return {};
  if (toolChoice === "none") return { tools: [] };
  const specs = (isNamed ? tools.filter((t) => t.name === toolChoice) : tools).map((t) => ({
    name: t.name,
    description: t.description ?? "",
    input: (t.parameters ?? { type: "object", properties: {} }) as JsonObject,
  }));
  if (toolChoice === "auto") return { tools: specs };
  const forced = isNamed ? { tool: toolChoice } : ("required" as const);
  return { tools: specs, more: "Answer by calling a tool, not in words.", toolChoice: forced };
}

function mustOffer(tools: readonly ClientTool[] | undefined, name: string | undefined): void {
  if (tools && (name === undefined || tools.some((tool) => tool.name === name))) return;
  throw new AppError("BAD_REQUEST", {
    message: name === undefined ? "A tool must be called, but none is given." : `There is no tool "${name}" to call.`,
    hint: "Give it in `tools`, or leave `tool_choice` out.",
    details: { field: "tool_choice" },
  });
}

function outcome(m: { id: string; text: string }, names: ReadonlyMap<string, string>): ToolResultPart {
  return { type: "tool-result", id: m.id, name: names.get(m.id) ?? "tool", text: m.text };
}

/** Outcomes of one reply's calls are one message, in whatever order they came. */
function joinResults(messages: ModelMessage[]): ModelMessage[] {
  const out: ModelMessage[] = [];
  for (const m of messages) {
    const last = out.at(-1);
    if (m.role === "tool" && last?.role === "tool") last.content.push(...m.content);
    else out.push(m);
  }
  return out;
}

function parseInput(text: string): JsonObject {
  try {
    return asObject(JSON.parse(text || "{}")) as JsonObject;
  } catch {
    return {};
  }
}
