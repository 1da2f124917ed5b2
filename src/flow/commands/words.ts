/** What slash commands answer. Their own one-line descriptions stand in the table of commands, where /help reads them. */
import { type AccountKey, toAccountName } from "../../core/domain/index.ts";

export const NOTHING_RUNS = "Nothing is running.";
export const RELOADED = "Reloaded. Your next message uses the agent's current files, skills and tools.";
export const CLEARED = "Context cleared. Earlier messages stay in the history.";
export const NOTHING_TO_EXPORT = "Nothing to export here yet.";
export const CODE_MISSING = "Add the code: /pair K7QW2MXA.";
export const ONLY_OWNER_ACCEPTS = "Only the owner can accept people.";
export const MAY_NOT_ANSWER = "You can't answer approvals here.";
export const ANSWERED = "Thanks, I passed on your answer.";
export const NOTHING_WAITS = "Nothing is waiting for an answer here.";
export const NOTHING_TO_COMPACT = "Nothing to compact here yet.";
/** Behind every word about a command that isn't there. Quotes let everything through; two slashes don't let a command through. */
const WAY_OUT = "All commands: /help. To say it to the agent, put it in quotes.";

export function accepted(who: AccountKey & { sender: string }): string {
  return `${who.sender} may now write to ${toAccountName(who)}.`;
}

export function stopping(subAgents: number): string {
  if (subAgents === 0) return "Stopping.";
  return subAgents === 1 ? "Stopping, with a sub-agent." : `Stopping, with ${subAgents} sub-agents.`;
}

export function chooseLevel(levels: readonly string[]): string {
  return `Use one of ${levels.join(", ")}.`;
}

export function notForStrangers(command: string): string {
  return `/${command} is only for people the owner has accepted.`;
}

export function didYouMean(word: string, near: string): string {
  return `There is no command /${word}. Did you mean /${near}? ${WAY_OUT}`;
}

export function oneSlash(near: string): string {
  return `Commands start with one slash. Did you mean /${near}? ${WAY_OUT}`;
}

export function noSuchCommand(word: string): string {
  return `There is no command /${word}. ${WAY_OUT}`;
}

/** Each with what it is about: the cards in the chat may have buttons and no codes. */
export function chooseQuestion(answers: readonly { say: string; about: string }[]): string {
  const lines = answers.map(({ say, about }) => `${say} – ${about}`);
  return ["More than one question is open. Choose one:", ...lines].join("\n");
}

/** What the agent reads instead of the command. */
export function usedPrompt(prompt: string, text: string): string {
  return `Use this prompt (${prompt}):\n\n${text}`;
}

export function settled(isAllowed: boolean, tool: string): string {
  return isAllowed ? `Allowed: ${tool}.` : `Denied: ${tool}.`;
}

export function modelInUse({
  model,
  isDefault,
  thinking,
}: {
  model: string;
  isDefault: boolean;
  thinking: string;
}): string {
  return `Using ${model}${isDefault ? " (the default)" : ""}; thinking ${thinking}.`;
}

export type CompactedSession =
  | { made: false }
  | { made: true; how: "summary" | "extract" | "mixed"; messages: number; before: number; after: number };

const COMPACTED_HOW = {
  extract: "by rules, without a model",
  mixed: "partly by rules",
  summary: "by a model",
} as const;

export function compactedInWords(done: CompactedSession | undefined): string {
  if (!done) return "Still compacting in the background.";
  if (!done.made) return NOTHING_TO_COMPACT;
  return `Compacted ${done.messages} older messages (${COMPACTED_HOW[done.how]}): ${done.before} → ${done.after} tokens. They stay in the history; /compact undo brings them back for the model.`;
}

export function undone(messages: number): string {
  return `Undone: the model sees ${messages} messages in full again.`;
}

export interface UsedUp {
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  cost: number | null;
  /** Calls whose price nobody knows. */
  unknownPrice: number;
}

export function usageInWords(u: UsedUp): string {
  const read = u.inputTokens + u.cacheReadTokens + u.cacheWriteTokens;
  return `${u.calls} model ${u.calls === 1 ? "call" : "calls"}, ${read} tokens in (${u.cacheReadTokens} from cache), ${u.outputTokens} out, ${priceInWords(u)}.`;
}

function priceInWords({ cost, unknownPrice }: UsedUp): string {
  if (cost === null) return "price unknown";
  if (unknownPrice > 0) return `$${cost.toFixed(4)}, unknown for ${calls(unknownPrice)}`;
  return cost === 0 ? "free" : `$${cost.toFixed(4)}`;
}

function calls(n: number): string {
  return n === 1 ? "1 call" : `${n} calls`;
}

/** What /status says. */
export function statusInWords(now: {
  isRunning: boolean;
  open: number;
  waiting: readonly { tool: string; code: string }[];
  model: { id: string; practice?: boolean | undefined };
}): string {
  return [
    now.isRunning ? "Working on your message." : "Idle.",
    now.open > 1 ? `${now.open} messages are open.` : "",
    ...now.waiting.map(({ tool, code }) => `Waiting for you: ${tool} (${code}).`),
    `Model: ${now.model.id}${now.model.practice ? " (practice, not a language model)" : ""}.`,
  ]
    .filter(Boolean)
    .join("\n");
}
