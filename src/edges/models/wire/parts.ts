/** A request in parts, for people: read off what the provider library is given and what it wrote, so nothing is shown that is not sent. */

import type { RequestPart } from "../../../core/contracts/index.ts";
import { assertNever } from "../../../core/domain/index.ts";
import type { Api } from "../providers.ts";
import { ENVELOPE } from "./convert.ts";
import type { SdkMessage, SdkOptions, SdkProviderOptions, SdkTool } from "./sdk.ts";

/** `written`: each tool as it stands in the body. */
export function listParts(
  options: Pick<SdkOptions, "prompt" | "tools">,
  notes: string | undefined,
  written: readonly unknown[],
): RequestPart[] {
  const parts = (options.tools ?? []).map((tool, i) => toolPart(tool, written[i]));
  let at = 0;
  for (const message of options.prompt) {
    if (message.role === "system") parts.push(...splitSections(message.content, marked(message)));
    else parts.push(...messageParts(message, at++, notes));
  }
  return parts;
}

/**
 * The tools in a request's body. Each protocol has its own names for their fields, and Google's its own form of schema, so they
 * are read off what the library wrote.
 */
export function toolsIn(body: string, api: Api): readonly unknown[] {
  const { tools = [] } = JSON.parse(body) as { tools?: readonly unknown[] };
  if (api !== "google") return tools;
  return tools.flatMap((one) => (one as { functionDeclarations?: readonly unknown[] }).functionDeclarations ?? []);
}

function toolPart(tool: SdkTool, written: unknown): RequestPart {
  return {
    kind: "tool",
    name: tool.name,
    text: JSON.stringify(written),
    ...(tool.type === "function" ? marked(tool) : {}),
  };
}

/** The instructions by their headings; together the parts are the whole text. The mark stands behind the last. */
function splitSections(text: string, mark: { mark?: true }): RequestPart[] {
  const [first = "", ...rest] = text.split(/(?<=\n)(?=# )/);
  // What only parts it from the text before belongs to the first heading.
  const sections = first.trim() === "" && rest.length ? [first + rest[0], ...rest.slice(1)] : [first, ...rest];
  return sections.map((section, i) => {
    const [, title] = /^\s*# ([^\n]*)/.exec(section) ?? [];
    return {
      kind: "instructions",
      ...(title ? { name: title.trim() } : {}),
      text: section,
      ...(i === sections.length - 1 ? mark : {}),
    };
  });
}

type Content = Exclude<Exclude<SdkMessage, { role: "system" }>["content"][number], { type: "tool-approval-response" }>;

function messageParts(
  message: Exclude<SdkMessage, { role: "system" }>,
  at: number,
  notes: string | undefined,
): RequestPart[] {
  const parts = message.content.map((part): RequestPart => {
    const { kind, ...more } = toPiece(part as Content, message.role);
    // The notes lead the first message of all.
    const isNotes = at === 0 && kind === "text" && more.text === notes;
    return { kind: isNotes ? "notes" : kind, message: at, ...more, ...marked(part) };
  });
  // A mark on the message counts for its last part.
  if (parts.length && marked(message).mark) parts.at(-1)!.mark = true;
  return parts;
}

function toPiece(part: Content, role: "user" | "assistant" | "tool"): Pick<RequestPart, "kind" | "name" | "text"> {
  switch (part.type) {
    case "text":
      if (role === "assistant") return { kind: "answer", text: part.text };
      return { kind: ENVELOPE.test(part.text) ? "envelope" : "text", text: part.text };
    case "reasoning":
      return { kind: "thinking", text: part.text };
    case "tool-call":
      return { kind: "call", name: part.toolName, text: JSON.stringify(part.input) };
    case "tool-result":
      return { kind: "result", name: part.toolName, text: resultText(part.output) };
    case "file":
      return { kind: "picture", text: part.mediaType };
    default:
      return assertNever(part);
  }
}

type Output = Extract<Content, { type: "tool-result" }>["output"];

function resultText(output: Output): string {
  if (output.type === "text" || output.type === "error-text") return output.value;
  if (output.type !== "content") return JSON.stringify(output);
  return output.value
    .map((piece) => {
      if (piece.type === "text") return piece.text;
      if ("mediaType" in piece) return `[${piece.mediaType}]`;
      return "";
    })
    .join("\n");
}

function marked(of: { providerOptions?: SdkProviderOptions | undefined }): { mark?: true } {
  return of.providerOptions?.anthropic?.cacheControl ? { mark: true } : {};
}
