/** Small talk of the practice model: honest about what it is, and how to get a real one. */
import { hasWords } from "../../../core/domain/index.ts";
import { RULES } from "./rules/index.ts";
import { answerFromTold, inARow, type ToldFacts } from "./told.ts";

const WHO = "I am the practice model: a list of rules inside Lares, not a language model.";
const HOW =
  "To connect a real model, open Settings, Models in the web page, or run `lares onboard`. You can also set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or, for a local model, OLLAMA_BASE_URL, and restart Lares.";

interface Known {
  /** The tools it can call, directly or through `tool_run`. */
  offered: ReadonlySet<string>;
  told: ToldFacts;
}

export function chat(text: string, known: Known): string {
  return byRule(text, known) ?? noRule(text, known);
}

/** Whether there is something to say to this. */
export function hasRule(text: string, told: ToldFacts): boolean {
  return byRule(text, { told, offered: new Set() }) !== undefined;
}

function byRule(text: string, { offered, told }: Known): string | undefined {
  const answer = answerFromTold(text, told);
  if (answer) return inARow(answer, WHO);
  const words = text.trim().toLowerCase();
  if (/^(hi|hello|hey|good (morning|afternoon|evening)|moin|hallo)\b/.test(words)) {
    const name = told.speaker ? `, ${told.speaker.name}` : "";
    return `Hello${name}! ${WHO} Ask "what can you do?" to see what can be tried.`;
  }
  if (/^(thanks|thank you|thx)\b/.test(words)) return `You're welcome. ${WHO}`;
  if (/^(bye|goodbye|good night|see you)\b/.test(words))
    return "Goodbye. You can pick up this conversation at any time.";
  if (/^\/?help\b|what can you do|what do you do|how does this work/.test(words)) return help(offered);
  if (/who are you|what are you|your name|are you (an? )?(ai|human|real)/.test(words)) return `${WHO} ${HOW}`;
  return undefined;
}

function noRule(text: string, { offered }: Known): string {
  if (!hasWords(text)) return `${WHO} There was no text in your message.`;
  const some = FIRST_TRIES.filter(({ tool }) => offered.has(tool)).map(({ words }) => `"${words}"`);
  const tries = some.length ? ` Try ${some.join(", ")}, or ask "what can you do?" for the whole list.` : "";
  return `${WHO} I have no rule for "${shorten(text.trim())}".${tries}\n${HOW}`;
}

/** One of each kind, for somebody who has seen none of them. */
const FIRST_TRIES = [
  { tool: "list", words: "list files" },
  { tool: "exec", words: "run date" },
  { tool: "memory_save", words: "remember that I like green tea" },
  { tool: "schedule_add", words: "remind me in 2 minutes to drink water" },
];

/** What a tool needs before it is offered, where the owner can change that. */
const SET_UP: Readonly<Record<string, string>> = {
  web_search:
    'Web search isn\'t set up yet. Add a search service to lares.yaml: web.search with a provider (brave or tavily with a key, or searxng with its baseUrl). Until then, I can read a page you name: "fetch https://example.com".',
};

/** For words that ask for a tool that this conversation doesn't have. */
export function notOffered(tool: string): string {
  return SET_UP[tool] ?? `That needs the tool "${tool}", which isn't available in this conversation. ${WHO}`;
}

function help(offered: ReadonlySet<string>): string {
  const examples = [
    ...RULES.filter((rule) => offered.has(rule.tool)).map((rule) => `- ${rule.example}`),
    ...(offered.size ? ["- what time is it?", "- who am I and where are we?"] : []),
  ];
  const list =
    examples.length > 0
      ? `I understand sentences like these:\n${examples.join("\n")}`
      : "There are no tools in this conversation, so small talk is all I can do.";
  return `${WHO} ${list}\n${HOW}`;
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
