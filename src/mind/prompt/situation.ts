/**
 * The situation decides which sentences a session's prompt contains. It is frozen with the prompt, so nothing in it may change
 * between turns.
 */

export type SituationKind =
  /** The owner alone with the agent. */
  | "owner"
  /** Somebody the owner let in, in a direct chat. */
  | "known"
  /** Somebody nobody vouched for, in a direct chat. */
  | "stranger"
  /** Several people can read the chat. */
  | "group"
  /** A run of a scheduled job, in its own session. */
  | "job"
  /** The heartbeat's session. */
  | "heartbeat"
  /** A sub-agent. */
  | "child"
  /** A program that supplies its own instructions, history or tools. */
  | "api";

export interface Situation {
  kind: SituationKind;
  /** In a group: whether every message reaches the agent, or only those that address it. */
  hears?: "all" | "mentions";
  /** A job that may end without sending anything. */
  isQuiet?: boolean;
  /** Names of the tools offered here, the ones found by search included. A sentence about any other tool is left out. */
  tools: ReadonlySet<string>;
  /** The model's window in tokens. */
  window: number;
}

/** Windows below this get the short built-in rules (and `tools` their short descriptions). */
export const SMALL_WINDOW = 16_000;

export function isSmall(situation: Pick<Situation, "window">): boolean {
  return situation.window < SMALL_WINDOW;
}

/** One task in its own session: nobody answers questions, and nobody reads anything after the final text. */
export function isSingleRun({ kind }: Pick<Situation, "kind">): boolean {
  return kind === "job" || kind === "child";
}

/** A sentence and the tools it mentions: without one of them, it would suggest a call that can't be made. */
export type Sentence = string | { text: string; needs: readonly string[] };

/** Joins the sentences that apply here into one paragraph. */
export function paragraph(tools: ReadonlySet<string>, ...sentences: (Sentence | undefined | false)[]): string {
  return sentences
    .flatMap((one) => {
      if (!one) return [];
      if (typeof one === "string") return [one];
      return one.needs.every((tool) => tools.has(tool)) ? [one.text] : [];
    })
    .join(" ");
}

/** A headed section; nothing when all of its paragraphs are empty. */
export function section(title: string, ...paragraphs: string[]): string {
  const full = paragraphs.filter(Boolean);
  return full.length ? `# ${title}\n\n${full.join("\n")}` : "";
}
