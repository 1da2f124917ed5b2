/**
 * Programs with subcommands of which some fetch, install, publish or start what their words name: `npm install x`, `gh alias set`,
 * `uv run x`. A rule like "npm *" covers those that look, or that run the workspace's own tasks. Every other subcommand the rule must
 * spell ("npm install *"), and of one that starts a program the program, too ("uv run pytest *"). Pure.
 */
import { isCutShort } from "../../core/kit/index.ts";
import type { Concern } from "./git.ts";
import { doesMoreThanLook, mayLoad } from "./words.ts";

interface Manager {
  /** The first one or two plain words of what looks, or runs the workspace's own tasks. */
  looks: RegExp;
  /** Subcommands that start the program which is named next. */
  starts?: RegExp;
  /** The second plain word counts, too: `gh pr list`. */
  isNested?: true;
  /** Options that make it work elsewhere, load something or write, and the long ones that it takes cut short. */
  steers?: RegExp;
  long?: readonly string[];
  /** If there is such a list, every other option asks. */
  options?: RegExp;
}

const TASKS = "test|t|run|start|stop|build|lint|typecheck|check|format|help|why|list|ls|info|outdated";
const STARTS = /^(run|exec|x|e|dlx|tool|shell)$/;
const GO_OPTIONS =
  /^-(v|x|n|a|race|msan|asan|short|cover|json|failfast|benchmem|m|e|u|l|s|d|h|help|(count|parallel|p|cpu|benchtime|timeout|tags|run|skip|bench|list|shuffle|covermode|f|vet|fuzz|fuzztime|trimpath|buildvcs)(=.*)?)$/;

const MANAGERS: Readonly<Record<string, Manager>> = {
  npm: {
    looks:
      /^(test|tst|t|run|run-script|start|stop|restart|ls|list|ll|la|view|show|info|v|outdated|explain|why|fund|help|prefix|root|query|(audit|version) *$)( |$)/,
    starts: /^(exec|x|create|init|innit|explore)$/,
    steers: /^-(C|g$|c$)/,
    long: "node-options userconfig globalconfig prefix local-prefix git viewer script-shell shell registry init-module cafile proxy https-proxy global location cache call".split(
      " ",
    ),
  },
  pnpm: {
    looks: new RegExp(`^(${TASKS}|audit *$)( |$)`),
    starts: /^(exec|dlx|create|init)$/,
    steers: /^(-C|-g$|-c$|--config\.)/,
    long: "dir config script-shell shell-mode use-node-version node-options global global-dir registry store-dir modules-dir lockfile-dir virtual-store-dir".split(
      " ",
    ),
  },
  yarn: {
    looks: new RegExp(`^(${TASKS}|audit *$|versions)( |$)`),
    starts: /^(exec|dlx|create|init|node)$/,
    long: "cwd use-yarnrc script-shell modules-folder global-folder cache-folder preferred-cache-folder link-folder registry".split(
      " ",
    ),
  },
  cargo: {
    looks: /^(build|b|check|c|test|t|clippy|fmt|bench|doc|d|run|r|tree|metadata|version|help|locate-project)( |$)/,
    steers: /^-(C|Z)|^\+/,
    long: ["config"],
  },
  go: { looks: /^(build|test|vet|fmt|list|version|doc|help|env *$)( |$)/, options: GO_OPTIONS },
  gh: {
    looks:
      /^((pr|issue|run|repo|release|workflow|label|gist|cache|ruleset|project) (list|view|status|diff|checks)|(status|search)( .*)?|auth status)$/,
    isNested: true,
    steers: /^(-t|-w|--show-token|--web|--hostname)/,
  },
  uv: { looks: /^(tree|version|pip (list|show|freeze|check|tree))$/, starts: STARTS, isNested: true },
  poetry: { looks: /^(show|check|version *$|about|env info)( |$)/, starts: STARTS },
  bundle: { looks: /^(list|show|info|outdated|check|platform|version)( |$)/, starts: STARTS },
  composer: {
    looks: /^(show|info|outdated|validate|licenses|depends|why|run-script|run|test|about|diagnose)( |$)/,
    starts: /^exec$/,
    steers: /^-d/,
    long: ["working-dir"],
  },
  dotnet: { looks: /^(build|test|format|list|clean)( |$)/, starts: STARTS },
  tox: {
    looks: /^(run|r|run-parallel|p|list|l|config|c)?$/,
    starts: /^(exec|e)$/,
    steers: /^(-x|-c|--(ov|conf|wor|roo))/,
  },
  helm: { looks: /^(list|ls|status|history|get|show|search|lint|template|version|dependency list)( |$)/ },
  brew: { looks: /^(list|ls|info|search|deps|uses|outdated|config|doctor|leaves)( |$)/, starts: STARTS },
  gem: { looks: /^(list|query|info|search|contents|dependency|outdated|which|specification)( |$)/, starts: STARTS },
  lerna: { looks: /^(run|list|ls|changed|diff)( |$)/, starts: /^exec$/ },
  nx: {
    looks: /^(run|run-many|affected|graph|show|list|report|build|test|lint|format:check)( |$)/,
    starts: /^exec$/,
  },
  ...alike(["stack", "cabal"], { looks: /^(build|test|bench|haddock|path|list|freeze)( |$)/, starts: STARTS }),
  ...alike(["pip", "pip3"], { looks: /^(list|show|check|freeze|inspect|help)( |$)/ }),
  ...alike(["apt", "apt-get", "apt-cache"], {
    looks: /^(list|show|search|policy|depends|rdepends)( |$)/,
    steers: /^-[oc]/,
  }),
  ...alike(["pdm", "rye", "hatch", "pipenv", "conda", "mamba", "mise", "asdf", "rustup", "devbox", "volta"], {
    looks: /^(list|ls|show|info|version|which|current|status)( |$)/,
    starts: STARTS,
  }),
};

