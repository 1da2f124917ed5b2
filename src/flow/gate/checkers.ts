/**
 * Programs that build, test or check a project, started by their name, by `npx` or by `python3 -m`. Their options load modules, write
 * reports, open ports and read further options from files (`--on-success`, `-p`, `--junitxml=`, `@file`), and a text file that pytest
 * is given is run. So of the words that a rule leaves open only those pass that are known here.
 */
const CHECKERS =
  /^(pytest|py\.test|unittest|mypy|ruff|black|flake8|pylint|isort|tsc|vue-tsc|svelte-check|eslint|prettier|vitest|jest|mocha|stylelint|oxlint|biome|@biomejs\/biome|tsdown|knip|cspell)(@[\w.^~-]+)?$/;

/** How much they say, how soon they stop, what they choose: nothing that names a file, a module or an address. */
const SWITCHES =
  /^(-[qvxslbiEkmtg]+|--(noEmit|version|help|quiet|verbose|silent|run|no-watch|watch=false|watchAll=false|passWithNoTests|no-color|color|strict|pretty|check|bail|lf|ff|last-failed|failed-first|new-first|stepwise|exitfirst|maxfail=\d+|durations=\d+|tb=(auto|long|short|line|native|no)|no-header|no-summary|showlocals|collect-only|ci|runInBand|skipLibCheck|build|list-different|max-warnings(=\d+)?|coverage|cov(=\w+)?|reporter=(dot|json|tap)))$/;
/** Files of code, patterns for them, and a test in one. */
const CODE = /^[\w./*-]+\.(py|pyi|[cm]?[jt]sx?|vue|svelte|css|scss)(::[\w[\]:.-]+)?$/;
/** A folder, a number, a subcommand, or the words by which tests are chosen. */
const PLAIN = /^(\.\/?|(\.\/)?\w[\w/ -]*)$/;
/** Words that fetch, install, serve, delete or wait for a debugger. */
const DOES_MORE =
  /^(upgrade|init|start|stop|daemon|server|serve|lsp|lsp-proxy|mcp|migrate|install|create|dev|watch|clean|rage|run-script|inspect|debug)$/;
/** Of those that have subcommands, the ones that check and print. */
const SUBCOMMANDS: readonly [checker: RegExp, sub: RegExp][] = [
  [/^ruff(@|$)/, /^(check|format|rule|linter|version|help|analyze)$/],
  [/^(@biomejs\/)?biome(@|$)/, /^(check|lint|format|ci|search|explain|version)$/],
  [/^cspell(@|$)/, /^(lint|trace|check|\.|[\w./*-]+\.\w+)$/],
];
/** It prints whole files, unless it only says which ones are not as they should be. */
const PRINTS = /^prettier(@|$)/;
const ONLY_LISTS = /^(--check|-l|--list-different|--version|--help)$/;
/** `-p` is the project to TypeScript, and a module to load to others. */
const TYPESCRIPT = /^(vue-)?tsc(@|$)/;
const PROJECT = /^(-p|--project|tsconfig(\.\w+)?\.json)$/;

export function isChecker(name: string): boolean {
  return CHECKERS.test(name);
}

/** The arguments of a checker that aren't words which can do nothing else, by their place. */
export function oddCheckerWords(checker: string, args: readonly string[]): number[] {
  const subs = SUBCOMMANDS.find(([name]) => name.test(checker))?.[1];
  const first = args.findIndex((arg) => !arg.startsWith("-"));
  const isShown = PRINTS.test(checker) && !args.some((arg) => ONLY_LISTS.test(arg));
  return args.flatMap((arg, i) => {
    const isSub = i !== first || subs === undefined || subs.test(arg);
    // A folder may hold files of secrets.
    const isWhole = isShown && !arg.startsWith("-") && !CODE.test(arg);
    return isCheckerWord(checker, arg) && isSub && !isWhole ? [] : [i];
  });
}

/** Whether an argument of a checker is one of the words that can do nothing else. */
export function isCheckerWord(checker: string, arg: string): boolean {
  if (arg.includes("..")) return false;
  if (SWITCHES.test(arg) || CODE.test(arg)) return true;
  if (TYPESCRIPT.test(checker) && PROJECT.test(arg)) return true;
  return PLAIN.test(arg) && !DOES_MORE.test(arg);
}
