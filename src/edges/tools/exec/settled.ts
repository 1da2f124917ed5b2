/** The settled form of a command as facts for the gate: programs looked up, links followed, git's settings read. */
import type { SettledPlan, ShellPlan, ShellReason, ShellReasonKind } from "../../../core/contracts/index.ts";
import { systemShell } from "./environment.ts";
import { gitEnvironment, gitSettings, guardedGit } from "./git.ts";
import { leadingOut, PathWays } from "./links.ts";
import type { Where } from "./prepare.ts";
import { analyse, baseName, findProgram, isSame, settle, written } from "./shell/index.ts";

/** With one of these no settled form would be allowed. */
const HOPELESS: ReadonlySet<ShellReasonKind> = new Set([
  ...(["unparsed", "fork-bomb", "computed-program", "hidden-code", "heredoc-expansion", "load-assignment"] as const),
  ...(["startup-file", "encoded", "inline-code", "script", "function"] as const),
]);
/** What settling has dealt with. */
const DEALT_WITH: ReadonlySet<ShellReasonKind> = new Set([
  ...(["construct", "substitution", "expansion", "heredoc", "redirection"] as const),
]);

export async function settledPlan(
  { text, reasons, commands: typed }: ShellPlan,
  where: Where,
  env: Record<string, string>,
): Promise<{ plan: SettledPlan; env: Record<string, string> } | undefined> {
  // Texts are fed to commands in a way that other shells do not know.
  if (reasons.some(({ kind }) => HOPELESS.has(kind)) || baseName(systemShell()) !== "bash") return undefined;
  const { home, roots = [] } = where;
  const settled = await settle(text, {
    cwd: where.cwd,
    home,
    roots,
    path: env.PATH!,
    inherited: Object.keys(env),
    guard: guardedGit,
  });
  if (!settled) return undefined;
  const { cwd, list } = settled;
  const { commands, reasons: left } = analyse(written(list, false));
  const direct = commands.filter(({ within }) => within.every((one) => one === "$( )" || one === "<( )"));
  if (!isSame(list, direct)) return undefined;
  const ways = new PathWays();
  for (const command of commands) {
    const program = findProgram(command.words[0]!.guess, env.PATH!, cwd);
    if (program) command.program = program;
    // Of a loop that is fed, each command in it is, and the settled text doesn't show it.
    if (typed.some((one) => one.isFed && one.words[0]!.guess === command.words[0]!.guess)) command.isFed = true;
  }
  const gits = direct.filter((one) => one.words[0]!.guess === "git");
  const settings = gits.length > 0 ? await gitSettings({ ...where, cwd, git: gits[0]!.program!.real, env }, ways) : [];
  // What find runs is looked at as if it were typed alone.
  const looked = commands.filter((one) => direct.includes(one) || /^(find -exec|xargs)$/.test(one.within.at(-1) ?? ""));
  for (const command of looked) {
    const links = await leadingOut(command, { ...where, cwd }, ways);
    if (links.length > 0) command.links = links;
  }
  const own = { ...env };
  const guards = gits.map((git) => gitEnvironment(git.words.slice(1).map((word) => word.guess)));
  if (guards.length > 0 && guards.every((guard) => guard !== undefined)) Object.assign(own, guards[0]);
  const stays = ({ kind }: ShellReason) => !DEALT_WITH.has(kind);
  // Patterns are expanded already: what a value holds is not to be taken for one.
  const run = `set -f\n${written(list, true)}`;
  const plan = { run, cwd, commands, reasons: left.filter(stays) };
  return { plan: settings.length > 0 ? { ...plan, settings } : plan, env: own };
}
