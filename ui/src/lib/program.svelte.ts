/**
 * How to call Lares on the machine where it runs. Words and hints here say `lares …`; what is shown is the command that works
 * there. Asked without a login, because the login itself names a command, and remembered for the time when nobody answers.
 */
import { asCalled } from "../../../src/core/protocol/client.ts";

const KEY = "lares.program";

let name = $state(remembered());

/** A sentence of ours, with commands as they work on Lares' machine. */
export function called(text: string): string {
  return asCalled(text, name);
}

/** An old gateway has no such address; then the usual name is shown. */
export async function askProgram(): Promise<void> {
  try {
    const answer = await fetch("/program");
    const { program } = (await answer.json()) as { program?: unknown };
    if (typeof program !== "string" || program === "" || program.length > 200) return;
    name = program;
    localStorage.setItem(KEY, program);
  } catch {
    // Nobody answers, or the browser stores nothing: what is known stays.
  }
}

function remembered(): string {
  try {
    return localStorage.getItem(KEY) ?? "lares";
  } catch {
    return "lares";
  }
}
