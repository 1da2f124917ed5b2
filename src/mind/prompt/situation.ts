/** What decides which sentences a session's model reads. Frozen with the prompt, so nothing here may differ from turn to turn. */

export type SituationKind =
  /** The owner alone with the agent. */
  | "owner"
  /** Somebody the owner let in, in a direct chat. */
  | "known"
  /** Somebody nobody vouched for, in a direct chat. */
  | "stranger"
  /** Several people read along. */
  | "group"
  /** A run of a scheduled job, in a session of its own. */
  | "job"
  /** The heartbeat's session. */
  | "heartbeat"
  /** A sub-agent. */
  | "child"
  /** A program that brings its own instructions, history or tools. */
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

/** Windows below this get the short house text (and `tools` their short descriptions). */
export const SMALL_WINDOW = 16_000;

export function isSmall(situation: Pick<Situation, "window">): boolean {
  return situation.window < SMALL_WINDOW;
}

/** One task in a session of its own: nobody answers questions, and what comes after the final text is read by nobody. */
export function isSingleRun({ kind }: Pick<Situation, "kind">): boolean {
  return kind === "job" || kind === "child";
}

/** A sentence, and the tools it speaks of: without one of them it would invite a call that cannot be made. */
export type Sentence = string | { text: string; needs: readonly string[] };

/** The sentences that are true here, as one paragraph. */
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
