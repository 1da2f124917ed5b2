/**
 * Where a command would send something: the hosts its words name, and whether there may be others that they do not show. Works
 * on what is written, and takes a program it does not know for one that talks; what a script dials is the sandbox's to stop.
 */
import type { ShellCommand, ShellPlan, ShellWord } from "../../core/contracts/index.ts";
import { gitTalk } from "./destinations-git.ts";
import { DIALS, goModules, hostsBySchemeIn, INTERPRETS, mayTalk } from "./destinations-local.ts";
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
/** Asking a program for its version sends nothing. */
const ABOUT = /^(-V|-h|--version|--help|--manual)$/;
const FLAGS: Readonly<Record<string, RegExp>> = {
  curl: /^(-[sSfLkIvgGiNOJ#046]+|--(silent|show-error|fail|location|head|verbose|include|compressed|get|remote-name|no-progress-meter|progress-bar|ipv4|ipv6|http1\.1|http2|no-buffer|create-dirs|fail-with-body|globoff))$/,
  wget: /^(-[qcNSv46]+|-nv|-nc|-nd|--(quiet|continue|timestamping|no-verbose|no-clobber|server-response|spider|show-progress))$/,
  ssh: /^-[46CqTtvnN]+$/,
};
const LONGEST_WORD = 2000;
/** A scheme may stand at most this far before its "://". */
const LONGEST_SCHEME = 20;

export function findDestinations(shell: ShellPlan): Destinations {
  const hosts = new Set<string>();
  let isHidden = false;
  for (const command of shell.commands) {
    const found = inCommand(command);
    for (const host of found.hosts) hosts.add(host);
    isHidden ||= found.isHidden;
  }
  if (shell.reasons.some(({ kind }) => kind.startsWith("heredoc"))) {
    for (const host of hostsIn(shell.text)) hosts.add(host);
    isHidden ||= shell.commands.some(({ words }) => INTERPRETS.test(readName(words))) && DIALS.test(shell.text);
  }
  return { hosts: [...hosts], isHidden };
}

function inCommand(command: ShellCommand): Destinations {
  const { words, redirects, assignments, program } = command;
  const name = readName(words);
  const args = words.slice(1);
  const texts = args.map(readText);
  const hosts = redirects.flatMap(({ target }) => deviceHost(target));
  const about = texts.length > 0 && texts.every((text) => ABOUT.test(text));
  if (name === "" || about) return { hosts, isHidden: false };
  if (Object.hasOwn(TALKS, name)) {
    const dialled = texts.some((text) => ABOUT.test(text)) ? none() : dials(args, name);
    // `https_proxy=x curl …`
    return { hosts: [...hosts, ...dialled.hosts], isHidden: dialled.isHidden || assignments.length > 0 };
  }
  if (COPIES.test(name)) {
    const remote = texts.filter((text) => !text.startsWith("-") && text.includes(":"));
    hosts.push(...remote.map(readHost).filter(Boolean));
    const isOpen = remote.length > 0 && (assignments.length > 0 || texts.some((text) => /^-(o|e|J|F|S|-)/.test(text)));
    return { hosts, isHidden: isOpen || args.some((word) => word.literal === undefined) };
  }
  if (name === "git") {
    const talk = gitTalk(command, texts, readHost);
    return { hosts: [...hosts, ...texts.flatMap(hostsIn), ...talk.hosts], isHidden: talk.isHidden };
  }
  // What only prints or searches text reaches nobody with it.
  if (isLooker(name)) return { hosts, isHidden: false };
  for (const text of texts) hosts.push(...hostsIn(text), ...hostsWithColon(text), ...hostsBySchemeIn(text));
  if (name === "go") hosts.push(...goModules(texts));
  const isScript = words[0]!.guess.includes("/") && program?.trusted !== true;
  return { hosts, isHidden: !isScript && mayTalk(name, texts) };
}

function dials(args: readonly ShellWord[], name: string): Destinations {
  const valued = new Set(TALKS[name]!.split(" "));
  const flags = FLAGS[name] ?? /^-[46vqn]+$/;
  const hosts: string[] = [];
  let isHidden = false;
  for (let i = 0; i < args.length; i++) {
    const text = readText(args[i]!);
    // `-sSo file`: flags, then one option whose value follows.
    const last = /^-[A-Za-z]{2,}$/.test(text) && flags.test(text.slice(0, -1)) ? `-${text.at(-1)}` : text;
    if (args[i]!.literal === undefined) isHidden = true;
    else if (valued.has(last)) {
      i++;
      if (args[i] && args[i]!.literal === undefined) continue;
    } else if (!text.startsWith("-")) hosts.push(readHost(text));
    else {
      hosts.push(...hostsIn(text), ...(/^--(url|proxy|socks\w*)=/.test(text) ? [readHost(afterEquals(text))] : []));
      // What an option does that is not written down here nobody knows: it may name a proxy, a jump host, a file of options.
      isHidden ||= !flags.test(text) && !(text.includes("=") && valued.has(text.slice(0, text.indexOf("="))));
    }
  }
  const named = hosts.filter((host) => host !== "");
  return { hosts: named, isHidden: isHidden || named.length === 0 };
}

/** `evil.net:80`, `me@evil.net:x`, `--to=evil.net:x`; `test_app.py::name` is none. */
function hostsWithColon(text: string): string[] {
  if (text.length > LONGEST_WORD || /\s/.test(text)) return [];
  const found = [...text.matchAll(/(?:^|[=,@])([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}):(?![:\\])/gi)];
  const mailed = /^[\w.+-]{1,64}@([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8})$/i.exec(text)?.[1];
  return [...found.map((one) => one[1]!), ...(mailed ? [mailed] : [])].map((host) => host.toLowerCase());
}

/** The hosts of all addresses with a scheme in a text, in lower case. */
export function hostsIn(text: string): string[] {
  const hosts: string[] = [];
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", at + 3)) {
    if (!/[a-z][a-z0-9+.-]{0,40}$/i.test(text.slice(Math.max(0, at - LONGEST_SCHEME), at))) continue;
    // Only this one: behind it other addresses may follow.
    const host = hostAtStart(text.slice(at + 3));
    if (host) hosts.push(host);
  }
  return hosts;
}

/** The host a word begins with, behind a scheme and a name: `https://user@host:8080/x`, `user@host:path`, `host`. */
function readHost(word: string): string {
  const scheme = word.indexOf("://");
  return hostAtStart(scheme >= 0 ? word.slice(scheme + 3) : word);
}

function hostAtStart(rest: string): string {
  const end = rest.search(/[/?#\s'"`)>,;\\]/);
  const authority = end >= 0 ? rest.slice(0, end) : rest;
  const bare = authority.slice(authority.lastIndexOf("@") + 1);
  const host = bare.startsWith("[") ? bare.slice(1, bare.indexOf("]")) : bare.split(":")[0]!;
  return host.toLowerCase().replace(/\.$/, "");
}

/** bash opens a connection for these names. */
function deviceHost(target: ShellWord): string[] {
  const found = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(readText(target))?.[1];
  return found === undefined ? [] : [found.toLowerCase()];
}

function readText(word: ShellWord): string {
  return word.literal ?? word.guess;
}

function afterEquals(text: string): string {
  return text.slice(text.indexOf("=") + 1);
}

function readName(words: readonly ShellWord[]): string {
  const program = words[0]!.guess;
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}

function none(): Destinations {
  return { hosts: [], isHidden: false };
}
