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
  rule("nothing_to_report", "report nothing", `(?:report nothing|nothing to report)${END}`, () => ({})),
  rule("stay_silent", "stay silent", `(?:stay silent|say nothing|be quiet)${END}`, () => ({ reason: "asked to" })),
  rule(
    "browser",
    "browse https://example.com",
    String.raw`(?:browse(?: to)?|open in the browser|show in the browser) (?<url>https?:\/\/\S+)`,
    ({ url }) => ({ action: "navigate", url: url! }),
  ),
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
  rule("sessions_list", "list the sub-agents", `(?:list|show)(?: me)?(?: the| my)? sub-?agents${END}`, () => ({})),
  rule(
    "sessions_stop",
    "stop the sub-agent sub:1:0",
    String.raw`(?:stop|end)(?: the)? sub-?agent (?<session>\S+?)${END}`,
    ({ session }) => ({ session: session! }),
  ),
  rule(
    "sessions_history",
    "what did the sub-agent sub:1:0 say",
    String.raw`what did(?: the)? sub-?agent (?<session>\S+) (?:say|do)${END}`,
    ({ session }) => ({ session: session! }),
  ),
  rule(
    "sessions_send",
    "tell the sub-agent sub:1:0 to hurry",
    String.raw`tell the sub-?agent (?<session>\S+) (?<text>.+)`,
    ({ session, text }) => ({ session: session!, text: text!.trim() }),
  ),
  rule(
    "wait",
    "wait 5 seconds",
    String.raw`wait(?: for)? (?<seconds>\d{1,4}) ?s(?:ec(?:ond)?s?)?${END}`,
    ({ seconds }) => ({ for: "time", seconds: Math.max(Number(seconds), 1) }),
  ),
  rule("wait", "wait for the sub-agents", `wait for(?: the| my)? sub-?agents?${END}`, () => ({ for: "agents" })),
  rule(
    "process",
    "what is running",
    `(?:what is|what's|show what is) running${END}|(?:list|show)(?: the| my)? processes${END}`,
    () => ({ action: "list" }),
  ),
  rule(
    "process",
    "stop the process p1",
    String.raw`(?:stop|end|kill)(?: the)? process (?<id>\S+?)${END}`,
    ({ id }) => ({ action: "kill", id: id! }),
  ),
  rule(
    "message",
    "send me a message: the kettle is on",
    String.raw`(?:send|write) me a message[:\s]+(?<text>.+)|message me[:\s]+(?<also>.+)`,
    ({ text, also }) => ({ text: unquote(text ?? also!) }),
  ),
  rule(
    "apply_patch",
    "apply this patch: *** Begin Patch",
    String.raw`apply (?:this|the) patch[:\s]+(?<patch>\*\*\* Begin Patch.*)`,
    ({ patch }) => ({ patch: patch!.trim() }),
  ),
  rule(
    "tool_search",
    "find a tool for schedules",
    `(?:find|is there|look for) a tool (?:for|to) (?<query>.+?)${END}`,
    ({ query }) => ({ query: query! }),
  ),
  rule(
    "tool_run",
    "run the tool sessions_list",
    String.raw`run the tool (?<name>\w+)(?: with (?<input>\{.*\}))?${END}`,
    ({ name, input }) => toolInput(name!, input),
  ),
  rule(
    "schedule_remove",
    "cancel the reminder water",
    `(?:cancel|remove|delete)(?: the| my)? (?:reminder|schedule|job) (?<name>.+?)${END}`,
    ({ name }) => ({ name: unquote(name!) }),
  ),
  rule(
    "schedule_update",
    "pause the reminder water",
    `(?<how>pause|resume)(?: the| my)? (?:reminder|schedule|job) (?<name>.+?)${END}`,
    ({ how, name }) => ({ name: unquote(name!), paused: how!.toLowerCase() === "pause" }),
  ),
  rule(
    "schedule_snooze",
    "snooze the reminder water for 10 minutes",
    String.raw`snooze(?: the| my)?(?: reminder| schedule| job)? (?<name>.+?) for (?<time>\d{1,4} \w+)${END}`,
    ({ name, time }) => ({ name: unquote(name!), in: time! }),
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
    "memory_forget",
    "forget what you know about tea",
    `forget (?:what you know )?about (?<about>.+?)${END}`,
    ({ about }) => ({ about: unquote(about!) }),
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
    "web_search",
    "search the web for tide tables",
    `(?:search|look on|look through) the (?:web|internet) for (?<query>.+?)${END}`,
    ({ query }) => ({ query: unquote(query!) }),
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
    "run sleep 60 in the background",
    String.raw`(?:run|execute|exec)(?: the)?(?: command)?[:\s]+(?<command>.+?) in the background${END}`,
    ({ command }) => ({ command: unquote(command!), background: true }),
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

/** A call the words ask for. */
export interface Wish {
  tool: string;
  input: JsonObject;
}

export function matchRule(text: string): Wish | undefined {
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

function toolInput(name: string, input: string | undefined): JsonObject | undefined {
  if (input === undefined) return { name, input: {} };
  try {
    return { name, input: JSON.parse(input) as JsonObject };
  } catch {
    return undefined;
  }
}

/** Quotes or backticks around the whole are for the reader, not for the tool. */
function unquote(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])(?:(?!\1).)*\1$/s.test(trimmed) ? trimmed.slice(1, -1) : trimmed;
}
