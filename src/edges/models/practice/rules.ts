/** The plain words the practice model understands, as a table. The first rule that matches counts, so order matters. */
import type { JsonObject } from "../../../core/domain/index.ts";

export interface Rule {
  tool: string;
  pattern: RegExp;
  /** The tool's input from the words that matched; undefined when they make no sense after all. */
  input(found: Record<string, string | undefined>): JsonObject | undefined;
  /** A sentence that matches, shown as help. */
  example: string;
}

/** A path in words, with or without quotes: no spaces unless it is quoted. */
const PATH = String.raw`(?:"(?<quoted>[^"]+)"|'(?<single>[^']+)'|(?<bare>[^\s"'-][^\s"']*?))`;
const path = (found: Record<string, string | undefined>): string => found.quoted ?? found.single ?? found.bare ?? ".";
const END = String.raw`\s*[.?!]?$`;
const PLEASE = String.raw`^(?:please\s+|can you\s+|could you\s+)?`;

const rule = (tool: string, example: string, pattern: string, input: Rule["input"]): Rule => ({
  tool,
  example,
  pattern: new RegExp(PLEASE + pattern, "is"),
  input,
});

export const RULES: readonly Rule[] = [
  rule(
    "web_fetch",
    "fetch https://example.com",
    String.raw`(?:fetch|get|read|open)(?: the)?(?: page| site| url)? (?<url>https?:\/\/\S+)`,
    ({ url }) => ({ url: url! }),
  ),
  rule(
    "read",
    "use the skill deploy",
    `(?:use|read|follow|try)(?: the| my)? skill[:\\s]+(?<name>[a-z0-9-]+)${END}`,
    ({ name }) => ({
      path: `skill:${name!.toLowerCase()}`,
    }),
  ),
  rule(
    "sessions_spawn",
    "ask a sub-agent to list files",
    "(?:ask|tell|have) (?:a|another) (?:sub-?agent|helper|agent) to (?<task>.+)",
    ({ task }) => ({ task: task! }),
  ),
  rule("schedule_list", "what is scheduled", `(?:what is|what's|show what is) (?:scheduled|planned)${END}`, () => ({})),
  rule(
    "schedule_add",
    "remind me in 2 minutes to drink water",
    String.raw`remind me (?:(?<when>in (?:\d+|an?|one|two|three|five|ten|half an)\s*\w+)|at (?<at>[\w: -]+?)|every (?<every>[\w: ]+?)|(?<day>tomorrow[\w: ]*?)) (?:to|about|that) (?<text>.+)`,
    ({ when, at, every, day, text }) => ({
      text: text!.trim(),
      ...(when ? { in: when.slice(3) } : {}),
      ...(at ? { at } : {}),
      ...(day ? { at: day } : {}),
      ...(every ? { every } : {}),
    }),
  ),
  rule(
    "memory_search",
    "what do you remember about tea?",
    String.raw`(?:what do you (?:remember|know)|do you remember)(?: about| of)?\s*(?<query>.*?)${END}`,
    ({ query }) => ({ query: query || "everything" }),
  ),
  rule(
    "memory_save",
    "remember that I like green tea",
    String.raw`remember(?: that)?[:\s]+(?<text>.+)`,
    ({ text }) => ({
      text: text!.trim(),
    }),
  ),
  rule(
    "write",
    "create file hello.txt with Hello there",
    String.raw`(?:create|make|write)(?: a| the)?(?: new)? file(?: called| named)? ${PATH} (?:with|containing|saying)(?: the)?(?: content| text| contents)?[:\s]+(?<content>.+)`,
    (found) => ({ path: path(found), content: unquote(found.content!) }),
  ),
  rule(
    "write",
    "write hello to notes.txt",
    `(?:write|save|put) (?<content>.+) (?:to|into|in)(?: the)?(?: file)? ${PATH}${END}`,
    (found) => ({ path: path(found), content: unquote(found.content!) }),
  ),
  rule(
    "edit",
    "replace hello with goodbye in notes.txt",
    `(?:replace|change) (?<all>all |every )?(?<old>.+?) (?:with|to|by) (?<new>.+) in(?: the)?(?: file)? ${PATH}${END}`,
    (found) => ({
      path: path(found),
      old: unquote(found.old!),
      new: unquote(found.new!),
      ...(found.all ? { all: true } : {}),
    }),
  ),
  rule(
    "search",
    "search for TODO in src",
    `(?:search(?: for)?|look for|grep(?: for)?) (?<pattern>"[^"]+"|.+?)(?: (?:in|under|inside)(?: the)?(?: folder| directory)? ${PATH})?${END}`,
    (found) => ({
      pattern: unquote(found.pattern!),
      ...(found.quoted || found.single || found.bare ? { path: path(found) } : {}),
    }),
  ),
  rule(
    "list",
    "list files in src",
    `(?:list|ls|show)(?: me)?(?: all| the| my)?(?: files?| folder| directory| contents?)*(?: in| of| under)?(?: the)?(?: folder| directory)?(?: ${PATH})?${END}`,
    (found) => ({ path: path(found) }),
  ),
  rule(
    "read",
    "read notes.txt",
    `(?:read|open|cat|what is in|what's in)(?: the)?(?: file)? ${PATH}${END}`,
    (found) => ({ path: path(found) }),
  ),
  rule(
    "exec",
    "run ls -la",
    String.raw`(?:run|execute|exec)(?: the)?(?: command)?[:\s]+(?<command>.+)`,
    ({ command }) => ({ command: unquote(command!) }),
  ),
];

/** The patterns look back and forth; on a pasted book they would do so for minutes. */
const LONGEST = 4_000;

export function matchRule(text: string): { tool: string; input: JsonObject } | undefined {
  const words = text.trim();
  if (words.length > LONGEST) return undefined;
  for (const candidate of RULES) {
    const found = candidate.pattern.exec(words);
    if (!found) continue;
    const input = candidate.input(found.groups ?? {});
    if (input) return { tool: candidate.tool, input };
  }
  return undefined;
}

/** Quotes or backticks around the whole are for the reader, not for the tool. */
function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])(?:(?!\1).)*\1$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}
