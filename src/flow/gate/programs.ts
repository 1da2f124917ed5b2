/**
 * What we know of programs that only look. A rule that ends in `*` leaves arguments open; for these programs each open
 * argument must be in the table, so that `sort *` allows sorting and not `sort -o file` or `sort --compress-program=x`.
 * Options are matched exactly: an abbreviation (`--compress-prog`) is not in any table.
 *
 * GATE-5: what a table lets through neither runs another program nor writes a file.
 */
import { judgeAwk } from "./awk.ts";
import { isChecker, oddCheckerWords } from "./checkers.ts";
import { FETCHES, judgeFetching } from "./fetching.ts";
import { judgeFind, judgeSed } from "./find-and-sed.ts";
import { type Concern, judgeGit } from "./git.ts";
import { isManager, judgeManager } from "./managers.ts";
import {
  argumentsCanRun,
  inGroup,
  JQ_ELSEWHERE,
  mayLoad,
  moreArguments,
  notHarmless,
  runsWhileRead,
  SETS_CLOCK,
  showsVariables,
  takesNextWord,
  takesNoValue,
  tooManyOperands,
  UNIQ_THIRD,
  UNZIP_WRITES,
} from "./words.ts";
import { judgeXxd } from "./xxd.ts";

interface Table {
  /** Letters of options without a value. */
  flags?: string;
  /** Letters of options with a value, attached or as the next word. */
  valued?: string;
  /** Letters of options whose value counts only when it is attached (`-I5`): the next word is a separate word. */
  optional?: string;
  /** It takes the values of a group of letters (`-Lo 2 file`) from the next words, one after the other; nothing but a number is attached. */
  isGrouped?: true;
  /**
   * Long options. The value of `name=` and `name:` must be there; without a `=` the program takes the next word, even `--`, so
   * `name=` then asks. The value of `name?` may be left out, and the next word is a separate word.
   */
  long?: string;
  /** `-5`. */
  number?: true;
  /** How many operands at most. */
  operands?: number;
  /** The first operand is not a file (a pattern), unless one of these options gives it. */
  pattern?: { by: string };
  /** Operands are files whose content it shows, only looks at, or no files. */
  files: "content" | "names" | "none";
  /** Long options whose value names a file. */
  fileOptions?: string;
}

