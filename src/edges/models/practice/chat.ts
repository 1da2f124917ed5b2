/** Small talk of the practice model: honest about what it is, and how to get a real one. */
import { RULES } from "./rules.ts";
import { answerFromTold, type Told } from "./told.ts";

export const WHO = "I am the practice model: a list of rules inside Lares, not a language model.";
export const HOW =
  "To talk to a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY (or OLLAMA_BASE_URL for a local one) and start Lares again.";

interface Known {
  offered: ReadonlySet<string>;
  told: Told;
}

export function chat(text: string, known: Known): string {
  return byRule(text, known) ?? noRule(text);
}

/** Whether there is something to say to this. */
export function hasRule(text: string, told: Told): boolean {
  return byRule(text, { told, offered: new Set() }) !== undefined;
}

function byRule(text: string, { offered, told }: Known): string | undefined {
  const words = text.trim().toLowerCase();
  if (/^(hi|hello|hey|good (morning|afternoon|evening)|moin|hallo)\b/.test(words)) {
    const name = told.speaker ? `, ${told.speaker.name}` : "";
    return `Hello${name}! ${WHO} Ask "what can you do?" to see what can be tried.`;
  }
  if (/^(thanks|thank you|thx)\b/.test(words)) return `You are welcome. ${WHO}`;
  if (/^(bye|goodbye|good night|see you)\b/.test(words)) return "Goodbye. This conversation is kept.";
  if (/^\/?help\b|what can you do|what do you do|how does this work/.test(words)) return help(offered);
  if (/who are you|what are you|your name|are you (an? )?(ai|human|real)/.test(words)) return `${WHO} ${HOW}`;
  const answer = answerFromTold(text, told);
  return answer && `${answer} ${WHO}`;
}

function noRule(text: string): string {
  if (text.trim() === "") return `${WHO} I received no text.`;
  return `${WHO} I have no rule for what you wrote: "${shorten(text.trim())}". Ask "what can you do?" to see my rules. ${HOW}`;
}

function help(offered: ReadonlySet<string>): string {
  const examples = [
    ...RULES.filter((rule) => offered.has(rule.tool)).map((rule) => `- "${rule.example}"`),
    ...(offered.size ? ['- "what time is it?", "what day is it?", "who am I?", "where are we?"'] : []),
  ];
  const list =
    examples.length > 0
      ? `I understand sentences like these:\n${examples.join("\n")}`
      : "No tools are offered in this conversation, so I can only chat by rule.";
  return `${WHO} ${list}\n${HOW}`;
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