function alike(names: readonly string[], manager: Manager): Record<string, Manager> {
  return Object.fromEntries(names.map((name) => [name, manager]));
}

export function isManager(name: string): boolean {
  return Object.hasOwn(MANAGERS, name);
}

/** `judge` says what is wrong with the words of a program that is started. */
export function judgeManager(
  name: string,
  args: readonly string[],
  judge: (program: string, args: readonly string[]) => readonly Concern[],
): Concern[] {
  const { looks, starts, isNested, steers, long = [], options } = MANAGERS[name]!;
  const plain = args.flatMap((arg, index) => (arg.startsWith("-") || arg.startsWith("+") ? [] : [index]));
  const [first, second] = plain;
  const end = args.indexOf("--");
  const concerns = args.flatMap((arg, index) => {
    const isOption = arg.startsWith("-") || arg.startsWith("+");
    if (!isOption || arg === "--" || (end >= 0 && index > end)) return [];
    const isOdd = steers?.test(arg) || isCutShort(arg, long) || (options && !options.test(arg));
    return isOdd ? [{ index, text: mayLoad(arg.split("=")[0]!) }] : [];
  });
  if (first === undefined) return concerns;
  const sub = args[first]!;
  if (starts?.test(sub)) {
    const inner = second ?? args.length;
    for (let index = first; index <= inner && index < args.length; index++)
      concerns.push({ index, text: doesMoreThanLook(name, sub) });
    const started = judge(args[inner] ?? "", args.slice(inner + 1));
    return [...concerns, ...started.map((one) => ({ index: one.index + inner + 1, text: one.text }))];
  }
  const named = [sub, ...(second === undefined ? [] : [args[second]!])];
  if (looks.test(named.join(" "))) return concerns;
  const text = doesMoreThanLook(name, isNested ? named.join(" ") : sub);
  const rule = `${name} ${(isNested ? named : [sub]).join(" ")} *`;
  const spelt = isNested && second !== undefined ? [first, second] : [first];
  return [...concerns, ...spelt.map((index) => ({ index, text, rule }))];
}