const COLOR = "color? colour? ";
const TABLES: Readonly<Record<string, Table>> = {
  ls: {
    flags: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
    valued: "IwT",
    long: `${COLOR}all almost-all author escape directory classify file-type format= full-time group-directories-first no-group human-readable si dereference-command-line dereference inode kibibytes numeric-uid-gid literal hide-control-chars show-control-chars quote-name reverse recursive size sort= time= time-style= width= block-size= indicator-style= ignore= hide= quoting-style= context zero ignore-backups help version`,
    files: "names",
  },
  cat: {
    flags: "AbeEnstTuv",
    long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting help version",
    files: "content",
  },
  tac: { flags: "br", valued: "s", long: "before regex separator= help version", files: "content" },
  nl: { valued: "bdfhilnsvw", flags: "p", files: "content" },
  head: {
    flags: "qvz",
    valued: "nc",
    long: "lines: bytes: quiet silent verbose zero-terminated help version",
    number: true,
    files: "content",
  },
  // With -F it opens the file again by its name, whatever that leads to by then.
  tail: {
    flags: "qvzf",
    valued: "nc",
    long: "lines: bytes: quiet silent verbose zero-terminated follow help version",
    number: true,
    files: "content",
  },
  wc: { flags: "clmwL", long: "bytes chars lines words max-line-length total= help version", files: "content" },
  echo: { files: "none" },
  printf: { files: "none" },
  true: { files: "none" },
  false: { files: "none" },
  pwd: { flags: "LP", long: "logical physical help version", operands: 0, files: "none" },
  whoami: { long: "help version", operands: 0, files: "none" },
  hostname: { flags: "sfdiI", operands: 0, files: "none" },
  uname: { flags: "asnrvmpio", long: "all help version", operands: 0, files: "none" },
  id: { flags: "agGnruz", long: "group groups name real user zero help version", files: "none" },
  groups: { files: "none" },
  nproc: { long: "all ignore= help version", operands: 0, files: "none" },
  arch: { operands: 0, files: "none" },
  uptime: { flags: "ps", operands: 0, files: "none" },
  free: { flags: "bkmghtwl", long: "human si total wide", operands: 0, files: "none" },
  sleep: { operands: 1, files: "none" },
  seq: { flags: "w", valued: "fs", long: "format= separator= equal-width", files: "none" },
  basename: { flags: "az", valued: "s", long: "multiple suffix= zero", files: "none" },
  dirname: { flags: "z", long: "zero", files: "none" },
  realpath: {
    flags: "emLPqsz",
    long: "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero relative-to= relative-base=",
    files: "names",
    fileOptions: "relative-to relative-base",
  },
  readlink: {
    flags: "femnqsvz",
    long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
    files: "names",
  },
  stat: {
    flags: "Lft",
    valued: "c",
    long: "dereference file-system terse format= printf= cached= help version",
    files: "names",
  },
  file: {
    flags: "bhiIkLNprsv0",
    valued: "F",
    long: "brief mime mime-type mime-encoding keep-going dereference no-dereference separator= extension",
    files: "content",
  },
  du: {
    flags: "0abcDhHklLmPsSx",
    valued: "dBt",
    long: "all apparent-size bytes total dereference dereference-args max-depth: human-readable inodes separate-dirs summarize threshold= one-file-system exclude= time? time-style= si block-size= null",
    files: "names",
  },
  df: {
    flags: "ahHiklPTm",
    valued: "tBx",
    long: "all block-size= human-readable si inodes local portability print-type type= exclude-type= total output? sync no-sync",
    files: "names",
  },
  // With a slash in its word it looks there, and says whether a program is there.
  which: { flags: "as", files: "names" },
  whereis: { flags: "bmsu", files: "none" },
  test: { files: "names" },
  "[": { files: "names" },
  cut: {
    flags: "nsz",
    valued: "bcdf",
    long: "bytes: characters: delimiter: fields: complement only-delimited output-delimiter= zero-terminated",
    files: "content",
  },
  tr: { flags: "cCdst", long: "complement delete squeeze-repeats truncate-set1", operands: 2, files: "none" },
  fold: { flags: "bs", valued: "w", long: "bytes spaces width=", files: "content" },
  fmt: { flags: "cstu", valued: "wgp", number: true, files: "content" },
  paste: { flags: "sz", valued: "d", long: "delimiters= serial zero-terminated", files: "content" },
  join: { flags: "iz", valued: "aejotv12", long: "ignore-case header check-order nocheck-order", files: "content" },
  comm: { flags: "123z", long: "check-order nocheck-order output-delimiter= total zero-terminated", files: "content" },
  cmp: {
    flags: "bls",
    valued: "in",
    long: "print-bytes verbose quiet silent bytes= ignore-initial=",
    files: "content",
  },
  diff: {
    flags: "abBdeEiNnpqrsTtuwy",
    valued: "CIUWFx",
    long: `${COLOR}brief report-identical-files context? unified? normal side-by-side width= recursive new-file ignore-case ignore-all-space ignore-space-change ignore-blank-lines ignore-trailing-space strip-trailing-cr text minimal exclude= label= show-c-function no-dereference suppress-common-lines`,
    files: "content",
  },
  // A second operand would be written to.
  uniq: {
    flags: "cdDiuz",
    valued: "fsw",
    long: "count repeated all-repeated? ignore-case skip-fields= skip-chars= unique check-chars= zero-terminated group?",
    operands: 1,
    files: "content",
  },
  sort: {
    flags: "bdfghiMnRrVcCmsuz",
    valued: "kt",
    long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check? key: merge stable unique field-separator: zero-terminated help version",
    files: "content",
  },
  grep: grepTable(),
  egrep: grepTable(),
  fgrep: grepTable(),
  rg: {
    flags: "aciFHhIlLnNopPqsSUuvwx",
    valued: "ABCegjmMtTdr",
    long: `color= count count-matches ignore-case fixed-strings with-filename no-filename files-with-matches files-without-match line-number no-line-number only-matching pcre2 quiet case-sensitive smart-case multiline multiline-dotall invert-match word-regexp line-regexp hidden no-ignore no-ignore-vcs unrestricted follow files stats json vimgrep heading no-heading column trim text sort= sortr= max-count: max-depth: max-columns: after-context: before-context: context: regexp: glob: iglob: type: type-not: type-list encoding= replace: null no-config no-messages passthru version help`,
    pattern: { by: "e regexp files type-list" },
    files: "content",
  },
  // Its language reads what it is fed and nothing else; what loads other files is looked for in judgeJq.
  jq: {
    flags: "aceCgjMnrRsSV",
    long: `ascii-output compact-output exit-status color-output monochrome-output null-input join-output raw-output raw-output0 raw-input slurp sort-keys tab unbuffered stream stream-errors seq arg: argjson: args jsonargs indent: help version build-configuration`,
    pattern: { by: "none" },
    files: "content",
  },
  tree: {
    flags: "adfipugshDFrtcUqN",
    valued: "LPI",
    isGrouped: true,
    long: "dirsfirst noreport charset= prune gitignore du si inodes",
    files: "names",
  },
  date: {
    flags: "uR",
    valued: "d",
    optional: "I",
    long: "date: utc universal rfc-email iso-8601? rfc-3339= help version",
    files: "none",
  },
  md5sum: sumTable(),
  sha1sum: sumTable(),
  sha256sum: sumTable(),
  sha512sum: sumTable(),
  b2sum: sumTable(),
  cksum: { files: "content" },
  od: { flags: "abcdfilosxv", valued: "AjNSt", optional: "w", files: "content" },
  hexdump: { flags: "bcCdovx", valued: "ns", files: "content" },
  strings: { flags: "afw", valued: "nte", number: true, files: "content" },
  ps: { files: "none", flags: "AaNdefFjlHcLTwxyZM", valued: "opuCt", long: "sort= no-headers headers forest" },
  // Its language computes and prints what it is fed. A file would be more of it.
  bc: { flags: "lqswhv", long: "mathlib quiet standard warn help version", operands: 0, files: "none" },
  env: { operands: 0, files: "none" },
  printenv: { files: "none" },
};

