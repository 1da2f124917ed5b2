/**
 * Notes for model families, as data, and only where public evidence shows a weakness that wording can fix. All others get the
 * same text. Chosen when the session's prompt is frozen; `agents.<id>.family` overrules the choice.
 */

import { z } from "zod";

export type Family = "claude" | "gpt" | "gemini" | "open" | "other";

/** By what a model's id contains; the first that fits. Ids come as `provider/model`, and proxies put names inside of names. */
const FAMILIES: readonly [Family, readonly string[]][] = [
  ["claude", ["claude"]],
  ["gemini", ["gemini", "gemma"]],
  ["gpt", ["gpt", "codex", "/o1", "/o3", "/o4"]],
  ["open", ["grok", "qwen", "glm", "deepseek", "kimi", "mistral", "mixtral", "minimax", "llama"]],
];

/** `auto` decides by the model's id. `none` is for a model that does worse with its family's note. */
const FAMILY_CHOICES = ["auto", "none", "claude", "gpt", "gemini", "open"] as const;
export type FamilyChoice = (typeof FAMILY_CHOICES)[number];
/** An agent's own choice. */
export const familyConfig = z
  .enum(FAMILY_CHOICES)
  .default("auto")
  .describe(
    "Which family's note and order of tools its model gets: by the model's name (auto), none, or that of claude, gpt, gemini or open (Qwen, Llama, DeepSeek and the like). Example: none",
  );

export function findFamily(model: string, choice: FamilyChoice = "auto"): Family {
  if (choice !== "auto") return choice === "none" ? "other" : choice;
  const id = model.toLowerCase();
  return FAMILIES.find(([, words]) => words.some((word) => id.includes(word)))?.[0] ?? "other";
}

/** Models that describe a plan and stop, or report a write they did not check. */
const ACT =
  "Call the tool in the same turn in which you say you will. Don't describe a call instead of making it. After you changed something outside, read it back before you say it's done. Copy names, paths and numbers exactly.";

const FAMILY_NOTES: Readonly<Record<Family, string>> = {
  claude: "",
  gpt: ACT,
  open: ACT,
  gemini:
    "Look at a file before you edit it. Use flags that make commands run without questions. Never reply with nothing after a tool result: say what it means.",
  other: "",
};

/** A small window gets only the note's first two sentences, which cover the most common problems. */
export function familyNote(family: Family, isSmall: boolean): string {
  const note = FAMILY_NOTES[family];
  return isSmall
    ? note
        .split(/(?<=\.) /)
        .slice(0, 2)
        .join(" ")
    : note;
}

/** Tools a family knows from its training come first; the order is all that differs. */
const TOOLS_FIRST: Readonly<Record<Family, readonly string[]>> = {
  gpt: ["exec", "apply_patch", "read"],
  claude: ["read", "edit", "exec"],
  gemini: ["read", "edit", "exec"],
  open: ["read", "edit", "exec"],
  other: [],
};

export function orderTools<T extends { name: string }>(family: Family, tools: readonly T[]): T[] {
  const first = TOOLS_FIRST[family];
  const rank = ({ name }: T) => {
    const at = first.indexOf(name);
    return at < 0 ? first.length : at;
  };
  return [...tools].sort((a, b) => rank(a) - rank(b));
}
