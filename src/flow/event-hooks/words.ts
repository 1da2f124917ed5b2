/** What the room says, to people and to models. */
import type { HookOutcome } from "../../core/contracts/index.ts";

export function hookDenies(by: string, reason: string): string {
  return `Hook "${by}": ${ended(reason)}`;
}

export function hookFailed(by: string, why: string): string {
  return `Hook "${by}" failed: ${ended(why)}`;
}

export function cannotRead(why: string): string {
  return `its answer can't be read (${why})`;
}

export function tooLate(ms: number): string {
  return `it didn't answer within ${ms / 1000} s`;
}

export function ignoredFields(by: string, event: string, fields: readonly string[]): string {
  return `Hook "${by}" answered ${event} with ${fields.join(", ")}, which a hook can't decide there. That part was ignored.`;
}

function ended(sentence: string): string {
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** What an outcome does, for somebody who tries a hook. */
export function describeOutcome(outcome: HookOutcome): string {
  const { deny, ask, notes, tools, shorten, again, failed } = outcome;
  const parts = [
    deny !== undefined && failed === undefined && `denies: ${deny}`,
    deny !== undefined && failed !== undefined && `counts as a denial: ${deny}`,
    deny === undefined && failed !== undefined && failed.join(" "),
    ask !== undefined && `asks a person: ${ask}`,
    notes !== undefined && `adds ${notes.length === 1 ? "a note" : `${notes.length} notes`}`,
    tools !== undefined && `leaves only these tools: ${tools.join(", ") || "none"}`,
    shorten !== undefined && "shortens the result",
    again !== undefined && `asks for one more pass: ${again.text}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join("; ") : "no objection";
}

export function notRun(why: string): string {
  return `not run: ${why}`;
}