function grepTable(): Table {
  return {
    flags: "EFGPivwxcLlqsbHhnTUzaorRIy",
    valued: "emABCdD",
    long: `${COLOR}extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count files-without-match files-with-matches quiet silent no-messages byte-offset with-filename no-filename line-number initial-tab null-data null text only-matching recursive dereference-recursive max-count: after-context: before-context: context: regexp: include: exclude: exclude-dir: directories= devices= binary-files= label= help version`,
    number: true,
    pattern: { by: "e regexp" },
    files: "content",
  };
}

function sumTable(): Table {
  return { flags: "btz", long: "binary text tag zero", files: "content" };
}

/** Programs that are more than they seem: their arguments must be spelt out by the rule, all of them. */
const NEVER_OPEN =
  /^((ba|da|z|k|mk|a|fi|c|tc|r)?sh|pwsh|powershell|python[\d.]*|pypy\d*|perl[\d.]*|ruby[\d.]*|irb|node|nodejs|bun|deno|tsx|ts-node|php[\d.]*|lua[\d.]*|luajit|tclsh|wish|expect|guile|Rscript|R|julia|groovy|scala|jshell|elixir|iex|erl|ocaml|ghci|runghc|swift|osascript|gdb|lldb|[gmn]?awk|g?sed|vi|vim|nvim|view|ex|ed|emacs|nano|yq|gojq|dc|m4|openssl|make|gmake|env|time|nice|ionice|timeout|stdbuf|nohup|setsid|chronic|xargs|parallel|doas|sudo|su|runuser|pkexec|script|flock|watch|busybox|toybox|coreutils|ssh|scp|sftp|rsync|tar|bsdtar|cpio|zip|unzip|7z|ar|man|sqlite3?|psql|mysql|mariadb|less|more|most|pg|info|strace|ltrace|valgrind|perf|tcpdump|nmap|docker|podman|kubectl|systemd-run|crontab|at|batch|npx|bunx|uvx|pipx|chroot|unshare|nsenter|bwrap|firejail|screen|tmux|tee|dd|patch|rename|prename|install|ln|git-.*|lares|nc|ncat|netcat|socat|telnet|ftp|tftp|nix|nix-shell|java|kotlin|octave|gnuplot|gs|ghostscript|mlr|duckdb|direnv|dotenv|cross-env|op|aws-vault|doppler|nodemon|watchexec|reflex|concurrently|npm-run-all|run-[ps]|zx|esno|vite-node|swc-node|c8|nyc|pm2|forever|supervisord|su-exec|envdir|envuidgid|s6-.*|newgrp|cgexec|nsjail|lckdo|zrun|multitime|sem|rr|gdbserver|fzf|tig|distrobox|toolbox|flatpak|snap|lxc|incus|machinectl|singularity|apptainer|vagrant|heroku|wait4x)$/;
/** Options that make many programs run or load something, in full or abbreviated. */
const RUNNING =
  /^--?[a-z-]*(exec|command|cmd|prog|eval|shell|rsh|pager|editor|hook|plugin|preload|require|script|init-file|rcfile|config|action|compress|filter|askpass|helper|wrapper|load|import|startup|loader|interpreter|browser|sendmail|(up|receive-)pack)/i;

/** The words in it, for options that are cut short: most programs take `--fil=x` for `--filter=x`. */
const RUNNING_WORDS =
  "exec command cmd program eval shell rsh pager editor hook plugin preload require script init-file rcfile config action compress filter askpass wrapper load import startup interpreter browser sendmail".split(
    " ",
  );
