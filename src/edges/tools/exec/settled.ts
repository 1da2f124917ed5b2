/** The settled form of a command as facts for the gate: programs looked up, links followed, git's settings read. */
import type { SettledPlan, ShellPlan, ShellReason, ShellReasonKind } from "../../../core/contracts/index.ts";
import { systemShell } from "./environment.ts";
import { gitEnvironment, gitSettings, guardedGit } from "./git.ts";
import { leadingOut, Ways } from "./links.ts";
import type { Where } from "./prepare.ts";
import { analyse, baseName, findProgram, settle } from "./shell/index.ts";

/** With one of these no settled form would be allowed. */
const HOPELESS: ReadonlySet<ShellReasonKind> = new Set([
  ...(["unparsed", "fork-bomb", "computed-program", "hidden-code", "heredoc-expansion", "load-assignment"] as const),
  ...(["startup-file", "encoded", "inline-code", "script", "function"] as const),
]);
/** What settling has dealt with. */
const DEALT_WITH: ReadonlySet<ShellReasonKind> = new Set([
  ...(["construct", "substitution", "expansion", "heredoc", "redirection", "assignment"] as const),
]);
/** Parts of the shell that settled texts use; the gate knows them. */
const OWN_BUILTIN = /^(cd|read|:) is part of the shell/;

export async function settledPlan(
  { text, reasons }: ShellPlan,
  where: Where,
  env: Record<string, string>,
): Promise<{ plan: SettledPlan; env: Record<string, string> } | undefined> {
  // Texts are fed to commands in a way that other shells do not know.
  if (reasons.some(({ kind }) => HOPELESS.has(kind)) || baseName(systemShell()) !== "bash") return undefined;
  const { cwd, home, roots = [] } = where;
  const settled = await settle(text, { cwd, home, roots, path: env.PATH!, guard: guardedGit });
  if (!settled) return undefined;
  const { commands, reasons: left } = analyse(settled.judged);
  const direct = commands.filter(({ within }) => within.every((one) => one === "$( )"));
  if (direct.length !== settled.places.length) return undefined;
  for (const command of commands) {
    const program = findProgram(command.words[0]!.guess, env.PATH!, cwd);
    if (program) command.program = program;
  }
  const ways = new Map(settled.places.map((place) => [place, new Ways()]));
  for (const [i, command] of direct.entries()) {
    const place = settled.places[i]!;
    if (place !== cwd) command.cwd = place;
    const links = await leadingOut(command, { ...where, cwd: place }, ways.get(place)!);
    if (links.length > 0) command.links = links;
  }
  const gits = direct.filter((one) => one.words[0]!.guess === "git");
  const own = { ...env };
  const settings = new Set<string>();
  for (const place of new Set(gits.map((git) => git.cwd ?? cwd)))
    for (const setting of await gitSettings(gits[0]!.program!.real, place, env)) settings.add(setting);
  const guards = gits.map((git) => gitEnvironment(git.words.slice(1).map((word) => word.guess)));
  if (guards.length > 0 && guards.every((guard) => guard !== undefined)) Object.assign(own, guards[0]);
  const stays = ({ kind, text: why }: ShellReason) => !DEALT_WITH.has(kind) && !OWN_BUILTIN.test(why);
  const plan = { run: settled.run, commands, reasons: left.filter(stays) };
  return { plan: settings.size > 0 ? { ...plan, settings: [...settings] } : plan, env: own };
}
