/**
 * Where a command would send something: the hosts its words name, and whether there may be others that they do not show. Works
 * on what is written, and takes a program it does not know for one that talks; what a script dials is the sandbox's to stop.
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
const INTERPRETS = /^(python[\d.]*|pypy\d*|node|nodejs|deno|perl|ruby|php|lua|tclsh|osascript)$/;
const DIALS =
  /\b(sockets?|urllib\d?|requests|httpx|aiohttp|https?|ftplib|smtplib|telnetlib|fetch|XMLHttpRequest|axios|dgram|net|tls|dns|LWP|fsockopen|curl_init|TCPSocket|URI|open-uri|gethostbyname|connect|__import__|importlib|exec|eval|subprocess|system|popen|child_process|spawn)\b/;
/** Asking a program for its version sends nothing. */
const ABOUT = /^(-V|-h|--version|--help|--manual)$/;
const FLAGS: Readonly<Record<string, RegExp>> = {
  curl: /^(-[sSfLkIvgGiNOJ#046]+|--(silent|show-error|fail|location|head|verbose|include|compressed|get|remote-name|no-progress-meter|progress-bar|ipv4|ipv6|http1\.1|http2|no-buffer|create-dirs|fail-with-body|globoff))$/,
  wget: /^(-[qcNSv46]+|-nv|-nc|-nd|--(quiet|continue|timestamping|no-verbose|no-clobber|server-response|spider|show-progress))$/,
  ssh: /^-[46CqTtvnN]+$/,
};
/** Programs that work on this machine only, or start others that are judged by themselves. */
const LOCAL =
  /^(:|\.|source|cd|pushd|popd|export|set|unset|local|readonly|declare|alias|shift|exit|return|wait|read|trap|ulimit|umask|type|command|builtin|exec|eval|let|jobs|kill|history|(ba|da|z|k|a)?sh|env|time|timeout|nice|ionice|nohup|setsid|stdbuf|xargs|parallel|sudo|doas|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|tee|install|dd|truncate|split|csplit|shuf|column|expand|unexpand|rev|tsort|mktemp|sync|find|fd|sed|ed|ex|patch|xxd|base64|base32|gzip|gunzip|zcat|bzip2|bunzip2|xz|unxz|zstd|unzstd|zip|unzip|7z|cpio|ar|less|more|bc|dc|expr|numfmt|cal|yq|make|gmake|cmake|ninja|meson|just|pytest|tox|nox|mypy|ruff|black|flake8|isort|pylint|vitest|jest|mocha|tsc|tsx|ts-node|eslint|prettier|biome|webpack|vite|rollup|esbuild|gcc|g\+\+|clang|cc|c\+\+|ld|javac|java|rustc|rustfmt|gofmt|pandoc|convert|magick|ffmpeg|ffprobe|sqlite3|lsof|pgrep|pkill|top|tput|clear|stty|locale|getconf|xdg-mime|lares)$/;
/** Programs that talk for some of what they do: what they do here. */
const NPM = "test t run run-script start ls list version pkg explain root prefix bin help";
const LOCAL_ACTIONS: Readonly<Record<string, string>> = {
  npm: NPM,
  pnpm: NPM,
  yarn: NPM,
  bun: "test run",
  pip: "list show freeze check help",
  pip3: "list show freeze check help",
  uv: "run tree",
  poetry: "run show check",
  cargo: "build test check run fmt clippy doc clean bench tree",
  go: "build test vet fmt run doc env list version",
  gradle: "build test check clean",
  mvn: "test compile package clean",
};
const GIT_TALKS = /^(push|fetch|pull|clone|ls-remote|remote|submodule|archive|send-email|lfs|svn|request-pull)$/;
const LONGEST_WORD = 2000;
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

function inCommand(command: ShellCommand): Destinations {
  const { words, redirects, assignments, program } = command;
  const name = nameOf(words);
  const args = words.slice(1);
  const texts = args.map(textOf);
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
    hosts.push(...remote.map(hostOf).filter(Boolean));
    const isOpen = remote.length > 0 && (assignments.length > 0 || texts.some((text) => /^-(o|e|J|F|S|-)/.test(text)));
    return { hosts, isHidden: isOpen || args.some((word) => word.literal === undefined) };
  }
  if (name === "git") return gitTalk(texts, hosts, assignments.length > 0);
  // What only prints or searches text reaches nobody with it.
  if (isLooker(name)) return { hosts, isHidden: false };
  for (const text of texts) hosts.push(...hostsIn(text), ...hostsWithColon(text));
  const isScript = words[0]!.guess.includes("/") && program?.trusted !== true;
  return { hosts, isHidden: !isScript && mayTalk(name, texts) };
}

/** Outward unless known to stay here: the names of programs that talk are too many to list. */
function mayTalk(name: string, texts: readonly string[]): boolean {
  if (Object.hasOwn(LOCAL_ACTIONS, name)) {
    const action = texts.find((text) => !text.startsWith("-"));
    return action !== undefined && !LOCAL_ACTIONS[name]!.split(" ").includes(action);
  }
  if (INTERPRETS.test(name)) return texts.some((text) => DIALS.test(text) && !isPath(text));
  if (/awk$/.test(name)) return texts.some((text) => /\/inet[46]?\/|system|getline|\|/.test(text));
  if (/tar$/.test(name)) return texts.some((text) => text.includes(":") || /^--(rsh|rmt|to|use|checkpoint)/.test(text));
  return !LOCAL.test(name);
}

/** `git push origin` goes where the owner's remote points; another address, or a setting given along, is new. */
function gitTalk(texts: readonly string[], hosts: string[], isSet: boolean): Destinations {
  const at = texts.findIndex(
    (text, i) => !text.startsWith("-") && !/^(-C|-c|--git-dir|--work-tree)$/.test(texts[i - 1] ?? ""),
  );
  const rest = texts.slice(at + 1);
  hosts.push(...texts.flatMap(hostsIn));
  if (at < 0 || !GIT_TALKS.test(texts[at]!)) return { hosts, isHidden: false };
  const operands = rest.filter((text) => !text.startsWith("-"));
  const isListing = texts[at] === "remote" && !/^(add|set-url|update)$/.test(operands[0] ?? "");
  const places = texts[at] === "remote" || texts[at] === "submodule" ? operands : operands.slice(0, 1);
  hosts.push(
    ...places
      .filter((text) => text.includes(":"))
      .map(hostOf)
      .filter(Boolean),
  );
  const isOpen = isSet || texts.slice(0, at).some((text) => /^(-c|--config-env|--exec-path)/.test(text));
  const byOption = rest.some((text) =>
    /^(-c|-u.|-o|--(repo|remote|exec|upload-pack|receive-pack|config|server-option))/.test(text),
  );
  return { hosts, isHidden: !isListing && (isOpen || byOption) };
}

function dials(args: readonly ShellWord[], name: string): Destinations {
  const valued = new Set(TALKS[name]!.split(" "));
  const flags = FLAGS[name] ?? /^-[46vqn]+$/;
  const hosts: string[] = [];
  let isHidden = false;
  for (let i = 0; i < args.length; i++) {
    const text = textOf(args[i]!);
    // `-sSo file`: flags, then one option whose value follows.
    const last = /^-[A-Za-z]{2,}$/.test(text) && flags.test(text.slice(0, -1)) ? `-${text.at(-1)}` : text;
    if (args[i]!.literal === undefined) isHidden = true;
    else if (valued.has(last)) {
      i++;
      if (args[i] && args[i]!.literal === undefined) continue;
    } else if (!text.startsWith("-")) hosts.push(hostOf(text));
    else {
      hosts.push(...hostsIn(text), ...(/^--(url|proxy|socks\w*)=/.test(text) ? [hostOf(afterEquals(text))] : []));
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
