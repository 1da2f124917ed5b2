/** `lares policy explain`: the tree of a command, each judged part, the decision. */
import type { ActionPlan } from "../../core/contracts/index.ts";
import { decide, type Policy, ruleFor } from "./decide.ts";
import type { JudgedPart } from "./exec.ts";
import { JUDGED, modeAndForm, PARTLY_COMPUTED, showInside, VARIABLES_ONLY } from "./words.ts";

export interface Explanation {
  text: string;
  /** How it would be started. */
  form: "argv" | "rendered" | "shell" | "other";
  verdict: "allow" | "ask" | "deny";
  because: string;
  mode: Policy["mode"];
  /** What "allow always" would keep. */
  rule: string;
  /** Every command found, with its place. */
  commands: { words: string[]; program: string | null; within: string[]; isLiteral: boolean }[];
  parts: JudgedPart[];
}

/** `plan` is what the tool would do; nothing runs. */
export function explain(policy: Policy, plan: ActionPlan): Explanation {
  const { verdict, because, parts } = decide(policy, plan);
  return {
    text: plan.shell?.text ?? plan.shown,
    form: plan.shell?.form ?? "other",
    verdict,
    because,
    mode: policy.mode,
    rule: ruleFor(plan),
    commands: (plan.shell?.commands ?? []).map((command) => ({
      words: command.words.map((word) => word.literal ?? word.guess),
      program: command.program?.real ?? null,
      within: command.within,
      isLiteral: command.words.every((word) => word.literal !== undefined),
    })),
    parts,
  };
}

/** For terminals: no control characters beyond line breaks; `visible` spells out what would hide. */
export function explainText(e: Explanation, visible: (text: string) => string = (text) => text): string {
  const lines = [`${e.verdict.toUpperCase()}: ${visible(e.because)}`, modeAndForm(e.mode, e.form)];
  for (const { words, program, within, isLiteral } of e.commands) {
    // Nested commands are indented below what starts them, as in the shell's own structure.
    const indent = "  ".repeat(within.length + 1);
    const where = within.length > 0 ? showInside(visible(within.join(" > "))) : "";
    const file = program ? ` → ${visible(program)}` : "";
    const said = words.map((word) => visible(word)).join(" ");
    lines.push(`${indent}${said === "" ? VARIABLES_ONLY : said}${isLiteral ? "" : PARTLY_COMPUTED}${file}${where}`);
  }
  if (e.parts.length > 0) lines.push(JUDGED);
  const judged = e.parts.map(
    (part) => `  ${part.verdict.padEnd(5)} ${visible(clip(part.what))}: ${visible(part.because)}`,
  );
  // The rounds of a loop are judged alike.
  return [...lines, ...new Set(judged)].join("\n");
}

/** The beginning and the end: options that matter often come last. */
function clip(text: string): string {
  return text.length > 70 ? `${text.slice(0, 45)} […] ${text.slice(-18)}` : text;
}
