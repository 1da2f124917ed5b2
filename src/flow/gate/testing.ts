/** Commands, plans and policies for unit tests of the gate's pure parts, as the shell's analysis would hand them over. */
import type { ActionPlan, ShellCommand, ShellPlan } from "../../core/contracts/index.ts";
import type { Policy } from "./decide.ts";
import type { GatePlace } from "./rules.ts";

/** Blanks separate the words; nothing is quoted. */
export function plainCommand(text: string): ShellCommand {
  const words = text.split(" ").map((word) => ({ literal: word, guess: word }));
  return { words, assignments: [], redirects: [], within: [] };
}

export const PLACE: GatePlace = {
  home: "/home/ann/.lares",
  userHome: "/home/ann",
  agentDir: "/home/ann/.lares/agents/main",
  workspace: "/home/ann/.lares/agents/main/workspace",
};

/** Plain commands, joined by `&&`, `;` or `|` with blanks around. */
export function plainShell(text: string, over: Partial<ShellPlan> = {}): ShellPlan {
  const commands = text.split(/ (?:&&|;|\|) /).map((one) => {
    const path = `/usr/bin/${one.split(" ", 1)[0]}`;
    return { ...plainCommand(one), program: { path, real: path, trusted: true } };
  });
  const form = commands.length > 1 ? "rendered" : "argv";
  return { text, form, commands, reasons: [], cwd: PLACE.workspace, ...over };
}

export function execPlan(text: string, over: Partial<ActionPlan> = {}, shell: Partial<ShellPlan> = {}): ActionPlan {
  const plan = { tool: "exec", risk: "exec", targets: text.split(" "), shown: text, binding: {} } as const;
  return { ...plan, targets: [...plan.targets], shell: plainShell(text, shell), ...over };
}

export function makePolicy(over: Partial<Policy> = {}): Policy {
  return { mode: "ask", allow: {}, deny: {}, remembered: new Set(), place: PLACE, authority: "owner", ...over };
}
