/**
 * curl and wget: where what they fetch goes, and under which name. A name that a server, a pattern in an address or an escape decides is
 * none that a rule has seen, so it asks; so does a hidden file, because the workspace is the home of every command. Pure.
 */
import type { Concern } from "./git.ts";
import { mayLoad, namesItself, writesHidden } from "./words.ts";

export const FETCHES = /^(curl|wget2?)$/;

interface Letters {
  /** Letters that take a value, attached or as the next word. */
  valued: string;
  /** Options whose value is a file that is written. */
  writes: RegExp;
  /** Options that save under the name in the address. */
  saves: RegExp;
  /** Long options that take the next word as their value. */
  long: RegExp;
}

const CURL: Letters = {
  valued: "AbcCdDeEFHhKmoPQrtTuUwxXyYz",
  writes:
    /^(-[ocD]|--(output|cookie-jar|dump-header|trace|trace-ascii|stderr|output-dir|etag-save|libcurl|hsts|alt-svc))$/,
  saves: /^(-O|--remote-name.*)$/,
  long: /^--(output|cookie-jar|dump-header|trace|trace-ascii|stderr|output-dir|etag-save|libcurl|hsts|alt-svc|data.*|json|form.*|header|request|user|user-agent|cookie|upload-file|url|max-time|connect-timeout|retry.*|referer|proxy|write-out|cacert|cert|key|range|resolve)$/,
};
const WGET: Letters = {
  valued: "aeiBtOTwQPUlARDIXo",
  writes:
    /^(-[OoaP]|--(output-document|output-file|append-output|directory-prefix|save-cookies|save-headers|warc-file))$/,
  saves: /^$/,
  long: /^--(output-document|output-file|append-output|directory-prefix|save-cookies|tries|timeout|wait|user-agent|header|post-data|post-file|user|password|level|accept|reject|method|body-data|body-file)$/,
};
/** wget follows links in pages, or takes names from the server or from a file. */
const WGET_NAMES =
  /^(-[^-aeiBtOTwQPUlARDIXo]*[eirmp]|--(exe|inp|content-d|use-as|trust|rec|mir|page|cut|def|protocol-d|meta|config|warc))/;

interface Option {
  option: string;
  value: string;
  index: number;
}

export function judgeFetching(name: string, args: readonly string[]): Concern[] {
  const isCurl = name === "curl";
  const { options, addresses } = readOptions(args, isCurl ? CURL : WGET);
  const { writes, saves } = isCurl ? CURL : WGET;
  const out: Concern[] = [];
  const outputs = options.filter(({ option }) => writes.test(option));
  for (const { option, value, index } of outputs) {
    // `#1` is what a pattern in the address stands for.
    if (isCurl && /#\d/.test(value)) out.push({ index, text: namesItself(option) });
    if (isHidden(value)) out.push({ index, text: writesHidden(value) });
  }
  const isSaved = isCurl
    ? options.some(({ option }) => saves.test(option))
    : !options.some(({ option }) => /^(-O|--output-document)$/.test(option));
  for (const [index, address] of addresses) {
    const isPattern = isCurl && /[{}[\]]/.test(address.replace(/\[[0-9A-Fa-f:.]+\]/, ""));
    const last = lastName(address);
    if (isPattern && (isSaved || outputs.length > 0)) out.push({ index, text: namesItself(address) });
    else if (isSaved && /[%\\]/.test(last)) out.push({ index, text: namesItself(address) });
    else if (isSaved && isHidden(last)) out.push({ index, text: writesHidden(last) });
  }
  for (const { option, value, index } of options)
    if (isCurl && /^(-T|--upload-file)$/.test(option) && /[{}[\]]/.test(value))
      out.push({ index, text: mayLoad(option) });
  if (!isCurl)
    for (const [index, arg] of args.entries()) if (WGET_NAMES.test(arg)) out.push({ index, text: namesItself(arg) });
  return out;
}

/** Options with their values, letter by letter; the first letter that takes a value takes the rest of its word. */
function readOptions(
  args: readonly string[],
  { valued, long }: Letters,
): { options: Option[]; addresses: [number, string][] } {
  const options: Option[] = [];
  const addresses: [number, string][] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    const index = i;
    if (!arg.startsWith("-") || arg === "-") addresses.push([index, arg]);
    else if (arg.startsWith("--")) {
      const cut = arg.indexOf("=");
      const option = cut < 0 ? arg : arg.slice(0, cut);
      const value = cut < 0 && long.test(arg) ? (args[++i] ?? "") : arg.slice(option.length + 1);
      options.push({ option, value, index });
      if (option === "--url") addresses.push([index, value]);
    } else
      for (let j = 1; j < arg.length; j++) {
        const takes = valued.includes(arg[j]!);
        const rest = arg.slice(j + 1);
        const value = takes ? rest || (args[++i] ?? "") : "";
        options.push({ option: `-${arg[j]}`, value, index });
        if (takes) break;
      }
  }
  return { options, addresses };
}

/** The part of an address that a file is named after. */
function lastName(address: string): string {
  const at = address.indexOf("://");
  const path = (at < 0 ? address : address.slice(at + 3)).split(/[?#]/, 1)[0]!;
  const cut = path.lastIndexOf("/");
  return cut < 0 ? "" : path.slice(cut + 1);
}

function isHidden(path: string): boolean {
  return path.split("/").some((part) => part.startsWith(".") && !/^\.{1,2}$/.test(part));
}
