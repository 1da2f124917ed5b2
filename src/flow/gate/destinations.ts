/**
 * Where a command would send something: the hosts its words name, and whether there may be others that they do not show. Works
 * on what is written; a program that dials by itself is the sandbox's to stop.
 */
import type { ShellCommand, ShellPlan, ShellWord } from "../../core/contracts/index.ts";
import { isLooker } from "./programs.ts";

export interface Destinations {
  hosts: string[];
  /** Something is sent to a place that cannot be read from the command. */
  isHidden: boolean;
}

/** Programs whose plain words are hosts, and the options of each whose value is none. */
const TALKS: Readonly<Record<string, string>> = {
  curl: "-o --output -H --header -d --data --data-raw --data-binary --data-urlencode --json -X --request -A --user-agent -b --cookie -c --cookie-jar -e --referer -F --form -m --max-time --connect-timeout -w --write-out --retry --retry-delay -u --user -r --range -C --continue-at -z --time-cond -T --upload-file --limit-rate --cacert --cert --key",
  wget: "-O --output-document -o --output-file -P --directory-prefix -U --user-agent --header --post-data --post-file --method --body-data --body-file -t --tries -T --timeout -w --wait -Q --quota -A -R -l --level --limit-rate",
  http: "",
  https: "",
  xh: "",
  aria2c: "-o --out -d --dir",
  ssh: "-p -l -i -b -c -m -e",
  sftp: "-P -i -b -c",
  mosh: "-p",
  telnet: "",
  ftp: "",
  tftp: "",
  nc: "-w -p -q",
  ncat: "-w -p",
  netcat: "-w -p",
  socat: "",
  ping: "-c -i -w -W -s",
  traceroute: "",
  dig: "-t -p",
  nslookup: "",
  host: "-t",
  whois: "-p",
};
/** These copy between machines: only words with a colon are remote. */
const COPIES = /^(scp|rsync|rclone)$/;
/** Programs that are given code; what the code dials stands in it, if anywhere. */
const INTERPRETS = /^(python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|tclsh|osascript)$/;
const DIALS =
  /\b(sockets?|urllib\d?|requests|httpx|aiohttp|https?|ftplib|smtplib|telnetlib|fetch|XMLHttpRequest|axios|dgram|net|tls|dns|LWP|fsockopen|curl_init|TCPSocket|URI|open-uri|gethostbyname|connect)\b/;
/** Asking a program for its version sends nothing. */
const ABOUT = /^(-V|-h|--version|--help|--manual)$/;
/** A scheme may stand at most this far before its "://". */
const LONGEST_SCHEME = 20;

export function destinationsOf(shell: ShellPlan): Destinations {
  const hosts = new Set<string>();
  let isHidden = false;
  for (const command of shell.commands) {
    const found = inCommand(command);
    for (const host of found.hosts) hosts.add(host);
    isHidden ||= found.isHidden;
  }
  if (shell.reasons.some(({ kind }) => kind.startsWith("heredoc"))) {
    for (const host of hostsIn(shell.text)) hosts.add(host);
    isHidden ||= shell.commands.some(({ words }) => INTERPRETS.test(nameOf(words))) && DIALS.test(shell.text);
  }
  return { hosts: [...hosts], isHidden };
}

function inCommand({ words, redirects }: ShellCommand): Destinations {
  const name = nameOf(words);
  const args = words.slice(1);
  const hosts = redirects.flatMap(({ target }) => deviceHost(target));
  if (Object.hasOwn(TALKS, name)) {
    const dialled = args.some((word) => ABOUT.test(textOf(word))) ? none() : dials(args, TALKS[name]!);
    return { hosts: [...hosts, ...dialled.hosts], isHidden: dialled.isHidden };
  }
  if (COPIES.test(name)) {
    const remote = args.filter((word) => !textOf(word).startsWith("-") && textOf(word).includes(":"));
    hosts.push(...remote.map((word) => hostOf(textOf(word))).filter(Boolean));
    return { hosts, isHidden: args.some((word) => word.literal === undefined) };
  }
  const isGit = name === "git";
  // What only prints or searches text reaches nobody with it.
  if (isLooker(name) && !isGit) return { hosts, isHidden: false };
  for (const word of args) {
    hosts.push(...hostsIn(textOf(word)));
    const short = isGit ? /^[\w.-]+@([\w.-]+):/.exec(textOf(word))?.[1] : undefined;
    if (short) hosts.push(short.toLowerCase());
  }
  if (name === "openssl" && args.some((word) => /^s_(client|time)$/.test(textOf(word))))
    return { hosts, isHidden: true };
  const isDialling = INTERPRETS.test(name) && args.some((word) => DIALS.test(textOf(word)) && !isPath(textOf(word)));
  return { hosts, isHidden: isDialling && hosts.length === 0 };
}

function dials(args: readonly ShellWord[], valued: string): Destinations {
  const skipped = new Set(valued.split(" "));
  const hosts: string[] = [];
  let isHidden = false;
  for (let i = 0; i < args.length; i++) {
    const text = textOf(args[i]!);
    if (skipped.has(text)) {
      i++;
      continue;
    }
    if (args[i]!.literal === undefined) isHidden = true;
    else if (!text.startsWith("-")) hosts.push(hostOf(text));
    else hosts.push(...hostsIn(text), ...(/^--(url|proxy|socks\w*)=/.test(text) ? [hostOf(afterEquals(text))] : []));
  }
  const named = hosts.filter((host) => host !== "");
  return { hosts: named, isHidden: isHidden || named.length === 0 };
}

/** The hosts of all addresses with a scheme in a text, in lower case. */
export function hostsIn(text: string): string[] {
  const hosts: string[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    if (!/[a-z][a-z0-9+.-]{0,40}$/i.test(text.slice(Math.max(0, at - LONGEST_SCHEME), at))) continue;
    const host = hostOf(text.slice(at + 3));
    if (host) hosts.push(host);
  }
  return hosts;
}

/** The host a word begins with, behind a scheme and a name: `https://user@host:8080/x`, `user@host:path`, `host`. */
function hostOf(word: string): string {
  const scheme = word.indexOf("://");
  const rest = scheme >= 0 ? word.slice(scheme + 3) : word;
  const end = rest.search(/[/?#\s'"`)>,;\\]/);
  const authority = end >= 0 ? rest.slice(0, end) : rest;
  const bare = authority.slice(authority.lastIndexOf("@") + 1);
  const host = bare.startsWith("[") ? bare.slice(1, bare.indexOf("]")) : bare.split(":")[0]!;
  return host.toLowerCase().replace(/\.$/, "");
}

/** bash opens a connection for these names. */
function deviceHost(target: ShellWord): string[] {
  const found = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(textOf(target))?.[1];
  return found === undefined ? [] : [found.toLowerCase()];
}

function isPath(text: string): boolean {
  return !/[\s()]/.test(text);
}

function textOf(word: ShellWord): string {
  return word.literal ?? word.guess;
}

function afterEquals(text: string): string {
  return text.slice(text.indexOf("=") + 1);
}

function nameOf(words: readonly ShellWord[]): string {
  const program = words[0]!.guess;
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}

function none(): Destinations {
  return { hosts: [], isHidden: false };
}
