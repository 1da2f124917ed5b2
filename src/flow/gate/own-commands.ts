/**
 * Lares' own command line and its own doors. A command an agent runs would speak there as the owner: answer the questions it was
 * asked, change the policy it is judged by, make a token. Part of the hard floor: denied in every mode.
 */

import { SETTINGS_ARE_PEOPLES as DENIED } from "./words.ts";

const LARES = /(^|\/)lares(\.m?js)?(@[^/]*)?$/;
/** How it is started from its sources or its build. */
const ENTRY = /(^|\/)(bin\/lares\.m?js|(dist|src)\/main(\.(m?js|ts))?)$/;
/** What may be Lares under another name, when a word follows that only Lares knows. */
const MAYBE_ENTRY = /^\.{1,2}\/?$|\/$|(^|\/)main(\.(m?js|cjs|ts))?$/;
const OWN_WORDS = /^(approve|approvals|deny|policy|tokens?|secrets|vault|pair)$/;
/** Scripts of a package that start it. */
const START_SCRIPTS = /^(start|dev|serve|cli|lares)$/;
const STARTERS = /^(node|nodejs|bun|bunx|deno|tsx|npx|npm|pnpm|yarn|sh|bash|dash|zsh)$/;
/** What only looks, and shows nothing that opens a door. */
const LOOKS = /^(status|doctor|usage|timeline|turns|help|version)$/;
/** Options that stand before a command. */
const VALUED = /^--(home|url|token)$/;
const BARE = /^(-[hqvV]|--(json|no-input|yes|help|version|(home|url)=.*))$/;
const METHOD = "[a-z]+(?:\\.[A-Za-z]+){1,3}";
const BY_ADDRESS = new RegExp(`/rpc/(${METHOD})`);
const BY_NAME = new RegExp(`method["']?[ ]?[:=][ ]?["']?(${METHOD})`);
const READS = /\.(list|get|status|search|explain|preview|calendar|history|schema|check|summary|audit|kinds)$/;
/** Answering a question in the chat is answering it. */
const ANSWERS = /(^|["'\s:=])\/?(approve|always|deny|yes|no)(\s|\\[nrt])+[a-z0-9]{4,}/i;

/** Words that only change something when Lares is what they follow; the rest of its commands. */
const COMMAND_WORDS =
  /^(approve|approvals|deny|policy|tokens?|secrets|vault|pair|config|channels?|agents?|people|chat|send|ask|memory|skills?|sessions?|schedules?|import|wakes?|hooks|watch|undo|goals?|board|heartbeat|login|logout|models?|onboard|setup|start|stop|restart|serve|gateway|daemon|service|dashboard|debug|context|logs|security|attention|turns|reset|uninstall|backup|restore)$/;
const MANAGERS = /^(npm|pnpm|yarn|bun)$/;
/** What follows these names packages, and starts none of them. */
const PACKAGE_VERBS =
  /^(install|i|add|ci|remove|uninstall|un|rm|update|upgrade|up|outdated|view|info|show|ls|list|why|explain|search|link|unlink|audit|docs|repo|bugs|pack|publish|dedupe)$/;
const RUN_VERBS = /^(exec|x|dlx|run|run-script)$/;

/**
 * `words` begin at a program, or at what a wrapper may start (`isProgram` false); `ends` says where a word leads as a path. A word
 * `lares` that may as well be a folder, a package or somebody's argument counts when a command of Lares comes behind it.
 */
export function ownCommand(
  words: readonly string[],
  { ends, isProgram }: { ends: (word: string) => readonly string[]; isProgram: boolean },
): string | undefined {
  if (isStartedHere(words)) return DENIED;
  const after = afterLares(words, ends);
  if (!after) return undefined;
  const { rest } = after;
  if (!isProgram || !after.isSure) return rest.some((word) => COMMAND_WORDS.test(word)) ? DENIED : undefined;
  let at = 0;
  // The value of an option is no command: `lares --home status token`.
  for (; rest[at]?.startsWith("-"); at++) {
    if (VALUED.test(rest[at]!)) at++;
    else if (!BARE.test(rest[at]!)) return DENIED;
  }
  const said = rest[at];
  return said === undefined || LOOKS.test(said) ? undefined : DENIED;
}

function afterLares(
  words: readonly string[],
  ends: (word: string) => readonly string[],
): { rest: readonly string[]; isSure: boolean } | undefined {
  const [program = "", ...args] = words;
  const isLares = (word: string) =>
    LARES.test(word) ||
    ENTRY.test(word) ||
    (/(^|\/)main(\.|$)/.test(word) && ends(word).some((path) => ENTRY.test(path)));
  if (isLares(program)) return { rest: args, isSure: true };
  const name = baseName(program);
  if (!STARTERS.test(name)) return undefined;
  // Only where the verb comes first: behind an option it may be that option's value.
  if (MANAGERS.test(name) && PACKAGE_VERBS.test(args[0] ?? "")) return undefined;
  const at = args.findIndex(isLares);
  if (at < 0) return undefined;
  const isSure = args.slice(0, at).every((word) => word.startsWith("-") || RUN_VERBS.test(word));
  return { rest: args.slice(at + 1), isSure };
}

/** `node . approve x` and `npm start -- approve x`, in the folder of the program. */
function isStartedHere([program = "", ...args]: readonly string[]): boolean {
  const name = baseName(program);
  if (!STARTERS.test(name)) return false;
  const plain = args.filter((arg) => !arg.startsWith("-"));
  if (/^(npm|pnpm|yarn|bun)$/.test(name)) {
    const script = /^run(-script)?$/.test(plain[0] ?? "") ? 1 : 0;
    return START_SCRIPTS.test(plain[script] ?? "") && OWN_WORDS.test(plain[script + 1] ?? "");
  }
  return plain.some((arg, i) => MAYBE_ENTRY.test(arg) && OWN_WORDS.test(plain[i + 1] ?? ""));
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** A request to Lares' own doors in any word of a command, or in what is fed to one. */
export function ownRequest(words: readonly string[]): string | undefined {
  const toChat = words.some((word) => /:\d+\/(chat|v1\/(chat|responses))/.test(word));
  for (const word of words.flatMap(spellings)) {
    const method = BY_ADDRESS.exec(word)?.[1] ?? BY_NAME.exec(word)?.[1];
    if (method && OWN_ROOMS.test(method) && !READS.test(method)) return DENIED;
    if (toChat && ANSWERS.test(word)) return DENIED;
  }
  return undefined;
}

/** A word as it is written, and as a server would read it: `/rpc/./approvals%2Eresolve`, `"approvals\\u002eresolve"`. */
function spellings(word: string): string[] {
  if (!/%|\\|\/\.|\/\//.test(word)) return [word];
  let plain = word.replace(/\\u00([0-9a-f]{2})/gi, decoded).replaceAll("\\/", "/");
  for (let i = 0; i < 3; i++) plain = plain.replace(/%([0-9a-f]{2})/gi, decoded);
  plain = plain.replace(/\/(?:\.?\/)+/g, "/");
  for (let i = 0; i < 8; i++) plain = plain.replace(/\/[^/\s]+\/\.\.(?=\/)/, "");
  return [word, plain];
}

function decoded(_all: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}

/** The rooms whose methods change what an agent may do, or speak for the owner. */
const OWN_ROOMS =
  /^(agents|approvals|board|channels|chat|config|goals|heartbeat|import|login|memory|models|people|policy|schedule|secrets|sessions|skills|tokens|undo|vault|wakes)\./;