/** Where the name of the file that is written is stored in an archive, or what is left without an ending that an option names. */
const NAMED_BY_ARCHIVE = /^(-[A-Za-z0-9]*[NS]|--(na|su|file))/;
/** Letters that take a file of options, or let a server or an archive choose the name of the file that is written. */
const LOADS_BY_LETTER: Readonly<Record<string, RegExp>> = {
  cp: /^(-[A-Za-z]*S|--su)/,
  csplit: /^(-[A-Za-z]*b|--su)/,
  curl: /^(-[A-Za-z#0-9]*[KJ]|--(remote-head|eng))/,
  cloc: /^--(ext|read|diff-l|list|opt)/,
  cmake: /^-([PEC]|D(?!(CMAKE_BUILD_TYPE=|BUILD_\w+=)\w+$))|^--(tool|inst|open|graph|trace-r|pres|proj)/,
  ctest: /^-([SDMTO])|^--(scr|build-a|build-c|build-m|dash|sub|output-l|ext|http)/,
  ...Object.fromEntries(
    ["convert", "magick", "mogrify", "identify", "montage", "composite", "compare"].map((name) => [
      name,
      /^[A-Za-z0-9]{2,}:|@|^-(script|process|write|path)/,
    ]),
  ),
  diff3: /^--diff/,
  exiftool:
    /^-(if|p|api|userparam|execute|@|config|w|o|textout|tagout|printformat|filename|directory|geotag|efile)|[<>${;]/i,
  fd: /^-[A-Za-z0-9]*[xX]/,
  ...Object.fromEntries(
    ["ffmpeg", "ffprobe", "ffplay"].map((name) => [
      name,
      /^-(listen|filter_\w*script|[fvas]?pre|dump_attach)|^[a-z][\w+.-]*:|[|]/,
    ]),
  ),
  ...Object.fromEntries(
    ["gcc", "g++", "cc", "c++", "clang", "clang++"].map((name) => [name, /^(-?-specs|@|-Xlinker|-fuse-ld|-Xclang)/]),
  ),
  gunzip: NAMED_BY_ARCHIVE,
  gzip: NAMED_BY_ARCHIVE,
  mv: /^(-[A-Za-z]*S|--su)/,
  gradle: /^(-[A-Za-z]*[IbcpgDPM]|--(init|build|settings|project|gradle|system|write|include))/,
  javac: /^(@|-processor|--processor|-J|-Xplugin)/,
  just: /^(-[A-Za-z]*[cfdE]|--(just|work|dot|set|choo))/,
  latexmk: /^-(e$|r$|(pdf|xe|lua)?latex=|dvi|ps|bibtex|usepre|pre|cd|out|aux)/,
  mix: /^(-[A-Za-z]*[er]|--(req|eval)|(cmd|eval|do|archive.*|escript.*|local.*|hex.*)$)/,
  mvn: /^(-[A-Za-z]*[fsgt]$|-D(?!(skipTests|test=[\w#*,.]+)$)|exec:|--(file|settings|global|toolchains))/,
  // A format can be a program in Lua.
  pandoc: /^(-[A-Za-z]*[FLd]|--(lua|def|pdf-engine|data-dir))|\.lua([+-]|$)/,
  qpdf: /^(--job|@)/,
  rake: /^(-[A-Za-z]*[efrIREpND]|--(lib|rakef|rakel|req|exe))/,
  rustc: /^(-C|-Z|@|--code)/,
  sdiff: /^--diff/,
  split: /^--ad/,
  task: /^(-[A-Za-z]*[tdg]|--(taskf|dir|glo|init))/,
  unxz: NAMED_BY_ARCHIVE,
  unzstd: /^--file/,
  // Entities and includes are other files, or addresses.
  xmllint: /^--(?!(noout|format|xpath|html|recover|nonet|noblanks|version)$)|^-[a-z]/,
  xz: NAMED_BY_ARCHIVE,
  xzcat: /^--file/,
  zstd: /^--file/,
  zstdcat: /^--file/,
};

function mayRun(arg: string): boolean {
  if (RUNNING.test(arg)) return true;
  if (!arg.startsWith("--") || arg.length === 2) return false;
  const option = arg.split("=", 1)[0]!;
  const last = option.slice(option.lastIndexOf("-") + 1).toLowerCase();
  return last !== "" && RUNNING_WORDS.some((word) => word.startsWith(last));
}

export interface Judgement {
  concerns: Concern[];
  /** Words that name files, with what happens to them. */
  files: { index: number; path: string; use: "content" | "names" }[];
  /** Words that name files it writes, and nothing else of them. */
  writes?: { index: number; path: string }[];
  /** The argument that makes it follow links it meets on its way, wherever they lead. */
  follows?: number;
}

/** What is wrong with arguments a rule left open. `index` counts from the first argument. Pure, by shape only (EX-33). */
export function judgeArguments(name: string, args: readonly string[]): Judgement {
  const none: Judgement = { concerns: [], files: [] };
  if (name === "find") return judgeFind(args);
  if (name === "git") return judgeGit(args);
  if (name === "sed") return judgeSed(args);
  if (name === "jq") return judgeJq(args);
  if (name === "tee") return judgeTee(args);
  if (name === "sort") return judgeSort(args);
  if (name === "uniq") return judgeUniq(args);
  if (name === "tar") return judgeTar(args);
  if (name === "ps") return judgePs(args);
  if (AWK.test(name)) return judgeAwk(name, args);
  if (name === "unzip") return judgeUnzip(args);
  if (name === "strings") return judgeStrings(args);
  if (name === "xxd") return judgeXxd(args);
  if (FETCHES.test(name)) {
    const concerns = args.flatMap((arg, index) =>
      mayRun(arg) || LOADS_BY_LETTER[name]?.test(arg) ? [{ index, text: mayLoad(arg.split("=")[0]!) }] : [],
    );
    return { ...none, concerns: [...concerns, ...judgeFetching(name, args)] };
  }
  if (SCRIPTED.test(name)) return judgeScript(name, args);
  if (name === "npx") return judgeNpx(args);
  if (name === "sqlite3") return judgeSqlite(args);
  if (isChecker(name)) return { ...none, concerns: judgeChecker(name, args) };
  const table = Object.hasOwn(TABLES, name) ? TABLES[name]! : undefined;
  if (table) return judgeTable(name, table, args);
  if (NEVER_OPEN.test(name)) {
    return {
      ...none,
      concerns: args.map((_, index) => ({ index, text: argumentsCanRun(name) })),
    };
  }
  const managed = isManager(name)
    ? judgeManager(name, args, (inner, rest) => judgeArguments(inner, rest).concerns)
    : [];
  // By own property throughout: a program called `constructor` must not find something.
  const own = Object.hasOwn(LOADS_BY_LETTER, name) ? LOADS_BY_LETTER[name]! : undefined;
  const concerns = args.flatMap((arg, index) =>
    mayRun(arg) || own?.test(arg) ? [{ index, text: mayLoad(arg.split("=")[0]!) }] : [],
  );
  const following = Object.hasOwn(FOLLOWING_ELSEWHERE, name) ? FOLLOWING_ELSEWHERE[name]! : undefined;
  const follows = following ? args.findIndex((arg) => following.test(arg)) : -1;
  return { ...none, concerns: [...concerns, ...managed], ...(follows < 0 ? {} : { follows }) };
}

/** The files that a command is known to write by itself: `tee out.txt`, `sort -o out.txt`, `sed -i s/a/b/ out.txt`. */
export function writtenFiles([program = "", ...args]: readonly string[]): string[] {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return (judgeArguments(name, args).writes ?? []).map(({ path }) => path);
}

/** Interpreters that are mostly given a file: `node report.js --month 10`. */
const SCRIPTED = /^((ba|da|z|k)?sh|python[\d.]*|perl|ruby|node|nodejs|bun|deno|tsx|php|lua)$/;

export function takesScript(name: string): boolean {
  return SCRIPTED.test(name);
}

/** Alone, they print a version and end. `python3 -v` goes on to run what it is fed. */
function asksVersion(name: string, args: readonly string[]): boolean {
  if (args.length !== 1) return false;
  if (/^python[\d.]*$/.test(name)) return /^(--version|-V)$/.test(args[0]!);
  return /^node(js)?$/.test(name) && /^(--version|-v)$/.test(args[0]!);
}

/** Whether it is known of an interpreter that, with these words, it runs no code that could do harm. */
export function runsNothing(name: string, args: readonly string[]): boolean {
  return asksVersion(name, args) || (AWK.test(name) && args.length > 0 && judgeAwk(name, args).concerns.length === 0);
}

/** A rule that spells the script speaks about the script: what follows is the script's, not the interpreter's. */
function judgeScript(name: string, args: readonly string[]): Judgement {
  if (asksVersion(name, args)) return { concerns: [], files: [] };
  const isModule = /^python/.test(name) && args[0] === "-m";
  const script = isModule ? 1 : 0;
  const hasScript = args[script] !== undefined && !args[script]!.startsWith("-");
  const checker = isModule && isChecker(args[1] ?? "") ? args[1]! : undefined;
  const odd = checker ? judgeChecker(checker, args.slice(script + 1), script + 1) : [];
  const concerns = args.flatMap((arg, index) => {
    if (!hasScript || index <= script) return [{ index, text: argumentsCanRun(name) }];
    return mayRun(arg) ? [{ index, text: mayLoad(arg.split("=")[0]!) }] : [];
  });
  return { concerns: [...concerns, ...odd], files: [] };
}

/** A rule that spells the package speaks about the package: what follows is its own, as npx hands it on. */
function judgeNpx(args: readonly string[]): Judgement {
  const [checker = "", ...rest] = args;
  if (isChecker(checker)) return { concerns: [npxItself(0), ...judgeChecker(checker, rest, 1)], files: [] };
  return { concerns: args.map((_, index) => npxItself(index)), files: [] };
}

function npxItself(index: number): Concern {
  return { index, text: argumentsCanRun("npx") };
}

function judgeChecker(checker: string, args: readonly string[], from = 0): Concern[] {
  return oddCheckerWords(checker, args).map((i) => ({ index: from + i, text: mayLoad(args[i]!.split("=")[0]!) }));
}

/** How results are shown. */
const SQLITE_SHOWS =
  /^--?(header|noheader|csv|json|column|line|list|box|table|markdown|html|batch|bail|readonly|safe)$/;
/** Commands that list what there is. */
const SQLITE_LISTS = /^\.(tables|schema|indexes|databases)( [\w%]+)?$/;
/** What reads or writes other files, or changes something. */
const SQLITE_MORE =
  /fsdir|zipfile|sqlar|lsmode|readfile|writefile|load_extension|fts3_tokenizer|dbpage|dbdata|\b(edit|attach|detach|vacuum|pragma|virtual|insert|update|delete|replace|create|drop|alter|reindex|analyze)\b/i;

/**
 * `sqlite3 FILE .tables`, and queries with `-safe`. Without it, a view in the file can run a program while it is read
 * (`select edit('', 'x')`); sqlite3 itself closes that with `-safe`.
 */
function judgeSqlite(args: readonly string[]): Judgement {
  const file = args.findIndex((arg) => !arg.startsWith("-"));
  const isSafe = args.slice(0, Math.max(file, 0)).some((arg) => /^--?safe$/.test(arg));
  const concerns = args.flatMap((arg, index) => {
    if (file < 0 || index <= file) return [{ index, text: argumentsCanRun("sqlite3") }];
    if (SQLITE_SHOWS.test(arg) || SQLITE_LISTS.test(arg)) return [];
    const isQuery = /^\s*(select|with|values|explain)\b/i.test(arg) && !/;\s*\S/.test(arg) && !SQLITE_MORE.test(arg);
    if (!isQuery) return [{ index, text: argumentsCanRun("sqlite3") }];
    return isSafe ? [] : [{ index, text: runsWhileRead(args[file]!) }];
  });
  return { concerns, files: [] };
}

/** Interpreters and starters whose words are judged one by one, so that what they run is known where none is a concern. */
export function runsWhatIsSpelt(name: string, args: readonly string[]): boolean {
  if (/^python[\d.]*$/.test(name)) return args[0] === "-m" && isChecker(args[1] ?? "");
  return name === "npx" || name === "sqlite3";
}

/** Programs of which every word is held against a list, or belongs to a script that the rule spells. */
export function isSpeltWordByWord(name: string): boolean {
  return takesScript(name) || isChecker(name) || name === "npx" || name === "sqlite3";
}

function judgeJq(args: readonly string[]): Judgement {
  const out = judgeTable("jq", TABLES.jq!, args);
  const files = new Set(out.files.map(({ index }) => index));
  for (const [index, arg] of args.entries()) {
    if (files.has(index)) continue;
    if (looksElsewhere(arg)) out.concerns.push({ index, text: JQ_ELSEWHERE });
  }
  return out;
}

/**
 * By whole names, wherever they stand: jq lets blanks and comments come between the `$` and the name, and takes any filter inside a
 * text. Only `.env` is plainly a field.
 */
function looksElsewhere(filter: string): boolean {
  const names = filter.match(/\.?[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  return names.some((name) => /^(import|include|env|ENV|input_filename|get_search_list|modulemeta)$/.test(name));
}

/** `tee -a file`: every operand is written. */
function judgeTee(args: readonly string[]): Judgement {
  const table: Table = { flags: "aip", long: "append ignore-interrupts", files: "names" };
  const { concerns, files } = judgeTable("tee", table, args);
  return { concerns, files: [], writes: files.map(({ index, path }) => ({ index, path })) };
}

/** `sort -o file`, also with the name attached. */
function judgeSort(args: readonly string[]): Judgement {
  const writes: NonNullable<Judgement["writes"]> = [];
  const rest = [...args];
  const end = args.indexOf("--") < 0 ? args.length : args.indexOf("--");
  for (let index = 0; index < end; index++) {
    const arg = args[index]!;
    const attached = /^(?:-o|--output=)(.+)$/s.exec(arg)?.[1];
    const next = args[index + 1];
    if (attached !== undefined) writes.push({ index, path: attached });
    else if ((arg === "-o" || arg === "--output") && next !== undefined)
      writes.push({ index, path: next }, { index: ++index, path: next });
  }
  // What is left is judged without them; the places of the other words stay.
  for (const { index } of writes) rest[index] = "-b";
  const out = judgeTable("sort", TABLES.sort!, rest);
  return writes.length > 0 ? { ...out, writes } : out;
}

/** `uniq in out`. */
function judgeUniq(args: readonly string[]): Judgement {
  const { operands: _, ...table } = TABLES.uniq!;
  const out = judgeTable("uniq", table, args);
  const second = out.files[1];
  if (!second) return out;
  if (out.files.length > 2) out.concerns.push({ index: out.files[2]!.index, text: UNIQ_THIRD });
  return { ...out, files: [out.files[0]!], writes: [{ index: second.index, path: second.path }] };
}

/**
 * `tar -tzf file` only lists, `tar -czf file …` writes that one file. A name with a colon is a file on another machine, which tar fetches
 * by running rsh; `@file` is an archive to some. What an archive brings when it is unpacked stands in no word, so that asks.
 */
function judgeTar(args: readonly string[]): Judgement {
  const [mode = "", file = "", ...members] = args;
  const isFile = file !== "" && !/^[-@]|:/.test(file);
  if (isFile && /^-?t[zjJv]*f$/.test(mode) && members.every((one) => !one.startsWith("-")))
    return { concerns: [], files: [{ index: 1, path: file, use: "content" }] };
  const isPacked = (word: string) => !/^[-@]/.test(word) || /^--exclude=[^/]/.test(word);
  if (isFile && /^-?c[zjJv]*f$/.test(mode) && members.every(isPacked)) {
    const files = members.flatMap((path, i) =>
      path.startsWith("-") ? [] : [{ index: i + 2, path, use: "content" } as const],
    );
    return { concerns: [], files, writes: [{ index: 1, path: file }] };
  }
  const text = argumentsCanRun("tar");
  return { concerns: args.map((_, index) => ({ index, text })), files: [] };
}

/** Which processes there are, not what they were started with: variables hold keys. Letters without a dash may ask for them (`ps auxe`). */
function judgePs(args: readonly string[]): Judgement {
  const out = judgeTable("ps", TABLES.ps!, args);
  for (const [index, arg] of args.entries()) {
    const isList = /^-[A-Za-z]*[puCt]$/.test(args[index - 1] ?? "");
    const isLetters = !arg.startsWith("-") && !isList && !/^-[A-Za-z]*o$/.test(args[index - 1] ?? "");
    if ((isLetters && !/^([aAcfhHjlLmnrsSTuvwxXZ]+|[\d,]+)$/.test(arg)) || /env/i.test(arg))
      out.concerns.push({ index, text: showsVariables(arg) });
  }
  return out;
}

/** `strings @file` takes its words from that file. */
function judgeStrings(args: readonly string[]): Judgement {
  const out = judgeTable("strings", TABLES.strings!, args);
  for (const [index, arg] of args.entries())
    if (arg.startsWith("@")) out.concerns.push({ index, text: moreArguments(arg) });
  return out;
}

/** `unzip -l file`: only lists. */
function judgeUnzip(args: readonly string[]): Judgement {
  const [mode = "", file = "", ...members] = args;
  if (/^-(l|v|Z1)$/.test(mode) && file !== "" && [file, ...members].every((one) => !one.startsWith("-")))
    return { concerns: [], files: [{ index: 1, path: file, use: "content" }] };
  const text = UNZIP_WRITES;
  return { concerns: args.map((_, index) => ({ index, text })), files: [] };
}

const AWK = /^[gmn]?awk$/;

/** Programs of which it is known which arguments are files. */
export function hasFiles(name: string): boolean {
  return /^(find|sed|tee|tar|unzip|xxd|[gmn]?awk)$/.test(name) || Object.hasOwn(TABLES, name);
}

/** Programs for which a rule like `python3 *` covers hardly anything: what they are given is judged only where a rule spells it out. */
export function needsSpelling(name: string): boolean {
  return SCRIPTED.test(name) || (NEVER_OPEN.test(name) && !hasFiles(name));
}

/** Programs whose arguments are no commands: nothing in them is a wrapped program. */
export function isLooker(name: string): boolean {
  return (Object.hasOwn(TABLES, name) && name !== "env") || name === "git";
}

function judgeTable(name: string, table: Table, args: readonly string[]): Judgement {
  const out: Judgement = { concerns: [], files: [] };
  if (name === "echo" || name === "printf" || name === "test" || name === "[") {
    if (table.files === "names")
      for (const [index, path] of args.entries()) out.files.push({ index, path, use: "names" });
    return out;
  }
  const concern = (index: number, text: string) => out.concerns.push({ index, text });
  const long = ` ${table.long ?? ""} `;
  const findKind = (option: string) => ["", "=", ":", "?"].find((kind) => long.includes(` ${option}${kind} `));
  /** Options with the argument they stand in. */
  const given = new Map<string, number>();
  const operands: number[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--") {
      for (let j = i + 1; j < args.length; j++) operands.push(j);
      break;
    }
    if (arg === "-" || !arg.startsWith("-")) {
      operands.push(i);
      continue;
    }
    if (arg.startsWith("--")) {
      const cut = arg.indexOf("=");
      const option = cut < 0 ? arg.slice(2) : arg.slice(2, cut);
      const kind = /^[a-z0-9-]+$/.test(option) ? findKind(option) : undefined;
      given.set(option, i);
      if (cut >= 0 && table.fileOptions?.split(" ").includes(option))
        out.files.push({ index: i, path: arg.slice(cut + 1), use: "names" });
      if (kind === undefined) concern(i, notHarmless(arg, name));
      else if (cut >= 0 && kind === "") concern(i, takesNoValue(arg));
      else if (cut < 0 && kind === "=") concern(i, takesNextWord(arg));
      else if (cut < 0 && kind === ":") i += name === "jq" && option.startsWith("arg") ? 2 : 1;
      continue;
    }
    if (table.number && /^-\d+$/.test(arg)) continue;
    for (let j = 1; j < arg.length; j++) {
      const letter = arg[j]!;
      given.set(letter, i);
      if (table.flags?.includes(letter)) continue;
      if (table.optional?.includes(letter)) break;
      if (!table.valued?.includes(letter)) {
        concern(i, notHarmless(`-${letter}`, name));
        break;
      }
      const value = arg.slice(j + 1);
      // In `-rf5` the value may belong to another letter than the one it follows.
      if (table.isGrouped && !/^\d*$/.test(value)) concern(i, inGroup(letter));
      if (value === "") i++;
      break;
    }
  }
  const follows = followingOption(name, given);
  if (follows !== undefined) out.follows = follows;
  const byOption = table.pattern?.by.split(" ").some((option) => given.has(option)) ?? true;
  const files = table.pattern && !byOption ? operands.slice(1) : operands;
  if (table.operands !== undefined && operands.length > table.operands) {
    concern(operands[table.operands]!, tooManyOperands(name));
  }
  if (name === "date") for (const index of operands) if (!args[index]!.startsWith("+")) concern(index, SETS_CLOCK);
  if (table.files !== "none")
    for (const index of files) out.files.push({ index, path: args[index]!, use: table.files });
  return out;
}

/** Options that make a program follow every link it meets, not only those that are named. */
const FOLLOWING: Readonly<Record<string, readonly string[]>> = {
  ls: ["L", "dereference"],
  du: ["L", "dereference"],
  rg: ["L", "follow"],
  grep: ["R", "dereference-recursive"],
  egrep: ["R", "dereference-recursive"],
  fgrep: ["R", "dereference-recursive"],
  diff: ["r", "recursive"],
};

function followingOption(name: string, given: ReadonlyMap<string, number>): number | undefined {
  if (name === "diff" && given.has("no-dereference")) return undefined;
  const option = FOLLOWING[name]?.find((one) => given.has(one));
  return option === undefined ? undefined : given.get(option);
}

/** The same for programs without a table, where any letter may stand beside it, and a long name may be cut short. */
const INTO_FOLDERS = /^(-[A-Za-z0-9]*r|--r)/;
const FOLLOWING_ELSEWHERE: Readonly<Record<string, RegExp>> = {
  cp: /^(-[A-Za-z]*L|--der)/,
  chmod: /^(-[A-Za-z]*L|--der)/,
  chown: /^(-[A-Za-z]*L|--der)/,
  chgrp: /^(-[A-Za-z]*L|--der)/,
  fd: /^(-[A-Za-z]*L|--fol)/,
  ag: /^(-[A-Za-z]*f|--fol)/,
  ...Object.fromEntries(
    ["gzip", "gunzip", "zcat", "uncompress", "compress", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat", "lzma"]
      .concat(["unlzma", "lzcat", "zstd", "unzstd", "zstdcat", "lz4", "unlz4", "lz4cat", "pigz", "unpigz"])
      .map((name) => [name, INTO_FOLDERS]),
  ),
};
